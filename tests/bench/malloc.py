#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What grow --malloc costs a program that allocates at known rates, beside heaptrack and jemalloc's profiler. For each
rate the program runs under each of them in turn, ROUNDS times; the CPU time that it used is compared with that of the
run before it without any. The median of the ratios is printed, and then that of the differences: what a pair of malloc
and free takes longer under grow --malloc with each allocator that is installed, in microseconds.
malloc.py [-r RATE,…] [-n ROUNDS] [-s SECONDS] PROGRAM LAB, as root; a quick one: -r 10000,1000000 -n 3 -s 3."""

import argparse
import shutil
import statistics
import subprocess
import tempfile

import paths  # noqa: F401
from growing import libraries

# Pairs of malloc and free in a second of CPU time.
RATES = 1000, 10000, 30000, 100000, 300000, 1000000, 3000000


def run(prefix, lab, pairs, steps, **env):
    """In ns of CPU time."""
    before = ("env", *("%s=%s" % item for item in env.items())) if env else ()
    done = subprocess.run((*prefix, *before, lab, "work", str(pairs), str(steps)), capture_output=True, text=True,
                          check=True)
    # The others print, too.
    return int(next(word for word in done.stdout.split("\n") if word.isdigit()))


def steps_for(lab, rate):
    """So many that a pair with them takes 1/rate."""
    alone, each = run((), lab, 1000000, 0) / 1e6, run((), lab, 1000, 100000) / 1e8
    return max(0, int((1e9 / rate - alone) / each))


class Subject:
    """A tool, and the environments of the program with it and without it."""

    def __init__(self, prefix, env=None, without=None):
        self.prefix, self.env, self.without = prefix, env or {}, without or {}

    def pairs(self, lab, most, steps):
        """A twentieth of them, if it makes the program more than five times slower."""
        few = most // 20
        slow = run(self.prefix, lab, few, steps, **self.env) > 5 * run((), lab, few, steps, **self.without)
        return few if slow else most

    def turn(self, lab, pairs, steps):
        """The ns of CPU time of a pair with it and without it."""
        without = run((), lab, pairs, steps, **self.without)
        return run(self.prefix, lab, pairs, steps, **self.env) / pairs, without / pairs


def table(subjects, args, show, text):
    """A row for each rate, a column for each subject: the median of what show() makes of its turns."""
    print("%-10s" % "pairs/s" + "".join("%22s" % name for name in subjects))
    for rate in args.rates:
        steps = steps_for(args.lab, rate)
        pairs = {name: subject.pairs(args.lab, int(rate * args.seconds), steps) for name, subject in subjects.items()}
        turns = {name: [] for name in subjects}
        for _ in range(args.rounds):
            for name, subject in subjects.items():
                turns[name].append(show(*subject.turn(args.lab, pairs[name], steps)))
        print("%-10d" % rate + "".join("%22s" % (text % statistics.median(column)) for column in turns.values()),
              flush=True)


def percent(one, without):
    return 100 * (one / without - 1)


def microseconds(one, without):
    return (one - without) / 1e3


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-r", dest="rates", type=lambda text: [int(word) for word in text.split(",")], default=RATES)
    parser.add_argument("-n", dest="rounds", type=int, default=5)
    parser.add_argument("-s", dest="seconds", type=float, default=10)
    parser.add_argument("program")
    parser.add_argument("lab")
    return parser.parse_args()


def main():
    args = arguments()
    malloc = (args.program, "grow", "--malloc", "-J", "--")
    preloads = {name.split(".")[0]: {"LD_PRELOAD": path} for name, path in libraries()}
    with tempfile.TemporaryDirectory() as directory:
        tools = {"grow": Subject((args.program, "grow", "-J", "--")), "grow --malloc": Subject(malloc)}
        if shutil.which("heaptrack"):
            tools["heaptrack"] = Subject(("heaptrack", "-r", "-o", directory + "/h"))
        if "libjemalloc" in preloads:
            profiler = dict(preloads["libjemalloc"], MALLOC_CONF="prof:true,lg_prof_sample:19")
            tools["jemalloc's profiler"] = Subject((), profiler, preloads["libjemalloc"])
        table(tools, args, percent, "%+.1f%%")
        print("\nA pair with grow --malloc takes longer:")
        allocators = {"C library": {}, **preloads}
        table({name: Subject(malloc, env, env) for name, env in allocators.items()}, args, microseconds, "%+.2f us")


main()
