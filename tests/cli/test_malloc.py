#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""No memory: every allocation of the program fails once, alone and with all that follow. The run ends
with a message and exit code 1, or with its usual output, where a missing value is '-' or null. No
value is 0 or wrong, no output is partly written. LONG=1 (make soak) fails each allocation of every
command, otherwise every eighth one."""
# Sanitizers have an allocator of their own.
# needs: plain

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import zlib

import paths  # noqa: F401
from outcome import MKMEM, O, PRELOAD, PROGRAM, exit_code, have, mkmem_pids, need, result, write

SHAPES = ("anon", "fork", "clone_vm", "shmem", "names", "threads", "zombie")
LIMIT = 30
LINKER_ABORT = b"cannot allocate memory for thread-local data: ABORT\n"
# One in this many allocations of a command fails; the first one depends on its name.
SOME = 1 if os.environ.get("LONG") else 8


class Machine:
    """Idle processes with known values, and a directory."""

    def __init__(self):
        self.dir = tempfile.mkdtemp()
        self.child = subprocess.Popen((MKMEM,) + SHAPES, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True)
        self.pids = [str(pid) for pid in mkmem_pids(self.child).values()]

    def close(self):
        self.child.stdin.close()
        self.child.wait()
        shutil.rmtree(self.dir)

    def run(self, args, at=0, every=False):
        env = dict(os.environ, LD_PRELOAD=PRELOAD, FAIL_AT=str(at), LC_ALL="C",
                   FAIL_COUNT=self.dir + "/count")
        if every:
            env["FAIL_ALL"] = "1"
        try:
            return subprocess.run((PROGRAM,) + args, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=LIMIT, check=False, env=env)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(args, -signal.SIGALRM, b"", b"it hangs")

    def count(self, args):
        done = self.run(args)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return self.allocations(), done

    def allocations(self):
        """The number of allocations of the last run."""
        with open(self.dir + "/count", encoding="ascii") as f:
            return int(f.readline())


def ended(done):
    """The reason why the run ended wrongly, or None."""
    lines = done.stderr.decode("utf-8", "replace").splitlines()
    # doctor tries to load libmicrohttpd: its GnuTLS prints a message.
    foreign = [line for line in lines if not line.startswith(("zmem-bpf: ", "Error in GnuTLS initialization: "))]
    # The dynamic linker ends the program when libmicrohttpd's thread-local data finds no memory.
    if done.args[1:] == ("doctor",) and done.returncode == 127 and done.stderr.endswith(LINKER_ABORT):
        return None
    if done.returncode not in (0, 1):
        return "exit code %d, %s" % (done.returncode, done.stderr)
    if foreign:
        return "says %s" % foreign
    if done.returncode == 1 and not lines:
        return "exit code 1 without a message"
    if "(null)" in done.stderr.decode("utf-8", "replace"):
        return "says %s" % lines
    return None


# ---- outputs ----

def has_status(key):
    """True for a value that may be missing, since the row has the reason."""
    return key.endswith("_bytes")


# Keys that depend on the source of the values, not on the process.
SOURCE_KEYS = ("counters_source", "pss_source", "cgroup_key", "mm_id")
# Values that are 0 without being read, unless another process has such memory: another test may have some meanwhile.
UNREAD = ("thp_rest", "hugetlb_pss")


def rows_of(text):
    return {p["pid"]: p for p in json.loads(text)["processes"]}


def near(a, b, most):
    """Another process may map or unmap a page of mkmem's program, which changes PSS."""
    return str(a).isdigit() and str(b).isdigit() and abs(int(a) - int(b)) <= most


def same(key, a, b, most=1024):
    """Start times may differ, because the two clocks cannot be read at once. PSS from /proc is in KiB, rounded down."""
    return a == b or (key == "start_time_ms" and abs(a - b) <= 2) or \
        (("pss" in key or key == "shared_bytes") and near(a, b, most))


def is_unread(row, before, key):
    """Of one of the two, the value of UNREAD was not read."""
    name = key.removesuffix("_bytes").removesuffix("_status")
    return name in UNREAD and "skipped" in (row[name + "_status"], before[name + "_status"])


