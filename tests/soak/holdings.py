# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Resources of a continuous process, measured from outside; background load; limits of growth."""

import os
import struct
import subprocess
import tempfile

from outcome import O, PROGRAM, result

# Rounding of malloc.
HEAP_SLACK = 64 << 10
# The memory for one process in the kept snapshot and its derived data: 1.3 KiB.
ROW = 2 << 10
# Fragmentation, and reserved memory that is touched late for the first time.
RSS_SLACK = 2 << 20
MACHINE = "processes of the machine"
SANITIZED = "-san" in PROGRAM


class Heap:
    """The file where heap.so writes the heap in use of a program and of its child."""

    def __init__(self):
        self.file = tempfile.NamedTemporaryFile()
        self.file.truncate(4096)

    def environ(self):
        # Disables the per-thread caches of malloc, which count as in use.
        mine = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1"}
        if not SANITIZED:
            mine.update(LD_PRELOAD=O + "/heap.so", HEAP_FILE=self.file.name)
        return mine

    def read(self, which):
        with open(self.file.name, "rb") as file:
            return struct.unpack_from("=Q", file.read(), 8 * which)[0]


class Noise:
    """A program that ends with its standard input; with `speaks` it prints a line when it is ready."""

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
    """Starts more processes than exist later, so that no buffer has a reason to grow."""
    return Noise((program, "1000", "4"), True)


def processes():
    """The current number of processes."""
    return sum(name.isdigit() for name in os.listdir("/proc"))


def holdings(pid, heap):
    """{resource: amount} of a process; ProcessLookupError or FileNotFoundError if it ended."""
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
    """{resource: (before, after)} for resources that grew beyond their limit."""
    rows = max(0, after[MACHINE] - before[MACHINE]) * ROW
    slack = {"heap": HEAP_SLACK + rows, "RSS": RSS_SLACK + rows, MACHINE: after[MACHINE]}
    return {key: (before[key], after[key]) for key in before if after[key] > before[key] + slack.get(key, 0)}


def compare(who, before, after, grown):
    """`grown`: more processes than the fleet existed, so buffers grew."""
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
