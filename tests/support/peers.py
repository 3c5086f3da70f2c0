# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Values of processes from other tools and from zmem-bpf: each as {key: {value: kB}}."""

import contextlib
import json
import os
import pwd
import shutil
import subprocess
import tempfile

from outcome import MKMEM, PROGRAM, have, mkmem_pids, wait_until

# A user without a name and without other processes; or our own.
UID = 64123 if have("users ptrace") else os.geteuid()
# As an expression for smem.
USER = "^%s$" % {user.pw_uid: user.pw_name for user in pwd.getpwall()}.get(UID, UID)
LIMIT = 60
ENV = dict(os.environ, LC_ALL="C.UTF-8")


def run(*command, **more):
    more.setdefault("env", ENV)
    return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=LIMIT,
                          check=False, **more)


def installed(program):
    return shutil.which(program) is not None


@contextlib.contextmanager
def mkmem(*shapes, uid=UID):
    """Runs a copy of mkmem, which no other process maps, as a separate user; yields
    {(shape, role): pid} and the name of the copy. smemstat takes a process without a process group in the pid
    namespace for a kernel thread."""
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o777)
        program = directory + "/peer-program-mkmem"
        shutil.copy(MKMEM, program)
        env = dict(os.environ, TMPDIR=directory)
        with subprocess.Popen((program,) + shapes, stdin=subprocess.PIPE, env=env, user=uid,
                              start_new_session=True, stdout=subprocess.PIPE, text=True, errors="replace") as child:
            pids = mkmem_pids(child)
            try:
                yield pids, program
            finally:
                child.stdin.close()


def listed(pids):
    return ",".join(str(pid) for pid in pids)


# ---- values of zmem-bpf ----


def document_of(*args):
    done = run(PROGRAM, *args, "--json")
    if done.returncode:
        raise RuntimeError("exit code %d: %s" % (done.returncode, done.stderr.decode()[:300]))
    return json.loads(done.stdout)


def document(*args):
    return document_of("--verify", "0", *args)


def values(row):
    """In kB, not rounded, without values that were not measured."""
    return {key[:-len("_bytes")]: value / 1024 for key, value in row.items()
            if key.endswith("_bytes") and value is not None}


def ours(pids):
    return {p["pid"]: values(p) for p in document("-p", listed(pids))["processes"]}


# ---- values of other tools ----


def ps(pids):
    out = run("ps", "-o", "pid=,pss=,uss=,rss=", "-p", listed(pids)).stdout
    rows = [[int(word) for word in line.split()] for line in out.splitlines()]
    return {row[0]: dict(zip(("pss", "uss", "rss"), row[1:])) for row in rows}


def smem(*args, columns="pid maps uss pss rss swap"):
    """Rows by their first column, in whole kB."""
    done = run("smem", "-H", "-c", columns, *args)
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace").strip().splitlines()[-1])
    rows = [line.split() for line in done.stdout.decode(errors="replace").splitlines()]
    names = columns.split()[1:]
    return {" ".join(row[:-len(names)]): dict(zip(names, (int(n) for n in row[-len(names):])))
            for row in rows if len(row) > len(names)}


def smemstat(pids):
    with tempfile.TemporaryDirectory() as directory:
        path = directory + "/json"
        run("smemstat", "-q", "-p", listed(pids), "-o", path)
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)["smemstat"]["smem-per-process"]
    return {row["pid"]: {key: row[key] // 1024 for key in ("swap", "uss", "pss", "rss")}
            for row in rows}


def rollup(pid):
    """Also returns the text, by which ps_mem distinguishes processes."""
    with open("/proc/%d/smaps_rollup" % pid, encoding="utf-8") as file:
        text = file.read()
    lines = [line.split() for line in text.splitlines()[1:]]
    return {words[0].rstrip(":"): int(words[1]) for words in lines}, text


def by_program(pids):
    """As ps_mem documents its method: by program, private memory and each one's share of what is
    shared, Pss - Private; hugetlb pages, which neither has, on top. Where all processes of a program
    say the same to the byte they are taken for one address space (CLONE_VM), and count once."""
    groups = {}
    for pid in pids:
        value, text = rollup(pid)
        name = os.path.basename(os.readlink("/proc/%d/exe" % pid)).removesuffix(" (deleted)")
        huge = value.get("Private_Hugetlb", 0)
        private = sum(kb for key, kb in value.items() if key.startswith("Private_")) - huge
        group = groups.setdefault(name, {"procs": 0, "private": 0, "shared": 0, "texts": set()})
        group["procs"] += 1
        group["private"] += private + huge
        group["shared"] += value["Pss"] - private
        group["texts"].add(text)
    for group in groups.values():
        if group["procs"] > 1 and len(group["texts"]) == 1:
            group["private"] /= group["procs"]
            group["shared"] /= group["procs"]
        group["total"] = group["private"] + group["shared"]
    return groups


def between(read_ours, read_theirs):
    """Values of the tool, and ours, which were equal before and after it. Another test's pressure on memory, such as
    a pool of huge pages that grows, moves pages for seconds; a page on its way counts as mapped once."""
    def read():
        nonlocal theirs, after
        before, theirs, after = read_ours(), read_theirs(), read_ours()
        return before == after

    theirs = after = None
    wait_until(read, LIMIT)
    return after, theirs


def wait_for_exec(pid, name):
    """Waits until a started process runs that program."""
    def runs():
        with open("/proc/%d/comm" % pid, encoding="utf-8") as file:
            return file.read() == name + "\n"

    wait_until(runs)