def wrong_json(text, before):
    """The first value in a document that is neither as before nor missing with a reason."""
    document, was = json.loads(text), json.loads(before)
    rows, old = rows_of(text), rows_of(before)
    if rows.keys() != old.keys():
        return "other processes: %s" % sorted(rows.keys() ^ old.keys())
    for pid, row in rows.items():
        for key, value in old[pid].items():
            if key in SOURCE_KEYS or same(key, row.get(key), value) or is_unread(row, old[pid], key):
                continue
            if key in ("pss_status", "swap_pss_status"):
                if row[key] == "ok":
                    return "%d: %s is %s" % (pid, key, row[key])
            elif row.get(key) is not None or not has_status(key) or row["pss_status"] == "ok":
                return "%d: %s is %s, not %s" % (pid, key, row.get(key), value)
    for key, value in document["totals"].items():
        if key.endswith("_bytes") and value is not None and document["collection"]["complete"] \
                and not same(key, value, was["totals"][key], 1024 * len(rows)):
            return "the total of %s is %s, not %s" % (key, value, was["totals"][key])
    if document["source"]["counters"] == "proc" and was["source"]["counters"] == "bpf" and \
            not document["source"]["fallback_reason"]:
        return "counters from /proc without a reason"
    if "kernel" in was["source"]["pss"] and "kernel" not in document["source"]["pss"] and \
            not document["source"]["pss_fallback_reason"]:
        return "PSS not from the kernel without a reason"
    return None


def wrong_replay(text, before):
    """A replay shows every value and every text of the recording, or it fails."""
    document, was = json.loads(text), json.loads(before)
    if document["source"] != was["source"]:
        return "%s, not %s" % (document["source"], was["source"])
    rows, old = rows_of(text), rows_of(before)
    if rows.keys() != old.keys():
        return "other processes: %s" % sorted(rows.keys() ^ old.keys())
    for pid, row in rows.items():
        for key in sorted(row.keys() | old[pid].keys()):
            if row.get(key) != old[pid].get(key):
                return "%d: %s is %s, not %s" % (pid, key, row.get(key), old[pid].get(key))
    for key in sorted(was):
        if document.get(key) != was[key]:
            return "%s is %s, not %s" % (key, document.get(key), was[key])
    return None


def table_rows(text):
    """The rows of a table, without the total and the summary below it."""
    rows = text.decode().splitlines()
    return rows[:next(i for i, row in enumerate(rows) if row.endswith("  total"))]


def wrong_table(text, before):
    rows, old = table_rows(text), table_rows(before)
    if len(rows) != len(old):
        return "%d rows, not %d" % (len(rows), len(old))
    headings = old[0].split()
    shared = [headings.index(name) for name in ("PSS", "SHARED") if name in headings]
    for row, was in zip(rows, old):
        cells, values = row.split(), was.split()
        if len(cells) != len(values):
            return "%s, not %s" % (row, was)
        for i, (cell, value) in enumerate(zip(cells, values)):
            if cell not in (value, "-") and not (i in shared and near(cell, value, 1024)):
                return "%s, not %s" % (row, was)
    return None


def named_users():
    """Users with processes and a name: for a uid without a name glibc loads modules, which abort without memory."""
    names = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            names.add(pwd.getpwuid(os.stat("/proc/" + pid).st_uid).pw_name)
        except (OSError, KeyError):
            pass
    return ",".join(sorted(names))


# ---- one command, every allocation ----


def check(machine, name, args, wrong, step=None):
    begin = 1 if step else 1 + zlib.crc32(name.encode()) % SOME
    step = step or SOME
    allocations, before = machine.count(args)
    problems, failures, runs = [], 0, 0
    for every in (False, True):
        # If all later allocations fail, most runs end alike: every second one suffices.
        for at in range(begin, allocations + 3, step * (1 + every)):
            done = machine.run(args, at, every)
            why = ended(done)
            if not why and done.returncode == 0 and wrong:
                try:
                    why = wrong(done.stdout, before.stdout)
                except (ValueError, KeyError, TypeError, IndexError, StopIteration) as error:
                    why = "no document: %r" % error
            if why:
                problems.append("allocation %d%s: %s" % (at, " and on" if every else "", why))
            failures += done.returncode == 1
            runs += 1
    result(not problems, "no memory: " + name, problems[:3])
    result(failures, "no memory: %s: some allocations are required" % name)
    print("# %s: %d allocations, %d runs, %d with exit code 1" % (name, allocations, runs, failures))


def check_output(machine, pids):
    where = machine.dir + "/out"
    os.mkdir(where)
    path = where + "/file"
    args = ("--json", "-p", pids, "--output", path)
    allocations, _ = machine.count(args)
    problems = []
    for at in range(1, allocations + 1):
        write(path, "old")
        done = machine.run(args, at)
        why = ended(done)
        with open(path, "rb") as f:
            text = f.read()
        if done.returncode == 1 and text != b"old":
            why = "the old file is lost"
        if done.returncode == 0:
            try:
                rows_of(text)
            except ValueError as error:
                why = repr(error)
        if os.listdir(where) != ["file"]:
            why = os.listdir(where)
        if why:
            problems.append("allocation %d: %s" % (at, why))
    result(not problems, "no memory: --output", problems[:3])


