#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Our values equal those of ps, smem, smemstat and the method of ps_mem, within their rounding, where
these tools are right. For the other cases see test_peers_differ.py."""

import sys

import paths  # noqa: F401
import peers
from outcome import exit_code, need, result, see_own_processes_only
from peers import USER, between, ours, run

SHAPES = ("anon", "fork", "cow_tree", "cow_many", "thp", "file", "file_many", "shmem", "shmem_half",
          "memfd2", "mlock", "many_maps")


def differences(mine, theirs, tolerance):
    """tolerance(value, their row): the number of kB that their value may be lower; it is never higher."""
    for key, row in theirs.items():
        for name, kb in row.items():
            if name not in mine.get(key, {}):
                continue
            less = mine[key][name] - kb
            # Page table walks add fractions of pages exactly, smaps in units of 2^-12 bytes.
            if not -0.1 <= less <= tolerance(name, row):
                yield key, name, mine[key][name], kb


def compare(name, mine, theirs, tolerance, keys=None):
    bad = list(differences(mine, theirs, tolerance))
    if set(theirs) != set(keys if keys is not None else mine):
        bad.append(("rows", sorted(theirs), sorted(mine)))
    result(theirs and not bad, name, bad[:5])


def exact_status(pid, mine):
    with open("/proc/%d/status" % pid, encoding="utf-8") as file:
        lines = dict(line.split(":", 1) for line in file)
    return int(lines["VmRSS"].split()[0]) == mine["rss"]


def whole_kb(name, row):
    """This tool leaves out the bytes of an unfinished kB."""
    return 1023 / 1024 if name == "pss" else 0


def per_mapping(name, row):
    """These tools add values that smaps rounds down to 1 kB for each mapping."""
    return row["maps"] if name == "pss" else 0


# ---- process by process ----


def check_ps(pids):
    if run("ps", "-o", "uss=", "-p", "1").returncode:
        print("skip ps -o pss,uss,rss: this ps has no uss (procps-ng 4 has)")
        return
    mine, theirs = between(lambda: ours(pids), lambda: peers.ps(pids))
    if not all(exact_status(pid, mine[pid]) for pid in mine):
        # The RSS of ps is that of /proc/PID/status.
        for row in theirs.values():
            del row["rss"]
    compare("ps -o pss,uss,rss: the same to the kB", mine, theirs, whole_kb)


def check_smem(pids):
    mine, theirs = between(lambda: ours(pids),
                           lambda: peers.smem("-n", "-U", USER))
    theirs = {int(pid): row for pid, row in theirs.items() if int(pid) in mine}
    compare("smem: USS, PSS, RSS and swap of each process", mine, theirs, per_mapping)


def check_smemstat(pids):
    def read():
        found = peers.smemstat(pids)
        for pid, row in peers.smem("-U", USER).items():
            if int(pid) in found:
                found[int(pid)]["maps"] = row["maps"]
        return found

    mine, theirs = between(lambda: ours(pids), read)
    compare("smemstat: USS, PSS, RSS and swap of each process", mine, theirs, per_mapping)


# ---- sums ----


def rows_of(key, name, *args):
    found = peers.document("-g", key, *args)["groups"]
    return {row[name]: dict(peers.values(row), count=row["procs"]) for row in found}


def check_by_program(pids):
    mine, theirs = between(lambda: rows_of("name", "group", "-p", peers.listed(pids)), lambda: peers.by_program(pids))
    for row in mine.values():
        row.update(procs=row["count"], private=row["uss"], total=row["pss"])
    for row in theirs.values():
        del row["texts"]
    compare("ps_mem's method: by program, private and with the shares of what is shared", mine,
            theirs, lambda name, row: row["procs"] if name in ("total", "shared") else 0)


see_own_processes_only()  # smem reads all processes, and fails on a name that is not UTF-8
with peers.mkmem(*SHAPES) as (roles, program):
    pids = list(roles.values())
    # The parent of all.
    pids.append(int(open("/proc/%d/status" % roles["anon", "main"]).read()
                    .split("PPid:")[1].split()[0]))
    check_ps(pids)
    if need("smem", "smem"):
        check_smem(pids)
    if need("smem smemstat", "smemstat"):
        check_smemstat(pids)
    check_by_program(pids)
sys.exit(exit_code())
