#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that the output of the filters of src/dist/examples has the values of the document.

    check_examples.py influx|ecs DOCUMENT FILE

Line protocol is taken apart by its own rules. Says what differs; exit code 1 if anything does.
"""

import json
import sys
import unicodedata


def split(text, separator):
    """Splits at each separator that is neither behind a backslash nor in a quoted field."""
    parts, at, quoted, i = [], 0, False, 0
    while i < len(text):
        if text[i] == "\\":
            i += 1
        elif text[i] == '"':
            quoted = not quoted
        elif text[i] == separator and not quoted:
            parts.append(text[at:i])
            at = i + 1
        i += 1
    return parts + [text[at:]]


def split_tags(text, separator):
    """Likewise, but quotes have no meaning, and a backslash only before a special character."""
    parts, at = [], 0
    for i, c in enumerate(text):
        if c == separator and (i == 0 or text[i - 1] != "\\"):
            parts.append(text[at:i])
            at = i + 1
    return parts + [text[at:]]


def plain(tag):
    for c in ",= ":
        tag = tag.replace("\\" + c, c)
    return tag


def value_of(field):
    if field.endswith("i"):
        return int(field[:-1])
    if field in ("true", "false"):
        return field == "true"
    if len(field) < 2 or field[0] != '"' or field[-1] != '"':
        raise ValueError("a field that is none: " + field)
    return field[1:-1].replace('\\"', '"').replace("\\\\", "\\")


def point_of(line):
    head, rest = split_tags(line, " ")[0], None
    rest = line[len(head) + 1:]
    fields, time = split(rest, " ")
    name, *tags = split_tags(head, ",")
    tags = dict(tuple(map(plain, split_tags(t, "="))) for t in tags)
    if "" in tags.values():
        raise ValueError("an empty tag")
    return name, tags, {k: value_of(v) for k, v in (split(f, "=") for f in split(fields, ","))}, int(time)


def tag_of(text):
    text = "".join("\ufffd" if unicodedata.category(c)[0] == "C" or unicodedata.category(c) in ("Zl", "Zp") else c
                   for c in str(text))
    return text[:-1] + "\ufffd" if text.endswith("\\") else text


def values(o):
    return {k: v for k, v in o.items() if v is not None and
            (k.endswith("_bytes") or k.endswith("processes") or k in ("procs", "threads", "pss_status"))}


def tags(document, o):
    o = {"host": document["host"]["name"], **o}
    return {k: tag_of(v) for k, v in o.items() if v not in (None, "")}


def influx_points(document):
    for g in document.get("groups", []):
        yield "zmem_group", tags(document, {"group": g["group"] or "none"}), values(g)
    for p in document.get("processes", []):
        yield "zmem_process", tags(document, {k: p[k] for k in ("pid", "name", "user", "unit", "container")}), values(p)
    totals = document["totals"]
    yield "zmem_system", tags(document, {}), {
        **values(document["system"]), "processes": totals["processes"],
        "pss_missing_processes": totals["pss_missing_processes"], "complete": document["collection"]["complete"]}
    for z in document["system"]["zram"] or []:
        yield "zmem_zram", tags(document, {"device": z["name"]}), values(z)


def check_influx(document, lines):
    time = document["timestamp_ms"] * 1000000
    want = [(name, t, f, time) for name, t, f in influx_points(document) if f]
    got = [point_of(line) for line in lines]
    wrong = ["%r, not %r" % (g, w) for g, w in zip(got, want) if g != w]
    if len(got) != len(want):
        wrong.append("%d points, not %d" % (len(got), len(want)))
    series = [(name, sorted(t.items())) for name, t, _, _ in got]
    return wrong + ["twice: %s" % (s,) for i, s in enumerate(series) if s in series[:i]]


def has_null(o):
    if isinstance(o, dict):
        return any(map(has_null, o.values()))
    return o is None


def check_ecs(document, lines):
    rows = document.get("groups", document.get("processes"))
    got = [json.loads(line) for line in lines]
    wrong = ["null in %s" % line for line, o in zip(lines, got) if has_null(o)]
    if len(got) != len(rows) + 1:
        return ["%d documents, not %d" % (len(got), len(rows) + 1)]
    for o, row in zip(got, rows + [document["totals"]]):
        zmem = o["zmem"].get("total", o["zmem"]) if "pid" not in row else o["zmem"]
        sizes = {k + "_bytes": v["bytes"] for k, v in zmem.items() if isinstance(v, dict) and "bytes" in v}
        want = {k: v for k, v in row.items() if k.endswith("_bytes") and v is not None}
        if sizes != want:
            wrong.append("%r, not %r" % (sizes, want))
        if o["@timestamp"] != document["timestamp"] or o["event"]["module"] != "zmem" or "version" not in o["ecs"]:
            wrong.append("no head: %r" % o)
        if "pid" in row and (o["process"]["pid"] != row["pid"] or o["process"].get("name") != row["name"]):
            wrong.append("another process: %r" % o)
    return wrong


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        document = json.load(file)
    with open(sys.argv[3], encoding="utf-8", newline="") as file:
        text = file.read()
    lines = text.split("\n")
    if lines.pop() != "":
        sys.exit("the last line does not end")
    wrong = {"influx": check_influx, "ecs": check_ecs}[sys.argv[1]](document, lines)
    for why in wrong[:5]:
        print(why)
    sys.exit(1 if wrong else 0)


main()
