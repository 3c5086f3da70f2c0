#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it switches on a zram device of its own as swap, and off again
"""The limit of memory and swap together (cgroup v1): where it is nearer than that of memory, it is the one that counts. It is in
the rows of cgroups and groups, in findings, and as the limit that was lowered before a kill."""
# needs: bpf cgroups swap

import contextlib
import os
import subprocess
import sys
import tempfile

import paths  # noqa: F401
from oom import V1, document, events_of
from outcome import PROGRAM, exit_code, result, run_checks, same, wait_until, write
from swap import read, zram

MIB = 1 << 20
LIMIT, MEMSW = 32 * MIB, 48 * MIB
# Each line of the input: take so many MiB, or free what was taken last. Random bytes: zram makes them no smaller, and KSM
# does not merge them. mmap() gives each piece back at once.
HOLD = """
import mmap, os, sys
held = []
for line in sys.stdin:
    mib = int(line)
    if mib:
        held.append(mmap.mmap(-1, mib << 20))
        for i in range(mib):
            held[-1][i << 20:(i + 1) << 20] = os.urandom(1 << 20)
    else:
        held.pop().close()
    print("done", flush=True)
"""


def charged(path):
    return int(read(path + "/memory.memsw.usage_in_bytes"))


@contextlib.contextmanager
def cgroup(memsw):
    path = "%s/zmem-memsw-%d" % (V1, os.getpid())
    os.mkdir(path)
    write(path + "/memory.limit_in_bytes", str(LIMIT))
    write(path + "/memory.memsw.limit_in_bytes", str(memsw))
    try:
        yield path
    finally:
        if not wait_until(lambda: not read(path + "/cgroup.procs")):
            raise RuntimeError(path + " has processes")
        os.rmdir(path)


class Holder:
    def __init__(self, path):
        join = 'echo $$ >%s/cgroup.procs; exec "$@"' % path
        self.child = subprocess.Popen(("sh", "-c", join, "sh", sys.executable, "-c", HOLD), stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, bufsize=0)
        self.pid = self.child.pid

    def __enter__(self):
        return self

    def tell(self, mib):
        """False: it was killed."""
        self.child.stdin.write(b"%d\n" % mib)
        return self.child.stdout.readline() == b"done\n"

    def swap_out(self):
        """Most of 20 MiB, by 28 MiB beside it. Then there is room for memory, and little for both together."""
        for mib in (20, 28, 0):
            if not self.tell(mib):
                raise RuntimeError("it was killed")

    def __exit__(self, *args):
        self.child.kill()
        self.child.wait()
        self.child.stdin.close()
        self.child.stdout.close()


def check_row(name, row, path, memsw):
    at = charged(path)
    same(name + ": the nearest limit", row["nearest_limit_bytes"], memsw)
    same(name + ": the lowest limits", (row["mem_limit_bytes"], row["mem_memsw_limit_bytes"]), (LIMIT, memsw))
    # What the kernel charges in its own time moves by some batches of each CPU.
    result(abs(row["mem_memsw_bytes"] - at) < MIB, name + ": what is charged", (row["mem_memsw_bytes"], at))
    left = memsw - row["mem_memsw_bytes"] + row["mem_current_bytes"] - row["mem_working_set_bytes"]
    same(name + ": what is left", row["mem_left_bytes"], left)


def check_nearest(_):
    """Memory has room, but memory and swap together have little."""
    with cgroup(400 * MIB) as path, Holder(path) as holder:
        name = "/" + os.path.basename(path)
        holder.swap_out()
        holder.tell(12)
        row = document("cgroups", "--cgroup", name)["groups"][0]
        same("a limit of memory that is nearer", row["nearest_limit_bytes"], LIMIT)
        memsw = charged(path) + 2 * MIB & -4096
        write(path + "/memory.memsw.limit_in_bytes", str(memsw))
        row = document("cgroups", "--cgroup", name)["groups"][0]
        check_row("cgroups", row, path, memsw)
        same("cgroups: its own limit", row["limit_cgroup"], name)
        row, = [g for g in document("-g", "cgroup", "-v")["groups"] if g["group"] == name]
        check_row("-g cgroup", row, path, memsw)


def check_finding(_):
    """All of it is anonymous memory, in RAM and in swap."""
    with cgroup(400 * MIB) as path, Holder(path) as holder:
        name = "/" + os.path.basename(path)

        def findings():
            return [f for f in document("-v", "-n", "1")["findings"] if f["cgroup"] == name]
        holder.swap_out()
        holder.tell(12)
        same("both have room: no finding", [f["key"] for f in findings()], [])
        write(path + "/memory.memsw.limit_in_bytes", str(charged(path) + (MIB >> 2)))
        found = findings()
        same("nearly full: a finding", [f["key"] for f in found], ["cgroup_full"])
        result(found and " of memory and swap): " in found[0]["text"], "it says which limit", found)
        result(found and LIMIT - 2 * MIB < found[0]["bytes"] < LIMIT + 8 * MIB, "swap counts in it", found)


def check_lowered(_):
    with cgroup(64 * MIB) as path, tempfile.TemporaryDirectory() as kept, Holder(path) as holder:
        recorder = subprocess.Popen((PROGRAM, "record", "--keep", "1h", kept, "-i", "0.5", "-q"))
        try:
            holder.swap_out()
            begun = wait_until(lambda: document("--replay", kept))
            result(begun and wait_until(lambda: document("--replay", kept)["timestamp_ms"] > begun["timestamp_ms"] + 500),
                   "snapshots before")
            write(path + "/memory.memsw.limit_in_bytes", str(MEMSW))
            same("it was killed", holder.tell(40), False)
            wait_until(lambda: events_of(kept, [holder.pid]))
        finally:
            recorder.terminate()
            recorder.wait()
        event, = events_of(kept, [holder.pid])
        same("the limit that was reached, and before", (event["limit_bytes"], event["limit_before_bytes"]), (MEMSW, 64 * MIB))


def main():
    if not os.path.exists(V1 + "/memory.memsw.limit_in_bytes"):
        print("skip limits of memory and swap: cgroup v2, or swapaccount=0")
        return 0
    with zram("lzo-rle", "128M"):
        run_checks((check_nearest, check_finding, check_lowered), None)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
