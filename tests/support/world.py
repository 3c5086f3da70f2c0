#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A world: processes of mkmem in memory cgroups of their own, made from a seed or told in its language. As a program,
world.py --seed N --describe prints the world of a seed; --seed N alone makes it, until the standard input ends."""

import argparse
import contextlib
import glob
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the tree stays clean

from outcome import MEMORY_CGROUPS as BASE, MKMEM, cgroup_removed, mkmem_pids, read, wait_until, write  # noqa: E402

MIB = 1 << 20
# Of all processes of a world, in MiB: other tests run beside it.
ROOM = 1400
GROUPS = "ABCDE"
# Its processes have ended, and it is removed; files of a tmpfs are left.
REMOVED = "R"


# ---- what a process may be ----
# Each is a function of a random.Random, a size in MiB that may be used, and the name of another group. It returns the
# steps of mkmem_steps.c.


def size_of(rng, room):
    """A size with its pages: some pages, some MiB, or at a border of the walk, and one page more or less."""
    border = rng.choice((2, 2, 32, 32, 64, 128))
    kind = rng.randrange(4)
    if kind == 0 or border > room:
        return "%dP" % rng.randint(1, max(1, min(600, room * 256)))
    if kind == 1:
        return "%dM" % rng.randint(1, max(1, min(40, room)))
    return "%dM%s" % (border * rng.randint(1, max(1, min(3, room // border))), rng.choice(("", "", "+1P", "-1P")))


def huge_of(rng, room):
    """A number of huge pages, often at a border of the walk (32 of them are 64 MiB)."""
    most = max(1, room // 2)
    return min(most, rng.choice((1, 2, 3, rng.randint(1, 24), 16, 32, 33, 31, 64)))


def child(rng, steps, other, name="child"):
    """A child that does the steps, sometimes in another group."""
    return "%s { %s%s }" % (name, "group %s; " % other if other and rng.random() < 0.4 else "", steps)


def private(rng, room, _):
    size = size_of(rng, room)
    return "a = small %s; %s" % (size, rng.choice(("fill a", "touch a", "fill a:%s/%dP" % (size, rng.randint(2, 9)))))


def forked(rng, room, other):
    size = size_of(rng, room // 2)
    write = rng.choice(("", "fill a", "fill a:%s/%dP" % (size, rng.randint(2, 40)), "drop a", "unmap a"))
    return "a = small %s; fill a; %s" % (size, child(rng, write, other))


def shared(rng, room, other):
    size = size_of(rng, room)
    return "a = shared %s; %s; %s" % (size, rng.choice(("fill a", "touch a:1P")), child(rng, "touch a", other))


def huge(rng, room, _):
    return "a = huge %dH" % huge_of(rng, room)


def huge_half(rng, room, other):
    count = min(40, huge_of(rng, room))
    verb = rng.choice(("drop", "unmap", "drop"))
    at, size = rng.choice(((0, 256), (100, 300), (511, 1), (1, 511)))
    cut = "; ".join("%s a+%dH+%dP:%dP" % (verb, i, at, size) for i in range(count))
    where = rng.randrange(3)
    if where == 0:
        return "a = huge %dH; %s" % (count, cut)
    if where == 1:
        return "a = huge %dH; %s" % (count, child(rng, cut, other))
    return "a = huge %dH; child {} %s" % (count, cut)


def huge_forked(rng, room, other):
    count = huge_of(rng, room // 2)
    write = "fill a:%dH/%dP" % (count, rng.choice((512, 512, rng.randint(2, 2000))))
    if rng.randrange(3) == 0:
        return "a = huge %dH; %s %s" % (count, child(rng, "", other), write)
    return "a = huge %dH; %s" % (count, child(rng, rng.choice(("", "fill a", write, write)), other))


def lazily_freed(rng, room, other):
    if rng.randrange(2):
        return "a = small %s; fill a; free a; fill a:1P; %s" % (size_of(rng, room), child(rng, "", other))
    count = huge_of(rng, room)
    return "a = huge %dH; free a:%dH; %s" % (count, rng.randint(1, count), rng.choice(("", "child {}")))


def memfd(rng, room, other):
    size = size_of(rng, room)
    return rng.choice((
        "f = memfd %s; write f" % size,
        "f = memfd %s; write f; %s" % (size, child(rng, "a = shared f; touch a", other)),
        "f = memfd %s; a = shared f; fill a; close f; %s" % (size, child(rng, "touch a", other)),
        "f = memfd %s; write f; p = private f; touch p; fill p:%s/3P" % (size, size),
    ))


def flying(rng, room, _):
    return "f = memfd %s; write f; %s f" % (size_of(rng, room), rng.choice(("send", "register")))


def pipes(rng, room, other):
    return "f = pipes %dM; %s" % (rng.randint(1, max(1, min(16, room))), child(rng, "", other))


def system_v(rng, room, other):
    kind = rng.choice(("sysv", "sysv", "segment"))
    return "%sa = %s %s; fill a; %s" % (rng.choice(("", "", "new_ipc; ")), kind, size_of(rng, room),
                                        child(rng, "touch a", other))


def tmpfs(rng, room, other):
    kind, size = rng.choice(("named", "unnamed")), size_of(rng, room)
    return rng.choice((
        "f = %s %s; write f" % (kind, size),
        "f = %s %s; write f; close f" % (kind, size),
        "f = %s %s; write f; %s" % (kind, size, child(rng, "a = shared f; touch a", other)),
    ))


def own_tmpfs(rng, room, other):
    end = rng.choice(("", "", "child {}", "outside { group %s; go_home }" % other if other else ""))
    return "new_mounts; mount tmpfs; f = named %s; write f; close f; %s" % (
        size_of(rng, room), end)


def in_memory(rng, room, _):
    where = rng.choice(("", "", "new_mounts; mount tmpfs; "))
    return "%sbecome %s %s; a = small 1M; fill a" % (where, rng.choice(("memfd", "named", "unnamed")),
                                                     size_of(rng, room))


def secret(rng, room, other):
    return "f = secret %s; a = shared f; fill a; %s" % (size_of(rng, min(room, 40)), child(rng, "", other))


def pids(rng, room, _):
    return "new_pids; inner { %s; inmost { b = small 3M; fill b } }" % private(rng, room, None)


def users(rng, room, _):
    return "new_users; %s" % private(rng, room, None)


def a_file(rng, room, other):
    size = size_of(rng, min(room, 40))
    return "f = filled %s; a = shared f; touch a; p = private f; fill p:%s/2P; %s" % (
        size, size, child(rng, "touch p", other))


def locked(rng, room, _):
    return "a = small %s; lock a" % size_of(rng, room)


def churn(rng, room, _):
    return "worker { forever { a = memory %dM; fill a; %s } }" % (
        rng.randint(1, max(1, min(8, room))), rng.choice(("exec_and_end", "fork_and_end", "")))


def swap(rng, room, other):
    size = size_of(rng, min(room, 60))
    half = "%dP" % rng.randint(1, 1024)
    return rng.choice((
        "a = small %s; fill a; out a; %s" % (size, child(rng, "", other)),
        "a = small %s; fill a; out a; %s" % (size, child(rng, "fill a:%s/5P" % size, other)),
        "a = small 5M; fill a; out a; %s touch a+1M:%s" % (child(rng, "touch a:%s" % half, other), half),
        "a = huge 3H; fill a; out a; %s touch a+1H:1H" % child(rng, "touch a:%s" % half, other),
        "a = shared %s; nohuge a; fill a; out a; %s" % (size, child(rng, "touch a:1P", other)),
        "f = memfd %s; a = shared f; fill a; out a" % size,
    ))


def hugetlb(rng, _, other):
    return rng.choice(("a = hugetlb 1L; fill a", "a = shared_hugetlb 1L; fill a; %s" % child(rng, "touch a", other)))


def ksm(rng, room, other):
    return "a = small %dM; merge a 0x%x; %s" % (rng.randint(1, max(1, min(8, room))), rng.randint(1, 255),
                                               child(rng, rng.choice(("", "fill a:1P")), other))


# What machines have on request.
WITH = {"swap": swap, "hugetlb": hugetlb, "ksm": ksm}
KINDS = (private, forked, shared, huge, huge_half, huge_forked, lazily_freed, memfd, flying, system_v, tmpfs, own_tmpfs,
         in_memory, secret, pids, users, a_file, locked)
# From this on, processes of a world do not stand still.
CHURNING = 0.1


def told(seed, more=(), room=ROOM):
    """[GROUP/NAME:STEPS] of a seed. With `more`, of WITH, it is another world."""
    rng = random.Random(seed)
    groups = GROUPS[:rng.randint(1, len(GROUPS))]
    count = rng.randint(4, 16)
    programs = []
    for number in range(count):
        group = rng.choice(groups)
        other = rng.choice([g for g in groups if g != group] or [None])
        kind = churn if rng.random() < CHURNING else rng.choice(KINDS)
        if more and rng.randrange(3) == 0:
            kind = WITH[rng.choice(more)]
        # Half of it: a copy that is written after fork needs as much again.
        most = min(room // count, rng.choice((2, 8, 70, 130, 260, 500)))
        programs.append("%s/%s%d:%s" % (group, kind.__name__, number, kind(rng, most, other)))
    if rng.randrange(3) == 0:
        programs.append("%s/left:%s" % (REMOVED, tmpfs(rng, min(40, room // count), None)))
    if rng.randrange(2):
        group = rng.choice(groups)
        programs.append("%s/pipes:%s" % (group, pipes(rng, room // count, rng.choice([g for g in groups if g != group] or [None]))))
    return programs


def finished(pid):
    """It has given back all: a cgroup does not list a process that begins to exit, and files are closed after the memory."""
    try:
        return read("/proc/%d/stat" % pid).rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


# ---- a world that exists ----


def sweep():
    """Removes what worlds left, the program of which was killed: their processes have ended, cgroups and files have not."""
    for path in glob.glob(BASE + "/zmem-world-*") + glob.glob("/dev/shm/zmem-world-*"):
        if os.path.exists("/proc/%s" % os.path.basename(path).split("-")[2]):
            continue
        if path.startswith(BASE):
            for group in (*glob.glob(path + "/*/"), path):
                cgroup_removed(group)
        else:
            shutil.rmtree(path, ignore_errors=True)


_worlds = itertools.count()


class World:
    """With `programs`: as told() makes them. All of it goes when the block ends, however it ends."""

    def __init__(self, programs):
        self.programs = programs
        self.groups = sorted({p.split("/", 1)[0] for p in programs} | {
            word for p in programs for at, word in enumerate(p.split()) if at and p.split()[at - 1] == "group"
            for word in (word.strip(";"),)})
        self.cgroup = "%s/zmem-world-%d-%d" % (BASE, os.getpid(), next(_worlds))
        self.inodes = {}
        self.child = self.place = self.disk = None
        self.skipped, self.seen = [], set()
        # Of FREED: its status, and what runs the program that reads it.
        self.status, self.reader = "ok", ()
        # Programs that do not stand still.
        self.busy = {p.split(":")[0].split("/")[-1] for p in programs if " forever " in p}

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        sweep()
        os.mkdir(self.cgroup)
        if os.path.exists(self.cgroup + "/cgroup.subtree_control"):
            write(self.cgroup + "/cgroup.subtree_control", "+memory")
        for group in self.groups:
            os.mkdir("%s/%s" % (self.cgroup, group))
        self.place = tempfile.mkdtemp(dir="/dev/shm", prefix="zmem-world-%d-" % os.getpid())
        self.disk = tempfile.mkdtemp()
        env = dict(os.environ, MKMEM_GROUPS=self.cgroup, TMPDIR=self.disk)
        self.child = subprocess.Popen((MKMEM, *self.programs), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      cwd=self.place, env=env, text=True, errors="replace", start_new_session=True)
        mkmem_pids(self.told_by_mkmem())
        self.pids()
        self.inodes = {group: os.stat("%s/%s" % (self.cgroup, group)).st_ino for group in self.groups}
        if REMOVED in self.groups:
            self.kill(REMOVED)
            wait_until(lambda: cgroup_removed("%s/%s" % (self.cgroup, REMOVED)))
            self.groups.remove(REMOVED)

    def told_by_mkmem(self):
        world = self

        class Lines:
            @property
            def stdout(self):
                for line in world.child.stdout:
                    if line.startswith("FAIL"):
                        raise RuntimeError("mkmem: " + line.strip())
                    if line.startswith(("SKIP", "LACK")):
                        world.skipped.append(line.strip())
                    yield line

        return Lines()

    def members(self, group):
        with contextlib.suppress(FileNotFoundError):
            found = [int(pid) for pid in read("%s/%s/cgroup.procs" % (self.cgroup, group)).split()]
            self.seen.update(found)
            return found
        return []

    def pids(self):
        return [pid for group in self.groups for pid in self.members(group)]

    def is_busy(self, group):
        return any(" forever " in p for p in self.programs if p.startswith(group + "/"))

    def kill(self, group):
        killed = set()

        def ended():
            for pid in self.members(group):
                killed.add(pid)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return not self.members(group) and all(map(finished, killed))

        return wait_until(ended)

    def charged(self):
        """Bytes charged to all groups without those of the kernel: exact but for what each CPU keeps."""
        if os.path.exists(self.cgroup + "/memory.usage_in_bytes"):
            return (int(read(self.cgroup + "/memory.usage_in_bytes")) -
                    int(read(self.cgroup + "/memory.kmem.usage_in_bytes")))
        stat = dict(line.split() for line in read(self.cgroup + "/memory.stat").splitlines())
        return int(read(self.cgroup + "/memory.current")) - int(stat.get("kernel", 0))  # since 5.18

    def remove_segments(self):
        for line in read("/proc/sysvipc/shm").splitlines()[1:]:
            words = line.split()
            if int(words[4]) in self.seen:
                subprocess.run(("ipcrm", "-m", words[1]), check=False)

    def __exit__(self, *_):
        if self.child:
            self.child.stdin.close()
            self.child.wait()
            self.child.stdout.close()
        for group in self.groups:
            self.kill(group)
        self.remove_segments()
        for group in self.groups:
            wait_until(lambda group=group: cgroup_removed("%s/%s" % (self.cgroup, group)))
        wait_until(lambda: cgroup_removed(self.cgroup))
        for directory in (self.place, self.disk):
            if directory:
                shutil.rmtree(directory, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--describe", action="store_true")
    parser.add_argument("--with", dest="more", default="", help=",".join(WITH))
    options = parser.parse_args()
    programs = told(options.seed, options.more.split(",") if options.more else ())
    print("# seed %d" % options.seed)
    print("\n".join(programs))
    if options.describe:
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with World(programs) as world:
        for group in world.groups:
            print("# %s: %s" % (group, " ".join(map(str, world.members(group)))))
        print("\n".join(world.skipped), "READY", sep="\n", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
