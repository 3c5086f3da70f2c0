#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that csv, ndjson, folded and html have the values of JSON for the same snapshot.

    check_formats.py DIRECTORY

The files of DIRECTORY have the names of the formats. Each is read by programs that know the format, not by
us: csv by Python's csv module. Says what differs; exit code 1 if anything does.
"""

import csv
import os
import sys

import check_html
import validate_json
from check_html import NO_COLUMN, same
from printable import is_hidden

KINDS = {"anon": "pss_anon_bytes", "file": "pss_file_bytes", "shmem": "pss_shmem_bytes",
         "swap": "swap_pss_bytes"}
LINE_KEYS = ("type", "timestamp_ms", "host")


def cell(value):
    """A value of JSON in the form of csv, without the apostrophe that keeps spreadsheets from running it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "".join("\ufffd" if is_hidden(c) else c for c in str(value))


def check_csv(document, text):
    rows = list(csv.DictReader(text.splitlines(True), strict=True))
    found = same("rows", len(rows), len(document["processes"]))
    for row, process in zip(rows, document["processes"]):
        # Bytes of names, and command lines that were read only for a filter, have no column.
        keys = [key for key in process if not key.endswith("_hex") and not key.startswith("cmdline")
                and key not in NO_COLUMN]
        found += same("keys", list(row), keys)
        for key in keys:
            found += same("%s of %s" % (key, process["pid"]), row.get(key, "").removeprefix("'"), cell(process[key]))
    return found


def check_ndjson(document, text):
    found = validate_json.line_problems(validate_json.validator(validate_json.path_of("zmem.ndjson")), text.encode())
    lines = [validate_json.parse(line.encode()) for line in text.splitlines(True)]
    last = lines.pop()
    for line in lines:
        found += same("when", line["timestamp_ms"], document["timestamp_ms"])
        found += same("host", line["host"], document["host"]["name"])
        for key in LINE_KEYS:
            line.pop(key)
    found += same("processes", lines, document["processes"])
    for key in ("timestamp", "timestamp_ms", "source", "collection", "totals"):
        found += same(key, last[key], document[key])
    # A line has no room for the classes of RAM.
    found += same("system", last["system"], {key: v for key, v in document["system"].items() if key != "ram"})
    return found + same("complete", last["complete"], document["collection"]["complete"])


def check_folded(document, text):
    sums = dict.fromkeys(KINDS, 0)
    process = {str(p["pid"]): p for p in document["processes"]}
    found = []
    for line in text.splitlines():
        stack, size = line.rsplit(" ", 1)
        frames = stack.split(";")
        kind = frames[-1]
        sums[kind] += int(size)
        if len(line.split()) != 2 or "" in frames or len(frames) not in (2, 5):
            found.append("frames: %r" % line)
        elif len(frames) == 5:
            found += same(stack, int(size), process[frames[3]][KINDS[kind]])
    for kind, key in KINDS.items():
        # The sum is unknown if pruning left some rows unread.
        if document["totals"][key] is not None:
            found += same("sum of " + kind, sums[kind], document["totals"][key])
    return found


def check_page(document, text):
    return check_html.wrong_with(text, document)


CHECKS = {"csv": check_csv, "ndjson": check_ndjson, "folded": check_folded, "html": check_page}


def main():
    def read(name):
        with open(os.path.join(sys.argv[1], name), encoding="utf-8", newline="") as file:
            return file.read()

    document = validate_json.parse(read("json").encode())
    found = []
    for name, check in CHECKS.items():
        text = read(name)
        try:
            found += [name + ": " + what for what in check(document, text)]
        except (ValueError, KeyError, csv.Error) as error:
            found.append(name + ": %r" % error)
        if name != "html" and any(is_hidden(c) for c in text if c != "\n"):
            found.append(name + ": it is not printable")
    print("; ".join(found[:5]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
