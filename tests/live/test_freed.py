#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it switches KSM on, and off again
"""FREED: what becomes free when a group of processes ends, in scenes of pages and of files (support/freed_scene.py)."""

import contextlib
import ctypes
import mmap
import os
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from freed_scene import (ANON, CLONE_NEWNS, LIBC, LIMIT, MADV_HUGEPAGE, MIB, MS_PRIVATE, MS_REC, PAGE, SHARED,  # noqa: E402
                         anon, cgroups, check, child_of_member, document, fill, freed_of, join, kept, members, memfd, read,
                         write, write_files)
from outcome import MKMEM, exit_code, have, huge_pages, mkmem_pids, need, result, run_checks, wait_until  # noqa: E402

MADV_MERGEABLE = 12
MAP_HUGETLB = 0x40000
KSM = "/sys/kernel/mm/ksm/"


# ---- scenes ----


def private(_):
    check("private memory", 32, lambda s: s.start("A", anon, 32 * MIB))


def cow_inside(_):
    def parent():
        area = anon(32 * MIB)
        child_of_member("A", lambda: fill(area, 0, 8 * MIB, 1))
        child_of_member("A")

    check("copied on write within the group", 40, lambda s: s.start("A", parent))


def cow_outside(_):
    def parent():
        area = anon(32 * MIB)
        child_of_member("B", lambda: fill(area, 0, 8 * MIB, 1))

    check("copied on write by another group", 8, lambda s: s.start("A", parent))


def shared_inside(_):
    def parent():
        anon(32 * MIB, SHARED)
        for _ in range(3):
            child_of_member("A")

    check("MAP_SHARED | MAP_ANONYMOUS within the group", 32, lambda s: s.start("A", parent))


def shared_outside(_):
    def parent():
        anon(32 * MIB, SHARED)
        child_of_member("A")
        child_of_member("B")

    check("MAP_SHARED | MAP_ANONYMOUS of two groups", 0, lambda s: s.start("A", parent))


def mapped_thrice(_):
    def map_thrice():
        fd = memfd(32 * MIB)
        for _ in range(3):
            area = mmap.mmap(fd, 32 * MIB)
            kept.append(area)
            sum(area[at] for at in range(0, 32 * MIB, PAGE))
        os.close(fd)

    check("a file that one process maps three times", 32, lambda s: s.start("A", map_thrice))


def unmapped(_):
    check("a memfd that is not mapped", 32, lambda s: s.start("A", memfd, 32 * MIB))


def passed(_):
    def send(end):
        socket.send_fds(end, [b"x"], [memfd(32 * MIB)])

    def receive(end):
        kept.append(socket.recv_fds(end, 1, 1))

    def both(s):
        a, b = socket.socketpair()
        s.start("A", send, a)
        s.start("B", receive, b)
        a.close()
        b.close()

    def waits(s):
        a, b = socket.socketpair()
        s.start("A", send, a)
        s.start("B", lambda: None)
        a.close()
        kept.append(b)

    check("a memfd that another group has", 0, both)
    check("a memfd that waits in a socket of another process", 0, waits)
    kept.clear()


def duplicated(_):
    def parent():
        fd = memfd(32 * MIB)
        os.dup(fd)
        child_of_member("A")

    check("a memfd with several descriptors in several processes", 32, lambda s: s.start("A", parent))


def linked(_):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        path = directory + "/file"

        def open_file():
            fd = os.open(path, os.O_RDWR | os.O_CREAT)
            for _ in range(32):
                os.write(fd, b"x" * MIB)

        check("a file of a tmpfs, with a name", 0, lambda s: s.start("A", open_file))
        os.unlink(path)

        def unlink():
            open_file()
            os.unlink(path)

        check("a file of a tmpfs, without a name", 32, lambda s: s.start("A", unlink))


def huge(_):
    def area():
        return anon(32 * MIB, advice=MADV_HUGEPAGE)

    def parent(group):
        area()
        child_of_member(group)

    def split():
        pages = area()
        child_of_member("A", lambda: fill(pages, 0, 8 * MIB, 1))
        child_of_member("A", lambda: pages.madvise(mmap.MADV_DONTNEED, 0, 16 * MIB + PAGE))

    check("huge pages", 32, lambda s: s.start("A", area))
    check("huge pages that a group shares", 32, lambda s: s.start("A", parent, "A"))
    check("huge pages of two groups", 0, lambda s: s.start("A", parent, "B"))
    check("huge pages that are mapped in parts", 40, lambda s: s.start("A", split))


@contextlib.contextmanager
def merging():
    before = {name: read(KSM + name) for name in ("pages_to_scan", "sleep_millisecs", "run")}
    try:
        for name, value in zip(before, ("100000", "1", "1")):
            write(KSM + name, value)
        yield
    finally:
        for name, value in before.items():
            write(KSM + name, value)


