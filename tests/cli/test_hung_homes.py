#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The names of a user's containers are in his home, and the home may be on a file system that does not
answer: FUSE, or NFS without its server. A snapshot, a recording, serve and the kill of a process come
nevertheless, and say why there is no name."""
# needs: cgroups fuse mount

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile

import paths  # noqa: F401
from outcome import O, PROGRAM, cgroup_removed, exit_code, need, read, result, run_checks, wait_until, write
from serving import Serve
from stuck import Server

USER = 1234
ID = "3f9a6b5d1c0e2f7a8b4c6d9e1f0a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c"
NAMED, UNNAMED = "web (user %d)" % USER, "%s (user %d)" % (ID[:12], USER)
STORE = ".local/share/containers/storage/overlay-containers"
CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz", "corpus", "fuzz_proc_container", "podman")
ROOTS = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"))
ENDS_S = 30  # far more than it takes; without helpers it never ended


def own_mounts():
    """Restarts the test in a mount namespace."""
    if not os.environ.get("OWN_MOUNTS"):
        os.environ["OWN_MOUNTS"] = "1"
        os.execvp("unshare", ("unshare", "-m", sys.executable, *sys.argv))


def run(*args):
    done = subprocess.run((PROGRAM, *args), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=ENDS_S,
                          check=False)
    return done.returncode, done.stdout, done.stderr


@contextlib.contextmanager
def hung_home(directory):
    """The user has a home that only the user may read. A file system serves its file with names of containers."""
    home = directory + "/home"
    os.makedirs(os.path.join(home, STORE))
    for path, _, _ in os.walk(home):
        os.chown(path, USER, USER)
        os.chmod(path, 0o700)
    with open("/etc/passwd", encoding="utf-8") as old, open(directory + "/passwd", "w", encoding="utf-8") as new:
        new.write("u%d:x:%d:%d::%s:/bin/sh\n%s" % (USER, USER, USER, home, old.read()))
    subprocess.run(("mount", "--bind", directory + "/passwd", "/etc/passwd"), check=True)
    try:
        with contextlib.closing(Server(os.path.join(home, STORE), CORPUS, USER)) as server:
            yield server
    finally:
        subprocess.run(("umount", "/etc/passwd"), check=True)


class Container:
    """A cgroup as the engine of a user has it."""

    def __init__(self):
        root, self.limit = next((r for r in ROOTS if os.path.exists(os.path.join(r[0], "cgroup.procs"))), ROOTS[0])
        self.made = []
        path = root
        for name in ("user.slice", "user-%d.slice" % USER, "libpod-%s.scope" % ID):
            path = os.path.join(path, name)
            if not os.path.isdir(path):
                os.mkdir(path)
                self.made.append(path)
        self.path = path
        self.running = []

    def start(self, *command):
        join = 'echo 0 >"$0/cgroup.procs" && exec "$@"'
        self.running.append(subprocess.Popen(("sh", "-c", join, self.path, *command), stdin=subprocess.PIPE))
        wait_until(lambda: str(self.running[-1].pid) in self.processes() or self.running[-1].poll() is not None)
        return self.running[-1]

    def processes(self):
        return read(self.path + "/cgroup.procs").split()

    def set_limit(self, text):
        path = os.path.join(self.path, self.limit)
        if not os.path.exists(path):
            return False
        write(path, text)
        return True

    def close(self):
        for process in self.running:
            process.kill()
            process.wait()
            process.stdin.close()
        for path in reversed(self.made):
            wait_until(lambda path=path: cgroup_removed(path))


def shown(process):
    code, out, err = run("-J", "--pss", "none", "-p", str(process.pid))
    rows = json.loads(out)["processes"] if out else []
    return code, [(row["container"], row["container_status"]) for row in rows] or err


def check_snapshots(container, server):
    process = container.start("sleep", "3600")
    got = shown(process)
    result(got == (0, [(NAMED, "ok")]), "a home that answers: its container has a name", got)
    server.hang()
    # More than there may be helpers: each is left behind.
    got = [shown(process) for _ in range(6)]
    result(all(one == (0, [(UNNAMED, "timeout")]) for one in got), "a home that hangs: the snapshot says it", got)


def check_record(directory):
    path = directory + "/recording"
    code, _, err = run("record", path, "-c", "3", "-i", "0.2")
    result(code == 0, "it is recorded", (code, err))
    code, out, err = run("--replay", path, "-J", "-g", "container")
    groups = [group["group"] for group in json.loads(out)["groups"]] if out else err
    result(UNNAMED in groups, "the recording has the container", groups)


def check_serve():
    with Serve("-g", "container", "--interval", "0.2", "--pss", "none") as serve:
        codes, snapshots = [], set()

        # Of different snapshots: each reads the names anew.
        def is_answered():
            answer = serve.get("/metrics")
            codes.append((answer.code, 'group="%s"' % UNNAMED in answer.text))
            snapshots.update(re.findall(r"^zmem_last_collect_timestamp_seconds (\S+)", answer.text, re.M))
            return len(snapshots) >= 6

        wait_until(is_answered)
        result(all(one == (200, True) for one in codes) and len(snapshots) >= 6, "serve answers", (codes[-3:], snapshots))


def events(directory):
    code, out, err = run("incidents", directory, "-J")
    return json.loads(out)["events"] if code == 0 and out else err


def check_kill(container, directory):
    if not container.set_limit("32M"):
        print("skip a kill: the cgroup has no limit of memory")
        return
    keep = directory + "/keep"
    with subprocess.Popen((PROGRAM, "record", "--keep", "1h", keep, "-i", "0.5", "--stall", "0"),
                          stderr=subprocess.PIPE, text=True) as recorder:
        wait_until(lambda: run("--replay", keep)[0] == 0)
        victim = container.start(O + "/eat")
        victim.wait(ENDS_S)
        wait_until(lambda: any((e.get("victim") or {}).get("pid") == victim.pid for e in events(keep)))
        recorder.terminate()
        try:
            recorder.communicate(timeout=ENDS_S)
            result(recorder.returncode == 0, "the recorder ends", recorder.returncode)
        except subprocess.TimeoutExpired:
            result(False, "the recorder ends", "it does not")
            recorder.kill()
    kill = next((e for e in events(keep) if e["kind"] == "oom_kill" and e["victim"]["pid"] == victim.pid), None)
    result(kill and kill["victim"]["container"] == UNNAMED, "a kill has the container of its victim",
           kill and kill["victim"])


def check(directory):
    with hung_home(directory) as server, contextlib.closing(Container()) as container:
        check_snapshots(container, server)
        check_record(directory)
        check_serve()
        if need("bpf", "a kill"):
            check_kill(container, directory)


def main():
    own_mounts()
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        run_checks((check,), directory)
    return exit_code()


sys.exit(main())
