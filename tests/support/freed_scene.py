# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Scenes of FREED: a group A and other processes, B, in memory cgroups below one of their own. A is killed, and what is
still charged to both is compared with what FREED has said."""

import contextlib
import ctypes
import json
import mmap
import os
import signal
import subprocess

from outcome import MEMORY_CGROUPS as BASE, PROGRAM, cgroup_removed, read, result, wait_until, write

MIB = 1 << 20
PAGE = mmap.PAGESIZE
LIMIT = 60
OWN = "%s/zmem-freed-%d" % (BASE, os.getpid())
ANON = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
SHARED = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS
MADV_HUGEPAGE, MADV_NOHUGEPAGE = 14, 15
CLONE_NEWNS, CLONE_NEWIPC, MS_REC, MS_PRIVATE = 0x20000, 0x8000000, 0x4000, 0x40000
LIBC = ctypes.CDLL(None, use_errno=True)
# Counters of cgroups and of page tables lag: the kernel keeps a part of them by CPU.
ROOM = 2 * MIB
kept = []  # what a member holds until its end


def fill(area, begin=0, end=None, salt=0):
    """A word in each page that no other page has, so that KSM merges none."""
    for at in range(begin, len(area) if end is None else end, PAGE):
        area[at:at + 16] = b"%16d" % (at + salt)


def anon(size, flags=ANON, advice=MADV_NOHUGEPAGE):
    area = mmap.mmap(-1, size, flags=flags)
    area.madvise(advice)
    fill(area)
    kept.append(area)
    return area


def memfd(size):
    fd = os.memfd_create("zmem-freed", 0)
    os.truncate(fd, size)
    for _ in range(size // MIB):
        os.write(fd, b"x" * MIB)
    return fd


def join(group):
    write("%s/%s/cgroup.procs" % (OWN, group), os.getpid())


class Scene:
    """The processes of a scene. A member is ready when its function has returned; it waits for its end."""

    def __init__(self):
        self.pids = []
        self.end, self.alive = os.pipe()

    def start(self, group, function, *args):
        ready, tell = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(self.alive)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                join(group)
                function(*args)
                os.write(tell, b".")
                os.read(self.end, 1)
            finally:
                os._exit(0)
        os.close(tell)
        with open(ready, "rb", buffering=0) as f:
            if not f.read(1):
                raise RuntimeError("a member of %s failed" % group)
        self.pids.append(pid)
        return pid

    def stop(self):
        os.close(self.alive)
        os.close(self.end)
        for pid in self.pids:
            os.waitpid(pid, 0)


def child_of_member(group, function=lambda: None):
    """Forks in a member; the child waits for the end of the member's scene, too."""
    ready, tell = os.pipe()
    if os.fork() == 0:
        try:
            os.close(ready)
            join(group)
            function()
            os.write(tell, b".")
            signal.pause()
        finally:
            os._exit(0)
    os.close(tell)
    if not os.read(ready, 1):
        raise RuntimeError("a child failed")


def members(group):
    return [int(pid) for pid in read("%s/%s/cgroup.procs" % (OWN, group)).split()]


def page_tables():
    """By the processes themselves: in memory.stat they are with other memory of the kernel."""
    total = 0
    for pid in members("A") + members("B"):
        with contextlib.suppress(OSError):  # it has just ended
            for line in read("/proc/%d/status" % pid).splitlines():
                if line.startswith("VmPTE:"):
                    total += int(line.split()[1]) << 10
    return total


def charged():
    """Anonymous and shared memory that is charged to both groups, and page tables."""
    stat = dict(line.split() for line in read(OWN + "/memory.stat").splitlines())
    if "total_rss" in stat:
        total = int(stat["total_rss"]) + int(stat.get("total_shmem", 0))
    else:
        total = int(stat["anon"]) + int(stat["shmem"])
    return total + page_tables()


def usage():
    """All memory that is charged to both groups but the kernel's, of which page tables are in FREED. Of a large folio
    that is mapped in part, memory.stat counts the mapped pages alone, and secret memory as pages of files."""
    name = "/memory.usage_in_bytes" if os.path.exists(OWN + "/memory.usage_in_bytes") else "/memory.current"
    stat = dict(line.split() for line in read(OWN + "/memory.stat").splitlines())
    kernel = read(OWN + "/memory.kmem.usage_in_bytes") if name.startswith("/memory.usage") else stat["kernel"]
    return int(read(OWN + name)) - int(kernel) + page_tables()


def document(*args, fds=()):
    with subprocess.Popen((PROGRAM, "--json", *args), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          pass_fds=fds) as child:
        for fd in fds:
            os.close(fd)
        out, _ = child.communicate(timeout=LIMIT)
    return json.loads(out)


def freed_of(fds=()):
    """`fds`: descriptors that the program alone has from now on."""
    rows = document("-g", "cgroup", "-s", "freed", fds=fds)["groups"]
    row = next(r for r in rows if (r["group"] or "").endswith(OWN[len(BASE):] + "/A"))
    return row["freed_bytes"], row["freed_status"]


def kill_all(group):
    for pid in members(group):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def steady(least, charged):
    """The counters, when they stand still. On a busy machine they can lack all that was charged in the last two seconds
    (flush_memcg_stats_dwork(), mm/memcontrol.c): they have at least what was asked for."""
    wait_until(lambda: charged() >= least - ROOM, 10)
    last = [charged()]

    def still():
        last.append(charged())
        return last[-1] == last[-2]

    wait_until(still)
    return last[-1]


def settled(value, charged, patience=10):
    """Waits until the counters are near the value; the kernel folds what CPUs keep in some seconds."""
    wait_until(lambda: abs(charged() - value) <= ROOM, patience)
    return charged()


@contextlib.contextmanager
def cgroups():
    os.mkdir(OWN)
    if os.path.exists(OWN + "/cgroup.subtree_control"):
        write(OWN + "/cgroup.subtree_control", "+memory")
    try:
        for group in "AB":
            os.mkdir("%s/%s" % (OWN, group))
        yield
    finally:
        for group in "AB":
            kill_all(group)
            wait_until(lambda: not members(group))
            wait_until(lambda: cgroup_removed("%s/%s" % (OWN, group)))
        wait_until(lambda: cgroup_removed(OWN))


def check(name, expected, *functions, measure=charged, status="ok", fds=()):
    """`functions` start the scene. FREED is at least the memory expected, and what is free at the end. With another
    status it is not known."""
    with cgroups():
        scene = Scene()
        try:
            for function in functions:
                function(scene)
            freed, found = freed_of(fds)
            before = steady(expected * MIB, measure)
            kill_all("A")
            wait_until(lambda: not members("A"))
            after = settled(before - (expected * MIB if freed is None else freed), measure)
            really = before - after
            good = found == status and abs(really - (really if freed is None else freed)) <= ROOM
            good &= freed is None if status != "ok" else abs(freed - expected * MIB) <= 8 * MIB
            result(good, name, {"freed": freed, "status": found, "really": really, "expected": expected * MIB})
        finally:
            kill_all("A")
            scene.stop()


def write_files(path):
    """16 MiB in a file that is closed, and as much in one without a name."""
    for name in ("closed", "open"):
        fd = os.open(path + "/" + name, os.O_RDWR | os.O_CREAT)
        for _ in range(16):
            os.write(fd, b"x" * MIB)
        if name == "closed":
            os.close(fd)
    os.unlink(path + "/open")
