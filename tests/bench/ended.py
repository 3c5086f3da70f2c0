#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What it costs that record keeps the peaks of processes that ended:
ended.py [ROUNDS [EXITS]]: the time of a process that ends at once (/bin/true): without a recorder, and beside one with and
without --no-ended. A round has all three in turns, each with so many exits (5,000); differences are of one round, and the
table has their medians over all rounds (7): CPU time of the children, and wall time. Then what the program itself took, by the
kernel's count of it.
ended.py --bytes SECONDS: two recorders at once, one with --no-ended, each second a snapshot: first on the machine as it is, then
beside a loop of jobs with 60 names and 5 to 200 MiB. The difference of their bytes, for a day of a snapshot every 10 s.
As root; needs bpftool for the program's own time."""

import ctypes
import json
import os
import platform
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import paths  # noqa: F401
from outcome import PROGRAM, wait_until

WAYS = {"no recorder": None, "--no-ended": ("--no-ended",), "record": ()}
DAY_FRAMES = 24 * 3600 // 10
JOB = """
import mmap, os, sys
open("/proc/self/comm", "w").write(sys.argv[1])
room = mmap.mmap(-1, int(sys.argv[2]) << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, len(room), mmap.PAGESIZE):
    room[at] = 1
os._exit(0)
"""


class Recorder:
    """It takes no snapshot beside its first one while exits are measured."""

    def __init__(self, options, interval="60"):
        self.directory = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen((PROGRAM, "record", "--keep", "1h", self.directory.name, "-i", interval, "--dense", "0",
                                         "--stall", "0", "-q", *options))
        wait_until(self.bytes)

    def bytes(self):
        return sum(entry.stat().st_size for entry in os.scandir(self.directory.name))

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.process.terminate()
        self.process.wait()
        self.directory.cleanup()


def count_time():
    """The kernel counts the time of programs until the end of this process (BPF_ENABLE_STATS, BPF_STATS_RUN_TIME)."""
    bpf = {"x86_64": 321, "aarch64": 280}[platform.machine()]
    ctypes.CDLL(None).syscall(bpf, 32, ctypes.byref(ctypes.c_uint32(0)), 4)


def children_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def exits_us(count):
    """The time of one start and end: CPU time, and wall time."""
    wall, cpu = time.perf_counter(), children_s()
    for _ in range(count):
        os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
    return 1e6 * (children_s() - cpu) / count, 1e6 * (time.perf_counter() - wall) / count


def own_ns():
    """What the program took for each run, by the kernel's count: of all exits of threads."""
    listed = subprocess.run(("bpftool", "prog", "show", "-j"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    programs = json.loads(listed.stdout or "[]")
    found = [p for p in programs if p.get("name", "").startswith("ended_t") and p.get("run_cnt")]
    return max((p["run_time_ns"] / p["run_cnt"] for p in found if p["run_cnt"] > 100), default=None)


def measure(rounds, exits):
    times, own = [], []
    for _ in range(rounds):
        turn = {}
        for way in random.sample(list(WAYS), len(WAYS)):
            if WAYS[way] is None:
                turn[way] = exits_us(exits)
                continue
            with Recorder(WAYS[way]):
                turn[way] = exits_us(exits)
                if not WAYS[way]:
                    own.append(own_ns())
        times.append(turn)
    print("%-12s %8s %8s   beside no recorder, CPU us (least, most)" % ("us an exit", "CPU", "wall"))
    for way in WAYS:
        more = sorted(turn[way][0] - turn["no recorder"][0] for turn in times)
        print("%-12s %8.1f %8.1f   %+.2f (%+.2f, %+.2f)" % (way, statistics.median(turn[way][0] for turn in times),
                                                          statistics.median(turn[way][1] for turn in times),
                                                          statistics.median(more), more[0], more[-1]))
    pairs = [turn["record"][0] - turn["--no-ended"][0] for turn in times]
    print("record less --no-ended: %+.2f us of CPU an exit (median of %d)" % (statistics.median(pairs), len(pairs)))
    if any(own):
        print("the program itself: %.2f us for each end of a thread" % (statistics.median(filter(None, own)) / 1000))


def jobs(until):
    """Two at a time, with the names and sizes of a build."""
    running, count = [], 0
    while time.monotonic() < until:
        running = [job for job in running if job.poll() is None]
        while len(running) < 2:
            size = random.Random(count % 60).randint(5, 200)
            running.append(subprocess.Popen((sys.executable, "-c", JOB, "job%d" % (count % 60), str(size))))
            count += 1
        time.sleep(0.01)  # time itself: jobs end meanwhile
    for job in running:
        job.wait()
    return count


def nothing(until):
    time.sleep(until - time.monotonic())  # time itself: it is measured


def measure_bytes(seconds):
    for machine, load in ("as it is", nothing), ("busy", jobs):
        with Recorder(("--no-ended",), "1") as without, Recorder((), "1") as kept:
            before = kept.bytes() - without.bytes()
            ran = load(time.monotonic() + seconds)
            more, all_ = kept.bytes() - without.bytes() - before, without.bytes()
            print("%s: %+.1f bytes a snapshot beside %.0f, %+.2f MB a day%s" % (
                machine, more / seconds, all_ / seconds, more / seconds * DAY_FRAMES / 1e6, " (%d jobs)" % ran if ran else ""))


if sys.argv[1:2] == ["--bytes"]:
    measure_bytes(int(sys.argv[2]))
else:
    count_time()
    measure(int(sys.argv[1]) if sys.argv[1:] else 7, int(sys.argv[2]) if sys.argv[2:] else 5000)
