#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Memory of the machine of which the truth is known: pages of a driver that a process maps, data that waits in sockets,
hugetlb pages that two processes map."""
import contextlib
import ctypes
import mmap
import os
import re
import shlex
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import oom  # noqa: E402
import peers  # noqa: E402
from outcome import exit_code, have, huge_pages, need, result, run_checks, wait_until  # noqa: E402

MIB = 1 << 20
RING, BLOCK = 512 * MIB, 4 * MIB
# What other processes may change meanwhile.
SLACK = 128 * MIB
SOL_PACKET, PACKET_RX_RING = 263, 5


def system():
    return peers.document_of("system", "--pss", "none")


def changes(before, after):
    return {key: after[part][key] - before[part][key] for part in ("memory", "user", "across")
            for key in after[part] if isinstance(after[part][key], int)}


def check_packet_ring():
    """The ring is in Mapped, and in no counter of the cache (net/packet/af_packet.c, vm_insert_page())."""
    if not need("packet", "a packet ring"):
        return
    # Other tests take and give back memory meanwhile.
    for _ in range(5):
        before = system()
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as ring:
            ring.setsockopt(SOL_PACKET, PACKET_RX_RING, struct.pack("4I", BLOCK, RING // BLOCK, 4096, RING // 4096))
            with mmap.mmap(ring.fileno(), RING):
                change = changes(before, system())
        if abs(change["unaccounted_bytes"] - RING) < SLACK and abs(change["mapped_bytes"] - RING) < SLACK and \
                abs(change["cache_bytes"]) < SLACK and abs(change["user_bytes"]) < SLACK:
            break
    result(abs(change["mapped_bytes"] - RING) < SLACK, "a packet ring is in Mapped", change)
    result(abs(change["unaccounted_bytes"] - RING) < SLACK, "a packet ring has no other counter", change)
    result(abs(change["cache_bytes"]) < SLACK and abs(change["user_bytes"]) < SLACK,
           "a packet ring makes no other part larger or smaller", change)


def check_unevictable():
    """Locked pages, and those of a ramfs: the kernel cannot free them. Other tests lock and unlock less meanwhile."""
    if not need("mount", "locked pages and a ramfs"):
        return
    size = 96 * MIB
    libc = ctypes.CDLL(None)
    with mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory, tempfile.TemporaryDirectory() as at:
        subprocess.run(["mount", "-t", "ramfs", "zmem", at], check=True)
        try:
            address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            before = system()["across"]
            libc.mlock(ctypes.c_void_p(address), ctypes.c_size_t(size))
            locked = system()["across"]
            with open(at + "/file", "wb") as file:
                file.write(b"x" * size)
            both = system()["across"]
            libc.munlock(ctypes.c_void_p(address), ctypes.c_size_t(size))
        finally:
            subprocess.run(["umount", at], check=True)
    for what, a, b, key in (("locked pages", before, locked, "mlocked_bytes"), ("locked pages", before, locked, "unevictable_bytes"),
                            ("a ramfs", locked, both, "unevictable_bytes")):
        result(abs(b[key] - a[key] - size) <= 32 * MIB, "%s: %s" % (what, key), b[key] - a[key])


def check_sockets():
    """
    Data that nobody reads. What a CPU counts is added when it is above 1 MiB (SK_MEMORY_PCPU_RESERVE of
    include/net/proto_memory.h), before and after.
    """
    before = system()
    with contextlib.ExitStack() as stack:
        sender = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        # Two are in the buffer that each user may have.
        for _ in range(256):
            receiver = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            receiver.bind(("127.0.0.1", 0))
            for _ in range(2):
                sender.sendto(bytes(60000), receiver.getsockname())
        change = changes(before, system())
    result(change["sockets_bytes"] >= 512 * 60000 - 2 * os.cpu_count() * MIB, "data that waits in a socket is in sockets", change)


def check_hugetlb():
    """Two processes that map the same 8 pages of 2 MiB."""
    if not need("hugetlb", "hugetlb pages of two processes"):
        return
    with huge_pages(8), mmap.mmap(-1, 16 * MIB, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | 0x40000) as memory:  # MAP_HUGETLB
        memory[::4096] = b"x" * (16 * MIB // 4096)
        pid = os.fork()
        if pid == 0:
            memory[::4096] = b"y" * (16 * MIB // 4096)
            os.kill(os.getpid(), 19)  # SIGSTOP
        os.waitpid(pid, os.WUNTRACED)
        check_holders(pid)
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def check_holders(child):
    for source in ("bpf", "proc") if have("counters") else ("proc",):
        both = peers.document_of("-p", "%d,%d" % (os.getpid(), child), "--source", source)
        one = peers.document_of("-p", str(child), "--source", source)
        result([p["hugetlb_bytes"] for p in both["processes"]] == [16 * MIB] * 2 and
               both["totals"]["hugetlb_bytes"] is None, "%s: shared hugetlb pages have no sum" % source, both["totals"])
        result(one["totals"]["hugetlb_bytes"] == 16 * MIB, "%s: those of one process have one" % source, one["totals"])
        group = peers.document_of("-p", "%d,%d" % (os.getpid(), child), "--source", source, "-g", "user")
        result([g["hugetlb_bytes"] for g in group["groups"]] == [None], "%s: nor has a group" % source, group["groups"])
    for options in (("--by-file",), ("-g", "user")):
        maps = peers.document_of("maps", "%d,%d" % (os.getpid(), child), *options)
        result(maps["totals"]["hugetlb_bytes"] is None, "maps %s: no sum either" % " ".join(options), maps["totals"])


def on_terminal(pressure):
    """A snapshot on a terminal, with these words as /proc/pressure/memory, in a mount namespace of its own."""
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(pressure)
        file.flush()
        command = shlex.join(("unshare", "-m", "sh", "-c", 'mount --bind "$0" /proc/pressure/memory && exec "$1"', file.name,
                              peers.PROGRAM))
        return subprocess.run(("script", "-qec", command, "/dev/null"), capture_output=True, text=True, check=True,
                              stdin=subprocess.DEVNULL).stdout


def check_limit():
    """The short form names the memory cgroup that is nearest to its limit; the sums are those of processes."""
    if not need("cgroups", "the fullest cgroup"):
        return
    code = "import sys; held = bytearray(b'x') * (60 << 20); print('ready', flush=True); sys.stdin.read()"
    with oom.Group("zmem full", "64M") as group:
        with subprocess.Popen(("sh", "-c", 'echo $$ >"$0/cgroup.procs"; exec "$1" -c "$2"', group.path, sys.executable, code),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
            child.stdout.readline()
            def short():
                return subprocess.run((peers.PROGRAM, "system"), capture_output=True, text=True, check=True).stdout
            # A cgroup of another test may be fuller for a moment.
            named = wait_until(lambda: re.search(r"^Fullest cgroup: (9\d|100) % of 64.0M in /\S*zmem full-", short(), re.M))
            out = short()
            if need("mount", "the fullest cgroup in a snapshot"):
                calm, stalled = (on_terminal("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
                                             "full avg10=%s avg60=0.00 avg300=0.00 total=0\n" % full)
                                 for full in ("0.99", "1.00"))
                result("memory PSI:" in calm and "Fullest cgroup" not in calm,
                       "a snapshot of a calm machine reads no limit", calm)
                result("Fullest cgroup: " in stalled, "while tasks wait, a snapshot has the fullest cgroup", stalled)
            child.stdin.close()
        result(named, "the fullest cgroup", out)
        result(re.search(r"^\d+ processes hold |^PSS of \d+ of \d+ processes ", out, re.M), "the sums are of processes", out)


def check_kills():
    """Of today: what the usual recording has. It is another one in a mount namespace of its own."""
    if not need("bpf cgroups mount", "kills of today"):
        return
    code = ("mount -t tmpfs none /var/lib && mkdir /var/lib/zmem-bpf && mount --bind \"$0\" /var/lib/zmem-bpf && "
            "exec \"$@\"")
    with tempfile.TemporaryDirectory() as directory, oom.Group("zmem-today") as group:
        oom.record(directory + "/one.zmem", group, oom.eater(directory, "eats-today"), 2)
        os.mkdir(directory + "/kept")
        os.rename(directory + "/one.zmem", directory + "/kept/0000000001.zmem")

        def limits(*command):
            done = subprocess.run(("unshare", "-m", "sh", "-c", code, directory + "/kept", *command, peers.PROGRAM, "system"),
                                  capture_output=True, text=True, check=True)
            return next((line for line in done.stdout.splitlines() if "OOM kills since boot: " in line), ""), done.stderr
        line, said = limits()
        result(re.search(r"OOM kills since boot: \d+, today: 2$", line) and not said, "kills of today", (line, said))
        # A zone in which the day begins with this second. The kills were before: the recording went on for a second.
        west = int(time.time()) % 86400
        line, said = limits("env", "TZ=ZZZ%02d:%02d:%02d" % (west // 3600, west // 60 % 60, west % 60))
        result(line.endswith(", today: 0") and not said, "those before midnight are not of today", (line, said))
        os.unlink(directory + "/kept/0000000001.zmem")
        line, said = limits()
        result(line.split(": ")[-1].isdecimal() and not said, "without a recording: since boot alone", (line, said))


def main():
    run_checks([check_packet_ring, check_sockets, check_unevictable, check_hugetlb, check_limit, check_kills])
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
