#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Our values equal those of ps, smem, smemstat and the method of ps_mem, within their rounding, where
these tools are right. For the other cases see test_peers_differ.py."""

import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True  # the tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import peers  # noqa: E402
from outcome import exit_code, need, result, see_own_processes_only  # noqa: E402
from peers import UID, USER, between, installed, ours, run  # noqa: E402

RECORDING = os.path.join(os.path.dirname(__file__), "../fixtures/recordings/guest-6.12.zmem")
MEMINFO = os.path.join(os.path.dirname(__file__), "../fixtures/proc/meminfo-6.12")
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


def check_users():
    mine, theirs = between(
        lambda: rows_of("user", "group", "-u", str(UID)),
        lambda: peers.smem("-u", "-U", USER, columns="user count uss pss rss swap"))
    maps = sum(row["maps"] for row in peers.smem("-U", USER).values())
    compare("smem -u: a user's processes, summed", mine, theirs,
            lambda name, row: maps if name == "pss" else 0)


def check_maps():
    def ours_by_file():
        found = peers.document_of("maps", "--by-file", "-u", str(UID))["files"]
        return {row["name"]: dict(peers.values(row), pids=row["processes"], count=row["mappings"])
                for row in found}

    def theirs_by_file():
        found = peers.smem("-m", "-U", USER, columns="map pids count uss pss rss swap vss")
        return {"[anon]" if name == "<anonymous>" else name: dict(row, uss=row["uss"], size=row["vss"])
                for name, row in found.items()}

    mine, theirs = between(ours_by_file, theirs_by_file)
    for row in mine.values():
        row["uss"] = row["private"]
    shared = {name: row for name, row in theirs.items() if name in mine}
    result(len(shared) > 6, "smem -m: the files are those of maps --by-file", sorted(theirs))
    compare("smem -m: each file's sizes, processes and mappings", mine, shared,
            lambda name, row: row["count"] if name == "pss" else 0, keys=shared)


def check_by_program(pids):
    mine, theirs = between(lambda: rows_of("name", "group", "-p", peers.listed(pids)), lambda: peers.by_program(pids))
    for row in mine.values():
        row.update(procs=row["count"], private=row["uss"], total=row["pss"])
    for row in theirs.values():
        del row["texts"]
    compare("ps_mem's method: by program, private and with the shares of what is shared", mine,
            theirs, lambda name, row: row["procs"] if name in ("total", "shared") else 0)


# ---- the machine ----


def check_system():
    """With the meminfo of the recorded guest, so that no value changes."""
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(directory + "/proc")
        shutil.copy(MEMINFO, directory + "/proc/meminfo")
        theirs = peers.smem("-w", "-S", directory, columns="area used cache noncache")
    mine = peers.document_of("system", "--replay", RECORDING)
    user, memory = mine["user"], mine["memory"]
    mapped = mine["across"]["mapped_bytes"]
    not_mapped = memory["cache_bytes"] + user["shmem_bytes"] - mapped
    pairs = {
        "userspace memory": (theirs["userspace memory"]["used"],
                             user["anon_bytes"] + mapped),
        "its cache: mapped": (theirs["userspace memory"]["cache"], mapped),
        "the rest: anonymous": (theirs["userspace memory"]["noncache"], user["anon_bytes"]),
        "free memory": (theirs["free memory"]["used"], memory["free_bytes"]),
        # Memory that is neither free nor in processes: only a third of it is kernel memory here.
        "kernel dynamic memory": (theirs["kernel dynamic memory"]["used"],
                                  not_mapped + sum(memory[part + "_bytes"] for part in (
                                      "kernel", "hugetlb", "unaccounted"))),
        "its cache": (theirs["kernel dynamic memory"]["cache"],
                      not_mapped + mine["kernel"]["slab_reclaimable_bytes"]),
    }
    for name, (kb, size) in pairs.items():
        result(kb * 1024 == size, "smem -w: " + name, (kb, size / 1024))
    result(theirs["kernel dynamic memory"]["used"] * 1024 > 3 * memory["kernel_bytes"],
           "smem -w: most of its kernel memory is cache, hugetlb and what nobody counts", theirs)


def main():
    see_own_processes_only()  # smem reads all processes, and fails on a name that is not UTF-8
    with peers.mkmem(*SHAPES) as (roles, program):
        pids = list(roles.values())
        # The parent of all.
        pids.append(int(open("/proc/%d/status" % roles["anon", "main"]).read()
                        .split("PPid:")[1].split()[0]))
        check_ps(pids)
        if need("smem", "smem"):
            check_smem(pids)
            if need("users ptrace", "smem: all processes of a user"):
                check_users()
                check_maps()
        if need("smem smemstat", "smemstat"):
            check_smemstat(pids)
        check_by_program(pids)
    if installed("smem"):
        check_system()
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
