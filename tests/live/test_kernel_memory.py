#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# needs: counters
# alone: free frames of the machine are compared
"""Kernel memory that processes hold by descriptors (column kernel): a process makes one kind of it with a known size. The column says
that size, and as many frames come free when the descriptors are closed."""

import array
import ctypes
import fcntl
import json
import mmap
import os
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile

import paths  # noqa: F401
from outcome import (MEMORY_CGROUPS, PROGRAM, cgroup_removed, exit_code, need, read, result, run_checks, see_own_processes_only,
                     wait_until, write)

MIB = 1 << 20
SIZE = 64 * MIB
PAGE = mmap.PAGESIZE
NUMBER = {"x86_64": (321, 298, 425), "aarch64": (280, 241, 425)}.get(os.uname().machine)  # bpf, perf_event_open, io_uring_setup

# ---- what a process holds; each function returns the bytes that are known of it, or None ----

libc = ctypes.CDLL(None, use_errno=True)
kept = []


def system(number, *args):
    """Keeps the descriptor that the call returns."""
    fd = libc.syscall(number, *args)
    if fd < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    kept.append(fd)
    return fd


def ring(version, mapped=False):
    """One AF_PACKET ring of SIZE, in blocks of 64 KiB."""
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    block, frame = 64 << 10, 2048
    s.setsockopt(263, 10, version)  # PACKET_VERSION
    request = struct.pack("IIII", block, SIZE // block, frame, SIZE // frame)
    if version == 2:  # TPACKET_V3
        request += struct.pack("III", 60, 0, 0)
    s.setsockopt(263, 5, request)  # PACKET_RX_RING
    kept.append(s)
    if mapped:
        kept.insert(0, mmap.mmap(s.fileno(), SIZE))
    return SIZE


def pipes():
    for _ in range(SIZE // MIB):
        ends = os.pipe()
        fcntl.fcntl(ends[1], 1031, MIB)  # F_SETPIPE_SZ
        os.write(ends[1], bytes(MIB))
        kept.extend(ends)
    return SIZE


def fill(source, piece):
    """Sends until there is no room."""
    source.setblocking(False)
    try:
        while True:
            source.send(bytes(piece))
    except BlockingIOError:
        pass


def large(s, option):
    s.setsockopt(socket.SOL_SOCKET, option, 2 * MIB)


def unix(kind=socket.SOCK_STREAM):
    for _ in range(16):
        pair = socket.socketpair(socket.AF_UNIX, kind)
        large(pair[0], 32)  # SO_SNDBUFFORCE
        fill(pair[0], 3584)
        kept.extend(pair)


def datagrams():
    for _ in range(2000):
        pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        fill(pair[0], 3000)
        kept.extend(pair)


def tcp():
    listener = socket.socket()
    large(listener, 33)  # SO_RCVBUFFORCE
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    for _ in range(16):
        s = socket.socket()
        large(s, 32)
        s.connect(listener.getsockname())
        kept.extend((s, listener.accept()[0]))
        fill(s, 1 << 16)
    kept.append(listener)
    seen = [()]

    def settled():
        seen.append([struct.unpack("i", fcntl.ioctl(s.fileno(), 0x5411, bytes(4)))[0] for s in kept if s is not listener])  # SIOCOUTQ
        return seen[-1] == seen[-2]

    wait_until(settled)


def udp():
    for _ in range(16):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        large(s, 33)
        s.bind(("127.0.0.1", 0))
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sender.connect(s.getsockname())
        for _ in range(1000):
            sender.send(bytes(4000))
        kept.extend((s, sender))


def netlink():
    for _ in range(16):
        s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 2)  # NETLINK_USERSOCK
        large(s, 33)
        s.bind((0, 0))
        sender = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 2)
        sender.setblocking(False)
        try:
            for _ in range(1000):
                sender.sendto(bytes(3000), s.getsockname())  # a larger one takes twice what the kernel counts
        except BlockingIOError:
            pass
        kept.extend((s, sender))


