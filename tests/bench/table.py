#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""table.py WORKLOAD… [ram] [stall] [backend] [swapped] [census] [engine-stall]: zmem-bpf beside the floors of any tool that reads /proc and beside the tools
that are installed. They take turns in pairs, ours, theirs, ours, theirs, and the other way round in every
second round. Prints a table; asserts nothing. BENCH_ROUNDS: how many; BENCH_ONLY: a regular expression; only
subjects with names that match are measured, each beside its partner. BENCH_JSON: a file for all values,

{"schema": "zmem-bpf-bench/1", "version": of zmem-bpf, "machine": {"kernel", "cpus", "memory_kb"},
 "workloads": [{"name", "text", "processes", "rounds", "load": LOAD, "subjects": [
   {"name", "command": [word…], "kind": "Pss", "Rss", "Table" or "Ram": what it reports, "failed": null or how,
    "off_kb": null or SPREAD of what it says less /proc/PID/smaps_rollup, over the workload's processes,
    "off_sum": true where that is one difference, of their sum, "off_failed": null or why there is none,
    "ours": name of the partner,
    and unless it failed
    "theirs", "own": [{"wall_ms", "cpu_ms"}…], a round each: it, and the partner's run beside it,
    "wall_ms", "cpu_ms": SPREAD, "wall_ratio", "cpu_ratio": SPREAD of theirs/own of each round}…]}…],
 "stall": [{"victim_mib", "kind": "stall", "backend" (one of 50 processes that map the same), "swapped", "census" or "engine-stall", "phase_ms", "rounds", "load": LOAD, "subjects": [
   {"name", "failed", "rounds": [{"p50_us", "p99_us", "p999_us", "max_us", "samples", "reads"}…],
    and of all rounds "p50_us", "p99_us", "p999_us", "max_us", "samples", "reads_per_s",
    "p999_to_alone": SPREAD}…]}…]}
SPREAD is {"least", "low", "median", "high", "most"}, low and high the quarters; LOAD {"before", "after":
loadavg, "others_percent": of all CPUs what neither the bench nor its children took}. The partner is the
first of its kind; its ratio to itself is what noise makes of equals."""

import json
import os
import re
import subprocess
import sys

import paths  # noqa: F401
import stall
from measure import Failed, Load, helper, load_text, output_of, run, spread
from outcome import O, PROGRAM
from subjects import OTHERS, OURS

ROUNDS = 21
ONLY = os.environ.get("BENCH_ONLY", "")
FEWER = {"w5": 5}  # of which each round takes long
STALLS = list(stall.VICTIMS)
RAM = "ram"  # tools that show all RAM, beside the workload W3


# ---- one workload ----


class Pair:
    """A subject and our partner, in all rounds."""

    def __init__(self, subject):
        self.subject = subject
        self.ours = OURS[subject.kind]
        self.theirs = []
        self.own = []
        self.off = []
        self.off_sum = False
        self.off_failed = None
        self.failed = None

    def take_turn(self, round_number):
        if self.failed:
            return
        turns = [(self.ours, self.own), (self.subject, self.theirs)]
        try:
            for subject, values in turns if round_number % 2 == 0 else reversed(turns):
                with subject.around():
                    values.append(run(subject.argv))
        except Failed as error:
            self.failed = str(error)

    def compare(self, true):
        """Its values less the true values, {pid: kB}."""
        if self.failed or not true:
            return
        try:
            with self.subject.around():
                said = self.subject.read(output_of(self.subject.argv))
        except (Failed, LookupError, ValueError) as error:
            self.off_failed = "not understood: %s" % (error or type(error).__name__)
            return
        if "" in said:
            self.off_sum = True
            self.off = [said[""] - sum(true.values())]
            return
        self.off = [said[pid] - kb for pid, kb in true.items() if pid in said]
        if len(self.off) < len(true):
            self.off_failed = "leaves out %d of %d" % (len(true) - len(self.off), len(true))

    def ratios(self, value):
        return spread([a[value] / b[value] if b[value] else 0 for a, b in zip(self.theirs, self.own)])

    def result(self):
        done = {"name": self.subject.name, "command": self.subject.argv, "kind": self.subject.kind,
                "ours": self.ours.name, "failed": self.failed, "off_kb": spread(self.off) if self.off else None,
                "off_sum": self.off_sum, "off_failed": self.off_failed}
        if not self.failed:
            done.update(theirs=self.theirs, own=self.own, wall_ratio=self.ratios("wall_ms"),
                        cpu_ratio=self.ratios("cpu_ms"),
                        **{f: spread([run_[f] for run_ in self.theirs]) for f in ("wall_ms", "cpu_ms")})
        return done


def true_values(pids, kind):
    """The kernel's value of each process, as the reference: {pid: kB}."""
    found = {}
    for pid in pids:
        with open("/proc/%d/smaps_rollup" % pid, encoding="ascii", errors="replace") as file:
            found[pid] = next(int(line.split()[1]) for line in file if line.startswith(kind + ":"))
    return found


