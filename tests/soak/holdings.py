# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a process that stays holds, seen from outside; the noise around it; when it holds more."""

import os
import struct
import subprocess
import tempfile
import time

from outcome import O, PROGRAM, result

PATIENCE = 30
# What malloc rounds.
HEAP_SLACK = 64 << 10
# What each process of the machine takes in the snapshot that is kept, and in what is made of it: 1.3 KiB.
ROW = 2 << 10
# What lies between that is in use, and memory that is kept and touched for the first time late.
RSS_SLACK = 2 << 20
MACHINE = "processes of the machine"
SANITIZED = "-san" in PROGRAM


class Heap:
    """Where heap.so tells the heap in use of a program and of its child."""

    def __init__(self):
        self.file = tempfile.NamedTemporaryFile()
        self.file.truncate(4096)

    def environ(self):
        # What malloc keeps for each thread counts as in use: it is to keep nothing.
        mine = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1"}
        if not SANITIZED:
            mine.update(LD_PRELOAD=O + "/heap.so", HEAP_FILE=self.file.name)
        return mine

    def read(self, which):
        with open(self.file.name, "rb") as file:
            return struct.unpack_from("=Q", file.read(), 8 * which)[0]


class Noise:
    """A program that ends with its standard input, and that says so if it `speaks` once it is ready."""

    def __init__(self, argv, speaks=False):
        self.child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE if speaks else None)
        if speaks and self.child.stdout.readline() != b"READY\n":
            raise RuntimeError("the fleet does not start")

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.child.stdin.close()
        self.child.wait()
        if self.child.stdout:
            self.child.stdout.close()


def fleet(program):
    """More processes than come later, so that no buffer has a reason to grow."""
    return Noise((program, "1000", "4"), True)


def processes():
    """How many there are now."""
    return sum(name.isdigit() for name in os.listdir("/proc"))


def holdings(pid, heap):
    """{what: how much} of a process; ProcessLookupError or FileNotFoundError if it is gone."""
    base = "/proc/%d" % pid
    with open(base + "/status", encoding="ascii", errors="replace") as file:
        status = dict(line.split(":\t", 1) for line in file if ":\t" in line)
    children = 0
    for task in os.listdir(base + "/task"):
        with open("%s/task/%s/children" % (base, task), encoding="ascii") as file:
            children += len(file.read().split())
    return {"heap": heap, "RSS": int(status["VmRSS"].split()[0]) << 10, "files": len(os.listdir(base + "/fd")),
            "threads": int(status["Threads"]), "children": children, MACHINE: processes()}


def least(samples):
    """Of each value, so that what is there for a moment does not count."""
    return {key: min(sample[key] for sample in samples) for key in samples[0]}


def has_more(before, after):
    """{what: (before, after)} of which there is more than there may be."""
    rows = max(0, after[MACHINE] - before[MACHINE]) * ROW
    slack = {"heap": HEAP_SLACK + rows, "RSS": RSS_SLACK + rows, MACHINE: after[MACHINE]}
    return {key: (before[key], after[key]) for key in before if after[key] > before[key] + slack.get(key, 0)}


def compare(who, before, after, grown):
    """`grown`: there were more processes than the fleet has, and buffers for them."""
    more = has_more(before, after)
    for what in (what for what in before if what != MACHINE):
        memory = what in ("heap", "RSS")
        if memory and (grown or SANITIZED):
            print("skip %s: %s: %s" % (who, what, "a sanitizer keeps its own" if SANITIZED else
                                       "somebody started more processes than our fleet"))
        else:
            result(what not in more, "%s: no more %s" % (who, what), more.get(what))
    if not SANITIZED:
        result(before["heap"] > 0, "%s: its heap is known" % who)
    print("# %s: " % who + ", ".join("%s %d to %d%s" % (
        (what, a >> 10, b >> 10, " kB") if what == "RSS" else (what, a, b, "")
    ) for what, a, b in ((what, before[what], after[what]) for what in before)))


def wait_until(good):
    end = time.monotonic() + PATIENCE
    while not good() and time.monotonic() < end:
        time.sleep(0.1)
    return good()
