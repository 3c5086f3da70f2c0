#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it counts huge pages that are mapped in part
"""FREED: what holds files of shared memory beside descriptors and mappings, huge pages of which a process maps a part, and
processes that are born meanwhile (support/freed_scene.py)."""

import array
import ctypes
import mmap
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from freed_scene import (CLONE_NEWIPC, CLONE_NEWNS, LIBC, MADV_HUGEPAGE, MIB, MS_PRIVATE, MS_REC, PAGE, ROOM,  # noqa: E402
                         SHARED, Scene, anon, cgroups, check, child_of_member, document, freed_of, join, kept, kill_all,
                         memfd, usage, write_files)
from outcome import exit_code, need, result, run_checks  # noqa: E402

SLEEP = shutil.which("sleep")
SYS_IO_URING_SETUP, SYS_IO_URING_REGISTER, SYS_MEMFD_SECRET = 425, 427, 447
IORING_REGISTER_FILES = 2
IPC_PRIVATE, IPC_RMID, IPC_CREAT = 0, 0, 0o1000
HALF = 256 * PAGE
HUGE = 2 * HALF

LIBC.shmat.restype = ctypes.c_void_p
LIBC.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)


def checked(value, what):
    if value is None or value == -1 or value == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), what)
    return value


def see(name, expected, *functions, **more):
    check(name, expected, *functions, measure=usage, **more)


# ---- programs ----


def write_program(fd, size):
    """A program that sleeps, with so much behind it."""
    with open(SLEEP, "rb") as f:
        os.write(fd, f.read())
    for at in range(0, size, MIB):
        os.pwrite(fd, b"x" * MIB, (4 * MIB) + at - MIB)


def program(size):
    """A descriptor of a memfd with a program, as runc copies itself to one."""
    fd = os.memfd_create("zmem-program", 0)
    write_program(fd, size)
    read_only = os.open("/proc/self/fd/%d" % fd, os.O_RDONLY | os.O_CLOEXEC)
    os.close(fd)
    return read_only


def run(path):
    kept.append(subprocess.Popen(("sleep", "1000"), executable=path, close_fds=False))


def run_memfd(fd):
    run("/proc/self/fd/%d" % fd)
    os.close(fd)


def programs(_):
    def from_memfd():
        run_memfd(program(32 * MIB))

    def from_both(s):
        fd = program(32 * MIB)
        s.start("A", run_memfd, fd)
        s.start("B", run_memfd, fd)
        os.close(fd)

    def from_deleted():
        with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
            fd = os.open(directory + "/program", os.O_RDWR | os.O_CREAT, 0o700)
            write_program(fd, 32 * MIB)
            os.close(fd)
            run(directory + "/program")

    see("a program that is a memfd", 32, lambda s: s.start("A", from_memfd))
    see("a program that is a memfd, which another group runs as well", 0, from_both)
    see("a program that is a deleted file of a tmpfs", 32, lambda s: s.start("A", from_deleted))


# ---- file systems ----


def mount_tmpfs(path):
    """A tmpfs in a mount namespace of one's own."""
    checked(LIBC.unshare(CLONE_NEWNS), "unshare")
    checked(LIBC.mount(None, b"/", None, MS_REC | MS_PRIVATE, None), "mount")
    checked(LIBC.mount(b"tmpfs", path.encode(), b"tmpfs", 0, None), "mount")


def with_files(path):
    mount_tmpfs(path)
    write_files(path)


def file_systems(_):
    if not need("mount", "file systems of a group"):
        return
    with tempfile.TemporaryDirectory() as path:

        def with_program():
            mount_tmpfs(path)
            fd = os.open(path + "/program", os.O_RDWR | os.O_CREAT, 0o700)
            write_program(fd, 32 * MIB)
            os.close(fd)
            run(path + "/program")

        def run_other(s):
            pid = s.start("A", with_program)
            s.start("B", lambda: run("/proc/%d/root%s/program" % (pid, path)))

        def stand(s):
            pid = s.start("A", with_files, path)
            s.start("B", lambda: os.chdir("/proc/%d/root%s" % (pid, path)))

        def look(s):
            pid = s.start("A", with_files, path)
            s.start("B", lambda: os.chroot("/proc/%d/root%s" % (pid, path)))

        def stand_inside():
            with_files(path)
            os.chdir(path)
            child_of_member("A", lambda: os.chdir("/"))

        def in_flight(s):
            pid = s.start("A", with_files, path)
            s.start("B", lambda: kept.append(in_queue(os.open("/proc/%d/root%s" % (pid, path), os.O_RDONLY))))

        see("a program on a tmpfs of the group", 32, lambda s: s.start("A", with_program))
        see("a program on a tmpfs of the group, which another group runs", 0, run_other)
        see("a tmpfs of the group, a directory of its processes", 32, lambda s: s.start("A", stand_inside))
        see("a tmpfs of the group, the directory of another process", 16, stand)
        see("a tmpfs of the group, the root of another process", 16, look)
        see("a tmpfs of the group, a directory in flight elsewhere", 16, in_flight)


