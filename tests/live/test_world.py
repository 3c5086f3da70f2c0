#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# needs: counters cgroups
"""Worlds of processes (support/world.py) that each command must show as an oracle counts them (support/oracle.py),
which has no code of zmem-bpf. Without arguments: some seeds and the cases of worlds.txt.

test_world.py [--seed N | --seeds N-M | --minutes M | --cases | --case NAME] [--only CHECK,...]
              [--with swap,hugetlb,ksm] [-v]

A value is right, or it is null and its status says why. The processes of a world stand still, so that a value that
is wrong once and right the next time is no fault: the machine has other users."""

import argparse
import contextlib
import fcntl
import glob
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.dont_write_bytecode = True  # the tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import oracle  # noqa: E402
import swap  # noqa: E402
from outcome import O, PROGRAM, exit_code, huge_pages, need, result, wait_until  # noqa: E402
from world import BASE, World, finished, told  # noqa: E402

MIB = 1 << 20
LIMIT = 60
SEEDS = (3, 18)
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worlds.txt")
TRIES = 3
# Each CPU keeps up to 64 pages of a charge to itself (MEMCG_CHARGE_BATCH), for this and for the last group.
CHARGES = MIB + MIB // 2
# The page of the vDSO is shared by all processes of the machine, which come and go: its share is no more than this.
COMES_AND_GOES = 300
KEYS = ("name", "user", "cgroup", "cmdline", "app", "unit", "container", "pod", "namespace", "user,name", "cgroup,name")
# No sum of the rows of processes.
NO_SUMS = {"peak_bytes", "hugetlb_bytes", "freed_bytes", "gpu_bytes", "dmabuf_bytes", "start_time_ms"}
# Before 6.2 FREED and the columns of single pages are null, unsupported; and no swap slots are read, so that PSS of a
# process with swap comes from smaps_rollup, in kB.
RELEASE = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))
OLD = RELEASE < (6, 2)
# Other tests allocate and free, and do so between the two counts of all frames; and the census counts the memory of
# zmem-bpf itself, which loads programs with 26 MiB there before 6.2.
MACHINE = (56 if OLD else 24) * MIB
READINGS = 10
KSM = "/sys/kernel/mm/ksm/"
counts = {"worlds": 0, "processes": 0, "values": 0}


def text_of(*args, before=()):
    done = subprocess.run((*before, PROGRAM, *args), capture_output=True, timeout=LIMIT, check=False)
    if done.returncode:
        raise RuntimeError("%s: exit code %d: %s" % (args, done.returncode, done.stderr.decode()[:300]))
    return done.stdout.decode(errors="surrogateescape")


def document(*args, before=()):
    return json.loads(text_of("-J", *args, before=before))


class Faults(list):
    """What is wrong: command, column, what it is of, right value, value."""

    def compare(self, command, column, of, right, value, room=0):
        counts["values"] += 1
        if value is None or isinstance(value, str) or isinstance(right, str):
            wrong = value != right
        else:
            wrong = abs(value - right) > room
        if wrong:
            self.append("%s: %s of %s is %s, not %s" % (command, column, of, value, right))


def repeated(check, tries=TRIES):
    """Its faults: those of the try that has the fewest. A fault stays however often one looks."""
    best = None
    for _ in range(tries):
        faults = Faults()
        check(faults)
        if best is None or len(faults) < len(best):
            best = faults
        if not best:
            break
    return best


# ---- processes ----


def room_of(key, world, rollup=False):
    """Processes that come and go map the program that the others map, too: 0.9 MiB, shared by all of them."""
    if key == "swap_pss_bytes":
        return 1024  # smaps_rollup has kB
    if "pss" not in key and not key.startswith("shared"):
        return 0
    return (16384 if world.busy else COMES_AND_GOES) + (1024 if rollup else 0)


def status_of(key, row):
    """The key of the status of a value: its own, or that of PSS."""
    own = key.removesuffix("_bytes") + "_status"
    return own if own in row else "pss_status"


def compare_process(faults, world, pid, right, row):
    name = "%s (%d)" % (right["comm"], pid)
    rollup = OLD and right["swap_bytes"]
    for key, value in right.items():
        if key in ("held", "rollup"):
            continue
        if row[key] is None and key.endswith("_bytes") and row[status_of(key, row)] != "ok":
            if OLD and row[status_of(key, row)] == "unsupported":
                continue
            faults.append("snapshot: %s of %s is null: %s, but it stands still" % (key, name, row[status_of(key, row)]))
            continue
        faults.compare("snapshot", key, name, value, row[key], room_of(key, world, rollup))
    if row["pss_source"] != ("smaps_rollup" if rollup else "kernel"):
        faults.append("snapshot: PSS of %s comes from %s, but it stands still" % (name, row["pss_source"]))
    if row["pss_bytes"] is not None and row["swap_pss_bytes"] is not None:
        faults.compare("snapshot", "pss_swap_bytes", name, row["pss_bytes"] + row["swap_pss_bytes"],
                       row["pss_swap_bytes"])


def give_reasons(faults, what, row, name):
    """Each status is ok, or its value is null. A sum that some process lacks is in at_least, or null."""
    for status in row:
        value = status.removesuffix("_status")
        value = value if value in row else value + "_bytes"
        if not status.endswith("_status") or value not in row or status == "container_status":
            continue
        counts["values"] += 1
        known = row[value] is not None and value not in row.get("at_least", ())
        if known != (row[status] == "ok"):
            faults.append("%s: %s of %s is %s with status %s" % (what, value, name, row[value], row[status]))


