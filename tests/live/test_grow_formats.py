#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The outputs of grow say the same: table, JSON, folded stacks, the page and the profile, of programs that grow
alike in each run, that live or have ended, with and without --malloc. All stacks are taken."""
# needs: bpf ptrace

import json
import os
import re
import sys

sys.dont_write_bytecode = True  # the tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from growing import MIB, Grow, Lab, code_is_clean, functions, named, read_profile, run_live  # noqa: E402
from outcome import O, result, wait_until  # noqa: E402

GIVEN_BACK = "[given back]"
PAGES, BLOCKS = ("growth", "added", "still"), ("held", "allocated", "growth", "added")
KEYS = {"growth": "net_bytes", "added": "gross_bytes", "still": "resident_bytes", "held": "held_bytes",
        "allocated": "allocated_bytes"}
# What a node of the page has of its own.
NODE = "anon", "file", "shmem", "swap", "added", "still", "held", "allocated", "changes"
# Programs with the places that are compared, in the order of the table. handle() gives back to the kernel what it takes;
# site_churn() to the allocator, and then the leak is in its pages: without --malloc it has no growth.
CASES = (((O + "/growlab", "handle_few"), ("remember", "handle")),
         ((O + "/malloclab", "churn", "leak_small"), ("site_churn",)),
         ((O + "/malloclab", "churn", "leak_small"), ("site_leak_small", "site_churn"), "--malloc=slow"))
# In one run malloc has a few pages more than in another one: of its code, and of its heap.
SLACK = 64 << 10


class Case:
    def __init__(self, program, places, *args, ends):
        self.program, self.places, self.args, self.ends = program, places, args, ends
        self.slack = SLACK if "malloclab" in program[0] else 0
        self.malloc = bool(args)
        self.measures = BLOCKS if self.malloc else PAGES
        self.name = "%s%s, %s" % (os.path.basename(self.program[0]), " --malloc" if self.malloc else "",
                                  "ended" if ends else "alive")

    def run(self, *output):
        """What one run of the program gives."""
        with Lab(*self.program) as one:
            grow = Grow(str(one.pid), "--sample", "1", *self.args, output=output)
            if self.malloc:
                wait_until(lambda: not code_is_clean(one.pid))
            grow.wait_armed(one.pid)
            one.go()
            if self.ends:
                one.child.stdin.close()
            return grow.output(end=not self.ends)

    def place(self, names):
        return next((name for name in names if name in self.places), None)

    def by_place(self, items):
        """The sums of (functions, {measure: bytes}), in the order of their first ones; None is not known."""
        sums = {}
        for names, values in items:
            of = sums.setdefault(self.place(names), dict.fromkeys(values, 0))
            for key, value in values.items():
                of[key] = None if value is None else of[key] + value
        sums.pop(None, None)
        return sums


def table(case):
    """Its rows, and its total."""
    lines = case.run("-b", "-a", "-o", ",".join(case.measures) + ",code").decode().splitlines()
    if lines[0].split() != [m.upper() for m in case.measures] + ["CODE"]:
        raise ValueError(lines[0])
    rows = []
    for line in lines[1:]:
        *numbers, code = line.split(maxsplit=len(case.measures))
        values = [None if n == "-" else int(n.replace(",", "").lstrip("+>=")) for n in numbers]
        rows.append((code.split(" < "), dict(zip(case.measures, values))))
        if code.startswith("total, "):
            return case.by_place(rows), rows[-1][1]
    raise ValueError("no total: %r" % lines)


def document(case):
    d = named(json.loads(case.run("-J")))
    items = [(functions(s), {m: s[KEYS[m]] for m in case.measures}) for s in d["stacks"]]
    return case.by_place(items), d["accounted"]["stacks_bytes"], sum(values["growth"] for _, values in items)


def folded(case, *args):
    """By place, with the largest first, and the sum; what was given back is below 0. None: a place has both."""
    items = []
    for line in case.run("-F", "folded", *args).decode().splitlines():
        stack, size = line.rsplit(" ", 1)
        first, *names = stack.split(";")
        bytes_ = int(size) * (-1 if first == GIVEN_BACK else 1)
        items.append(([*names[::-1], first], {"bytes": bytes_, "area": int(size)}))
    return ({place: v["bytes"] if abs(v["bytes"]) == v["area"] else None for place, v in case.by_place(items).items()},
            sum(v["bytes"] for _, v in items))


def page_stacks(page, inward):
    """Functions of the nodes of a tree of calls, the innermost first, and their own values."""
    paths = []
    for i, (back, name, *own) in enumerate(page["calls"][0 if inward else 1]["nodes"]):
        before = paths[i - back] if back <= i else []
        paths.append(before + [page["names"][name]])
        values = dict.fromkeys(NODE, 0) | dict(zip(NODE, own))
        values["growth"] = sum(values[key] for key in NODE[:4])
        yield (paths[-1][::-1] if inward else paths[-1]), values


def page(case):
    text = case.run("-F", "html").decode()
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])
    rows = [([data["names"][f] for f in p["frames"]], {m: p[KEYS[m]] for m in case.measures}) for p in data["places"]["rows"]]
    return data, case.by_place(rows), [list(page_stacks(data, inward)) for inward in (True, False)]


def profile(case):
    _, stacks, first = read_profile(case.run("-F", "pprof"))
    return case.by_place(stacks), first


def shown(values, measure):
    """In an area, which cannot be below 0."""
    return max(values[measure] or 0, 0)


def check_page(case, want, faults):
    """In one and the same run: the map has the sums of the rows of its table, in both of its directions."""
    data, rows, maps = page(case)
    total = data["places"]["total"]
    faults["page: rows"] = differences(case, rows, want)
    faults["page: order"] = list(rows) != list(want) and list(rows)
    for measure in case.measures:
        sums = {sum(values[measure] for _, values in stacks) for stacks in maps}
        # Rows that say little are one row with --malloc: of these only the sum is known.
        whole = (sum(max(p[KEYS[measure]] or 0, 0) for p in data["places"]["rows"]) if not case.malloc
                 else total[KEYS[measure]] if measure != "growth" else None)
        faults["page: the map and the table, " + measure] = whole is not None and sums != {whole} and (sums, whole)
        for stacks in maps:
            got = {place: 0 for place in rows} | {p: v[measure] for p, v in case.by_place(stacks).items()}
            faults["page: places of the map, " + measure] = got != {p: shown(v, measure) for p, v in rows.items()} and (got, rows)
    faults["page: its sum"] = total["net_bytes"] != data["accounted"]["stacks_bytes"] and total


def alike(case, measure, a, b):
    """Measures of an allocator are exact to the byte."""
    return a == b if a is None or b is None else abs(a - b) <= (0 if measure in BLOCKS[:2] else case.slack)


def differences(case, got, want):
    return [(place, m, got.get(place, {}).get(m), want[place][m]) for place in want for m in case.measures
            if not alike(case, m, got.get(place, {}).get(m), want[place][m])]


def compare(case):
    """Names what differs from the table."""
    faults = {}
    want, total = table(case)
    faults["table: order"] = tuple(want) != case.places and want
    faults["table: the total"] = total["growth"] < max(v["growth"] for v in want.values()) and total
    got, accounted, whole = document(case)
    faults["json"] = differences(case, got, want)
    faults["json: its sum"] = accounted != whole and (accounted, whole)
    usual = "held" if case.malloc else "growth"
    for measure in set(case.measures) - {"still"}:
        places, whole = folded(case, *(() if measure == usual else ("-o", measure)))
        faults["folded: " + measure] = [(p, places.get(p, 0), v[measure]) for p, v in want.items()
                                        if not alike(case, measure, places.get(p, 0), v[measure])]
        faults["folded: the sum, " + measure] = abs(whole - total[measure]) > MIB and (whole, total)
        if measure == usual:
            faults["folded: order"] = next(iter(places)) != case.places[0] and places
    check_page(case, want, faults)
    got, first = profile(case)
    known = {m: [v[m] is not None for v in want.values()] == [True] * len(want) for m in case.measures}
    faults["profile"] = [d for d in differences(case, got, want) if known[d[1]]]
    faults["profile: what is first"] = first != ("held" if case.malloc else "growth" if case.ends else "still") and first
    return faults


def check(case):
    # While others have all CPUs the ring fills, and a page is with a later stack.
    for _ in range(4):
        faults = compare(case)
        if not any(faults.values()):
            break
    for name, fault in faults.items():
        result(not fault, "%s: %s" % (case.name, name), fault)


def check_alike():
    for words in CASES:
        for ends in (False, True):
            check(Case(*words, ends=ends))


if __name__ == "__main__":
    sys.exit(run_live(check_alike))