def bpf_map(kind, key, value, entries, path=None):
    attr = struct.pack("IIIII", kind, key, value, entries, 1 if kind == 1 and path else 0).ljust(128, b"\0")
    fd = system(NUMBER[0], 0, attr, 128)
    memlock = re.search(r"memlock:\s*(\d+)", read("/proc/self/fdinfo/%d" % fd))
    return int(memlock.group(1))


def perf():
    for _ in range(16):
        attr = struct.pack("IIQ", 1, 64, 9).ljust(64, b"\0")  # PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY
        fd = system(NUMBER[1], attr, 0, -1, -1, 0)
        kept.insert(0, mmap.mmap(fd, MIB + PAGE))
    return 16 * (MIB + PAGE)


def uring():
    for _ in range(8):
        params = ctypes.create_string_buffer(120)
        fd = system(NUMBER[2], 32768, params)
        array_at = struct.unpack_from("I", params, 64)[0]  # sq_off.array: behind all else
        kept.insert(0, mmap.mmap(fd, 32768 * 64, offset=0x10000000))
        kept.insert(0, mmap.mmap(fd, array_at + 32768 * 4, offset=0))


WATCHES = 60000


def inotify(directory):
    for i in range(WATCHES):
        os.mkdir("%s/%d" % (directory, i))
    fd = libc.inotify_init()
    for i in range(WATCHES):
        if libc.inotify_add_watch(fd, b"%s/%d" % (directory.encode(), i), 2) < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch")
    kept.append(fd)


WATCHED = 15000


def epoll():
    e = select.epoll()
    for _ in range(WATCHED):
        fd = libc.eventfd(0, 0)
        e.register(fd)
        kept.append(fd)
    kept.insert(0, e)


def in_flight():
    """Full pipes, of which only the queue of a socket has descriptors."""
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    pipes()
    for i in range(0, len(kept), 8):
        a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", kept[i:i + 8]))]) if i < 80 else None
    for fd in kept:
        os.close(fd)
    kept[:] = [a, b]


def forked(parent):
    pipes()
    if os.fork() == 0:
        libc.prctl(1, signal.SIGKILL)
        if os.getppid() == parent:
            signal.pause()
        os._exit(0)
    return SIZE