def agrees(faults, row, what="snapshot"):
    """A row with itself, also of a process that moves."""
    name = "%s (%d)" % (row["comm"], row["pid"])
    give_reasons(faults, what, row, name)
    if row["pss_bytes"] is not None and row["pss_bytes"] < row["uss_bytes"]:
        faults.append("snapshot: PSS of %s is less than USS" % name)
    parts = [row["rss_%s_bytes" % kind] for kind in ("anon", "file", "shmem")]
    if row["rss_bytes"] is not None and None not in parts:
        faults.compare("snapshot", "rss_bytes", name, sum(parts), row["rss_bytes"])


def idle(world, before, after):
    """Those of `before` that are the same afterwards: they did not move meanwhile."""
    def still(one, other):
        return all(abs(value - other[key]) <= room_of(key, world) if isinstance(value, int) else value == other[key]
                   for key, value in one.items() if key != "rollup")

    return {pid: row for pid, row in before.items() if pid in after and still(row, after[pid])}


def check_processes(world):
    def check(faults):
        pids = world.pids()
        before = oracle.processes(pids)
        rows = {p["pid"]: p for p in document("-o", "+lazyfree,hugetlb_pss")["processes"]}
        right = {pid: row for pid, row in idle(world, before, oracle.processes(pids)).items()
                 if row["comm"] not in world.busy}
        counts["processes"] += len(right)
        for pid, values in right.items():
            kernel = values["rollup"]
            # The oracle against the kernel's own account.
            if (abs(kernel["Pss"] - values["pss_bytes"]) > 1024 + room_of("pss", world) or
                    kernel["Rss"] != values["rss_bytes"]):
                faults.append("oracle: %s (%d): smaps_rollup has RSS %d and PSS %d, not %d and %d" % (
                    values["comm"], pid, kernel["Rss"], kernel["Pss"], values["rss_bytes"], values["pss_bytes"]))
            if pid not in rows:
                faults.append("snapshot: no row of %s (%d)" % (values["comm"], pid))
            else:
                compare_process(faults, world, pid, values, rows[pid])
        for row in rows.values():
            agrees(faults, row)

    return repeated(check)


# ---- groups, trees and texts of one moment ----


def at_least(faults, what, row, members, name):
    """A sum is a lower bound if one of its members lacks the value, and says so; without values there is none."""
    members = [m for m in members if m["mm_owner"]]
    for key in members[0] if members else ():
        if key not in row or key in NO_SUMS or not (key.endswith("_bytes") or key in ("maps", "majflt", "swapins")):
            continue
        lacking = [m[key] for m in members].count(None)
        counts["values"] += 1
        if (key in row["at_least"]) != (row[key] is not None and lacking > 0):
            faults.append("%s: %d of %d processes of %s lack %s, it is %s, and at_least has %s" % (
                what, lacking, len(members), name, key, row[key], row["at_least"]))


def sums(faults, what, row, members):
    at_least(faults, what, row, members, row["group"])
    for key, value in row.items():
        if not key.endswith("_bytes") and key not in ("threads", "maps") or key.startswith("mem_"):
            continue
        if key in NO_SUMS:
            continue
        # An address space that several processes share counts once.
        values = [m.get(key) for m in members if m["mm_owner"] or key == "threads"]
        if value is None or None in values:
            continue
        rounded = len(members) if "pss" in key or "shared" in key else 0
        faults.compare(what, key, row["group"], sum(values), value, rounded)


def value_of(row, key):
    return tuple(row[k] for k in key.split(","))


def check_groups(world):
    faults = Faults()
    with recording() as replay:
        known = document(*replay)
        processes = known["processes"]
        at_least(faults, "snapshot", known["totals"], processes, "all")
        for process in processes:  # one without a name
            process["user"] = process["user"] or str(process["uid"])
        for key in KEYS:
            rows = document("-g", key, "-a", *replay)["groups"]
            faults.compare("-g " + key, "procs", "all groups", len(processes), sum(r["procs"] for r in rows))
            if not all(k in processes[0] for k in key.split(",")):
                continue
            members = {}
            for process in processes:
                members.setdefault(value_of(process, key), []).append(process)
            for row in rows:
                of = members.get(value_of(row, key) if "," in key else (row["group"],))
                if of is None:
                    if row["procs"] and row["group"]:
                        faults.append("-g %s: no process has %r" % (key, row["group"]))
                    continue
                faults.compare("-g " + key, "procs", row["group"], len(of), row["procs"])
                give_reasons(faults, "-g " + key, row, row["group"])
                sums(faults, "-g " + key, row, of)
        check_tree(faults, processes, replay)
        check_text(faults, replay)
        check_other_texts(faults, replay)
    del world
    return faults


TREE = ("pid", "pss", "uss", "rss", "rss_anon", "rss_shmem", "swap", "vsize", "pgtables", "thp")


