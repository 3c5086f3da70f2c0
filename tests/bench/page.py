#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""page.py BENCH_JSON: prints the values of table.py as the tables of src/doc/benchmarks.md, in Markdown."""

import datetime
import json
import re
import subprocess
import sys

KINDS = {"Pss": "PSS of every process", "Rss": "RSS, without PSS", "Table": "RSS, in a table"}


def number(value):
    """Three digits, at most two of them behind the point."""
    return "{:,.0f}".format(value) if value >= 99.5 else "%.1f" % value if value >= 9.95 else "%.2f" % value


def name_of(row):
    """Commands are code; "alone", "C loop over statm" and "the same" are not."""
    return row["name"] if re.match("alone|C |C:|the ", row["name"]) else "`%s`" % row["name"]


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        found = re.search(r"^model name\s*: (.*)$", file.read(), re.M)
    return found.group(1).strip() if found else "unknown"


def conditions(done):
    machine = done["machine"]
    loads = [w["load"]["others_percent"] for w in done["workloads"]]
    git = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=False)
    commit = " (commit %s)" % git.stdout.strip() if git.returncode == 0 else ""
    return ("Measured on %s with version %s%s: %d CPUs of %s, %.0f GiB of RAM, Linux %s. Other programs took at most %.0f %% of the CPUs." % (
        datetime.date.today().isoformat(), done["version"], commit, machine["cpus"], cpu_model(), machine["memory_kb"] / 2 ** 20,
        machine["kernel"], max(loads) if loads else 0))


def cell(row):
    """Median wall time, and the ratio to ours with its quarters."""
    if row is None:
        return ""
    if row["failed"]:
        return "failed"
    ratio = row["wall_ratio"]
    text = number(row["wall_ms"]["median"])
    if row["name"] == row["ours"]:
        return "%s (%s to %s)" % (text, number(row["wall_ms"]["low"]), number(row["wall_ms"]["high"]))
    return "%s: ×%s (%s to %s)" % (text, number(ratio["median"]), number(ratio["low"]), number(ratio["high"]))


def workload_tables(workloads):
    for kind, title in KINDS.items():
        subjects = {}
        for workload in workloads:
            subjects.update((row["name"], row) for row in workload["subjects"] if row["kind"] == kind)
        if not subjects:
            continue
        yield "| %s | %s |" % (title, " | ".join(w["name"] for w in workloads))
        yield "|---|%s" % ("---:|" * len(workloads))
        for name, subject in subjects.items():
            rows = [next((r for r in w["subjects"] if r["name"] == name and r["kind"] == kind), None) for w in workloads]
            yield "| %s | %s |" % (name_of(subject), " | ".join(cell(row) for row in rows))
        yield ""


def stall_table(stall):
    yield "| beside it | p50 µs | p99 µs | p99.9 µs | longest µs | p99.9 against nothing | runs a second |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for row in stall["subjects"]:
        if row["failed"]:
            yield "| %s | failed |" % name_of(row)
            continue
        ratio = row["p999_to_alone"]
        yield "| %s | %s | %s | %s | %s | %s (%s to %s) | %s |" % (
            name_of(row), number(row["p50_us"]), number(row["p99_us"]), number(row["p999_us"]), number(row["max_us"]),
            number(ratio["median"]), number(ratio["least"]), number(ratio["most"]), number(row["reads_per_s"] or 0))


STALLED = {
    "stall": "of %d MiB",
    "backend": "that maps %d MiB of shared memory, as 49 others do,",
    "swapped": "of %d MiB, half of it in swap, and forked once,",
    "census": "of %d MiB",
    "engine-stall": "of %d MiB",
}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        done = json.load(file)
    lines = [conditions(done), ""] + list(workload_tables(done["workloads"]))
    if done["stall"]:
        lines += ["### What the measured process notices"]
    for stall in done["stall"]:
        lines += ["", "A process %s maps, touches and unmaps 64 KiB all the time. The table shows how long one such cycle takes while a tool runs "
                  "over and over (%d times)." % (
                      STALLED[stall["kind"]] % stall["victim_mib"],
                      stall["rounds"]), ""]
        lines += stall_table(stall)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
