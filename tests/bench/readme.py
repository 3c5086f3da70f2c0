#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""readme.py: prints the table of README.md, from the tables of src/doc/benchmarks.md. readme.py --check: does README.md have it?"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_TOOL = "alone"
# The name of a row in benchmarks.md, and what README.md calls it.
ROWS = {
    NO_TOOL: "no tool",
    "`zmem-bpf --json`": "**zmem-bpf**",
    "`zmem-bpf --json --pinned`": "**zmem-bpf**, with `zmem-bpf pin`",
    "`ps -eo pid,pss,uss,rss,comm`": "ps with PSS",
    "`smem`": "smem",
}


def table(page, heading):
    """The first table with this heading: its rows by their names, each a value by its column."""
    lines = page[page.index("| %s |" % heading):].split("\n\n")[0].splitlines()
    columns = [cell.strip() for cell in lines[0].strip("|").split("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {row[0]: dict(zip(columns, row)) for row in rows}


def value(cell):
    """The first number of a cell, such as 15.5 (14.3 to 18.7) or 4.87: ×0.27."""
    return float(re.match(r"[\d,.]+", cell).group().rstrip(".").replace(",", ""))


def two_digits(ms):
    return "%.0f ms" % ms if ms >= 9.95 else "%.1f ms" % ms if ms >= 0.995 else "%.2f ms" % ms


def lines(page):
    stalls, runs = table(page, "beside it"), table(page, "PSS of every process")
    yield "| tool | p99.9 | one run | idle |"
    yield "|---|---:|---:|---:|"
    for name, here in ROWS.items():
        cells = [two_digits(value(stalls[name]["p99.9 µs"]) / 1000)]
        cells += ["", ""] if name == NO_TOOL else [two_digits(value(runs[name][which])) for which in ("W1", "idle")]
        yield "| %s | %s |" % (here, " | ".join(cells))


def main():
    text = "\n".join(lines((ROOT / "src/doc/benchmarks.md").read_text(encoding="utf-8")))
    if sys.argv[1:] != ["--check"]:
        print(text)
    elif "<!-- make bench -->\n%s\n<!-- end make bench -->" % text not in (ROOT / "README.md").read_text(encoding="utf-8"):
        sys.exit("README.md does not have the table of benchmarks.md: tests/bench/readme.py | tests/support/insert.py README.md 'make bench'")


main()
