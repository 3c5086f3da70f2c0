#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Containers by the names people gave them. A container of the real Podman, where one can run; 300
containers in cgroups made by hand, with the links of a kubelet, which come and go: no name of one
container on another, though ids are used again and links come late, and never more labels than the
bound. A user makes cgroups with the id of a container and with the names of units."""
# needs: cgroups mount users

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import paths  # noqa: F401
from outcome import O, PROGRAM, cgroup_removed, exit_code, need, read, result, run_checks, wait_until, write
from serving import Serve

USER = 1234
PODS, EACH = 100, 3
ROUNDS = 6
BOUND = 50
LOGS = "/var/log/containers"
UNREAD_MAX = 36  # of 3,900 readings
unread = []


def own_mounts():
    """Restarts the test in a mount namespace with empty directories of engines and kubelet."""
    if os.environ.get("OWN_MOUNTS"):
        return
    os.environ["OWN_MOUNTS"] = "1"
    os.execvp("unshare", ("unshare", "-m", sys.executable, *sys.argv))


def snapshot(*args):
    done = subprocess.run((PROGRAM, "-J", "--pss", "none", *args), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60, check=False)
    return json.loads(done.stdout)


def memory_mount():
    """Where the cgroups with the memory controller are."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = [line.split() for line in file]
    for fields in mounts:
        if "cgroup" in fields and "memory" in fields[-1].split(","):
            return fields[4]
    return next((fields[4] for fields in mounts if "cgroup2" in fields), None)


class Container:
    """A process in a cgroup of its own, as the kubelet with cgroupfs makes them."""

    def __init__(self, top, uid, ident):
        self.path = os.path.join(top, "pod" + uid, ident)
        os.makedirs(self.path, exist_ok=True)
        self.id, self.uid, self.want = ident, uid, None
        self.process = subprocess.Popen(("sleep", "3600"))
        write(self.path + "/cgroup.procs", str(self.process.pid))

    def link(self, pod, space, name):
        os.symlink("/nowhere", "%s/%s_%s_%s-%s.log" % (LOGS, pod, space, name, self.id))
        self.want = (space, pod, name)

    def end(self):
        self.process.kill()
        self.process.wait()
        for name in os.listdir(LOGS):
            if self.id in name:
                os.unlink(os.path.join(LOGS, name))
        wait_until(lambda: cgroup_removed(self.path))
        cgroup_removed(os.path.dirname(self.path))  # unless the pod has other containers


def hex_id(rng):
    return "%064x" % rng.getrandbits(256)


def wrong_names(containers, rows):
    """Containers that are shown with a name that is not theirs, or without the one that they have."""
    found = {row["pid"]: row for row in rows}
    for c in containers:
        row = found[c.process.pid]
        # On a busy machine a cgroup is not read in time; then there is no name, and no wrong one.
        if row["cgroup"] is None:
            unread.append(c.process.pid)
            continue
        shown = (row["namespace"], row["pod"], row["container"], row["container_status"], row["container_id"])
        want = (*(c.want or (None, c.uid, c.id[:12])), "ok" if c.want else "unnamed", c.id)
        if shown != want:
            yield shown, want


def series(text):
    return set(re.findall(r'^zmem_group_processes\{group="((?:[^"\\]|\\.)*)"', text, re.M))


def churn(rng, top, containers, number):
    """Ends a third; their ids are used again, by pods of other names. The first links come late."""
    rng.shuffle(containers)
    old, containers[:] = containers[:PODS], containers[PODS:]
    for c in old:
        c.end()
    new = [Container(top, "%08x-0000-4000-8000-%012x" % (number, i), c.id) for i, c in enumerate(old)]
    containers += new
    return new


def check_names(top):
    rng = random.Random(22)
    containers = []
    try:
        for pod in range(PODS):
            uid = "%08x-aaaa-4000-8000-000000000000" % pod
            for i in range(EACH):
                containers.append(Container(top, uid, hex_id(rng)))
                containers[-1].link("web-%d" % pod, "prod-%d" % (pod % 7), "app%d" % i)
        check_groups(containers)
        with Serve("-g", "container", "-n", str(BOUND), "--interval", "0.3", "--pss", "none") as serve:
            check_churn(rng, top, containers, serve)
    finally:
        for c in containers:
            c.end()