def check_tree(faults, processes, replay):
    children = {}
    for process in processes:
        children.setdefault(process["ppid"], []).append(process)

    def below(process, key):
        if process[key] is None or not process["mm_owner"]:
            return None
        inner = [below(child, key) for child in children.get(process["pid"], ()) if child["pid"] != process["pid"]]
        return None if None in inner else process[key] + sum(inner)

    by_pid = {p["pid"]: p for p in processes}
    for line in text_of("--tree", "-a", "-w", "-b", "-H", "-o", ",".join(TREE), *replay).splitlines():
        words = line.split()
        if len(words) < len(TREE) or not words[0].isdigit() or int(words[0]) not in by_pid:
            continue
        for name, word in zip(TREE[1:], words[1:]):
            right = below(by_pid[int(words[0])], name + "_bytes")
            if right is not None and word != "-":
                faults.compare("--tree", name, words[0], right, int(word.lstrip(">=")), 64 if name == "pss" else 0)


def numbers_in(value):
    """All numbers of a document."""
    if isinstance(value, dict):
        return {n for v in value.values() for n in numbers_in(v)}
    if isinstance(value, list):
        return {n for v in value for n in numbers_in(v)}
    return {value} if isinstance(value, int) and not isinstance(value, bool) else set()


def names_in(value):
    if isinstance(value, dict):
        return {n for v in value.values() for n in names_in(v)}
    if isinstance(value, list):
        return {n for v in value for n in names_in(v)}
    return {value} if isinstance(value, str) else set()


def plain(name):
    """What is left of a name where each output writes its own way what is not ASCII or no character."""
    name = re.sub(r"\\x([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), name)
    return "".join(c for c in name.replace(" (deleted)", "") if " " < c < "\x7f")


def check_text(faults, replay):
    """Each number of a table of exact bytes is in the JSON of the same moment, and so is each name of a row."""
    for args in (("-l",), ("-g", "cgroup", "-l"), ("-g", "name", "-l"), ("-g", "user,name"),
                 ("-o", "pid,peak,locked,pgtables,thp,hugetlb,maps,threads,shared,pss_anon,pss_file,pss_shmem,name")):
        known = document("-a", *args[:2 if args[0] == "-g" else 0], *replay)
        numbers, names = numbers_in(known), {plain(name) for name in names_in(known)}
        lines = text_of("-a", "-w", "-b", *args, *replay).splitlines()
        head = lines[0].replace("USER / NAME", "NAME").split()
        for line in lines[1:]:
            words = line.split()
            # Of the first rows only: the sums and the summary are below them.
            if words[-1] == "total" and not words[0].isdigit() or len(words) < len(head):
                break
            # The name is last, and a user without one is a number.
            for column, word in zip(head[:-1], words):
                if word.isdigit() and not column.startswith("%"):
                    counts["values"] += 1
                    if int(word) not in numbers:
                        faults.append("%s: %s of the table is not in JSON: %s" % (" ".join(args), column, line))
            name = line.rstrip().split(None, len(head) - 1)[-1]
            if plain(name) not in names and name != "-":
                faults.append("%s: the name %r of the table is not in JSON" % (" ".join(args), name))


def check_other_texts(faults, replay):
    """The classes of system, and the rows of cgroups."""
    numbers = numbers_in(document("system", *replay))
    for line in text_of("system", "-l", "-b", *replay).partition("\n\n")[0].splitlines():
        row = re.match(r"( *\S.*?)  +(\d+) +\d+\.\d(?: +(\d+)(?: |$))?", line)
        for number in row.groups()[1:] if row else ():
            counts["values"] += 1
            if number and int(number) not in numbers and row[1] != "total":
                faults.append("system -l: %s of %r is not in JSON" % (number, row[1]))
    known = document("cgroups", "-a", *replay)["groups"]
    numbers, names = numbers_in(known), {plain(name) for name in names_in(known)}
    lines = text_of("cgroups", "-a", "-w", "-b", *replay).splitlines()
    for line in lines[1:]:
        words = line.split()
        if len(words) < len(lines[0].split()) or " memory cgroups" in line:
            break
        name = words[-1] if words[-1] != "(deleted)" else words[-2] + " (deleted)"
        for word in words[1:-1]:
            counts["values"] += 1
            if word.isdigit() and int(word) not in numbers:
                faults.append("cgroups: %s of the table is not in JSON: %s" % (word, line))
        # A process that ended meanwhile has no cgroup.
        if plain(name) not in names and not (name == "-" and any(g["group"] is None for g in known)):
            faults.append("cgroups: the name %r of the table is not in JSON" % name)


@contextlib.contextmanager
def recording(before=()):
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o777)
        text_of("record", "-q", directory + "/world", before=before)
        yield "--replay", directory + "/world"


NOBODY = (O + "/drop", "65534", "")
# Counters of the table by their headings, which are the keys in capitals.
MARKED = ("uss", "pss", "pss_anon", "swap_pss", "swap_shmem", "thp", "rss", "rss_anon", "vsize", "maps", "lazyfree")