def workload_pids(parent):
    with open("/proc/%d/task/%d/children" % (parent, parent), encoding="ascii") as file:
        pids = [int(word) for word in file.read().split()]
    return pids + [parent] if pids else []


def measure_workload(name, text, rounds, kinds=("Pss", "Rss", "Table")):
    pairs = [Pair(s) for s in list(OURS.values()) + OTHERS
             if s.kind in kinds and s.there() and re.search(ONLY, s.name)]
    with helper(O + "/workload", name) as child:
        said = child.stdout.readline()
        if said != b"READY\n":
            sys.exit("bench: %s did not start: %s" % (name, said.decode().strip()))
        load = Load(child.pid)
        for round_number in range(rounds):
            for pair in pairs:
                pair.take_turn(round_number)
        load = load.done()
        pids = workload_pids(child.pid)
        for pair in pairs:
            if pair.subject.read:
                pair.compare(true_values(pids, pair.subject.kind))
        processes = sum(entry.isdigit() for entry in os.listdir("/proc"))
    return {"name": name, "text": text, "processes": processes, "rounds": rounds, "load": load,
            "subjects": [pair.result() for pair in pairs]}


# ---- the table ----

KINDS = {"Pss": "PSS of every process", "Rss": "RSS, without PSS", "Table": "RSS, in a table", "Ram": "RAM of the machine"}


def off_text(row):
    off = row["off_kb"]
    if row["off_failed"] or off is None:
        return row["off_failed"] or ""
    if row["off_sum"]:
        return "%+.0f of the sum" % off["median"]
    if max(abs(off["least"]), abs(off["most"])) < 1:
        return "0"
    return "%+.0f to %+.0f" % (off["least"], off["most"])


def show_row(row):
    if row["failed"]:
        print("%-34s failed: %s" % (row["name"], row["failed"]))
        return
    wall, ratio = row["wall_ms"], row["wall_ratio"]
    print("%-34s %8.2f %18s %8.1f %7.2f %16s %7.2f  %s" % (
        row["name"], wall["median"], "(%.2f to %.2f)" % (wall["low"], wall["high"]), row["cpu_ms"]["median"],
        ratio["median"], "(%.2f to %.2f)" % (ratio["low"], ratio["high"]), row["cpu_ratio"]["median"],
        off_text(row)))


def show_workload(workload):
    print("\n%s: %s; %d processes in all, %d rounds; %s" % (
        workload["name"], workload["text"], workload["processes"], workload["rounds"], load_text(workload["load"])))
    for kind, title in KINDS.items():
        if not any(row["kind"] == kind for row in workload["subjects"]):
            continue
        print("%-34s %8s %18s %8s %7s %16s %7s  %s" % (
            title, "wall ms", "(quarters)", "CPU ms", "times", "(quarters)", "CPU t.", "kB off, of a process"))
        for row in workload["subjects"]:
            if row["kind"] == kind:
                show_row(row)


# ---- main ----


def known_workloads():
    """{lower-case name: (name, text)}"""
    lines = subprocess.run([O + "/workload", "list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [line.split("\t") for line in lines.splitlines()]
    return {name.lower(): (name, text) for name, text in rows}


def machine():
    with open("/proc/meminfo", encoding="ascii") as file:
        memory = int(file.readline().split()[1])
    return {"kernel": os.uname().release, "cpus": os.cpu_count(), "memory_kb": memory}


def main():
    known = known_workloads()
    unknown = [name for name in sys.argv[1:] if name not in STALLS + [RAM] and name not in known]
    rounds = os.environ.get("BENCH_ROUNDS", "")
    if unknown or not (rounds.isdigit() or rounds == "") or rounds == "0":
        sys.exit("bench: %s" % (unknown or "BENCH_ROUNDS is a number"))
    version = output_of([PROGRAM, "--version"]).split()[-1]
    done = {"schema": "zmem-bpf-bench/1", "version": version, "machine": machine(), "workloads": [], "stall": []}
    print("times: theirs / ours of the same round, medians; ours is the first of each table; "
          "CPU t.: the same of CPU time;\nkB off: what it says less smaps_rollup, least to most")
    for name in sys.argv[1:]:
        if name in STALLS:
            done["stall"].append(stall.measure(int(rounds or stall.ROUNDS), name))
            stall.show(done["stall"][-1])
        elif name == RAM:
            done["workloads"].append(measure_workload(*known["w3"], int(rounds or ROUNDS), ("Ram",)))
            show_workload(done["workloads"][-1])
        else:
            done["workloads"].append(measure_workload(*known[name], int(rounds or FEWER.get(name, ROUNDS))))
            show_workload(done["workloads"][-1])
        sys.stdout.flush()
    if os.environ.get("BENCH_JSON"):
        with open(os.environ["BENCH_JSON"], "w", encoding="utf-8") as file:
            json.dump(done, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