def check_replay_of_many_texts(machine):
    """A frame with texts, most of them those of the frame before, that need several blocks of memory; with a finding."""
    recording, made = machine.dir + "/texts", machine.dir + "/made"
    shells = [subprocess.Popen(("sh", "-c", "read x", "%04d" % i + "x" * 2000), stdin=subprocess.PIPE)
              for i in range(100)]
    pids = ",".join(str(shell.pid) for shell in shells)
    try:
        subprocess.run((PROGRAM, "record", made, "-c", "2", "-i", "0.1", "-o", "+cmdline", "-p", pids),
                       check=True)
        subprocess.run((O + "/obj/edit_recording", "edit", made, recording, "maps=65529"), check=True)
    finally:
        for shell in shells:
            shell.communicate()
    for words in (("-o", "+cmdline"), ("-o", "+cmdline", "-u", "0")):
        check(machine, "a replay of many texts, " + " ".join(words),
              ("--json", "--replay", recording) + words, wrong_replay, step=1)
    found = json.loads(machine.run(("--json", "--replay", recording)).stdout)["findings"]
    result(any(f["key"] == "maps_limit" for f in found), "a replay of many texts: it has a finding", found)


def check_listen(machine):
    """The first address is bound when the second one fails."""
    where = machine.dir + "/sockets"
    os.mkdir(where)
    args = ("serve", "--listen", "unix:%s/a,unix:/dev/null/b" % where)
    machine.run(args)
    problems = []
    for at in range(1, machine.allocations() + 1):
        done = machine.run(args, at)
        why = ended(done)
        if done.returncode != 1:
            why = "exit code %d" % done.returncode
        if os.listdir(where):
            why = "left behind: %s" % os.listdir(where)
        if why:
            problems.append("allocation %d: %s" % (at, why))
    result(not problems, "no memory: no socket is left behind", problems[:3])


def main():
    machine = Machine()
    pids = ",".join(machine.pids)
    try:
        some = ("-p", pids)
        table = some + ("-b", "-s", "pid")
        check(machine, "table", table, wrong_table, step=1)
        all_users = ("-u", named_users())
        check(machine, "all processes", all_users, None)
        check(machine, "command lines", table + ("-o", "pid,pss,rss,swap,cmdline", "-w"),
              wrong_table)
        check(machine, "a pattern", table + ("-o", "pid,pss,rss", "-f", "mkmem|a.b|x"),
              wrong_table)
        check(machine, "json", ("--json",) + some, wrong_json)
        check(machine, "json, command lines", ("--json", "-o", "+cmdline") + some, wrong_json)
        check(machine, "from /proc", ("--json", "--source", "proc") + some, wrong_json)
        check(machine, "from smaps_rollup", ("--json", "--pss", "rollup") + some, wrong_json)
        check(machine, "the first", ("--json", "--pss", "rollup", "-n", "3") + all_users, None)
        check(machine, "everything verified", ("--json", "--verify", "all") + some, wrong_json)
        for source in ("bpf", "proc") if have("counters") else ("proc",):
            recording = machine.dir + "/" + source
            subprocess.run((PROGRAM, "record", recording, "--source", source, *some), check=True)
            check(machine, "a replay, from " + source, ("--json", "--replay", recording) + some, wrong_replay)
        check_replay_of_many_texts(machine)
        check(machine, "a user", ("--json", "-u", "root,nobody") + some, wrong_json)
        for name in ("ndjson", "csv", "folded", "html", "openmetrics"):
            check(machine, name, ("-F", name) + some, None)
        for key in ("name", "unit"):
            check(machine, "groups by " + key, ("--json", "-g", key) + some, None)
        check(machine, "a tree", ("--tree",) + some, None)
        check(machine, "doctor", ("doctor",), None, step=101 if SOME == 1 else 401)
        check(machine, "the machine", ("system", "--json"), None)
        if need("counters", "no memory: doctor --compare"):
            check(machine, "doctor --compare, json", ("doctor", "--compare", "--json") + some, None)
        check(machine, "maps", ("maps", "--json") + tuple(machine.pids[:2]), None)
        check(machine, "maps by file", ("maps", "--by-file", "-s", "name") + some, None)
        for words in (("-F", "ndjson", "--changed"), ("--grow", "-g", "user")):
            check(machine, "watch " + " ".join(words),
                  ("watch", "-c", "3", "-i", "0.1") + words + some, None, step=2 * SOME)
        check_output(machine, pids)
        check_listen(machine)
    finally:
        machine.close()
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
