#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Pages one by one: lazily freed memory as smaps_rollup has it, shares of hugetlb pages, PSS by node."""

import contextlib
import csv
import ctypes
import io
import json
import mmap
import os
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True  # the tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from outcome import PROGRAM, exit_code, have, huge_pages, need, result, run_checks  # noqa: E402

MIB = 1 << 20
HUGE = 2 * MIB
LIMIT = 60
MADV_FREE, MADV_HUGEPAGE, MADV_NOHUGEPAGE = 8, 14, 15
MFD_HUGETLB = 4
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


def rollup(pid, key):
    with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key + ":")) * 1024


@contextlib.contextmanager
def children(count, prepare, begin=None):
    """`count` processes that call prepare(number) and then stand still. Yields their pids."""
    pids, ends = [], []
    if begin:
        begin()
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


def freed(_number):
    """8 MiB that are lazily freed, of which 1 MiB is written again; and huge pages that are."""
    small, address = anonymous(8 * MIB, MADV_NOHUGEPAGE)
    LIBC.madvise(address, 8 * MIB, MADV_FREE)
    for offset in range(0, MIB, 4096):
        small[offset] = 2
    large, address = anonymous(8 * MIB, MADV_HUGEPAGE)
    LIBC.madvise(address + 2 * MIB, 4 * MIB, MADV_FREE)
    return small, large


def test_lazyfree():
    bpf = have("counters")
    with children(2, freed) as pids:
        found, totals = rows(pids, "-o", "+lazyfree")
        sums = 0
        for pid in pids:
            kernel = rollup(pid, "LazyFree")
            mine = found[pid]["lazyfree_bytes"]
            sums += mine or 0
            result(kernel > 6 * MIB and mine == kernel, "lazily freed memory is that of smaps_rollup",
                   "%s, not %d" % (mine, kernel))
            # Without BPF it is that of smaps_rollup itself.
            result(found[pid]["lazyfree_status"] == "ok", "its status", found[pid]["lazyfree_status"])
        result(totals["lazyfree_bytes"] == sums, "the total is the sum", totals["lazyfree_bytes"])
        maps = json.loads(run("maps", "-J", str(pids[0])).stdout)
        result(maps["totals"]["lazyfree_bytes"] == rollup(pids[0], "LazyFree"), "maps has it",
               maps["totals"]["lazyfree_bytes"])
        if bpf:
            found, _ = rows(pids)
            result(found[pids[0]]["lazyfree_bytes"] is None and found[pids[0]]["lazyfree_status"] == "skipped",
                   "without a column of it nothing is read", found[pids[0]]["lazyfree_bytes"])
        found, _ = rows(pids, "--pss", "rollup")
        result(found[pids[0]]["lazyfree_bytes"] == rollup(pids[0], "LazyFree"), "with --pss rollup it is there anyway")