MAKE = {
    "packet_ring v1": lambda d: ring(0), "packet_ring v2": lambda d: ring(1), "packet_ring v3": lambda d: ring(2),
    "mapped ring": lambda d: ring(2, True), "pipe": lambda d: pipes(), "unix": lambda d: unix(), "unix datagrams": lambda d: datagrams(),
    "tcp": lambda d: tcp(), "udp": lambda d: udp(), "netlink": lambda d: netlink(),
    "bpf_map array": lambda d: bpf_map(2, 4, 4096, SIZE // 4096), "bpf_map hash": lambda d: bpf_map(1, 4, 1000, SIZE // 1024),
    "bpf_map lru": lambda d: bpf_map(9, 4, 1000, SIZE // 1024), "bpf_map per CPU": lambda d: bpf_map(6, 4, 4096, 4000),
    "perf": lambda d: perf(), "io_uring": lambda d: uring(), "inotify": inotify, "epoll": lambda d: epoll(),
    "in flight": lambda d: in_flight(), "forked": lambda d: forked(os.getpid()),
}


def hold(name, directory):
    """Makes it, says what is known of its size, and closes it when it is told to."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (20000, 20000))
    known = MAKE[name](directory)
    print("READY", known or 0, flush=True)
    sys.stdin.readline()
    for item in kept:
        if isinstance(item, int):
            os.close(item)
        else:
            item.close()
    print("CLOSED", flush=True)
    sys.stdin.readline()


# ---- what is said of it ----


class Holder:
    """A process that holds memory of one kind."""

    def __init__(self, name):
        self.directory = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.process = subprocess.Popen((sys.executable, "-B", __file__, "--hold", name, self.directory.name), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        words = self.process.stdout.readline().split()
        self.known = int(words[1]) if words else None
        self.why = "" if words else self.process.stderr.read()

    def __enter__(self):
        return self

    def close(self, expected):
        """Closes what it holds. Returns the bytes that came free, as soon as they are as many as expected: sockets, maps and
        rings are freed after a grace period."""
        settle()
        before = free()
        self.tell("\n")
        self.process.stdout.readline()
        wait_until(lambda: abs(free() - before - expected) < NOISE, 3)
        return free() - before

    def tell(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
        self.directory.cleanup()


def settle():
    """Waits until what ended before has been freed."""
    seen = []

    def stable():
        seen.append(free())
        return len(seen) > 4 and max(seen[-5:]) - min(seen[-5:]) < MIB // 2

    wait_until(stable, 3)


def free():
    """Free frames, those on the lists of CPUs as well."""
    listed = sum(int(n) for n in re.findall(r"^ +count: +(\d+)", read("/proc/zoneinfo"), re.M))
    return int(re.search(r"MemFree: +(\d+)", read("/proc/meminfo")).group(1)) * 1024 + listed * PAGE


def row_of(pid, *args):
    done = subprocess.run((PROGRAM, "-J", "-o", "+kernel", *args), capture_output=True, check=False, timeout=60)
    document = json.loads(done.stdout)
    return [p for p in document.get("processes", document.get("groups")) if p.get("pid") == pid or pid is None][0]


def part(row, kind):
    found = [p for p in row["kernel_parts"] if p["kind"] == kind]
    return found[0] if found else {"bytes": 0, "mapped_bytes": 0, "descriptors": 0}


NOISE = 3 * MIB  # what others take and free meanwhile

# The kind that the column calls it, how much more than what is known it may be, and than what comes free less or more, in percent.
KINDS = {
    "packet_ring v1": ("packet_ring", 1, 2), "packet_ring v2": ("packet_ring", 1, 2), "packet_ring v3": ("packet_ring", 1, 2),
    "pipe": ("pipe", 2, 4), "unix": ("unix", 0, 10), "unix datagrams": ("unix", 0, 15), "tcp": ("tcp", 0, 15), "udp": ("udp", 0, 15),
    "netlink": ("netlink", 0, 15), "bpf_map array": ("bpf_map", 0, 3), "bpf_map hash": ("bpf_map", 0, 5), "bpf_map lru": ("bpf_map", 0, 5),
    "bpf_map per CPU": ("bpf_map", 0, 50), "inotify": ("inotify", 0, 25), "epoll": ("epoll", 0, 400),
}


def measured(name, kind):
    """The row of a process that holds it, what is known of it, what came free when it was closed, and the row behind that."""
    with Holder(name) as h:
        if h.known is None:
            raise RuntimeError(name + ": " + h.why)
        row = row_of(h.process.pid)
        said = part(row, kind)
        freed = h.close(said["bytes"] + said["mapped_bytes"])
        return row, h.known, freed, row_of(h.process.pid)


TRIES = 4  # others take and free memory meanwhile: what differs is measured again


def near(name, kind, off):
    for _ in range(TRIES):
        row, known, freed, after = measured(name, kind)
        said = part(row, kind)
        if abs(freed - said["bytes"] - said["mapped_bytes"]) <= NOISE + freed * off // 100:
            break
    return row, known, freed, after


def check_kinds():
    for name, (kind, more, off) in KINDS.items():
        row, known, freed, after = near(name, kind, off)
        said = part(row, kind)["bytes"]
        if known:
            result(known <= said <= known + known * more // 100, name + ": what is known", (said, known))
        if kind != "epoll":  # it ends with 15,000 files
            result(abs(freed - said) <= NOISE + freed * off // 100, name + ": as much comes free", (said, freed))
        else:
            result(WATCHED * 128 <= said <= WATCHED * 512, name + ": an entry and its hook for each", said)
        result(row["kernel_bytes"] >= said and row["kernel_status"] == "ok", name + ": it is in the sum", row["kernel_bytes"])
        result(after["kernel_bytes"] < 2 * MIB, name + ": nothing is left", after["kernel_parts"])


def check_mapped():
    """Pages of rings that the process maps are in its RSS, and not counted twice."""
    for name, kind in (("mapped ring", "packet_ring"), ("perf", "perf"), ("io_uring", "io_uring")):
        row, _, freed, after = near(name, kind, 5)
        said = part(row, kind)
        rss = row["rss_file_bytes"] - after["rss_file_bytes"]
        result(abs(said["bytes"] + said["mapped_bytes"] - freed) <= NOISE + freed // 20, name + ": what comes free", (said, freed))
        result(abs(rss - said["mapped_bytes"]) < MIB, name + ": what is in RSS is not in the sum", (said, rss))


def check_sharing():
    """A full pipe that fork shares: each process has half of it, a group all of it once."""
    with Holder("forked") as h:
        child = int(read("/proc/%d/task/%d/children" % (h.process.pid, h.process.pid)).split()[0])
        shares = [part(row_of(pid), "pipe")["bytes"] for pid in (h.process.pid, child)]
        result(abs(sum(shares) - SIZE) < SIZE // 50 and abs(shares[0] - shares[1]) < MIB, "two processes have half of it each", shares)
        group = row_of(None, "-g", "name", "-p", "%d,%d" % (h.process.pid, child))
        result(abs(part(group, "pipe")["bytes"] - SIZE) < SIZE // 50, "a group has it once", group["kernel_parts"])


def check_groups():
    """Rows of groups have it on request, by kind, and what two processes share once."""
    if not need("cgroups", "kernel memory of cgroups"):
        return
    name = "zmem-kernel-%d" % os.getpid()
    place = "%s/%s" % (MEMORY_CGROUPS, name)
    os.mkdir(place)
    try:
        with Holder("forked") as h:
            child = int(read("/proc/%d/task/%d/children" % (h.process.pid, h.process.pid)).split()[0])
            chosen = ("-p", "%d,%d" % (h.process.pid, child))
            for pid in (h.process.pid, child):
                write(place + "/cgroup.procs", pid)
            for args in (("cgroups", "--cgroup", "/" + name), ("-g", "cgroup", "--cgroup", "/" + name), ("-g", "container", *chosen),
                         ("-g", "unit", *chosen)):
                done = subprocess.run((PROGRAM, *args, "-J", "-o", "+kernel"), capture_output=True, check=False, timeout=60)
                rows = json.loads(done.stdout)["groups"]
                result(len(rows) == 1 and SIZE <= part(rows[0], "pipe")["bytes"] < SIZE + SIZE // 50 and
                       rows[0]["kernel_bytes"] == sum(p["bytes"] for p in rows[0]["kernel_parts"]), " ".join(args[:2]) + ": once", rows)
    finally:
        wait_until(lambda: cgroup_removed(place), 5)


def check_in_flight():
    """What only a message holds is of no process."""
    with Holder("in flight") as h:
        said = part(row_of(h.process.pid), "pipe")["bytes"]
        result(said < MIB, "a pipe in a message is of no process", said)


def check_others():
    """Without BPF the column is null, with the reason."""
    done = subprocess.run((PROGRAM, "--source", "proc", "-o", "pid,kernel,kernel_status", "-n", "1"), capture_output=True, text=True,
                          check=False, timeout=60)
    result("unsupported" in done.stdout and "KERNEL is not known: this needs BPF" in done.stderr, "from /proc it is not known", done)
    with Holder("pipe") as h:
        done = subprocess.run((PROGRAM, "maps", str(h.process.pid)), capture_output=True, text=True, check=False, timeout=60)
        result(re.search(r"kernel memory by descriptors 6\d\.\d MiB: pipe 1\.01 MiB \(descriptor \d+\), ", done.stdout), "maps lists the largest",
               done.stdout[-300:])


def main():
    if not NUMBER or not need("counters", "kernel memory"):
        return 0
    run_checks((check_kinds, check_mapped, check_sharing, check_groups, check_in_flight, check_others))
    return exit_code()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--hold"]:
        hold(*sys.argv[2:])
    else:
        see_own_processes_only()
        sys.exit(main())
