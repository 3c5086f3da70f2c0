# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The subjects of the table: our program, the minimal cost of any tool that reads /proc, and the installed
tools, each with a parser of its output."""

import contextlib
import json
import re
import shutil
import subprocess

from outcome import O, PROGRAM

STATIC = O + "/zmem-bpf-static"
FLOOR = O + "/floor"


@contextlib.contextmanager
def pinned():
    subprocess.run([STATIC, "pin"], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run([STATIC, "pin", "--remove"], check=True, capture_output=True)


class Subject:
    """`kind`: the value it measures, "Pss" or "Rss", "Table": RSS in a table, or "Ram": all RAM of the machine; it selects
    our partner. `read`:
    parses its output to {pid: kB}, or {"": kB} for all processes of the workload's program. `around`: what is there
    while it runs."""

    def __init__(self, kind, name, argv, read=None, around=contextlib.nullcontext):
        self.kind = kind
        self.name = name
        self.argv = argv
        self.read = read
        self.around = around

    def there(self):
        return shutil.which(self.argv[0]) is not None


def of_json(key):
    def read(text):
        return {p["pid"]: p[key] / 1024 for p in json.loads(text)["processes"] if p[key] is not None}
    return read


SUFFIX = {"m": 2 ** 10, "g": 2 ** 20, "t": 2 ** 30}


def kilobytes(word):
    """A number in the form of top and smemstat."""
    if word[-1].isdigit():
        return float(word)
    return float(word[:-1]) * SUFFIX.get(word[-1].lower(), 1)


def of_column(pid, column, title="PID"):
    """The lines behind the header."""
    def read(text):
        rows = [line.split() for line in text.splitlines()]
        titles = [i for i, row in enumerate(rows) if title in row]
        return {int(row[pid]): kilobytes(row[column]) for row in rows[titles[0] + 1:]
                if len(row) > max(pid, column) and row[pid].isdigit()}
    return read


UNITS = {"B": 1 / 1024, "KiB": 1, "MiB": 2 ** 10, "GiB": 2 ** 20}


def of_program(pattern, unit=None):
    """A number in a line of the workload's program, and its unit if it has one."""
    def read(text):
        found = re.search(pattern, text, re.MULTILINE)
        if not found:
            raise ValueError("no line of the program")
        return {"": float(found[1]) * (unit or UNITS[found[2]])}
    return read


def of_zmem(text):
    """Pairs of a number and its unit: swap, USS, PSS, RSS."""
    rows = [line.split() for line in text.splitlines()]
    return {int(row[0]): float(row[5]) * UNITS[row[6]] for row in rows if row and row[0].isdigit()}


OURS = {
    "Pss": Subject("Pss", "zmem-bpf --json", [STATIC, "--json"], of_json("pss_bytes")),
    "Rss": Subject("Rss", "zmem-bpf --json --pss none", [STATIC, "--json", "--pss", "none"],
                   of_json("rss_bytes")),
    "Table": Subject("Table", "zmem-bpf --pss none", [STATIC, "--pss", "none"]),
    "Ram": Subject("Ram", "zmem-bpf system --exact --pss none", [STATIC, "system", "--exact", "--pss", "none"]),
}

OTHERS = [
    Subject("Pss", "zmem-bpf --json --pinned", [STATIC, "--json", "--pinned"], of_json("pss_bytes"), pinned),
    Subject("Pss", "the same, with shared libraries", [PROGRAM, "--json"], of_json("pss_bytes")),
    Subject("Pss", "zmem-bpf", [STATIC]),
    Subject("Pss", "zmem-bpf --json --pss rollup", [STATIC, "--json", "--pss", "rollup"],
            of_json("pss_bytes")),
    Subject("Pss", "C loop over smaps_rollup", [FLOOR, "smaps_rollup"]),
    Subject("Pss", "ps -eo pid,pss,uss,rss,comm", ["ps", "-eo", "pid,pss,uss,rss,comm"], of_column(0, 1)),
    Subject("Pss", "smemstat -k", ["smemstat", "-k"], of_column(0, 3)),
    Subject("Pss", "smem", ["smem"], of_column(0, -2)),
    Subject("Pss", "ps_mem", ["ps_mem"], of_program(r"= *([\d.]+) (B|KiB|MiB|GiB)\tworkload\b")),
    Subject("Pss", "psm", ["psm"], of_program(r"^ *([\d.]+) .*\bworkload\b", 2 ** 10)),
    Subject("Pss", "procrank", ["procrank"]),
    Subject("Pss", "zmem -p", ["zmem", "-p"], of_zmem),
    Subject("Rss", "zmem-bpf --json --pss none --pinned", [STATIC, "--json", "--pss", "none", "--pinned"], of_json("rss_bytes"), pinned),
    Subject("Rss", "the same, with shared libraries", [PROGRAM, "--json", "--pss", "none"],
            of_json("rss_bytes")),
    Subject("Rss", "C: starts and ends", [FLOOR]),
    Subject("Rss", "C loop over statm", [FLOOR, "statm"]),
    Subject("Rss", "C loop over status", [FLOOR, "status"]),
    Subject("Rss", "ps -eo pid,rss,comm", ["ps", "-eo", "pid,rss,comm"], of_column(0, 1)),
    Subject("Rss", "top -b -n 1", ["top", "-b", "-n", "1"], of_column(0, 5)),
    Subject("Table", "the same, with shared libraries", [PROGRAM, "--pss", "none"]),
    Subject("Table", "C loop over status", [FLOOR, "status"]),
    Subject("Ram", "zmem-bpf system", [STATIC, "system"]),
    Subject("Ram", "cat /proc/kpageflags", ["cat", "/proc/kpageflags"]),
    Subject("Ram", "free", ["free"]),
    Subject("Ram", "slabtop -o", ["slabtop", "-o"]),
    Subject("Ram", "smem -w", ["smem", "-w"]),
]

# Beside the victim, in a loop.
STALLING = [OURS["Pss"], OURS["Rss"]] + [
    s for s in OTHERS if s.kind in ("Pss", "Rss") and s.argv[0] != PROGRAM and s.argv not in ([STATIC], [FLOOR, "statm"])]
STALLING_RAM = [OURS["Ram"]] + [s for s in OTHERS if s.kind == "Ram"]
