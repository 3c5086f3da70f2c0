#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""PSS by node, and a process away from its memory."""

import contextlib
import csv
import ctypes
import io
import json
import mmap
import os
import re
import subprocess
import sys
import tempfile
import threading

import paths  # noqa: F401
from outcome import PROGRAM, exit_code, need, result, run_checks, write

MIB = 1 << 20
LIMIT = 60
MADV_NOHUGEPAGE = 15
LIBC = ctypes.CDLL(None)
LIBC.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def run(*args):
    return subprocess.run((PROGRAM, *args), capture_output=True, text=True, timeout=LIMIT, check=False)


def rows(pids, *args):
    """{pid: row} of JSON."""
    done = run("-J", "-p", ",".join(map(str, pids)), *args)
    return {row["pid"]: row for row in json.loads(done.stdout)["processes"]}, json.loads(done.stdout)["totals"]


def near(value, other):
    return abs(value - other) < MIB


@contextlib.contextmanager
def children(count, prepare):
    """`count` processes that call prepare(number) and then stand still. Yields their pids."""
    pids, ends = [], []
    try:
        for number in range(count):
            ready, told = os.pipe()
            go, hold = os.pipe()
            pid = os.fork()
            if not pid:
                code = 1
                try:
                    os.close(ready)
                    os.close(hold)
                    kept = prepare(number)
                    os.write(told, b"1")
                    os.read(go, 1)
                    del kept
                    code = 0
                finally:
                    os._exit(code)
            pids.append(pid)
            ends.append(hold)
            os.close(told)
            os.close(go)
            if os.read(ready, 1) != b"1":
                raise OSError("a child could not prepare")
            os.close(ready)
        yield pids
    finally:
        for end in ends:
            os.close(end)
        for pid in pids:
            os.waitpid(pid, 0)


def anonymous(size, advice):
    area = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(area))
    LIBC.madvise(address, size, advice)
    for offset in range(0, size, 4096):
        area[offset] = 1
    return area, address


def test_nodes():
    if not need("counters", "PSS by node"):
        return
    with children(2, lambda _number: anonymous(16 * MIB, MADV_NOHUGEPAGE)) as pids:
        found, totals = rows(pids, "-o", "+nodes")
        for pid in pids:
            nodes = found[pid]["nodes"]
            # Other processes share the interpreter, and come and go.
            result(nodes and near(sum(node["pss_bytes"] for node in nodes), found[pid]["pss_bytes"]),
                   "PSS by node adds up to PSS", (nodes, found[pid]["pss_bytes"]))
        result(totals["nodes"] and totals["nodes"][0]["pss_bytes"] == sum(found[pid]["nodes"][0]["pss_bytes"] for pid in pids),
               "the total has nodes", totals["nodes"])
        done = run("-F", "csv", "-o", "node0", "-p", str(pids[0]))
        value = list(csv.DictReader(io.StringIO(done.stdout)))
        result(value and near(int(value[0]["node0_bytes"]), found[pids[0]]["nodes"][0]["pss_bytes"]), "CSV has a column",
               done.stdout)
        maps = json.loads(run("maps", "--by-node", "-J", "-a", str(pids[0])).stdout)
        sums = sum(value for key, value in maps["totals"].items() if key.startswith("node"))
        result(sums == maps["totals"]["rss_bytes"], "maps --by-node adds up to the resident set", maps["totals"])
        wrong = [row for row in maps["mappings"]
                 if sum(value for key, value in row.items() if key.startswith("node")) != row["rss_bytes"]]
        result(not wrong, "and in each mapping", wrong[:2])
        group = json.loads(run("-J", "-g", "name", "-o", "+nodes", "-p", ",".join(map(str, pids))).stdout)["groups"]
        result(len(group) == 1 and near(group[0]["nodes"][0]["pss_bytes"], totals["nodes"][0]["pss_bytes"]),
               "groups have sums of nodes", group)


def test_away():
    """A machine of two nodes with a CPU each, by files: the memory is on node 0."""
    if not need("counters mount", "a process away from its memory"):
        return
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        print("skip away: one CPU")
        return

    def prepare(number):
        if number:
            threading.Thread(target=lambda: (os.sched_setaffinity(0, cpus[:1]), begun.set(), threading.Event().wait()),
                             daemon=True).start()
            begun.wait()
        os.sched_setaffinity(0, cpus[1:2])
        return anonymous(32 * MIB, MADV_NOHUGEPAGE)

    begun = threading.Event()
    with tempfile.TemporaryDirectory() as nodes, children(2, prepare) as pids:
        for path, text in (("has_memory", "0-1"), ("node0/cpulist", cpus[0]), ("node1/cpulist", cpus[1])):
            os.makedirs(os.path.dirname("%s/%s" % (nodes, path)), exist_ok=True)
            write("%s/%s" % (nodes, path), "%s\n" % text)
        said = []
        for pid in pids:
            done = subprocess.run(("unshare", "-m", "sh", "-c", 'mount --bind "$0" /sys/devices/system/node && exec "$@"',
                                   nodes, PROGRAM, "-J", "-o", "+nodes", "-p", str(pid)),
                                  capture_output=True, text=True, timeout=LIMIT, check=False)
            said.append([f for f in json.loads(done.stdout)["findings"] if f["key"] == "node_away"])
        result(len(said[0]) == 1 and re.search(r"runs only on node 1,? and has", said[0][0]["text"]) and said[0][0]["pid"] == pids[0],
               "a process away from its memory is told", said[0])
        result(not said[1], "unless one of its threads is not", said[1])


run_checks((test_nodes, test_away))
sys.exit(exit_code())