# ---- System V segments ----


def segment(size, remove):
    number = checked(LIBC.shmget(IPC_PRIVATE, size, IPC_CREAT | 0o600), "shmget")
    address = checked(LIBC.shmat(number, None, 0), "shmat")
    ctypes.memset(address, 1, size)
    if remove:
        checked(LIBC.shmctl(number, IPC_RMID, None), "shmctl")
    return number, address


def segments(_):
    if not os.path.exists("/proc/sysvipc/shm"):
        print("skip segments: this kernel has none")
        return
    made = []

    def removed(group):
        segment(32 * MIB, True)
        child_of_member(group)

    def stays(s):
        number, address = segment(32 * MIB, False)
        made.append(number)
        s.start("A", lambda: None)
        LIBC.shmdt(ctypes.c_void_p(address))

    def of_namespace(attached=True, group="A"):
        checked(LIBC.unshare(CLONE_NEWIPC), "unshare")
        _, address = segment(32 * MIB, False)
        if not attached:
            LIBC.shmdt(ctypes.c_void_p(address))
        child_of_member(group)

    def named(s):
        pid = s.start("A", of_namespace)
        kept.append(os.open("/proc/%d/ns/ipc" % pid, os.O_RDONLY))

    see("a removed segment", 32, lambda s: s.start("A", removed, "A"))
    see("a removed segment that another group has attached", 0, lambda s: s.start("A", removed, "B"))
    see("a segment that was not removed", 0, stays)
    for number in made:
        LIBC.shmctl(number, IPC_RMID, None)
    see("a segment of an IPC namespace of the group", 32, lambda s: s.start("A", of_namespace))
    see("one that no process has attached", 32, lambda s: s.start("A", of_namespace, False))
    see("a segment of an IPC namespace that another group has", 0, lambda s: s.start("A", of_namespace, False, "B"))
    see("a segment of an IPC namespace that a descriptor keeps", 0, named)
    os.close(kept.pop())


# ---- descriptors elsewhere ----


def in_queue(*fds):
    """The files, which wait in a socket and are not open any more. Returns both ends."""
    a, b = socket.socketpair()
    a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
    for fd in fds:
        os.close(fd)
    return a, b


def ring_of(fd):
    """A ring of io_uring with which the file is registered; it is not open any more."""
    parameters = ctypes.create_string_buffer(120)
    ring = checked(LIBC.syscall(SYS_IO_URING_SETUP, 4, parameters), "io_uring_setup")
    files = (ctypes.c_int * 3)(-1, fd, -1)
    checked(LIBC.syscall(SYS_IO_URING_REGISTER, ring, IORING_REGISTER_FILES, files, 3), "io_uring_register")
    os.close(fd)
    return ring


def has_rings():
    parameters = ctypes.create_string_buffer(120)
    ring = LIBC.syscall(SYS_IO_URING_SETUP, 4, parameters)
    if ring >= 0:
        os.close(ring)
    return ring >= 0


def elsewhere(_):
    def queued():
        kept.append(in_queue(memfd(16 * MIB), memfd(16 * MIB)))

    def queued_deep():
        """In a socket that waits in a socket: that is not looked for."""
        fd = memfd(32 * MIB)
        a, b = in_queue(os.dup(fd))
        kept.extend((a, in_queue(b.detach())))

    def connected():
        """In a connection that is not accepted."""
        listener = socket.socket(socket.AF_UNIX)
        listener.bind("\0zmem-freed-%d" % os.getpid())
        listener.listen()
        end = socket.socket(socket.AF_UNIX)
        end.connect(listener.getsockname())
        socket.send_fds(end, [b"x"], [fd := memfd(32 * MIB)])
        os.close(fd)
        kept.extend((listener, end))

    def queued_for_both():
        kept.append(in_queue(memfd(32 * MIB)))
        child_of_member("B")

    def registered(group):
        ring_of(memfd(32 * MIB))
        child_of_member(group)

    see("a memfd in a socket of the group", 32, lambda s: s.start("A", queued))
    see("a memfd in a connection that is not accepted", 32, lambda s: s.start("A", connected))
    see("a memfd in a socket that two groups have", 0, lambda s: s.start("A", queued_for_both))
    see("a memfd of which not all holders are found", 32, lambda s: s.start("A", queued_deep), status="another_reference")
    if not has_rings():
        print("skip io_uring: this kernel has none, or it is switched off")
        return
    see("a memfd that is registered with io_uring", 32, lambda s: s.start("A", registered, "A"))
    see("a memfd that is registered with a ring of two groups", 0, lambda s: s.start("A", registered, "B"))