def check_reasons(world):
    """With the rights of any user, and whatever is not read: each null has a reason, and each sum that lacks a member says so, with
    >= in the table."""
    del world
    faults = Faults()
    for before, *args in (((),), ((), "--pss", "none"), ((), "--source", "proc"), ((), "-o", "+freed,nodes,thp_rest,gpu"),
                          ((), "--verify", "all"), (NOBODY,), (NOBODY, "--pss", "none"), (NOBODY, "-o", "+freed,nodes,gpu")):
        what = " ".join(("as nobody",) * bool(before) + tuple(args)) or "snapshot"
        known = document("-a", *args, before=before)  # a PSS that differs from smaps_rollup is exit code 4
        faults.compare(what, "the number", "all pids", len({row["pid"] for row in known["processes"]}), len(known["processes"]))
        for row in known["processes"]:
            agrees(faults, row, what)
        at_least(faults, what, known["totals"], known["processes"], "all")
        for key in ("user", "cgroup"):
            for row in document("-a", "-g", key, *args, before=before)["groups"]:
                give_reasons(faults, what + " -g " + key, row, row["group"])
    with recording(NOBODY) as replay:
        totals = document("-a", *replay)["totals"]
        lines = text_of("-b", "-w", "--total", "-o", ",".join(MARKED) + ",name", *replay).splitlines()
        words = next(line for line in lines if line.endswith(" total")).split()
        for key, word in zip(MARKED, words):
            json_key = key + "_bytes" if key + "_bytes" in totals else key
            marked, value = word.startswith(">="), word.lstrip(">=")
            right = totals[json_key]
            if (right is None) != (value == "-"):
                faults.append("as nobody: %s is %s in the table, and %s in JSON" % (json_key, word, right))
            elif right is not None:
                faults.compare("the table", json_key, "all, as nobody", right, int(value))
            if marked != (json_key in totals["at_least"]):
                faults.append("as nobody: %s is %s in the table, and at_least has %s" % (
                    json_key, word, totals["at_least"]))
    return faults


# ---- the other commands ----


def maps_of(pid):
    try:
        return document("maps", "-a", "--pid", str(pid))
    except RuntimeError as error:
        if "no such process" in str(error):  # one of those that come and go
            raise ProcessLookupError from error
        raise


def check_maps(world):
    def check(faults):
        pids = world.pids()
        for pid in random.Random(len(pids)).sample(pids, min(8, len(pids))):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                before = oracle.mappings(pid)
                known = maps_of(pid)
                rows = {r["start"]: r for r in known["mappings"]}
                if before != oracle.mappings(pid):
                    continue
                for key, value in known["totals"].items():
                    if key in before[0][2]:
                        # PSS of mappings is rounded down to kB, that of all is not.
                        faults.compare("maps", key, "all of %d" % pid, sum(right[key] for _, _, right in before), value,
                                       1024 * len(before) + room_of(key, world) if "pss" in key else 0)
                for start, end, right in before:
                    if right["size_bytes"] and start not in rows and right["rss_bytes"]:
                        faults.append("maps: %d has no row %s-%s" % (pid, start, end))
                    for key, value in right.items():
                        if start in rows:
                            faults.compare("maps", key, "%d %s-%s" % (pid, start, end), value, rows[start][key],
                                           max(4096, room_of(key, world)) if "pss" in key else 0)

    return repeated(check)


def check_files(world):
    def refused(faults):
        try:
            document("files", "-a")
            faults.append("files: an answer before Linux 5.17")
        except RuntimeError as error:
            if "it needs Linux 5.17" not in str(error):
                faults.append("files: %s" % error)

    def check(faults):
        right = oracle.files_in_memory(world.pids())
        rows = {}
        for row in document("files", "-a")["files"]:
            rows.setdefault((row["device"], row["inode"]), []).append(row)
        for key, (resident, size, deleted, name) in right.items():
            if not resident:
                continue
            if key not in rows:
                faults.append("files: no row of %s, %s, which has %d bytes" % (name, key, resident))
                continue
            # A segment has its identifier for an inode, as a memfd may have, or a segment of another namespace.
            row = min(rows[key], key=lambda r: abs(r["size_bytes"] - size) + abs(r["resident_bytes"] - resident))
            faults.compare("files", "resident_bytes and swapped_bytes", name, resident,
                           row["resident_bytes"] + row["swapped_bytes"])
            faults.compare("files", "size_bytes", name, size, row["size_bytes"])
            if "memfd:" not in name and "SYSV" not in name and name[0] == "/" and not name.startswith("/dev/zero"):
                faults.compare("files", "deleted", name, deleted, row["deleted"])

    return repeated(check if RELEASE >= (5, 17) else refused)


def check_cgroups(world):
    def check(faults):
        rows = {r["group"]: r for r in document("cgroups", "-a")["groups"]}
        for group in world.groups:
            path = "%s/%s" % (world.cgroup, group)
            right, row = oracle.cgroup(path), rows.get(path[len(BASE):])
            if not row:
                faults.append("cgroups: no row of %s" % path)
                continue
            if not world.is_busy(group):
                faults.compare("cgroups", "procs", group, len(world.members(group)), row["procs"])
            for key, value in right.items():
                # What CPUs keep; and the kernel folds memory.stat every 2 s.
                faults.compare("cgroups", key, group, value, row[key], 12 * MIB if world.is_busy(group) else CHARGES)
        check_charges(world, faults)

    return repeated(check)


def check_charges(world, faults):
    """system --by cgroup against the pages that a cgroup pays for, one by one; also one that was removed."""
    right = oracle.charges()
    rows = {row["cgroup"]: row for row in document("system", "--by", "cgroup")["cgroups"]}
    for group, inode in world.inodes.items():
        name = "%s/%s" % (world.cgroup[len(BASE):], group)
        row = rows.get(name, dict.fromkeys(("anon_bytes", "shmem_bytes", "page_cache_bytes"), 0))
        room = 24 * MIB if world.busy else CHARGES
        for key, value in right.get(inode, {}).items():
            faults.compare("system --by cgroup", key, name, value, row[key], room)
        if name in rows:
            faults.compare("system --by cgroup", "deleted", name, group not in world.groups, row["deleted"])


