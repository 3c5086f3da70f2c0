#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Processes that map the same large memory, by mmap and by fork: each is counted once for all (bpf/memo.bpf.h). At rest the
PSS of each must be that of smaps_rollup; while others come and go, no PSS may be wrong."""
import ctypes
import json
import mmap
import os
import random
import signal
import subprocess
import sys
import time

PROGRAM = os.environ.get("PROGRAM", "build/zmem-bpf")
SIZE, STAY, ROUNDS = 32 << 20, 12, 6
PAGE = os.sysconf("SC_PAGESIZE")
count = failed = 0


def check(name, good, why=""):
    global count, failed
    count += 1
    failed += not good
    print(f"{'' if good else 'not '}ok {count} - {name}")
    if not good:
        print(f"# {why}")


def touch(memory):
    for at in range(0, SIZE, PAGE):
        memory[at]


def child(shared, private):
    """Maps every page of both and reports by its pipe."""
    out, ready = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
            os.close(out)
            touch(shared)
            touch(private)
            os.write(ready, b"r")
            while True:
                signal.pause()
        finally:
            os._exit(1)
    os.close(ready)
    os.read(out, 1)
    os.close(out)
    return pid


def end(pid):
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def snapshot(*options):
    run = subprocess.run([PROGRAM, "--json", "-a", "--verify", "all", *options],
                         capture_output=True, text=True, timeout=120)
    if run.returncode:
        sys.exit(f"Bail out! {run.stderr}")
    return json.loads(run.stdout)


def rollup(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        kib = dict(line.split()[:2] for line in file if line.startswith("Pss_"))
    return [int(kib[f"Pss_{kind}:"]) * 1024 for kind in ("Anon", "Shmem")]


def same(process):
    """Without files: others map their pages, too, and come and go. smaps_rollup cuts to whole KiB. The parent writes to some
    of its pages meanwhile, which are then no longer shared; a wrong table of 2 MiB would be ten times as much."""
    anon, shmem = rollup(process["pid"])
    return abs(process["pss_shmem_bytes"] - shmem) <= 1024 and abs(process["pss_anon_bytes"] - anon) <= 16384


def come_and_go(shared, private):
    try:
        while True:
            others = [child(shared, private) for _ in range(random.randint(1, 3))]
            time.sleep(random.random() / 50)
            for pid in others:
                end(pid)
    finally:
        os._exit(1)


def main():
    shared = mmap.mmap(-1, SIZE)
    private = mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, SIZE, PAGE):
        shared[at] = private[at] = 1
    stay = [child(shared, private) for _ in range(STAY)]
    try:
        found = {p["pid"]: p for p in snapshot()["processes"]}
        from_kernel = [found[p]["pss_source"] for p in stay]
        check("PSS of all sharers comes from the kernel", set(from_kernel) == {"kernel"}, from_kernel)
        differ = [(found[p]["pss_anon_bytes"], found[p]["pss_shmem_bytes"], rollup(p)) for p in stay if not same(found[p])]
        check("at rest PSS is that of smaps_rollup", not differ, differ)
        for readers in "1", "8":
            found = {p["pid"]: p for p in snapshot("--readers", readers)["processes"]}
            differ = [found[p] for p in stay if found[p]["pss_source"] != "kernel" or not same(found[p])]
            check(f"--readers {readers}: the same", not differ, differ)
        churn = os.fork()
        if churn == 0:
            come_and_go(shared, private)
        checked, different = 0, 0
        for _ in range(ROUNDS):
            cross = snapshot()["collection"]["cross_check"]
            checked += cross["checked"]
            different += cross["different"]
        end(churn)
        check("while sharers come and go, no PSS is wrong", different == 0 and checked >= ROUNDS, (checked, different))
    finally:
        for pid in stay:
            end(pid)
    print(f"1..{count}")
    sys.exit(failed != 0)


main()
