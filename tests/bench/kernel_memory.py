#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What kernel memory by descriptor costs:
kernel_memory.py [ROUNDS]: CPU time of a run without and with -o +kernel, in alternating pairs (60); each round has both, in
a random order, and the differences are of one round. Then the same beside processes that hold many descriptors of a kind
(39,800 of each), and what a descriptor takes.
kernel_memory.py --bytes FRAMES: the size of a recording with so many snapshots without and with -o +kernel.
As root."""

import os
import random
import resource
import socket
import statistics
import subprocess
import sys
import tempfile

import paths  # noqa: F401
from outcome import PROGRAM

PROCESSES, EACH = 20, 1990


def cpu_ms(*args):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run((PROGRAM, "-q", "-n", "1", *args), stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def pairs(rounds):
    """Medians without and with the column, and of the differences of a round, in ms."""
    ways = {"without": (), "with": ("-o", "+kernel")}
    times = []
    for _ in range(rounds):
        times.append({way: cpu_ms(*ways[way]) for way in random.sample(list(ways), len(ways))})
    more = sorted(turn["with"] - turn["without"] for turn in times)
    return [statistics.median(turn[way] for turn in times) for way in ways] + [statistics.median(more), more[0], more[-1]]


def open_pipe():
    """The same open file, by each of its descriptors."""
    first = os.pipe()[0]
    for _ in range(EACH - 2):
        os.dup(first)


def open_files():
    for _ in range(EACH):
        os.open("/dev/null", os.O_RDONLY)


def open_sockets():
    for _ in range(EACH):
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).detach()


class Holders:
    """Processes, each of which has EACH descriptors by `make`."""

    def __init__(self, make):
        self.pids, self.go = [], []
        for _ in range(PROCESSES):
            ready, end = os.pipe(), os.pipe()
            pid = os.fork()
            if pid == 0:
                os.close(end[1])
                make()
                os.write(ready[1], b"r")
                os.read(end[0], 1)
                os._exit(0)
            os.close(end[0])
            os.close(ready[1])
            self.pids.append(pid)
            self.go.append(end[1])
            if os.read(ready[0], 1) != b"r":
                raise SystemExit("a process that holds descriptors ended (ulimit -n?)")
            os.close(ready[0])

    def __enter__(self):
        return self

    def __exit__(self, *args):
        for fd in self.go:
            os.close(fd)
        for pid in self.pids:
            os.waitpid(pid, 0)


def measure(rounds):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 4096), hard), hard))
    print("%-26s %8s %8s   with less without, CPU ms (least, most)" % ("CPU ms a run", "without", "with"))
    without, with_, more, least, most = pairs(rounds)
    print("%-26s %8.1f %8.1f   %+.1f (%+.1f, %+.1f)" % ("this machine", without, with_, more, least, most))
    idle = more
    for name, make in (("a pipe", open_pipe), ("open files", open_files), ("sockets", open_sockets)):
        with Holders(make):
            without, with_, more, least, most = pairs(rounds)
        print("%-26s %8.1f %8.1f   %+.1f (%+.1f, %+.1f): %.2f us a descriptor" % (
            "%d of %s" % (PROCESSES * EACH, name), without, with_, more, least, most, 1e3 * (more - idle) / PROCESSES / EACH))


def measure_bytes(frames):
    sizes = {}
    with tempfile.TemporaryDirectory() as directory:
        for name, options in (("without", ()), ("with", ("-o", "+kernel"))):
            path = os.path.join(directory, name)
            subprocess.run((PROGRAM, "record", path, "-q", "-i", "0.2", "-c", str(frames), *options), check=True)
            sizes[name] = os.path.getsize(path)
    print("a snapshot: %.0f bytes without, %.0f with" % tuple(sizes[name] / frames for name in ("without", "with")))


if sys.argv[1:2] == ["--bytes"]:
    measure_bytes(int(sys.argv[2]) if len(sys.argv) > 2 else 50)
else:
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