CLASSES = (("anon", "anon"), ("anon_unmapped", "anon_unmapped"), ("shmem", "shmem_mapped", "shmem_unmapped"),
           ("page_cache", "page_cache_mapped", "page_cache_unmapped"), ("page_tables", "page_tables"),
           ("hugetlb", "hugetlb"), ("slab", "slab"))


def head_of(text):
    """{part: bytes} of the head of system -b."""
    parts = {}
    for line in text.splitlines():
        found = re.match(r"(\S.*?)  +>?=?(\d+) +\d+\.\d", line)
        if found:
            parts[found[1]] = int(found[2])
    return parts


def check_system(world):
    del world

    def check(faults):
        right = oracle.frames()
        with recording() as replay:
            known = document("system", *replay)
            text = text_of("system", "-b", *replay)
        head = head_of(text)
        classes = {c["class"]: c for c in known["ram"]["classes"]}
        if known["ram"]["method"] != "exact":
            # Before 6.2 a census knows only whole huge pages. On 6.1 one did not agree with a counter, once.
            print("# system: %s: %s" % (known["ram"]["method"], known["ram"]["reason"]))
            if not OLD or not known["ram"]["reason"]:
                faults.append("system: %s: %s" % (known["ram"]["method"], known["ram"]["reason"]))
            return
        after = None
        for name, *of in CLASSES:
            value, before = classes[name]["bytes"], sum(right.get(n, 0) for n in of)
            least = most = before
            if abs(value - before) > MACHINE:  # then between what it was before and what it is afterwards
                after = after or oracle.frames()
                least, most = sorted((before, sum(after.get(n, 0) for n in of)))
            faults.compare("system", "bytes", name, min(max(value, least), most), value, MACHINE)
        for name in ("shmem", "page_cache"):
            parts = {p["name"]: p["bytes"] for p in classes[name]["parts"]}
            after = after or oracle.frames()
            least, most = sorted(found.get(name + "_mapped", 0) for found in (right, after))
            value = parts.get("in page tables", 0)
            faults.compare("system", "in page tables", name, min(max(value, least), most), value, MACHINE)
        faults.compare("system", "bytes", "all classes", known["ram"]["frames_bytes"],
                       sum(c["bytes"] for c in classes.values()), MIB)
        memory = known["memory"]
        faults.compare("system", "total_bytes", "memory", memory["total_bytes"],
                       sum(v for k, v in memory.items() if k != "total_bytes"), MIB)
        lists = next(p["bytes"] for p in classes["free"]["parts"] if p["name"] == "on lists of CPUs")
        # They fill and empty all the time.
        faults.compare("system", "on lists of CPUs", "free", oracle.lists_of_cpus(), lists, 4 * MACHINE)
        unnamed = sum(c["bytes"] for c in classes.values() if c["counter"] is None)
        total = int(re.search(r"^RAM (\d+)", text, re.M)[1])
        faults.compare("system -b", "the sum", "the head", total, sum(head.values()), MIB)
        faults.compare("system -b", "free", "the head", classes["free"]["bytes"], head["free"], MIB)
        faults.compare("system -b", "drivers/unnamed", "the head", unnamed - classes["large_kmalloc"]["bytes"],
                       head.get("drivers/unnamed", 0), MACHINE)

    return repeated(check, 5)


def check_snapshot_head(world):
    """Of the head of a snapshot, which only counters make: free pages on lists of CPUs are no unnamed ones."""
    del world

    def check(faults):
        # It has a head on a terminal alone.
        command = "stty cols 150 rows 60; exec '%s' -b -w" % PROGRAM
        done = subprocess.run(("script", "-qec", command, "/dev/null"), capture_output=True, timeout=LIMIT, check=True,
                              stdin=subprocess.DEVNULL)
        head = head_of(re.sub(r"\x1b\[[0-9;]*m|\r", "", done.stdout.decode(errors="replace")))
        classes = {c["class"]: c["bytes"] for c in document("system")["ram"]["classes"] if c["counter"] is None}
        unnamed = sum(v for k, v in classes.items())
        value = head.get("drivers/unnamed", 0)
        faults.compare("snapshot", "drivers/unnamed", "the head, at most", min(value, unnamed + MACHINE), value)

    return repeated(check)


def check_hidden(world):
    """Inside a pid namespace of the world most of its memory is seen, but not all. The rest is not called that of
    drivers or of files that no process maps."""
    inner = next(pid for pid in world.pids() if oracle.level_of(pid) > 1)
    before = ("nsenter", "-t", str(inner), "-p", "unshare", "--mount", "sh", "-c",
              'mount -t proc proc /proc && exec "$0" "$@"')

    def check(faults):
        seen, hidden = (head_of(text_of("system", "-b", before=b)) for b in ((), before))
        for part in ("drivers/unnamed", "unmapped tmpfs"):
            faults.compare("system in a pid namespace", part, "the head", seen.get(part, 0), hidden.get(part, 0),
                           MACHINE)

    return repeated(check)


