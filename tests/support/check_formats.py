#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that csv, ndjson and folded have the values of JSON for the same snapshot.

    check_formats.py csv|csv-total|ndjson|folded JSON FILE

Each is read by those who know the format, not by us: csv by Python's csv module. Says what differs;
exit code 1 if anything does.
"""

import csv
import json
import sys

from printable import is_hidden

KINDS = {"anon": "pss_anon_bytes", "file": "pss_file_bytes", "shmem": "pss_shmem_bytes",
         "swap": "swap_pss_bytes"}
LINE_KEYS = ("type", "timestamp_ms", "host")


def harmless(text):
    """A text of JSON in the form of csv."""
    return "".join("\ufffd" if is_hidden(c) else c for c in text)


def cell(value):
    """A value of JSON in the form of csv, without the apostrophe."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return harmless(value) if isinstance(value, str) else str(value)


def same(what, got, want):
    return [] if got == want else ["%s: %r, not %r" % (what, got, want)]


def csv_rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    if "\r" in text or not text.endswith("\n"):
        raise ValueError("lines do not end with a newline alone")
    rows = list(csv.DictReader(text.splitlines(True), strict=True))
    if len(rows) != text.count("\n") - 1:
        raise ValueError("a record is not a line")
    return rows


def has_key(rows, key):
    """Keys without a csv column: bytes, and command lines that were read only for a filter."""
    if key.startswith("cmdline"):
        return key in rows[0]
    return not key.endswith("_hex")


def plain(text):
    """A cell without the apostrophe that keeps spreadsheets from running it."""
    return text.removeprefix("'") if text else text


def check_csv(document, path):
    rows = csv_rows(path)
    found = same("rows", len(rows), len(document["processes"]))
    for row, process in zip(rows, document["processes"]):
        keys = [key for key in process if has_key(rows, key)]
        found += same("keys", list(row), keys)
        for key in keys:
            found += same("%s of %s" % (key, process["pid"]), plain(row.get(key)), cell(process[key]))
    return found


def check_csv_total(document, path):
    rows = csv_rows(path)
    found = same("rows", len(rows), 1)
    found += same("sums", dict(rows[0]), {k: cell(v) for k, v in document["totals"].items()})
    return found


def check_ndjson(document, path):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    last = lines.pop()
    found = []
    for line in lines:
        found += same("when", line["timestamp_ms"], document["timestamp_ms"])
        found += same("host", line["host"], document["host"]["name"])
        for key in LINE_KEYS:
            line.pop(key)
    found += same("processes", lines, document["processes"])
    for key in ("timestamp", "timestamp_ms", "source", "collection", "system", "totals"):
        found += same(key, last[key], document[key])
    found += same("complete", last["complete"], document["collection"]["complete"])
    return found


def check_folded(document, path):
    sums = dict.fromkeys(KINDS, 0)
    process = {str(p["pid"]): p for p in document["processes"]}
    found = []
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            stack, size = line.rstrip("\n").rsplit(" ", 1)
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


def main():
    check = {"csv": check_csv, "csv-total": check_csv_total, "ndjson": check_ndjson,
             "folded": check_folded}[sys.argv[1]]
    with open(sys.argv[2], encoding="utf-8") as file:
        document = json.load(file)
    try:
        found = check(document, sys.argv[3])
    except (ValueError, KeyError, csv.Error) as error:
        found = [repr(error)]
    print("; ".join(found[:5]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
