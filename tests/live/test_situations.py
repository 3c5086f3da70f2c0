#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Complete snapshots in difficult situations: many pages and threads, and the first few of a fleet of processes."""

import json
import mmap
import os
import re
import signal
import subprocess
import sys

import paths  # noqa: F401
import peers
from outcome import O, PROGRAM, exit_code, have, need, result, run_checks
from peers import run

STATIC = O + "/zmem-bpf-static"
if "zmem-bpf-san" in os.path.basename(PROGRAM) or not os.path.exists(STATIC):
    STATIC = PROGRAM
SOURCES = ("bpf", "proc") if have("counters") else ("proc",)


def snapshot(*args, before=()):
    """Returns the document, or raises with the stderr of the program."""
    done = run(*before, STATIC, "--json", *args)
    if done.returncode:
        raise RuntimeError("exit code %d: %s" % (done.returncode, done.stderr.decode()[:300]))
    return json.loads(done.stdout), done


# ---- a run of the BPF program ----


ENTRIES = 16 * 1024  # WALK_BUDGET
TABLE = 512
MADV_NOHUGEPAGE = 15


def check_runs():
    """Memory shared by fork, of three times the pages that a run looks at: no run looks at many more."""
    if not need("counters", "a run looks at few entries"):
        return
    size = 3 * ENTRIES * mmap.PAGESIZE
    with mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as area:
        area.madvise(MADV_NOHUGEPAGE)
        for at in range(0, size, mmap.PAGESIZE):
            area[at] = 1
        child = os.fork()
        if not child:
            signal.pause()
        try:
            document, done = snapshot("-p", str(child), "--source", "bpf", "--pss", "kernel", "--timing")
            pss = document["processes"][0]["pss_bytes"]
            result(size // 2 < pss < size // 2 + (32 << 20), "half of the memory that two share", pss)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    found = re.search(rb"at most (\d+) table entries", done.stderr)
    result(found and ENTRIES <= int(found.group(1)) < ENTRIES + 3 * TABLE, "a run looks at few entries", done.stderr)


FAULTS_MAX = 4096
CROWD = """
import sys, threading
threading.stack_size(64 << 10)
end = threading.Event()
for _ in range(int(sys.argv[1])):
    threading.Thread(target=end.wait, daemon=True).start()
print(flush=True)
sys.stdin.read()
"""


def check_crowds():
    """The faults of threads are added up in one run; those of very many are read from /proc."""
    trace = need("counters strace", "threads: whether /proc was read")
    for count in (FAULTS_MAX // 4, FAULTS_MAX + 100):
        child = subprocess.Popen([sys.executable, "-c", CROWD, str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            child.stdout.readline()
            done = run(*(("strace", "-f", "-qq", "-y", "-e", "trace=openat") if trace else ()), PROGRAM,
                       "--source", SOURCES[0], "-p", str(child.pid), "-F", "csv", "-o", "threads,majflt")
            with open("/proc/%d/stat" % child.pid, encoding="ascii") as file:
                faults = file.read().rpartition(")")[2].split()[9]
        finally:
            child.kill()
            child.wait()
        result(done.stdout.decode().split()[1:] == ["%d,%s" % (count + 1, faults)], "%d threads: their faults" % count,
               (done.stdout, faults))
        if trace:
            opened = b'</proc/%d>, "stat"' % child.pid in done.stderr
            result(opened == (count > FAULTS_MAX), "%d threads: whether /proc was read" % count, done.stderr[-300:])


# ---- the first of many ----


def reads(done):
    found = re.search(rb"smaps_rollup reads: (\d+)", done.stderr)
    return int(found.group(1)) if found else None


def check_top():
    """unit/test_query_order.c has each order."""
    with peers.mkmem("fleet", uid=None) as (pids, _):
        pids = ",".join(str(n) for n in pids.values())
        everything, _ = snapshot("-p", pids, "--pss", "rollup")
        top, done = snapshot("-p", pids, "--pss", "rollup", "-n", "20", "--timing")
        order = [p["pid"] for p in everything["processes"]]
        result(len(order) > 300 and [p["pid"] for p in top["processes"]] == order[:20], "top: the first 20 are exact", (top, order[:20]))
        n = reads(done)
        result(n is not None and 20 <= n < 100, "top: fewer than 100 reads for 20 of %d" % len(order), n)
        if need("counters", "top: no reads if PSS comes from the kernel"):
            _, done = snapshot("-p", pids, "-n", "20", "--timing", "--verify", "0")
            result(reads(done) == 0, "top: no reads if PSS comes from the kernel", done.stderr)


run_checks((check_runs, check_crowds, check_top))
sys.exit(exit_code())