def merged(_):
    """Each page is there twice: in two processes, or in one."""
    if not os.path.exists("/proc/self/ksm_merging_pages"):
        print("skip KSM: this kernel does not count the merged pages of a process")
        return

    def mergeable(size, again=0):
        area = anon(size)
        fill(area, size - again, size, again - size)
        area.madvise(MADV_MERGEABLE)

    def with_child(group):
        child_of_member(group, lambda: mergeable(16 * MIB))
        mergeable(16 * MIB)

    def wait(_):
        wait_until(lambda: sum(int(read("/proc/%d/ksm_merging_pages" % pid))
                               for pid in members("A") + members("B")) * PAGE >= 32 * MIB, LIMIT)
        time.sleep(2.5)  # time itself: every 2 s the kernel folds into memory.stat what CPUs keep (FLUSH_TIME in mm/memcontrol.c)

    with merging():
        check("pages that KSM has merged in a group", 16, lambda s: s.start("A", with_child, "A"), wait)
        check("pages that KSM has merged in two groups", 0, lambda s: s.start("A", with_child, "B"), wait)
        check("pages that KSM has merged in one process", 16, lambda s: s.start("A", mergeable, 32 * MIB, 16 * MIB),
              wait)


def hugetlb(_):
    def both(size):
        anon(16 * MIB)
        area = mmap.mmap(-1, size, flags=ANON | MAP_HUGETLB)
        kept.append(area)
        area[0] = 1

    if not need("hugetlb", "no page of hugetlb, which its pool gets back"):
        return
    with huge_pages(1) as size:
        if size:
            check("no page of hugetlb, which its pool gets back", 16, lambda s: s.start("A", both, size))
        else:
            print("skip hugetlb: no huge page could be reserved")


def mounted(path):
    """A tmpfs in a mount namespace of one's own, with 16 MiB in a file that is closed and 16 MiB in one without a
    name."""
    for args in ((None, "/", None, MS_REC | MS_PRIVATE), ("tmpfs", path, "tmpfs", 0)):
        if not args[0] and LIBC.unshare(CLONE_NEWNS):
            raise OSError(ctypes.get_errno(), "unshare")
        if LIBC.mount(*(a.encode() if isinstance(a, str) else a for a in args), None):
            raise OSError(ctypes.get_errno(), "mount")
    write_files(path)


def namespaces(_):
    if not need("mount", "mount namespaces of the group"):
        return
    with tempfile.TemporaryDirectory() as path:

        def alone():
            mounted(path)
            child_of_member("A")

        def with_child():
            mounted(path)
            child_of_member("B")

        def held(s):
            pid = s.start("A", mounted, path)
            kept.append(os.open("/proc/%d/ns/mnt" % pid, os.O_RDONLY))

        def opened(s):
            pid = s.start("A", mounted, path)
            kept.append(os.open("/proc/%d/root%s/closed" % (pid, path), os.O_RDONLY))

        def joined(s):
            pid = s.start("A", mounted, path)
            s.start("B", enter, pid)

        def enter(pid):
            fd = os.open("/proc/%d/ns/mnt" % pid, os.O_RDONLY)
            if LIBC.setns(fd, 0):
                raise OSError(ctypes.get_errno(), "setns")
            os.close(fd)

        check("a tmpfs of a mount namespace of the group", 32, lambda s: s.start("A", alone))
        check("a tmpfs of a mount namespace that has another process", 0, lambda s: s.start("A", with_child))
        check("a tmpfs of a mount namespace that another process has joined", 16, joined)
        check("a tmpfs of a mount namespace that a descriptor keeps", 16, held)
        os.close(kept.pop())
        check("a tmpfs of which another process has a file open", 16, opened)
        os.close(kept.pop())


def address_space(_):
    """Two processes with one address space: alone, neither frees it."""
    with cgroups():
        child = subprocess.Popen([MKMEM, "clone_vm"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                 preexec_fn=lambda: join("A"))
        try:
            pids = list(mkmem_pids(child).values())
            together, _ = freed_of()
            rows = {p["pid"]: p for p in document("-s", "freed")["processes"]}
            alone = [rows[pid]["freed_bytes"] for pid in pids]
            size = min(rows[pid]["rss_anon_bytes"] for pid in pids)
            result(len(pids) > 1 and max(alone) < size <= together, "two processes with one address space",
                   (alone, size, together))
        finally:
            child.stdin.close()
            child.wait()
            child.stdout.close()


def unknown(_):
    """Where it is not known there is a reason."""
    for args in (("--source", "proc"), ("--pss", "rollup"), ("--pss", "none"), *(() if have("counters") else ((),))):
        rows = document(*args, "-s", "freed")["processes"]
        result(rows and all(p["freed_bytes"] is None and p["freed_status"] == "unsupported" for p in rows),
               "not known with " + " ".join(args), rows[:1])
    rows = document()["processes"]
    result(all(p["freed_bytes"] is None and p["freed_status"] == "skipped" for p in rows), "not asked for", rows[:1])


def main():
    run_checks((unknown,), None)
    if need("counters cgroups", "what becomes free"):
        run_checks((private, cow_inside, cow_outside, shared_inside, shared_outside, mapped_thrice, unmapped, passed,
                    duplicated, linked, huge, merged, hugetlb, namespaces, address_space), None)
    sys.exit(exit_code())


main()