def with_rest():
    """A snapshot with thp_rest, if this program knows the column."""
    try:
        return document("-o", "+thp_rest")
    except RuntimeError:
        return document()


def check_held(world):
    """What recount calls held, the parts of huge pages that no process maps, has a column and a name."""
    def check(faults):
        held = {pid: row["held"] for pid, row in oracle.processes(world.pids()).items()}
        rows = {p["pid"]: p for p in with_rest()["processes"]}
        # Processes of one program share a rest with each other alone: however it is divided, their sum is the same.
        programs = {}
        for pid in held.keys() & rows.keys():
            programs.setdefault(rows[pid]["comm"], []).append(pid)
        for name, pids in programs.items():
            values = [rows[pid].get("thp_rest_bytes") for pid in pids]
            unsupported = OLD and {rows[pid]["thp_rest_status"] for pid in pids} == {"unsupported"}
            if name not in world.busy and not (unsupported and set(values) == {None}):
                faults.compare("snapshot", "thp_rest_bytes", "all " + name, sum(held[pid] for pid in pids),
                               None if None in values else sum(values), 256)  # shares are rounded
        alone = [pid for pid in held.keys() & rows.keys() if held[pid] and rows[pid]["comm"] not in world.busy]
        for pid in alone if not OLD else ():
            totals = (document("maps", "--pid", str(pid))["totals"].get("thp_rest_bytes") for _ in range(5))
            faults.compare("maps", "thp_rest_bytes", pid, rows[pid].get("thp_rest_bytes"), next(filter(None, totals), 0), 256)
        # Before 6.2 a census knows only whole huge pages.
        if max(held.values(), default=0) > 4 * MIB and not OLD:
            unmapped = next(c for c in document("system")["ram"]["classes"] if c["class"] == "anon_unmapped")
            most = max(unmapped["parts"], key=lambda part: part["bytes"], default={"name": unmapped["class"]})
            if "huge" not in most["name"]:
                faults.append("system: unmapped parts of huge pages are called %r" % most["name"])

    return repeated(check)


# ---- what becomes free ----


def freed_of(world, group):
    name = world.cgroup[len(BASE):] + "/" + group
    row = next(r for r in document("-g", "cgroup", "-a", "-s", "freed", before=world.reader)["groups"] if r["group"] == name)
    return row["freed_bytes"], row["freed_status"]


def page_tables(pids):
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += oracle.pairs(oracle.read("/proc/%d/status" % pid)).get("VmPTE", 0)
    return total


