#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# needs: counters cgroups
# alone: swap and delay accounting are settings of the machine
"""What happens to cgroups, and which processes wait for memory: a container that reads back what the kernel takes from it stands
before one that is full and sleeps; the time that processes lose is that of the kernel's own delay accounting."""

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile

import paths  # noqa: F401
import oom
from btf import Btf
from in_cgroup import MIB, random_file, reader, running, sleeper
from outcome import O, PROGRAM, exit_code, need, result, run_checks, same, write
from swap import DELAYS, delay_accounting, zram

LIMIT, FULL = 100, 60  # MiB


def document(*args):
    done = subprocess.run((PROGRAM, *args, "-J"), capture_output=True, check=False, timeout=60)
    return json.loads(done.stdout) if done.stdout else {"error": done.stderr}


# ---- cgroups ----


def rows_of(groups, *args):
    """The rows of these cgroups, in their order."""
    names = [os.path.basename(g.path) for g in groups]
    found = document("cgroups", *args).get("groups", ())
    return [(row, names.index(row["group"][1:])) for row in found if row["group"][1:] in names]


def thrashing(directory):
    """A reader of 160 MiB may have 100 MiB of page cache; another process sleeps with nearly all that it may have."""
    path = directory + "/file"
    random_file(path, 160)
    with oom.Group("zz-thrash", "%dM" % LIMIT) as thrash, oom.Group("zz-full", "%dM" % FULL) as full:
        groups = (thrash, full)
        with sleeper(full, (FULL - 14) * MIB):
            with reader(thrash, path):
                (first, at), (second, _) = rows_of(groups)
                result(at == 0 and first["strain"] == "thrashes", "the cgroup that thrashes comes first", (first["group"], first["strain"]))
                result(first["mem_left_bytes"] < LIMIT * MIB // 10 and second["mem_left_bytes"] < FULL * MIB // 5,
                       "it has nothing to spare, though its memory is page cache; the other is nearly full",
                       (first["mem_left_bytes"], second["mem_left_bytes"]))
                result(first["refaults_count"] > 0 and first["refaults_per_s"] > LIMIT * MIB // 4096 // 20 and first["limit_hits_count"] > 0 and
                       first["limit_hits_per_s"] > 0, "refaults and hits of the limit", first)
                result(LIMIT * MIB // 2 < first["mem_peak_bytes"] <= LIMIT * MIB, "its peak is its limit", first["mem_peak_bytes"])
                result(second["strain"] in (None, "none") and not second["refaults_per_s"], "nothing hurts the other", second["strain"])
                replayed(groups, directory)
            reader_alone(groups, thrash, path)


def reader_alone(groups, thrash, path):
    """With twice the limit it reads back nothing."""
    for file in ("memory.limit_in_bytes", "memory.max"):
        if os.path.exists(thrash.path + "/" + file):
            write(thrash.path + "/" + file, "%dM" % (2 * LIMIT))
    with reader(thrash, path) as reads:
        before = [row["refaults_count"] for row, at in rows_of(groups) if at == 0][0]
        reads.stdout.readline()
        after = [(row["refaults_count"], row["strain"]) for row, at in rows_of(groups) if at == 0][0]
        # It fills the new room while it is read.
        result(after[0] - before < 160 * MIB // 4096 // 20 and after[1] != "thrashes", "with twice the limit little is read back",
               (before, after))


def replayed(groups, directory):
    """watch has rates from its second snapshot on; a recording as well."""
    path = directory + "/kept"
    done = subprocess.run((PROGRAM, "record", path, "-i", "1", "-c", "3", "-q"), stderr=subprocess.PIPE, check=False, timeout=60)
    rows = rows_of(groups, "--replay", path)
    result(len(rows) == 2 and rows[0][1] == 0 and rows[0][0]["strain"] == "thrashes" and rows[0][0]["limit_hits_per_s"],
           "the same in a recording", [(at, {k: v for k, v in row.items() if "_s" in k or "hits" in k}) for row, at in rows])


# ---- processes ----

TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_PID, TASKSTATS_TYPE_STATS = 1, 1, 3
TASKSTATS_TYPE_AGGR_PID = 4
COUNTED = ("swapin", "freepages", "thrashing", "compact")


def places():
    """Where struct taskstats has these delays: newer versions have them in other places."""
    with open("/sys/kernel/btf/vmlinux", "rb") as file:
        btf = Btf(file.read())
    number = next(btf.structs("taskstats"))
    members = {name: struct.unpack_from("<I", btf.data, at + 8)[0] // 8 for at, name, _ in btf.items(number)}
    return [members[name + "_delay_total"] for name in COUNTED]


class Taskstats:
    """The kernel's own interface to delay accounting."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)  # NETLINK_GENERIC
        self.socket.bind((0, 0))
        self.places = places()
        name = b"TASKSTATS\0"
        answer = self._ask(0x10, 3, 2, name)  # GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME
        self.family = struct.unpack_from("H", self._attributes(answer[20:])[1])[0]

    def _ask(self, family, command, attribute, value):
        payload = struct.pack("HH", 4 + len(value), attribute) + value
        payload += bytes(-len(payload) % 4)
        self.socket.send(struct.pack("IHHII", 20 + len(payload), family, 1, 1, 0) + struct.pack("BBH", command, 1, 0) + payload)
        return self.socket.recv(65536)

    @staticmethod
    def _attributes(data):
        found, at = {}, 0
        while at + 4 <= len(data):
            size, kind = struct.unpack_from("HH", data, at)
            if size < 4:
                break
            found[kind & 0x3fff] = data[at + 4:at + size]
            at += (size + 3) & ~3
        return found

    def wait_us(self, tid):
        answer = self._ask(self.family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_PID, struct.pack("I", tid))
        stats = self._attributes(self._attributes(answer[20:])[TASKSTATS_TYPE_AGGR_PID])[TASKSTATS_TYPE_STATS]
        return sum(struct.unpack_from("Q", stats, at)[0] for at in self.places) // 1000


def ticks_of(pid):
    """Three snapshots of a process by watch: its rows, and the last line of each."""
    done = subprocess.run((PROGRAM, "watch", "-p", str(pid), "-F", "ndjson", "-i", "1", "-c", "3"), capture_output=True, text=True,
                          check=False, timeout=60)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [[line for line in lines if line["type"] == kind] for kind in ("process", "snapshot")]


TOUCHER = """
import mmap
area = mmap.mmap(-1, 60 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
area.madvise(15)  # MADV_NOHUGEPAGE
count = 0
while True:
    for at in range(0, len(area), mmap.PAGESIZE):
        area[at] = count & 255
        count += 1
    print(flush=True)
"""


@contextlib.contextmanager
def swapping():
    """A process that touches more than its cgroup may have, round after round: its pid."""
    with oom.Group("zz-swaps", "45M") as group:
        for file, value in (("memory.swappiness", "60"), ("memory.swap.max", "max")):
            if os.path.exists(group.path + "/" + file):
                write(group.path + "/" + file, value)
        with running(group, sys.executable, "-c", TOUCHER, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            yield process.pid


def accounted():
    """The time is that of taskstats, which reads the same counters."""
    with delay_accounting(1), swapping() as pid:
        stats = Taskstats()
        before = stats.wait_us(pid)
        row = document("-p", str(pid), "--pss", "none")["processes"][0]
        after = stats.wait_us(pid)
        result(row["mem_wait_us"] and before <= row["mem_wait_us"] <= after, "the time that a process lost is that of taskstats",
               (before, row["mem_wait_us"], after))
        ticks, ends = ticks_of(pid)
        same("delay accounting is the source", [end["source"]["waits"] for end in ends], ["delay_accounting"] * 3)
        result(all(row["mem_wait_ms_per_second"] > 0 and row["swapins_per_second"] > 0 for row in ticks[1:]),
               "what it loses in a second, and reads from swap", ticks)


def watched():
    """Without it programs count, from the first snapshot on."""
    with delay_accounting(0), swapping() as pid:
        alone = document("-p", str(pid), "--pss", "none")
        row = alone["processes"][0]
        result(row["mem_wait_us"] is None and row["mem_wait_status"] == "unsupported" and alone["source"]["waits"] is None,
               "one snapshot does not know", row)
        ticks, ends = ticks_of(pid)
        same("programs are the source", [end["source"]["waits"] for end in ends], ["watched"] * 3)
        result(all(row["mem_wait_ms_per_second"] > 0 for row in ticks[1:]), "what it loses in a second",
               [(row["mem_wait_us"], row["mem_wait_ms_per_second"]) for row in ticks])
        # This machine may refuse every program on a function; guests do not (tests/vm/waits).
        result(all(row["swapins_per_second"] is None or row["swapins_per_second"] > 0 for row in ticks[1:]),
               "swap-ins are counted, or not known", ticks)
        same("a process that does not wait loses nothing", ticks_of(os.getpid())[0][2]["mem_wait_ms_per_second"], 0)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # it switches swap off
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        run_checks((thrashing,), directory)
    if os.path.exists(DELAYS) and need("swap sysctl", "which processes wait for memory"):
        with zram("lzo-rle", "128M"):
            run_checks((accounted, watched))
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
