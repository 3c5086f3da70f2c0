#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What grow --malloc costs a program that allocates at known rates, beside heaptrack and jemalloc's profiler. For each
rate the program runs under each of them in turn, ROUNDS times; the CPU time that it used is compared with that of the
run before it without any. The median of the ratios is printed. `malloc.py PROGRAM LAB`, as root."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ROUNDS = 5
SECONDS = 10
# Pairs of malloc and free in a second of CPU time.
RATES = 1000, 10000, 30000, 100000, 300000, 1000000, 3000000
JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"


def run(prefix, lab, pairs, steps, **env):
    done = subprocess.run(list(prefix) + [lab, "work", str(pairs), str(steps)], capture_output=True, text=True,
                          check=True, env=dict(os.environ, **env))
    # The others print, too.
    return int(next(word for word in done.stdout.split("\n") if word.isdigit()))


def steps_for(lab, rate):
    """So many that a pair with them takes 1/rate."""
    alone, each = run((), lab, 1000000, 0) / 1e6, run((), lab, 1000, 100000) / 1e8
    return max(0, int((1e9 / rate - alone) / each))


def main():
    program, lab = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        subjects = {
            "grow": ((program, "grow", "-J", "--"), {}, {}),
            "grow --malloc": ((program, "grow", "--malloc", "-J", "--"), {}, {}),
            "heaptrack": (("heaptrack", "-r", "-o", directory + "/h"), {}, {}),
            "jemalloc's profiler": ((), {"LD_PRELOAD": JEMALLOC, "MALLOC_CONF": "prof:true,lg_prof_sample:19"},
                                    {"LD_PRELOAD": JEMALLOC}),
        }
        if not shutil.which("heaptrack"):
            del subjects["heaptrack"]
        if not os.path.exists(JEMALLOC):
            del subjects["jemalloc's profiler"]
        print("%-10s" % "pairs/s" + "".join("%22s" % name for name in subjects))
        for rate in RATES:
            steps, ratios = steps_for(lab, rate), {name: [] for name in subjects}
            for _ in range(ROUNDS):
                for name, (prefix, env, without) in subjects.items():
                    before = run((), lab, rate * SECONDS, steps, **without)
                    ratios[name].append(run(prefix, lab, rate * SECONDS, steps, **env) / before)
            print("%-10d" % rate + "".join("%+21.1f%%" % (100 * (statistics.median(r) - 1))
                                           for r in ratios.values()), flush=True)


main()
