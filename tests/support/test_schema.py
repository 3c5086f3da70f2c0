#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that the schemas accept the golden documents and reject broken ones, each made of a good
one by a single change. Prints "ok name" or "not ok name: why" for each; exit code 1 if one is not.
"""

import copy
import glob
import os
import sys

sys.dont_write_bytecode = True  # the tree stays clean

import golden  # noqa: E402
import validate_json  # noqa: E402

GOLDEN = os.path.join(validate_json.HERE, "..", "golden")
GONE = object()

# Name, where, new value (GONE: the key is removed).
PROCESS = ("processes", 0)
CHANGES = [
    ("float that is whole", PROCESS + ("rss_bytes",), 4096.0),
    ("bytes beyond 2^53-1", PROCESS + ("vsize_bytes",), 2**53),
    ("bytes as a boolean", PROCESS + ("rss_bytes",), True),
    ("pid 0", PROCESS + ("pid",), 0),
    ("null pid", PROCESS + ("pid",), None),
    ("null uid", PROCESS + ("uid",), None),
    ("uid beyond 32 bits", PROCESS + ("uid",), 2**32),
    ("null comm", PROCESS + ("comm",), None),
    ("long comm", PROCESS + ("comm",), "x" * 16),
    ("null name", PROCESS + ("name",), None),
    ("hex of odd length", PROCESS + ("name_hex",), "abc"),
    ("empty hex", PROCESS + ("comm_hex",), ""),
    ("hex that is none", PROCESS + ("comm_hex",), "zz"),
    ("null hex", PROCESS + ("name_hex",), None),
    ("cmdline alone", PROCESS + ("cmdline",), "x"),
    ("cmdline_truncated alone", PROCESS + ("cmdline_truncated",), False),
    ("cmdline_hex alone", PROCESS + ("cmdline_hex",), "00"),
    ("oom_score_adj out of range", PROCESS + ("oom_score_adj",), 1001),
    ("long cgroup", PROCESS + ("cgroup",), "/" * 513),
    ("mm_id 0", PROCESS + ("mm_id",), 0),
    ("null mm_owner", PROCESS + ("mm_owner",), None),
    ("bad counters_source", PROCESS + ("counters_source",), "kernel"),
    ("bad pss_source", PROCESS + ("pss_source",), "smaps"),
    ("bad pss_status", PROCESS + ("pss_status",), "fine"),
    ("null pss_status", PROCESS + ("pss_status",), None),
    ("ok without pss", PROCESS + ("pss_bytes",), None),
    ("ok without pss_source", PROCESS + ("pss_source",), None),
    ("denied with pss_source", PROCESS + ("pss_status",), "denied"),
    ("timestamp without zone", ("timestamp",), "2025-12-31T23:59:59.987"),
    ("null timestamp_ms", ("timestamp_ms",), None),
    ("empty version of the tool", ("tool", "version"), ""),
    ("empty boot_id", ("host", "boot_id"), ""),
    ("null host name", ("host", "name"), None),
    ("page size 0", ("host", "page_size_bytes"), 0),
    ("no cpus", ("host", "cpus"), 0),
    ("bad source of counters", ("source", "counters"), "kernel"),
    ("bad source of pss", ("source", "pss"), "rollup"),
    ("null source of pss", ("source", "pss"), None),
    ("empty fallback_reason", ("source", "fallback_reason"), ""),
    ("null count", ("collection", "gone"), None),
    ("null in cross_check", ("collection", "cross_check", "same"), None),
    ("negative system bytes", ("system", "anon_bytes"), -4096),
    ("null zram", ("system", "zram"), None),
    ("null in zram", ("system", "zram", 0, "used_bytes"), None),
    ("null processes in totals", ("totals", "processes"), None),
]
CELL = ("cells", 0)
COMPARE_CHANGES = [
    ("cell without pid", CELL + ("pid",), None),
    ("cell of no counter", CELL + ("counter",), "pss_swap"),
    ("unknown verdict", CELL + ("verdict",), "different"),
    ("null in summary", ("summary", "different"), None),
    ("unknown key in summary", ("summary", "DIFFERENT"), 0),
    ("bound per CPU", ("bound_per",), "cpu"),
    ("null cost", ("cost", "bpf_us"), None),
    ("null files", ("cost", "proc_files"), None),
    ("float residual", ("system", "anon_residual_bytes"), 1.0),
]
SYSTEM_CHANGES = [
    ("negative swap in use", ("swap", "used_bytes"), -4096),
    ("device without a name", ("swap_devices", 0, "name"), ""),
    ("device of another kind", ("swap_devices", 0, "kind"), "network"),
    ("device of unknown size", ("swap_devices", 0, "size_bytes"), None),
    ("hex of a device that is none", ("swap_devices", 1, "name_hex"), "zz"),
    ("no zram at all", ("zram",), None),
    ("float residual in books", ("books", "anon_residual_bytes"), 1.0),
    ("null processes in books", ("books", "processes"), None),
    ("null denied in books", ("books", "denied_processes"), None),
]
MAPPING = ("mappings", 0)
MAPS_PROCESS = ("processes", 0)
MAPS_CHANGES = [
    ("mapping without pid", MAPPING + ("pid",), None),
    ("address with 0x", MAPPING + ("end",), "0x7f0000000000"),
    ("perm of five", MAPPING + ("perm",), "rwxps"),
    ("perm that is none", MAPPING + ("perm",), "wr-p"),
    ("empty name of a mapping", MAPPING + ("name",), ""),
    ("name that is not truncated", MAPPING + ("name_truncated",), False),
    ("name_hex of odd length", MAPPING + ("name_hex",), "abc"),
    ("unknown status of a process", MAPS_PROCESS + ("status",), "fine"),
    ("gone with a total", MAPS_PROCESS + ("status",), "gone"),
    ("ok without total_source", MAPS_PROCESS + ("total_source",), None),
    ("ok without mappings", MAPS_PROCESS + ("mappings",), None),
    ("null count of mappings", ("totals", "mappings"), None),
    ("null in collection of maps", ("collection", "denied"), None),
    ("mappings and files", ("files",), []),
]
OPTIONAL = {"comm_hex", "name_hex", "name_truncated", "cmdline", "cmdline_truncated", "cmdline_hex"}
BROKEN_TEXTS = [
    ("no newline at the end", lambda data: data.rstrip(b"\n")),
    ("invalid UTF-8", lambda data: data.replace(b"firefox", b"fire\xff")),
    ("a key twice", lambda data: data.replace(b'"uid":1000', b'"uid":1000,"uid":1000')),
    ("NaN", lambda data: data.replace(b'"uid":1000', b'"uid":NaN')),
    ("cut off", lambda data: data[:len(data) // 2] + b"\n"),
    ("two documents", lambda data: data + data),
    ("trailing comma", lambda data: data.replace(b"\n]\n}", b",\n]\n}")),
    ("control character", lambda data: data.replace(b"firefox", b"fire\x1bfox")),
]


def paths_of_keys(node, path=()):
    """Every key of the document; of arrays only the first element."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key not in OPTIONAL:
                yield path + (key,)
            yield from paths_of_keys(value, path + (key,))
    elif isinstance(node, list) and node:
        yield from paths_of_keys(node[0], path + (0,))


