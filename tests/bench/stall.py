# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How each tool, run repeatedly, stalls a process of 2 GiB that continuously maps, touches and unmaps 64 KiB
(victim.c): the process measures its own times in a histogram."""

import contextlib
import os
import select
import struct

from measure import Failed, Load, helper, load_text, run, spread
from outcome import O
from subjects import FLOOR, STALLING, STALLING_RAM, Subject

ROUNDS = 5
PHASE_MS = int(os.environ.get("BENCH_STALL_MS", "3000"))
VICTIM_MIB = os.environ.get("BENCH_STALL_MIB", "2048")

# victim.c
LOGS, BITS = 36, 6
STEP = 1 << BITS
HISTOGRAM = struct.Struct("=QQ%dI" % (LOGS * STEP))
SHARES = {"p50_us": 0.5, "p99_us": 0.99, "p999_us": 0.999}


def percentile(histogram, share):
    """The smallest value that `share` of all do not exceed, in microseconds."""
    count, most, *buckets = histogram
    left = share * count
    for i, n in enumerate(buckets):
        left -= n
        if n and left <= 0:
            shift = 0 if i < 2 * STEP else i // STEP - 1
            return min(((i - shift * STEP + 1) << shift) - 1, most) / 1e3
    return most / 1e3


def figures(histogram):
    found = {name: percentile(histogram, share) for name, share in SHARES.items()}
    return dict(found, max_us=histogram[1] / 1e3, samples=histogram[0])


def merge(one, two):
    return [one[0] + two[0], max(one[1], two[1])] + [a + b for a, b in zip(one[2:], two[2:])]


def read_histogram(pipe):
    data = b""
    while len(data) < HISTOGRAM.size:
        more = pipe.read(HISTOGRAM.size - len(data))
        if not more:
            raise Failed("the victim ended")
        data += more
    return list(HISTOGRAM.unpack(data))


class Phase:
    """The victim beside one subject, in all rounds."""

    def __init__(self, subject):
        self.subject = subject
        self.whole = [0] * (2 + LOGS * STEP)
        self.rounds = []
        self.failed = None

    def run_beside(self, victim):
        reads = 0
        while self.subject and not self.failed and not select.select([victim.stdout], [], [], 0)[0]:
            try:
                run(self.subject.argv)
                reads += 1
            except Failed as error:
                self.failed = str(error)
        return reads

    def take_turn(self, victim):
        with self.subject.around() if self.subject else contextlib.nullcontext():
            victim.stdin.write(struct.pack("=I", PHASE_MS))
            reads = self.run_beside(victim)
            histogram = read_histogram(victim.stdout)
        if not self.failed:
            self.whole = merge(self.whole, histogram)
            self.rounds.append(dict(figures(histogram), reads=reads))

    def result(self, alone):
        done = {"name": self.subject.name if self.subject else "alone", "rounds": self.rounds,
                "failed": self.failed}
        if not self.failed:
            ratios = [mine["p999_us"] / other["p999_us"] for mine, other in zip(self.rounds, alone.rounds)]
            reads = sum(r["reads"] for r in self.rounds)
            done.update(figures(self.whole), p999_to_alone=spread(ratios),
                        reads_per_s=round(1000 * reads / (PHASE_MS * len(self.rounds)), 1))
        return done


# How the victim is called, and what it is in a sentence.
VICTIMS = {"stall": ("fresh", ""), "backend": ("backend", ", which 49 others map,"), "swapped": ("swapped", ", half of it in swap, forked,"),
           "census": ("fresh", ""), "engine-stall": ("fresh", "")}


def measure(rounds, kind):
    """The result in the form of the table's JSON. "backend": the victim is one of 50 processes that map the same shared
    memory, half as much. With it, and with "swapped", only tools that report PSS take part; with "census" those of all RAM;
    with "engine-stall" the library, without a process that starts."""
    subjects = STALLING_RAM if kind == "census" else [s for s in STALLING if s.kind == "Pss" or kind == "stall"]
    if kind == "engine-stall":
        subjects = [Subject("Pss", "the library in a loop", [O + "/bench", "loop", str(PHASE_MS)]),
                    Subject("Pss", "C loop over smaps_rollup", [FLOOR, "smaps_rollup"])]
    subjects = [s for s in subjects if s.there()]
    phases = [Phase(None)] + [Phase(subject) for subject in subjects]
    mib = int(VICTIM_MIB) // 2 if kind == "backend" else int(VICTIM_MIB)
    with helper(O + "/victim", VICTIMS[kind][0], str(mib)) as victim:
        read_histogram(victim.stdout)
        load = Load(victim.pid)
        for _ in range(rounds):
            for phase in phases:
                phase.take_turn(victim)
        load = load.done()
    return {"victim_mib": mib, "kind": kind, "phase_ms": PHASE_MS, "rounds": rounds, "load": load,
            "subjects": [phase.result(phases[0]) for phase in phases]}


def show(stall):
    print("\nstall: a process of %d MiB%s maps, touches and unmaps 64 KiB; microseconds that takes, %d times %.1f s; %s"
          % (stall["victim_mib"], VICTIMS[stall["kind"]][1], stall["rounds"], stall["phase_ms"] / 1000, load_text(stall["load"])))
    print("%-34s %8s %9s %9s %9s %8s  %s" % ("beside it, over and over", "p50", "p99", "p99.9", "max", "runs/s",
                                             "p99.9 to alone (quarters)"))
    for row in stall["subjects"]:
        if row["failed"]:
            print("%-34s failed: %s" % (row["name"], row["failed"]))
            continue
        ratio = row["p999_to_alone"]
        print("%-34s %8.0f %9.0f %9.0f %9.0f %8.1f  %.2f (%.2f to %.2f)" % (
            row["name"], row["p50_us"], row["p99_us"], row["p999_us"], row["max_us"], row["reads_per_s"],
            ratio["median"], ratio["low"], ratio["high"]))