def check_pod_uid(top):
    """A pod of which no file has the name is its uid: in groups, in a recording and in metrics."""
    uid = "0a1b2c3d-aaaa-4000-8000-5e6f7a8b9c0d"
    container = Container(top, uid, hex_id(random.Random(31)))
    chosen = ("-p", str(container.process.pid))
    try:
        rows = snapshot("-g", "pod", *chosen)["groups"]
        result([(g["group"], g["pod"], g["namespace"]) for g in rows] == [(uid, uid, None)], "-g pod: its uid", rows)
        result(all(g["mem_current_bytes"] is not None for g in rows), "-g pod: what its cgroup holds", rows)
        with tempfile.TemporaryDirectory() as directory:
            path = directory + "/pod.zmem"
            done = subprocess.run((PROGRAM, "record", "-q", "-c", "1", path), stderr=subprocess.PIPE, check=False)
            replayed = subprocess.run((PROGRAM, "-J", "-q", "--replay", path, "-g", "pod", *chosen), capture_output=True, check=False)
        rows = json.loads(replayed.stdout or "{}").get("groups", ())
        result([g["group"] for g in rows] == [uid], "a recording has it", (rows, done.stderr, replayed.stderr))
        done = subprocess.run((PROGRAM, "-q", "-g", "pod", "-F", "openmetrics", "--pss", "none", *chosen), stdout=subprocess.PIPE, check=True)
        result('zmem_group_processes{group="%s",pod="%s"} 1\n' % (uid, uid) in done.stdout.decode(), "metrics have it", done.stdout[:300])
    finally:
        container.end()


def check_jobs(top):
    """A step of Slurm is a container in its job, which has a cgroup, too. A task of Nomad is one in its allocation."""
    alloc = "8ba85cef-5b0e-4c1c-9f3a-0a1b2c3d4e5f"
    made = ("slurm/uid_1000/job_123/step_0/task_0", "slurm/uid_1000/job_123/step_batch", "nomad/share/%s.redis" % alloc)
    processes = []
    try:
        for path in (os.path.join(top, name) for name in made):
            os.makedirs(path)
            processes.append(subprocess.Popen(within(path, "sleep", "3600")))
            wait_until(lambda path=path: has_process(path))
        chosen = ("-p", pids_of(processes))
        # What the test makes lies in a cgroup of the test, which is not one of a scheduler.
        inside = " (in %s)" % os.path.basename(top)
        for key, want in (("container", {"job_123/step_0" + inside: 1, "job_123/step_batch" + inside: 1, alloc + "/redis" + inside: 1}),
                          ("pod", {"job_123" + inside: 2, alloc + inside: 1})):
            groups = snapshot("-g", key, *chosen)["groups"]
            result({g["group"]: g["procs"] for g in groups} == want, "-g %s: jobs and allocations" % key, groups)
            charged = {g["group"] for g in groups if g["mem_current_bytes"] is not None}
            result(charged == {name for name in want if key == "container" or name.startswith("job")}, "-g %s: charges" % key, charged)
    finally:
        for process in processes:
            process.kill()
            process.wait()
        for name in ("slurm", "nomad"):
            wait_until(lambda name=name: all([cgroup_removed(path) for path, _, _ in os.walk(os.path.join(top, name), topdown=False)]))


def within(cgroup, *command):
    """The command, to be run in this cgroup."""
    return ("sh", "-c", 'echo 0 >"$0/cgroup.procs" && exec "$@"', cgroup, *command)


def has_process(cgroup):
    return read(cgroup + "/cgroup.procs")


def snapshot_within(cgroup, *args):
    """As seen from a cgroup namespace that begins at this cgroup."""
    command = within(cgroup, "unshare", "-C", PROGRAM, "-J", "--pss", "none", *args)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    return json.loads(done.stdout)


