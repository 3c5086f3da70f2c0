#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Views of top, of live processes and of recordings: the processes of a group, folds of the tree, the head, the time line,
files and RAM. unit/test_top_*.c have what each key does, with a golden file of the screen."""
# needs: tmux

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import paths  # noqa: F401
from outcome import MKMEM, PROGRAM, exit_code, have, mkmem_pids, need, read, result, run_checks
from terminal import Tmux, headings_at

HERE = os.path.dirname(os.path.abspath(__file__)) + "/.."
GUEST = os.path.realpath(HERE + "/fixtures/recordings/guest-6.12.zmem")


def rows_of(screen):
    """The lines between the headings and the total."""
    return [line for line in screen.splitlines()[headings_at(screen) + 1:-2] if line.strip()]


def pids_of(screen):
    return {int(line.split()[0]) for line in rows_of(screen) if line.split()[0].isdigit()}


def recorded(key):
    """{value of the key: pids} of the recording. Key name: as JSON."""
    text = subprocess.run((PROGRAM, "--replay", GUEST, "-o", "+cmdline", "-J"), check=True, stdout=subprocess.PIPE).stdout
    program = '[.processes[] | {group: (.%s // null), pid}] | group_by(.group)[] | "\\([.[].pid | tostring] | ' \
              'join(","))"' % key
    lines = subprocess.run(("jq", "-r", program), input=text, check=True, stdout=subprocess.PIPE).stdout.decode()
    return [{int(pid) for pid in line.split(",")} for line in lines.split()]


def has_rows(screen):
    """All rows, or the first of many."""
    return re.search(r"[0-9] rows|rows 1 to", screen)


def check_groups():
    """For each kind of group: Enter shows exactly its processes, Escape and Backspace lead back to that group."""
    for key, json_key in (("name", "name"), ("user", "uid"), ("unit", "unit")):
        want = recorded(json_key)
        with Tmux((PROGRAM, "top", "--replay", GUEST, "-g", key), columns=140, rows=60) as tmux:
            count = "%d row%s" % (len(want), "" if len(want) == 1 else "s")
            tmux.until(lambda screen: count in screen and "grouped by %s " % key in screen)
            found, same = [], True
            visited = min(len(want), 4)
            for i in range(visited):
                tmux.keys("Enter")
                screen = tmux.until(lambda screen: "grouped by" not in screen and "Esc groups" in screen)
                found.append(pids_of(screen))
                tmux.keys("Escape" if i % 2 else "BSpace")
                screen = tmux.until(lambda screen: "grouped by %s " % key in screen and "Enter processes" in screen)
                # The cursor is on the same group: another Enter shows the same processes.
                tmux.keys("Enter")
                screen = tmux.until(lambda screen: "grouped by" not in screen and "Esc groups" in screen)
                same &= pids_of(screen) == found[-1]
                tmux.keys("Escape")
                tmux.until(lambda screen: "grouped by %s " % key in screen and "Enter processes" in screen)
                tmux.keys("Down")
            result(all(pids in want for pids in found) and len({min(pids) for pids in found}) == visited, "groups of one %s: their processes" % key,
                   (found, want))
            result(same, "groups of one %s: back to the same group" % key)
            tmux.keys("F")
            screen = tmux.until(lambda screen: "following " in screen)
            result("following %s " % key in screen, "groups of one %s: following" % key, screen)


def check_live_group():
    """A group of running processes, over ticks: a process that ends leaves it."""
    with subprocess.Popen((MKMEM, "anon", "names"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        pids = mkmem_pids(child)
        everything = ",".join(str(pid) for pid in pids.values())
        with Tmux((PROGRAM, "top", "-i", "0.2", "-p", everything, "-g", "user"), rows=40) as tmux:
            tmux.until(lambda screen: "1 row" in screen)
            tmux.keys("Enter")
            screen = tmux.until(lambda screen: "%d rows" % len(pids) in screen)
            result(pids_of(screen) == set(pids.values()), "a live group: its processes", screen)
            tmux.keys("f", "no such name", "Enter")
            screen = tmux.until(lambda screen: "no rows" in screen)
            result(" user " in screen.splitlines()[headings_at(screen) - 1] and "filter no such name" in screen,
                   "a filter in a group: the head says both", screen)
            child.stdin.close()
            tmux.keys("Escape")
            tmux.shows("back from a group that has ended", "grouped by user")


def time_of(screen):
    """The time of the snapshot, in the lines above the rows."""
    return re.search(r"^(\d\d:\d\d:\d\d)Z?  ", screen, re.MULTILINE).group(1)


def check_folds():
    """A folded row hides the rows below it, keeps their sum and stays folded over ticks."""
    script = "sleep 1000 & sleep 1000 & echo ready; wait"
    with subprocess.Popen(("sh", "-c", script), start_new_session=True, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        pids = [str(child.pid)] + read("/proc/%d/task/%d/children" % (child.pid, child.pid)).split()
        tmux = Tmux((PROGRAM, "top", "--tree", "-i", "0.2", "-p", ",".join(pids), "-o", "pid,rss,name"), columns=100, rows=30)
        try:
            screen = tmux.until(lambda screen: "3 rows" in screen)
            line = next(line for line in rows_of(screen) if line.split()[0] == str(child.pid))
            below = [line for line in rows_of(screen) if "─" in line]
            result(len(below) == 2, "a tree: two rows below", screen)
            tmux.keys("-")
            screen = tmux.until(lambda screen: "1 row" in screen and "[+2]" in screen)
            folded = next(line for line in rows_of(screen) if line.split()[0] == str(child.pid))
            result(folded.split()[:3] == line.split()[:3], "a folded row has the sum", (line, folded))
            before = time_of(screen)
            screen = tmux.until(lambda screen: time_of(screen) > before)
            result("[+2]" in screen and "1 row" in screen, "it stays folded", screen)
            tmux.keys("+")
            screen = tmux.until(lambda screen: "3 rows" in screen)
            result("3 rows" in screen and "[+" not in screen, "opened again", screen)
        finally:
            tmux.close()
            os.killpg(child.pid, 15)


def meminfo(key):
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key + ":"))


def size(text):
    """ "1.20G" in bytes."""
    return float(text.rstrip("KMGT")) * 1024 ** ("KMGT".find(text[-1]) + 1)


def check_head():
    """The sums of RAM and the pressure are those of /proc; our own cost is in the help alone."""
    with Tmux((PROGRAM, "top", "-i", "0.2")) as tmux:
        screen = tmux.until(lambda screen: "RAM " in screen)
        # Findings stand above it.
        sums, bar = screen[re.search("^RAM ", screen, re.M).start():].splitlines()[:2]
        found = re.fullmatch(r"RAM (\S+): used (\S+), can be freed (\S+), free (\S+)", sums)
        result(found, "the head: the sums of RAM", sums)
        total, used, freeable, free = map(size, found.groups()) if found else [0] * 4
        available = meminfo("MemAvailable")
        result(abs(total - meminfo("MemTotal")) < total / 50, "MemTotal", sums)
        result(abs(freeable + free - available) < available / 4, "MemAvailable", (sums, available))
        result(abs(used + freeable + free - total) < total / 25, "the sums add up", sums)
        found = re.fullmatch(r"\[[|:.]{36}\]  memory PSI: (not known|some \d+\.\d\d % full \d+\.\d\d %)", bar)
        result(found and (found.group(1) == "not known") != os.path.exists("/proc/pressure/memory"), "pressure, where the kernel has it", bar)
        result(found and abs(bar.count("|") - 36 * used / total) < 2, "the bar", (sums, bar))
        tall = headings_at(screen)
        tmux.keys("m")
        screen = tmux.shows("m: fewer lines of RAM", lambda screen: headings_at(screen) < tall)
        tmux.keys("m")
        tmux.until(lambda screen: "RUN zmem-bpf" in screen)
        result("of a CPU" not in screen, "the head: not our own cost", screen)
        result(all(len(line) <= 80 for line in screen.splitlines()), "80 columns", screen)
        tmux.keys("?")
        screen = tmux.until(lambda screen: "of a CPU" in screen)
        result(re.search(r"this program: \d+\.\d % of a CPU, .* [mu]?s to collect", screen), "help: our own cost", screen)


def second_of(recording):
    """The moment of the second snapshot, before the end."""
    times = times_of(recording)
    return "-%.3fs" % ((times[-1] - times[1]) / 1000)


def check_timeline():
    """The time line of a recording: to its ends, by minutes, to a time that is typed."""
    with tempfile.TemporaryDirectory() as directory:
        recording = directory + "/recording"
        subprocess.run((PROGRAM, "record", recording, "-q", "-c", "3", "-i", "0.5", "-p", str(os.getpid())), check=True)
        with Tmux((PROGRAM, "top", "--replay", recording, "-i", "1000"), columns=80, rows=24) as tmux:
            tmux.until(lambda screen: "snapshot 3 of 3" in screen)
            tmux.keys("{")
            screen = tmux.until(lambda screen: "snapshot 1 of 3" in screen)
            line = screen.splitlines()[headings_at(screen) - 1]
            result(re.fullmatch(r"\d\d:\d\d:\d\d \[#-+\] \d\d:\d\d:\d\d", line), "the time line", screen)
            for keys, at, says in ((("]",), 3, "#]"), (("[",), 1, "[#"), (("}",), 3, "#]"), (("{",), 1, "[#"), (("X",), 3, "#]"),
                                   (("@", "-1h", "Enter"), 3, "the recording is from"),
                                   (("@", "event:1", "Enter"), 3, "the recording has 0 events")):
                tmux.keys(*keys)
                tmux.shows("%s: snapshot %d" % (" ".join(keys), at), lambda screen, at=at, says=says: "snapshot %d of 3" % at in screen and says in screen)
        for at, frame in (("-0s", 3), (second_of(recording), 2)):
            with Tmux((PROGRAM, "top", "--replay", recording, "--at", at, "-i", "1000")) as tmux:
                screen = tmux.until(lambda screen: "snapshot " in screen)
                result("snapshot %d of 3" % frame in screen, "--at %s: it begins there" % at, screen)
                tmux.keys(",")
                tmux.shows("--at %s: a step back" % at, lambda screen, frame=frame: "snapshot %d of 3" % (frame - 1) in screen)


def times_of(recording):
    """The moments of the snapshots, ms since the epoch."""
    text = subprocess.run((PROGRAM, "watch", "--replay", recording, "-F", "ndjson"), check=True, stdout=subprocess.PIPE).stdout
    return [line["timestamp_ms"] for line in map(json.loads, text.splitlines()) if line["type"] == "snapshot"]


def record_twice(directory):
    """Two segments of two snapshots each."""
    os.chmod(directory, 0o700)
    for _ in range(2):
        subprocess.run((PROGRAM, "record", "--keep", "1h", directory, "-q", "-c", "2", "-i", "0.3", "--source", "proc",
                        "-p", str(os.getpid())), check=True, stderr=subprocess.DEVNULL)


def check_corrupt():
    """Corrupt snapshots of a recording are passed over; where no other is left, it stays."""
    with tempfile.TemporaryDirectory() as directory:
        record_twice(directory)
        for segment in ("1", "2"):
            with open("%s/000000000%s.zmem" % (directory, segment), "r+b") as file:
                data = file.read()
                file.seek(data.index(b"PART", data.index(b"PART") + 4) + 40)
                file.write(b"\xff\xff\xff")
        with Tmux((PROGRAM, "top", "--replay", directory, "-i", "1000"), columns=200) as tmux:
            tmux.until(lambda screen: "snapshot 3 of 4" in screen)
            for key, at in ((",", 1), (".", 3), (".", 3), (",", 1), (",", 1)):
                tmux.keys(key)
                tmux.shows("a corrupt snapshot, %s: snapshot %d" % (key, at), lambda screen, at=at: "snapshot %d of 4" % at in screen)


def list_files(*args):
    return json.loads(subprocess.run((PROGRAM, "files", "-J") + args, check=True, stdout=subprocess.PIPE).stdout)


def has_files():
    return subprocess.run((PROGRAM, "files", "-n", "1"), check=False, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def holders_of(path):
    """The processes that have the file open, as /proc says it."""
    pids = set()
    for fd in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            if os.readlink(fd) == path:
                pids.add(int(fd.split("/")[2]))
        except OSError:
            pass
    return pids


def check_files():
    """A file of shared memory, its group, and the process that holds it."""
    if not need("counters", "files"):
        return
    if not has_files():
        print("skip files: this kernel does not list them")
        return
    # /dev/shm: the file is in the groups tmpfs and /dev/shm. It is large, so that it is in sight.
    with tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="zmem_top_") as file:
        file.write(b"x" * (24 << 20))
        # Another process holds it: what this one starts would have its files open for a moment.
        holder = subprocess.Popen(("sleep", "600"), stdin=file)
        file.file.close()
        listed = list_files("-f", file.name)["files"]
        result([row["resident_bytes"] for row in listed] == [24 << 20], "files: 24 MiB are listed", listed)
        tmux = Tmux((PROGRAM, "top"), columns=120, rows=40)
        try:
            tmux.until(has_rows)
            tmux.keys("l")
            screen = tmux.until(lambda screen: "shared memory, tmpfs: " in screen and file.name in screen)
            rows = [line for line in screen.splitlines() if file.name in line]
            result(len(rows) == 1 and re.match(r"24\.0 MiB +0 +24\.0 MiB +tmpfs +tmpfs ", rows[0].strip()),
                   "l: the file has its row", screen)
            tmux.keys("f", file.name + "$", "Enter")
            tmux.shows("a filter: one file", lambda screen: " 1 row\n" in screen and "? help" in screen)
            tmux.keys("Enter")
            screen = tmux.until(lambda screen: "open or maps it" in screen)
            shown = {int(pid) for pid in re.findall(r"^ *(\d+)  \S", screen, re.M)}
            result(shown == holders_of(file.name) == {holder.pid}, "Enter: the processes that /proc has",
                   (screen, holders_of(file.name)))
            tmux.keys("Escape")
            tmux.until(lambda screen: " 1 row\n" in screen)
            tmux.keys("g", "g")
            screen = tmux.until(lambda screen: "grouped by mount" in screen and "? help" in screen)
            result(re.search(r"^ *1 +24\.0 MiB +0 +24\.0 MiB  /dev/shm *$", screen, re.M), "groups of one mount", screen)
            tmux.keys("Enter")
            tmux.shows("Enter: the files of the mount", lambda screen: "  mount /dev/shm" in screen and file.name in screen)
            tmux.keys("Escape")
            tmux.shows("Escape: the groups again", "grouped by mount")
            # The file is gone with the next reading.
            os.truncate(file.name, 0)
            tmux.shows("a file without pages is gone", "no rows")
            tmux.keys("l")
            screen = tmux.until(lambda screen: "Enter details" in screen)
            result(" PSS " in screen and "Enter details" in screen, "l: the processes again", screen)
        finally:
            tmux.close()
            holder.kill()
            holder.wait()


def check_ram():
    """R shows the classes of RAM."""
    with Tmux((PROGRAM, "top")) as tmux:
        tmux.until(has_rows)
        tmux.keys("R")
        screen = tmux.until(lambda screen: "%RAM" in screen and "CHANGE" in screen)
        counted = "RAM by page frames, counted " in screen if has_files() else "RAM by counters" in screen
        result(counted, "R: how the RAM was counted", screen)
        result(re.search(r"^free +[0-9.]+ [MG]iB +[0-9.]+", screen, re.M), "R: the free RAM", screen)
        tmux.keys("R")
        tmux.shows("R again: the processes", "by pss")


def check_no_files():
    """Without capabilities, one sentence says why there are none."""
    drop = ("setpriv", "--bounding-set", "-bpf,-perfmon,-sys_admin") if have("users") else ()
    with Tmux((*drop, PROGRAM, "top")) as tmux:
        tmux.until(has_rows)
        tmux.keys("l")
        screen = tmux.until(lambda screen: "files: " in screen)
        line = [line for line in screen.splitlines() if line.startswith("files: ")]
        said = " ".join(screen.split())
        hint = r"\(run as root (or with CAP_BPF and CAP_PERFMON|of the machine, outside of the container)\)"
        result(len(line) == 1 and re.search(hint, said),
               "without capabilities: why", screen)
        tmux.keys("Escape")
        tmux.shows("without capabilities: back to the processes", "by pss")


if __name__ == "__main__":
    run_checks((check_groups, check_live_group, check_folds, check_head, check_timeline, check_corrupt, check_files, check_ram, check_no_files))
    sys.exit(exit_code())
