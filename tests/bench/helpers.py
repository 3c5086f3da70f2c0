#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the helper processes cost: `grow` of a Python program and of a C program with many stacks, and a
snapshot with 100 containers, of which 50 belong to a user. PROGRAM and, if BEFORE names another program,
that one run in turn; of each, the medians of BENCH_ROUNDS rounds (9) and of the ratios of pairs."""

import os
import resource
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from outcome import O, PROGRAM, cgroup_removed, wait_until  # noqa: E402

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "9"))
PROGRAMS = [p for p in (os.environ.get("BEFORE"), PROGRAM) if p]
PYTHON = """
import sys
def make(n, kept):
    return [bytes(1000 + n) for _ in range(200)] if n == 0 else make(n - 1, kept)
kept = []
sys.stdin.readline()
for i in range(20000):
    kept.append(make(i % 40, kept))
    if i % 100 == 99:
        kept.clear()
"""
USER = 1  # daemon: one in passwd, so that a helper looks into the home


def cpu_of(command, **kwargs):
    """CPU and wall time of a command and of its children."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, **kwargs)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - begin


def grow(*target):
    """The CPU time is that of the program and of its target; the target does the same in each run."""
    return lambda program: cpu_of((program, "grow", "--", *target), input=b"go\n")


def measure(name, one):
    rows = {program: [] for program in PROGRAMS}
    for _ in range(ROUNDS):
        for program in PROGRAMS:
            rows[program].append(one(program))
    for program in PROGRAMS:
        cpu, wall = (statistics.median(column) for column in zip(*rows[program]))
        print("%-24s %-40s %8.1f ms of CPU %8.1f ms" % (name, program, cpu * 1e3, wall * 1e3), flush=True)
    if len(PROGRAMS) > 1:
        pairs = list(zip(rows[PROGRAMS[0]], rows[PROGRAMS[1]]))
        print("%-24s %-40s %8.2f x CPU    %8.2f x" % (name, "after / before", statistics.median(b[0] / a[0] for a, b in pairs),
                                                     statistics.median(b[1] / a[1] for a, b in pairs)), flush=True)


def memory_mount():
    return next(p for p in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup") if os.path.exists(p + "/cgroup.procs"))


def containers():
    paths, processes = [], []
    top = memory_mount()
    made = [top + "/bench-docker", top + "/user.slice", top + "/user.slice/user-%d.slice" % USER]
    for path in made:
        os.makedirs(path, exist_ok=True)
    try:
        for i in range(100):
            paths.append("%s/libpod-%064x.scope" % (made[0] if i % 2 else made[2], i + 1))
            os.mkdir(paths[-1])
            processes.append(subprocess.Popen(("sleep", "3600")))
            with open(paths[-1] + "/cgroup.procs", "w", encoding="ascii") as file:
                file.write(str(processes[-1].pid))
        measure("100 containers", lambda program: cpu_of((program, "-J", "-g", "container", "--pss", "none")))
    finally:
        for process in processes:
            process.kill()
            process.wait()
        for path in paths + made[::-1]:
            wait_until(lambda path=path: cgroup_removed(path), 5)


def main():
    measure("grow python3", grow(sys.executable, "-c", PYTHON))
    measure("grow C", grow(O + "/growlab", "threads"))
    measure("grow true", grow("true"))
    containers()


main()