def check_owners(top):
    """What a user makes in a cgroup of his own is never of the system."""
    own = os.path.basename(top) + "-of-user"
    mine = os.path.join(os.path.dirname(top), own)
    manager = "user.slice/user-%d.slice/user@%d.service/" % (USER, USER)
    real = Container(top, "00000001-aaaa-4000-8000-000000000000", hex_id(random.Random(30)))
    real.link("api-0", "kube-system", "kube-apiserver")
    scope = "docker-%s.scope" % real.id
    made = (scope, "postgresql.service", manager + scope, manager + "postgresql.service")
    processes = []
    os.mkdir(mine)
    os.chown(mine, USER, USER)
    try:
        for path in (os.path.join(mine, name) for name in made):
            subprocess.run(("mkdir", "-p", path), user=USER, group=USER, extra_groups=(), check=True)
            processes.append(subprocess.Popen(within(path, "sleep", "3600")))
            wait_until(lambda path=path: has_process(path))
        check_shown(real, own, processes, lambda: snapshot_within(mine, "-o", "+unit", "-p", pids_of(processes)))
    finally:
        for process in processes:
            process.kill()
            process.wait()
        real.end()
        wait_until(lambda: all([cgroup_removed(path) for path, _, _ in os.walk(mine, topdown=False)]))


def pids_of(processes):
    return ",".join(str(p.pid) for p in processes)


def check_shown(real, own, processes, within_own):
    pids = pids_of((real.process, *processes))

    def shown(document):
        rows = {row["pid"]: row for row in document["processes"]}
        return [(rows[p.pid]["unit"], rows[p.pid]["container"], rows[p.pid]["pod"]) for p in processes]

    def groups(key):
        return {g["group"]: g["procs"] for g in snapshot("-g", key, "-p", pids)["groups"]}

    whole = snapshot("-o", "+unit", "-p", pids)
    row = next(row for row in whole["processes"] if row["pid"] == real.process.pid)
    result((row["container"], row["pod"]) == ("kube-apiserver", "api-0"), "the container with this id has its name", row)
    user, forged = " (user %d)" % USER, "%s (user %d)" % (real.id[:12], USER)
    in_own, user_in_own = " (in %s)" % own, " (user %d in %s)" % (USER, own)
    scope = "docker-%s.scope" % real.id
    want = [(scope + in_own, forged, None), ("postgresql.service" + in_own, None, None),
            (scope + user_in_own, forged, None), ("postgresql.service" + user_in_own, None, None)]
    result(shown(whole) == want, "in a cgroup of a user: not that container, no unit of the system", shown(whole))
    want = [(scope + user, forged, None), ("postgresql.service" + user, None, None)]
    got = shown(within_own())[2:]
    result(got == want, "below the user's manager: his", got)
    by = groups("container")
    result(by == {"kube-system/api-0/kube-apiserver": 1, forged: 2, None: 2}, "-g container: two containers", by)
    by = groups("pod")
    result(by == {"kube-system/api-0": 1, None: 4}, "-g pod: the user's are in none", by)
    found = snapshot("--unit", "postgresql", "-p", pids)["processes"]
    result(not found, "--unit: the name alone means the system's", [row["pid"] for row in found])
    found = snapshot("--unit", "x, postgresql.service" + user_in_own, "-p", pids)["processes"]
    result([row["pid"] for row in found] == [processes[3].pid], "--unit: with its manager", [row["pid"] for row in found])


def check_groups(containers):
    pids = ",".join(str(c.process.pid) for c in containers)
    start = time.monotonic()
    rows = snapshot("-o", "+container", "-p", pids)["processes"]
    print("# %d containers: %.3f s" % (len(containers), time.monotonic() - start))
    wrong = list(wrong_names(containers, rows))
    result(len(rows) == PODS * EACH and not wrong, "300 containers have their names", wrong[:3])
    groups = {g["group"]: g for g in snapshot("-g", "container", "-p", pids)["groups"]}
    differ = set(groups) ^ {"/".join(c.want) for c in containers}
    result(not differ, "-g container: each by its own name", sorted(map(str, differ))[:3])
    groups = {g["group"]: g for g in snapshot("-g", "pod", "-p", pids)["groups"]}
    result(len(groups) == PODS and all(g["procs"] == EACH for g in groups.values()), "-g pod: its containers")
    result(all(g["mem_current_bytes"] is not None for g in groups.values()), "-g pod: what the cgroup of the pod holds",
           list(groups.items())[:1])
    groups = {g["group"]: g["procs"] for g in snapshot("-g", "namespace", "-p", pids)["groups"]}
    result(len(groups) == 7 and sum(groups.values()) == PODS * EACH, "-g namespace", groups)