def test_hugetlb():
    if not need("counters hugetlb", "shares of hugetlb pages"):
        return
    with huge_pages(8) as size:
        if not size:
            print("skip hugetlb: no huge pages could be reserved")
            return
        file = os.memfd_create("zmem-huge", MFD_HUGETLB)
        os.ftruncate(file, 4 * size)

        def share(number):
            shared = mmap.mmap(file, 4 * size)
            for page in range(4):
                shared[page * size] = 1
            own = None
            if number == 0:
                own = os.memfd_create("zmem-own", MFD_HUGETLB)
                os.ftruncate(own, 2 * size)
                own = mmap.mmap(own, 2 * size)
                own[0] = own[size] = 1
            return shared, own

        with children(3, share) as pids:
            os.close(file)
            found, totals = rows(pids)
            values = [found[pid]["hugetlb_pss_bytes"] for pid in pids]
            third = 4 * size // 3
            result(values[0] is not None and abs(values[0] - third - 2 * size) < 4 and
                   all(abs(value - third) < 4 for value in values[1:]), "each has its share of hugetlb pages", values)
            result(abs(totals["hugetlb_pss_bytes"] - 6 * size) < 16, "in totals each page counts once",
                   totals["hugetlb_pss_bytes"])
            result(totals["hugetlb_bytes"] is None, "HUGETLB of several has no sum still", totals["hugetlb_bytes"])
            done = run("-o", "+hugetlb_pss", "-p", ",".join(map(str, pids)))
            result("%d MiB in pages of hugetlb, which PSS leaves out" % (6 * size // MIB) in
                   done.stdout.replace("\n", " ").replace(".0 ", " "), "the summary tells it", done.stdout)
            metrics = run("-F", "prometheus", "-g", "name", "-p", ",".join(map(str, pids))).stdout
            line = [line for line in metrics.splitlines()
                    if line.startswith("zmem_group_hugetlb_proportional_bytes{")]
            result(len(line) == 1 and abs(int(line[0].split()[1]) - 6 * size) < 16, "metrics have it", line)


def halves(number):
    """16 MiB in huge pages without their second halves, and 1 MiB of one more."""
    area, address = anonymous(18 * MIB + HUGE, MADV_HUGEPAGE)
    first = address + -address % HUGE
    for at in range(first, first + 16 * MIB, HUGE):
        LIBC.madvise(at + HUGE // 2, HUGE // 2, mmap.MADV_DONTNEED)
    return area, number


def test_rest():
    """Huge pages mapped in part: by one process, by processes that share them, and whole ones."""
    if not need("counters", "the rest of huge pages"):
        return
    with mmap.mmap(-1, HUGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as area:
        refused = LIBC.madvise(ctypes.addressof(ctypes.c_char.from_buffer(area)), HUGE, MADV_HUGEPAGE)
    if refused:
        print("note this kernel has no transparent huge pages")
        return
    with children(1, halves) as pids:
        found, totals = rows(pids, "-o", "+thp_rest")
        result(found[pids[0]]["thp_rest_bytes"] == 8 * MIB, "the rest of huge pages of a process", found[pids[0]])
        result(totals["thp_rest_bytes"] == 8 * MIB, "the total has it", totals)
        maps = json.loads(run("maps", "-J", "-a", str(pids[0])).stdout)
        result(maps["totals"].get("thp_rest_bytes") == 8 * MIB and sum(row["thp_rest_bytes"] for row in maps["mappings"]) == 8 * MIB,
               "mappings have it", maps["totals"])
        document = json.loads(run("system", "-J").stdout)
        result(document["across"]["anon_partly_mapped_bytes"] is None or document["across"]["anon_partly_mapped_bytes"] >= 16 * MIB,
               "the kernel's counter has the whole pages", document["across"])
    kept = []
    with children(3, lambda number: [LIBC.madvise(kept[1] + HUGE // 2, HUGE // 2, mmap.MADV_DONTNEED) if number else None],
                  lambda: kept.extend(huge_area(8 * MIB))) as pids:
        # Two children have lost the half of the first huge page; the parent maps it whole.
        found, _totals = rows([*pids, os.getpid()], "-o", "+thp_rest")
        values = {pid: row["thp_rest_bytes"] for pid, row in found.items()}
        result(not any(values.values()), "what another process maps is no rest", values)
        LIBC.madvise(kept[1] + HUGE // 2, HUGE // 2, mmap.MADV_DONTNEED)
        found, _totals = rows([*pids, os.getpid()], "-o", "+thp_rest")
        values = {pid: row["thp_rest_bytes"] for pid, row in found.items()}
        result(not any(values.values()), "nor what one child still maps", values)
    LIBC.madvise(kept[1] + HUGE // 2, HUGE // 2, mmap.MADV_DONTNEED)
    with children(1, lambda _number: None) as pids:
        found, _totals = rows([*pids, os.getpid()], "-o", "+thp_rest")
        values = sorted(row["thp_rest_bytes"] for row in found.values())
        result(values == [MIB // 2, MIB // 2], "processes that share the page share its rest", values)


def huge_area(size):
    """Huge pages: the area, and the address of the first one."""
    area, address = anonymous(size + HUGE, MADV_HUGEPAGE)
    return area, address + -address % HUGE


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
            with open("%s/%s" % (nodes, path), "w", encoding="ascii") as file:
                file.write("%s\n" % text)
        said = []
        for pid in pids:
            done = subprocess.run(("unshare", "-m", "sh", "-c", 'mount --bind "$0" /sys/devices/system/node && exec "$@"',
                                   nodes, PROGRAM, "-o", "+nodes", "-p", str(pid)),
                                  capture_output=True, text=True, timeout=LIMIT, check=False)
            said.append(" ".join(done.stdout.split()) + done.stderr)
        result("runs on node 1 alone and has" in said[0], "a process away from its memory is told", said[0])
        result("NODE0" in said[1] and "alone and has" not in said[1], "unless one of its threads is not", said[1])


def test_refused():
    for args, code in ((("-g", "node", "-n", "3"), 2), (("watch", "-g", "node", "-c", "1"), 2),
                       (("maps", "--by-node", "--by-file"), 2), (("-o", "node16"), 2), (("-o", "+node"), 2)):
        done = run(*args)
        result(done.returncode == code and done.stderr, "%s is refused" % " ".join(args),
               (done.returncode, done.stderr))
    done = run("--source", "proc", "-o", "+nodes", "-n", "1")
    result(done.returncode == 0 and "nodes are not known" in done.stderr, "without BPF the reason is said", done.stderr)


run_checks((test_lazyfree, test_hugetlb, test_rest, test_nodes, test_away, test_refused))
sys.exit(exit_code())
