#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Where ps, smem, smemstat and ps_mem's method say something else than we do, and why. Each case
asserts both: what is so, and what the other one says. The rest is in test_peers.py; what takes swap
or hugetlb pages is in tests/vm/swap."""

import json
import os
import subprocess
import sys
import tempfile

import paths  # noqa: F401
import peers
from outcome import exit_code, need, result, see_own_processes_only, wait_until
from peers import UID, USER, installed, ours, run


def smem_pids(*args):
    return {int(pid) for pid in peers.smem("-U", USER, *args)}


def check_workers():
    """200 forks with the same actions have byte-identical smaps_rollup files."""
    with peers.mkmem("workers") as (roles, _):
        workers = [pid for (_, role), pid in roles.items() if role != "main"]
        # Not while the number of all processes changes: [vdso] is a page of each, and a part of its PSS.
        ps_mem = wait_until(lambda: next((p for p in peers.by_program(workers).values() if len(p["texts"]) == 1), None))
        found = peers.document("-g", "name", "-p", peers.listed(workers))["groups"]
    result(len(found) == 1 and found[0]["procs"] == 200, "workers: one group of 200", found)
    each = 64  # kB that each wrote for itself
    result(found[0]["uss_bytes"] >= 200 * each * 1024,
           "workers: the memory of all 200 is in it", found[0])
    # In whole kB.
    result(ps_mem and 0 <= found[0]["pss_bytes"] / 1024 - 200 * ps_mem["total"] < 200,
           "workers: ps_mem's method takes them for one process", (ps_mem, found[0]))


def check_clone_vm():
    """Two processes, one address space."""
    with peers.mkmem("clone_vm", "anon") as (roles, _):
        pair = [roles["clone_vm", "main"], roles["clone_vm", "clone"]]
        document = peers.document("-p", peers.listed(pair))
        rows = ours(pair)
        by_ps = peers.ps(pair)
        ps_mem, = peers.by_program(pair).values()
        three = pair + [roles["anon", "main"]]
        more, = peers.by_program(three).values()
        group, = peers.document("-g", "name", "-p", peers.listed(three))["groups"]
        by_smem = peers.smem("-U", USER) if installed("smem") else {}
    one = rows[pair[0]]
    total = document["totals"]
    result(rows[pair[0]] == rows[pair[1]], "clone_vm: both show it", rows)
    result(total["processes"] == 2 and total["uss_bytes"] == one["uss"] * 1024,
           "clone_vm: the total counts it once", total)
    result(sorted(p["mm_owner"] for p in document["processes"]) == [False, True],
           "clone_vm: one of them carries it", document["processes"])
    result(abs(sum(row["uss"] for row in by_ps.values()) - 2 * one["uss"]) < 2,
           "clone_vm: ps has it twice", by_ps)
    result(abs(ps_mem["private"] - one["uss"]) < 2, "clone_vm: ps_mem's method counts it once", ps_mem)
    result(abs(more["private"] - group["uss_bytes"] / 1024 - one["uss"]) < 3,
           "clone_vm: but twice where the program has another process", (more["private"], group))
    if by_smem:
        result(sum(by_smem[str(pid)]["uss"] for pid in pair) == 2 * one["uss"],
               "clone_vm: smem has it twice", by_smem)


def check_leader():
    """The first thread ended, others run: /proc/PID/smaps is empty, but the memory exists."""
    with peers.mkmem("leader_exit") as (roles, _):
        pid = next(pid for (_, role), pid in roles.items() if role != "main" or len(roles) == 1)
        one = peers.document("-p", str(pid))["processes"][0]
        by_ps = peers.ps([pid]).get(pid, {"pss": None})
        seen = smem_pids() if installed("smem") else set()
    result(one["pss_status"] == "ok" and one["uss_bytes"] > 2 ** 20,
           "leader exited: its memory and PSS are there", one)
    result(not by_ps["pss"], "leader exited: ps shows no memory", by_ps)
    if installed("smem"):
        result(pid not in seen, "leader exited: smem leaves it out", seen)


def check_names():
    """Any byte but NUL and '/' is a name."""
    with peers.mkmem("names") as (roles, _):
        role = {role: pid for (_, role), pid in roles.items()}
        mine = ("-p", peers.listed(role.values()))
        rows = {p["pid"]: p for p in peers.document(*mine)["processes"]}
        table = run(peers.PROGRAM, *mine).stdout
        result(set(role.values()) <= set(rows), "names: every process is listed", set(rows))
        result(rows[role["not_utf8"]]["name_hex"].startswith("fffec3"),
               "names: bytes that are no UTF-8 are told in full", rows[role["not_utf8"]])
        result(b"\033" not in table and table.splitlines()[len(rows) + 1].endswith(b"  total"),
               "names: a line each, nothing raw", table)
        if installed("smem"):
            check_names_smem(role)
        if installed("smemstat"):
            check_names_smemstat(role)


def check_names_smem(role):
    seen = smem_pids("-P", "")
    result(role["not_utf8"] not in seen and role["paren"] in seen,
           "names: smem leaves out a process that maps a file with a name that is not UTF-8", seen)
    for option in ("-m", "-u"):
        done = run("smem", option)
        result(done.returncode and b"UnicodeDecodeError" in done.stderr,
               "names: smem %s fails for all, because of one" % option, done.stderr[-200:])
    said = run("smem", "-U", USER, "-c", "pid name").stdout
    result(b"\033[2J" in said, "names: smem sends their escape sequences to the terminal", said)
    result(b"a) R 1 (b" not in said and b" a " in said,
           "names: smem ends them at a parenthesis", said)


def check_names_smemstat(role):
    with tempfile.TemporaryDirectory() as directory:
        run("smemstat", "-c", "-q", "-o", directory + "/json", "-p", peers.listed(role.values()))
        with open(directory + "/json", "rb") as file:
            said = file.read()
    try:
        json.loads(said)
        why = None
    except ValueError as error:
        why = error
    result(why is not None and b'"pid"' in said, "names: smemstat -o writes what is no JSON", why)


def check_blank():
    """A process that cleared its command line."""
    with subprocess.Popen([""], executable="/bin/cat", stdin=subprocess.PIPE, user=UID) as child:
        peers.wait_for_exec(child.pid, "cat")
        rows = ours([child.pid])
        seen = smem_pids() if installed("smem") else set()
        child.stdin.close()
    result(rows[child.pid]["pss"] > 0, "blank command line: it is listed", rows)
    if installed("smem"):
        result(child.pid not in seen, "blank command line: smem takes it for a kernel thread", seen)


def check_ended():
    """A process that ends between the list and its smaps; ours: test_races.py."""
    with tempfile.TemporaryDirectory() as directory:
        os.makedirs(directory + "/proc/77")
        with open(directory + "/proc/77/cmdline", "wb") as file:
            file.write(b"ended\0")
        with open("/proc/meminfo", "rb") as source, open(directory + "/proc/meminfo", "wb") as file:
            file.write(source.read())
        done = run("smem", "-S", directory, "-c", "pid pss")
    result(done.returncode == 0 and b"77" not in done.stdout and not done.stderr,
           "ended meanwhile: smem leaves it out without a word", (done.stdout, done.stderr))


see_own_processes_only()  # smem reads all processes, and fails on a name that is not UTF-8
for check in (check_workers, check_clone_vm, check_leader, check_names, check_blank):
    check()
if need("smem", "smem"):
    check_ended()
need("smemstat", "smemstat")
sys.exit(exit_code())