def check_churn(rng, top, containers, serve):
    wrong, most, other = [], 0, 0
    for number in range(ROUNDS):
        new = churn(rng, top, containers, number + 1)
        pids = ",".join(str(c.process.pid) for c in containers)
        wrong += wrong_names(containers, snapshot("-o", "+container", "-p", pids)["processes"])
        for i, c in enumerate(new):
            c.link("job-%d-%d" % (number, i), "batch", "run")
        wrong += wrong_names(containers, snapshot("-o", "+container", "-p", pids)["processes"])
        # serve keeps names for a minute, and asks again for those that it does not have.
        want = {"/".join(c.want) for c in containers} | {"none", "other"}
        bad = set()

        def all_named():
            nonlocal most, other
            labels = series(serve.get("/metrics").text)
            most, other = max(most, len(labels)), other + ("other" in labels)
            # Its last snapshot may be older than the containers.
            bad.clear()
            bad.update(label for label in labels if re.fullmatch("[0-9a-f]{12}", label) or
                       label.startswith(("prod-", "batch")) and label not in want)
            return not bad

        wait_until(all_named)
        wrong += [("serve", label) for label in bad]
    result(not wrong, "churn: no name of one container on another", wrong[:3])
    result(len(unread) <= UNREAD_MAX, "churn: cgroups are read in time", len(unread))
    result(1 < most <= BOUND + 1 and other, "churn: never more labels than the bound", (most, other))
    print("# at most %d labels with a bound of %d" % (most, BOUND))


def check_podman(root):
    if not need("podman", "podman"):
        return
    bundle = os.path.join(root, "rootfs")
    os.makedirs(bundle + "/bin")
    shutil.copy(O + "/fleet", bundle + "/bin/fleet")
    for path in ("proc", "sys", "dev", "etc"):
        os.mkdir(os.path.join(bundle, path))
    # crun wants no controller in the unified hierarchy of a hybrid machine.
    subprocess.run(("umount", "/sys/fs/cgroup/unified"), stderr=subprocess.DEVNULL, check=False)
    podman = ("podman", "--runroot", root + "/run", "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs")
    name = "zmem-test-%d" % os.getpid()
    run = subprocess.run((*podman, "run", "-d", "-i", "--name", name, "--network", "none", "--ulimit", "nofile=64:64",
                          "--ulimit", "nproc=64:64", "--rootfs", bundle, "/bin/fleet", "3", "64"),
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    if run.returncode:
        print("skip podman: it cannot run a container here: " + run.stderr.strip().splitlines()[-1])
        return
    ident = run.stdout.strip()
    try:
        rows = [p for p in snapshot("-o", "+container")["processes"] if p["container_id"] == ident]
        result(rows and all((p["container"], p["container_status"]) == (name, "ok") for p in rows),
               "podman: the name of its container", [(p["pid"], p["container"], p["container_status"]) for p in rows])
        groups = [g for g in snapshot("-g", "container")["groups"] if g["group"] == name]
        result(len(groups) == 1 and groups[0]["container_id"] == ident, "podman: -g container", groups)
    finally:
        subprocess.run((*podman, "rm", "-f", "-t", "0", name), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=120, check=False)


def main():
    own_mounts()
    root = "/var/lib/containers"
    os.makedirs(root, exist_ok=True)
    os.makedirs("/var/log", exist_ok=True)
    for path in (root, "/var/log"):
        subprocess.run(("mount", "-t", "tmpfs", "tmpfs", path), check=True)
    os.mkdir(LOGS)
    top = os.path.join(memory_mount(), "kubepods-test-%d" % os.getpid())
    os.mkdir(top)
    try:
        run_checks((check_owners, check_pod_uid, check_jobs, check_names), top)
    finally:
        os.rmdir(top)
    run_checks((check_podman,), root)
    return exit_code()


sys.exit(main())