def in_pipes(pids):
    """Pages in pipes that only these processes have open: kernel memory, which the charge of a world lacks."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if os.readlink(path).startswith("pipe:"):
                found.setdefault(os.readlink(path), []).append(path)
    total = 0
    for paths in found.values():
        if all(int(path.split("/")[2]) in pids for path in paths):
            with contextlib.suppress(OSError):
                fd = os.open(paths[0], os.O_RDONLY | os.O_NONBLOCK)
                total += struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0]
                os.close(fd)
    return total


def dropped(world, kill, pids, expected):
    """What becomes free when kill() has ended these processes, without the page cache of files on the disk."""
    tables, cached = page_tables(pids) + in_pipes(pids), oracle.unnamed_on_disk(pids, world.disk)
    before = world.charged() + oracle.zram()
    kill()
    left = oracle.unnamed_on_disk(world.pids(), world.disk)
    cache = sum(size for inode, size in cached.items() if inode not in left)
    last, still = None, 0
    patience = 20 if any(" register " in p for p in world.programs) else 8

    def settled():
        # The kernel ends namespaces and rings of io_uring some time later.
        nonlocal last, still
        now = before - world.charged() - oracle.zram() - cache + tables
        still = still + 1 if now == last else 0
        last = now
        return still > (3 if patience < 20 and abs(now - (expected or 0)) <= CHARGES // 2 else patience)

    wait_until(settled, 5)
    return last


def compare_freed(faults, what, freed, status, really, room):
    counts["values"] += 1
    if status == "ok" and (freed is None or abs(freed - really) > room):
        faults.append("-s freed: freed_bytes of %s is %s with status ok, not %s" % (what, freed, really))
    if status != "ok" and freed is not None:
        faults.append("-s freed: freed_bytes of %s is %s with status %s" % (what, freed, status))


# ---- what holds memory of a group beside its processes, in a case with "hold: NAME" ----


def in_socket(fd):
    """It waits in a socket, and is not open any more."""
    ends = socket.socketpair()
    socket.send_fds(ends[0], [b"x"], [fd])
    os.close(fd)
    return ends


def in_connection(fd):
    """It waits in one that is not accepted."""
    listener, end = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    listener.bind("\0zmem-world-%d" % os.getpid())
    listener.listen()
    end.connect(listener.getsockname())
    socket.send_fds(end, [b"x"], [fd])
    os.close(fd)
    return listener, end


def in_two_sockets(fd):
    one, other = in_socket(fd)
    return one, in_socket(other.detach())


@contextlib.contextmanager
def outside(deed):
    """A process of no group that does so, and stands still."""
    ready, told = os.pipe()
    pid = os.fork()
    if not pid:
        os.set_inheritable(told, True)
        deed(told)
        os.write(told, b"x")
        signal.pause()
    os.read(ready, 1)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(ready)
        os.close(told)


@contextlib.contextmanager
def merging():
    """Switches KSM on, and lets it work fast."""
    before = {name: oracle.read(KSM + name) for name in ("pages_to_scan", "sleep_millisecs", "run")}
    try:
        for name, value in zip(before, ("100000", "1", "1")):
            swap.write(KSM + name, value)
        yield
    finally:
        for name, value in before.items():
            swap.write(KSM + name, value)


# Each page is there as often as it is told.
MERGED = """import mmap, sys, time
size, times = int(sys.argv[1]), int(sys.argv[2])
area = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
area.madvise(15)
for at in range(0, size, 4096):
    area[at:at + 9] = b"%9d" % (at % (size // times))
area.madvise(mmap.MADV_MERGEABLE)
print(flush=True)
while int(open("/proc/self/ksm_merging_pages").read()) * 4096 < size:
    time.sleep(0.1)
print(flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def merged(world, groups, size, times):
    """A process in each of the groups, all with the same pages, which KSM has merged."""
    children = []
    for group in groups:
        join = 'echo $$ >"$0/%s/cgroup.procs"; exec "$@"' % group
        children.append(subprocess.Popen(("sh", "-c", join, world.cgroup, sys.executable, "-c", MERGED, str(size), str(times)),
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    for child in children:
        child.stdout.readline()
    for child in children:
        child.stdout.readline()
    time.sleep(2.5)  # time itself: every 2 s the kernel folds into memory.stat what CPUs keep (FLUSH_TIME in mm/memcontrol.c)
    try:
        yield
    finally:
        for child in children:
            child.kill()
            child.communicate()


TAKE = """import ctypes, os, sys
at, *command = sys.argv[1:]
pid, fd = at.split("/")[2::2]
os.set_inheritable(ctypes.CDLL(None).syscall(438, os.pidfd_open(int(pid)), int(fd), 0), True)  # pidfd_getfd
os.execv(command[0], command)
"""


@contextlib.contextmanager
def read_by(world, path):
    """zmem-bpf itself has the descriptor, and will end."""
    world.reader = (sys.executable, "-c", TAKE, path)
    yield


def memfd_of(at):
    return next(path for path in glob.glob(at + "/fd/*") if os.readlink(path).startswith("/memfd:"))


def opened(path):
    return os.open(path, os.O_RDONLY)


# Of the first process of group A, and its directory in /proc.
HOLDS = {
    "its mounts": lambda world, at: opened(at + "/ns/mnt"),
    "its segments": lambda world, at: opened(at + "/ns/ipc"),
    "a file of its tmpfs": lambda world, at: opened(glob.glob(at + "/cwd/*")[0]),
    "its directory in a socket": lambda world, at: in_socket(opened(at + "/cwd")),
    "its memfd in a connection": lambda world, at: in_connection(opened(memfd_of(at))),
    "its memfd in a socket in a socket": lambda world, at: in_two_sockets(opened(memfd_of(at))),
    "its memfd in zmem-bpf": lambda world, at: read_by(world, memfd_of(at)),
    "its directory as a root": lambda world, at: outside(lambda told: os.chroot(at + "/cwd")),
    "its program": lambda world, at: outside(lambda told: os.execv(at + "/exe", ("mkmem", "--idle", str(told)))),
    "pages merged within it": lambda world, at: merged(world, "AA", 16 * MIB, 1),
    "pages merged with B": lambda world, at: merged(world, "AB", 16 * MIB, 1),
    "pages merged in a process of it": lambda world, at: merged(world, "A", 32 * MIB, 2),
}


@contextlib.contextmanager
def holding(world, name):
    """Until the world ends."""
    held = HOLDS[name](world, "/proc/%d" % min(world.members("A"))) if name else ()
    with held if hasattr(held, "__enter__") else contextlib.nullcontext():
        yield
    if isinstance(held, int):
        os.close(held)


def leaves(world, group):
    """Processes of a group without children."""
    found = []
    for pid in world.members(group):
        with contextlib.suppress(OSError):
            children = oracle.read("/proc/%d/task/%d/children" % (pid, pid)).split()
            if not children:
                found.append(pid)
    return found


def check_freed(world):
    """What is said of a group, or of a process of it, is what its end makes free. A group that stands still is known."""
    faults = Faults()
    rng = random.Random(len(world.programs))
    # Those that do not stand still first: they change what is charged.
    for group in sorted(rng.sample(world.groups, len(world.groups)), key=lambda g: not world.is_busy(g)):
        busy = any(world.is_busy(g) and world.members(g) for g in world.groups)
        if not busy and len(world.members(group)) > 1 and leaves(world, group):
            pid = rng.choice(leaves(world, group))
            rows = document("-a", "-s", "freed")["processes"]
            row = next(p for p in rows if p["pid"] == pid)
            alone = document("-p", str(pid), "-s", "freed")["processes"][0]
            # Others that have its memory are in no row of it.
            faults.compare("-p PID -s freed", "freed_bytes", "%s (%d)" % (row["comm"], pid), row["freed_bytes"],
                           alone["freed_bytes"], CHARGES)

            def kill_one(pid=pid):
                os.kill(pid, 9)
                wait_until(lambda: finished(pid))

            really = dropped(world, kill_one, [pid], row["freed_bytes"])
            compare_freed(faults, "%s (%d, group %s)" % (row["comm"], pid, group), row["freed_bytes"],
                          row["freed_status"], really, CHARGES)
            if row["freed_status"] != ("unsupported" if OLD else "ok"):
                faults.append("-s freed: freed_status of %s (%d) is %s, but it stands still" % (
                    row["comm"], pid, row["freed_status"]))
        pids = world.members(group)
        if not pids:
            continue
        # One that forks meanwhile has another size each moment, and is known at some.
        readings, sizes = [], [world.charged()]
        for _ in range(READINGS if world.is_busy(group) else 1):
            readings.append(freed_of(world, group))
            sizes.append(world.charged())
        room = 16 * MIB + max(sizes) - min(sizes) if busy else CHARGES
        really = dropped(world, lambda group=group: world.kill(group), pids, readings[-1][0])
        for freed, status in readings:
            compare_freed(faults, "group %s" % group, freed, status, really, room)
            if not busy and status != ("unsupported" if OLD else world.status):
                faults.append("-s freed: freed_status of group %s is %s, but it stands still" % (group, status))
    return faults


CHECKS = {"processes": check_processes, "groups": check_groups, "maps": check_maps, "files": check_files,
          "cgroups": check_cgroups, "system": check_system, "head": check_snapshot_head, "hidden": check_hidden,
          "held": check_held, "freed": check_freed, "reasons": check_reasons}
# Of worlds from seeds. head and hidden need a world that is made for them; freed ends the world.
OF_SEEDS = ("processes", "held", "groups", "reasons", "maps", "files", "cgroups", "system", "freed")


def try_world(name, case, verbose, only=None):
    begin = time.monotonic()
    counts["worlds"] += 1
    programs, checks = case.programs, only or case.checks
    with World(programs) as world, holding(world, case.hold):
        world.status = case.status
        if verbose:
            print("\n".join("# " + p for p in programs + world.skipped))
        lacking = [line for line in world.skipped if line.startswith("SKIP")]
        if lacking:
            result(False, name + ": a world with all that it asks for", lacking)
        for check in checks:
            start = time.monotonic()
            try:
                faults = CHECKS[check](world)
            except (OSError, RuntimeError, LookupError, StopIteration, TypeError, ValueError,
                    subprocess.SubprocessError) as error:
                faults = [repr(error)]
            if verbose:
                print("\n".join(["# %s: %.1f s" % (check, time.monotonic() - start)] + ["# %s" % f for f in faults]))
            result(not faults, "%s: %s" % (name, check), "%d faults: %s" % (len(faults), "; ".join(faults[:4])))
    if verbose:
        print("# %s: %.1f s" % (name, time.monotonic() - begin))
    sys.stdout.flush()


class Case:
    """Of worlds.txt: [NAME], checks: ..., and programs, one a line. With `hold`, which status FREED has."""

    def __init__(self, checks=(), programs=()):
        self.checks, self.programs, self.more = list(checks), list(programs), set()
        self.hold, self.status = None, "ok"

    def take(self, line):
        word, _, rest = line.partition(": ")
        if word == "with":
            self.more.update(rest.split())
        elif word == "checks":
            self.checks.extend(rest.split())
        elif word == "hold":
            self.hold = rest
        elif word == "status":
            self.status = rest
        elif word == "seed":
            self.programs.extend(told(int(rest)))
        else:
            self.programs.append(line)


def cases(more):
    """{name: case} of the file that need just `more`."""
    found = {}
    with open(CASES, encoding="utf-8") as file:
        for line in map(str.strip, file):
            if line.startswith("["):
                case = found[line[1:-1]] = Case()
            elif line and line[0] != "#":
                case.take(line)
    return {name: case for name, case in found.items() if case.more == set(more)}


def try_worlds(options):
    checks = options.only.split(",") if options.only else OF_SEEDS
    more = options.more.split(",") if options.more else ()
    minutes = options.minutes or (10 if os.environ.get("LONG") == "1" else 0)

    def try_seed(seed):
        name = "seed %d%s" % (seed, " with " + options.more if more else "")
        try_world(name, Case(checks, told(seed, more)), options.verbose)

    if options.seed is not None or options.seeds:
        first, _, last = (options.seeds or str(options.seed)).partition("-")
        for seed in range(int(first), int(last or first) + 1):
            try_seed(seed)
    elif minutes:
        end = time.monotonic() + minutes * 60
        while time.monotonic() < end:
            try_seed(random.SystemRandom().randrange(10 ** 6))
    else:
        for name, case in cases(more).items():
            if options.case in (None, name):
                try_world(name, case, options.verbose, options.only and checks)
        for seed in SEEDS if options.case is None and not options.cases else ():
            try_seed(seed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seeds")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--case")
    parser.add_argument("--cases", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--with", dest="more", default="")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # a world goes, however it ends
    if not need("counters cgroups", "worlds"):
        sys.exit(exit_code())
    with contextlib.ExitStack() as stack:
        if "swap" in options.more and len(oracle.read("/proc/swaps").splitlines()) < 2:
            stack.enter_context(swap.zram("lzo-rle"))
        if "hugetlb" in options.more:
            stack.enter_context(huge_pages(16, for_mkmem=True))
        if "ksm" in options.more and os.path.exists("/proc/self/ksm_merging_pages"):
            stack.enter_context(merging())
        try_worlds(options)
    print("# %(worlds)d worlds, %(processes)d processes, %(values)d values" % counts)
    sys.exit(exit_code())


main()