SIGNED = ("residual", "unaccounted", "difference", "priority", "oom_score_adj")


def unlike(node, path=()):
    """Changes to every value of the document: an unknown key, another type, a fraction, less than nothing."""
    where = ".".join(map(str, path)) or "the document"
    if isinstance(node, dict):
        yield "an unknown key in " + where, path + ("extra",), 1
        for key, value in node.items():
            yield from unlike(value, path + (key,))
    elif isinstance(node, list) and node:
        yield from unlike(node[0], path + (0,))
    elif isinstance(node, int) and not isinstance(node, bool):
        yield where + " with a fraction", path, 0.5
        if not any(name in where for name in SIGNED):
            yield where + " below 0", path, -1
    if path and node is not None:
        yield where + " of another type", path, {list: {}, dict: [], bool: 1, int: str(node), str: 1}[type(node)]


def changed(document, path, value):
    broken = copy.deepcopy(document)
    node = broken
    for key in path[:-1]:
        node = node[key]
    if value is GONE:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return broken


class Report:
    def __init__(self):
        self.failed = 0

    def check(self, name, why):
        """`why` is empty if all is well."""
        print("not ok %s: %s" % (name, why) if why else "ok " + name)
        self.failed += bool(why)


def text_problem(data):
    try:
        validate_json.parse(data)
    except ValueError:
        return ""
    return "was accepted"