def secret(_):
    def both(group):
        fd = LIBC.syscall(SYS_MEMFD_SECRET, 0)
        os.truncate(fd, 16 * MIB)
        area = mmap.mmap(fd, 16 * MIB)
        for at in range(0, 16 * MIB, PAGE):
            area[at] = 1
        kept.append(area)
        child_of_member(group)

    fd = LIBC.syscall(SYS_MEMFD_SECRET, 0)
    if fd < 0:
        print("skip memfd_secret: this kernel has none")
        return
    os.close(fd)
    see("secret memory", 16, lambda s: s.start("A", both, "A"))
    see("secret memory of two groups", 0, lambda s: s.start("A", both, "B"))


def inherited(_):
    """The program that reads FREED has the file as well, and will end."""
    fds = []

    def make(end):
        fd = memfd(32 * MIB)
        socket.send_fds(end, [b"x"], [fd])

    def receive(s):
        a, b = socket.socketpair()
        s.start("A", make, a)
        fds.extend(socket.recv_fds(b, 1, 1)[1])
        a.close()
        b.close()

    see("a memfd that the reader has inherited", 32, receive, fds=fds)


def unwalked(_):
    """The processes that hold it are not in a row."""
    def parent():
        anon(32 * MIB, SHARED)
        child_of_member("B")

    with cgroups():
        scene = Scene()
        try:
            pid = scene.start("A", parent)
            row = document("-p", str(pid), "-s", "freed")["processes"][0]
            result(row["freed_status"] == "ok" and row["freed_bytes"] < 8 * MIB, "shared memory of a process without a row",
                   (row["freed_status"], row["freed_bytes"]))
        finally:
            kill_all("A")
            kill_all("B")
            scene.stop()


# ---- huge pages ----


def halves(area, first):
    """Unmaps one half of each huge page."""
    for at in range(0, len(area), HUGE):
        area.madvise(mmap.MADV_DONTNEED, at + (0 if first else HALF), HALF)


def aligned(size):
    """Huge pages begin at multiples of their size."""
    area = anon(size + HUGE, advice=MADV_HUGEPAGE)
    begin = -ctypes.addressof(ctypes.c_char.from_buffer(area)) % HUGE
    return area, begin


def huge(_):
    if not os.path.exists("/sys/kernel/mm/transparent_hugepage/enabled"):
        print("skip huge pages: this kernel has none")
        return

    def unmap(area, begin, size, first):
        for at in range(begin, begin + size, HUGE):
            area.madvise(mmap.MADV_DONTNEED, at + (0 if first else HALF), HALF)

    def half():
        unmap(*aligned(32 * MIB), 32 * MIB, True)

    def both(group, other):
        area, begin = aligned(32 * MIB)
        child_of_member(group, lambda: unmap(area, begin, 32 * MIB, False))
        if other:
            child_of_member(other, lambda: unmap(area, begin, 32 * MIB, True))
            area.close()
        else:
            unmap(area, begin, 32 * MIB, True)

    see("huge pages of which one half is mapped", 32, lambda s: s.start("A", half))
    see("huge pages of which two processes map a half", 32, lambda s: s.start("A", both, "A", None))
    see("huge pages of which another group maps the other half", 0, lambda s: s.start("A", both, "B", None))


# ---- processes that are born meanwhile ----

FORKS = 30


def forks(_):
    """A process with 64 MiB forks again and again. Its children live for a moment, so FREED has all of it, or is raced."""
    def fork_on(pause):
        anon(64 * MIB)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        if os.fork() == 0:
            join("A")
            while True:
                if os.fork() == 0:
                    time.sleep(0.01)  # time itself: children of all ages are there
                    os._exit(0)
                time.sleep(pause)  # time itself: some are born in a reading, none in others

    for name, pause in (("children that are born in each reading", 0.003), ("children that are born in some readings", 0.2)):
        with cgroups():
            scene = Scene()
            try:
                scene.start("A", fork_on, pause)
                seen = [freed_of() for _ in range(FORKS)]
            finally:
                kill_all("A")
                scene.stop()
        known = [freed for freed, status in seen if status == "ok"]
        good = all(status in ("ok", "raced") for _, status in seen) and (known or pause < 0.1)
        result(good and all(64 * MIB <= freed <= 72 * MIB + ROOM for freed in known), name, (len(known), sorted(known)[:3], sorted(known)[-3:]))


def main():
    if need("counters cgroups", "what becomes free"):
        run_checks((programs, file_systems, segments, elsewhere, secret, inherited, unwalked, huge, forks), None)
    sys.exit(exit_code())


main()