def check_schema(report, kind, changes):
    """The schema of zmem.KIND. Returns the text of its ordinary document."""
    check = validate_json.validator(validate_json.path_of("zmem." + kind))
    paths = sorted(glob.glob(os.path.join(GOLDEN, kind + "_*.json")))
    report.check("golden documents of " + kind, "" if paths else "there are none in " + GOLDEN)
    for path in paths:
        found = validate_json.problems(check, validate_json.parse(golden.read(path)))
        report.check("accepts " + os.path.basename(path), "; ".join(found))
    data = golden.read(os.path.join(GOLDEN, kind + "_ordinary.json"))
    good = validate_json.parse(data)
    gone = (("without " + ".".join(map(str, path)), path, GONE) for path in paths_of_keys(good))
    other = (("another schema", ("schema",), "zmem.other"), ("another version", ("schema_version",), "9.9"))
    for name, path, value in (*gone, *changes, *other, *unlike(good)):
        report.check("rejects %s: %s" % (kind, name),
                     "" if validate_json.problems(check, changed(good, path, value)) else "was accepted")
    return data


LINE_CHANGES = [
    ("line of no type", 0, ("type",), "other"),
    ("process as a snapshot", 0, ("type",), "snapshot"),
    ("long host", 0, ("host",), "x" * 65),
    ("null timestamp_ms of a process", 0, ("timestamp_ms",), None),
    ("snapshot as a process", -1, ("type",), "process"),
    ("other schema in a line", -1, ("schema",), "zmem.snapshot"),
    ("other version in a line", -1, ("schema_version",), "9.9"),
    ("processes in a line", -1, ("processes",), []),
]


def check_lines(report):
    """The schema of the lines of -F ndjson."""
    check = validate_json.validator(validate_json.path_of("zmem.ndjson"))
    paths = sorted(glob.glob(os.path.join(GOLDEN, "ndjson_*.txt")))
    report.check("golden lines", "" if paths else "there are none in " + GOLDEN)
    for path in paths:
        report.check("accepts " + os.path.basename(path),
                     "; ".join(validate_json.line_problems(check, golden.read(path))))
    lines = golden.read(os.path.join(GOLDEN, "ndjson_ordinary.txt")).splitlines(True)
    for at in (0, -1):
        good = validate_json.parse(lines[at])
        gone = (("without " + ".".join(map(str, path)), path, GONE) for path in paths_of_keys(good))
        for name, path, value in (*gone, *unlike(good)):
            report.check("rejects a line %s: %s" % (good["type"], name),
                         "" if validate_json.problems(check, changed(good, path, value)) else "was accepted")
    for name, at, path, value in LINE_CHANGES:
        broken = changed(validate_json.parse(lines[at]), path, value)
        report.check("rejects " + name,
                     "" if validate_json.problems(check, broken) else "was accepted")
    for name, data in (("no snapshot", lines[0]), ("two snapshots", lines[-1] * 2),
                       ("a process behind the snapshot", lines[-1] + lines[0]),
                       ("a long line", lines[0][:-1] + b" " * 4096 + b"\n" + lines[-1])):
        report.check("rejects " + name,
                     "" if validate_json.line_problems(check, data) else "was accepted")


def main():
    report = Report()
    data = check_schema(report, "snapshot", CHANGES)
    check_schema(report, "compare", COMPARE_CHANGES)
    check_lines(report)
    check_schema(report, "system", SYSTEM_CHANGES)
    check_schema(report, "maps", MAPS_CHANGES)
    for name, change in BROKEN_TEXTS:
        broken = change(data)
        report.check("rejects " + name,
                     text_problem(broken) if broken != data else "nothing was changed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
