#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""record keeps the peaks of processes that ended between two snapshots: of short ones, of several with one name, of threads, of
one in a cgroup that is gone, of memory that was freed before. It has no memory of the parent after vfork(), and none of the
program before an exec. Each job says what the kernel has as its VmHWM; other processes of the machine end, too: what is
checked are those of ours."""
# needs: bpf cgroups

import mmap
import os
import subprocess
import sys
import tempfile

import paths  # noqa: F401
import oom
from outcome import PROGRAM, exit_code, need, result, run_checks, wait_until
from terminal import Tmux

PYTHON = "/usr/bin/python3"
SAYS = """
line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
os.write(1, b"%d\\n" % (int(line.split()[1]) << 10))
"""
# A job touches so many MiB, does what else it is told, says its VmHWM, and ends.
JOB = """
import mmap, os, sys, threading, time
open("/proc/self/comm", "w").write(sys.argv[1])
room = mmap.mmap(-1, int(sys.argv[2]) << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, len(room), mmap.PAGESIZE):
    room[at] = 1
exec(sys.argv[3])
""" + SAYS + """
exec(sys.argv[4])
os._exit(0)
"""
# The parent has much memory, and starts programs by vfork(): one that is there, and one that is not.
PARENT = """
import os, sys
open("/proc/self/comm", "w").write("zmem-parent")
held = b"x" * (400 << 20)
for path in ["/bin/true", "/nowhere/zmem"] * 3:
    try:
        os.waitpid(os.posix_spawn(path, [path], {}), 0)
    except OSError:
        pass
os.write(1, b"+")
sys.stdin.read(1)
""" + SAYS
CPUS = os.cpu_count()
# What CPUs may hold back of each of three counters, by which the kernel notes a high water mark, and what the end itself touches.
BATCH = 3 * max(32, 2 * CPUS) * CPUS * mmap.PAGESIZE + (1 << 20)


class Recorder:
    def __init__(self, path, *options):
        self.path = path
        self.process = subprocess.Popen((PROGRAM, "record", "--keep", "1h", path, "-i", "1", "-q", *options))
        wait_until(lambda: oom.document("--replay", path))

    def ended(self):
        """The rows of all time between the first snapshot and the last one."""
        document = oom.document("diff", self.path, "--to", "-0s")
        return document and document["ended"]

    def rows(self, name):
        return [row for row in self.ended() or () if row["name"] == name]

    def wait_rows(self, name, count):
        """The rows of that name, once so many have ended."""
        def enough():
            rows = self.rows(name)
            return sum(row["count"] for row in rows) >= count and rows
        return wait_until(enough) or self.rows(name)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.process.terminate()
        self.process.wait()


def start(name, mib, during="", after="", **more):
    return subprocess.Popen((PYTHON, "-c", JOB, name, str(mib), during, after), stdout=subprocess.PIPE, **more)


def peak_of(job):
    peak = int(job.stdout.readline())
    job.wait()
    job.stdout.close()
    return peak


def check_peak(row, peak, least, name):
    result(row and least <= row["peak_bytes"] and abs(row["peak_bytes"] - peak) <= BATCH, name, (row, peak, least, BATCH))


def check_short(recorder):
    """One of 300 MiB, which is gone at once."""
    peak = peak_of(start("zmem-short", 300))
    rows = recorder.wait_rows("zmem-short", 1)
    result(len(rows) == 1 and rows[0]["count"] == 1, "a short job is one row", rows)
    check_peak(rows[0] if rows else None, peak, 300 << 20, "its peak")


def check_same(recorder):
    peaks = [peak_of(start("zmem-same", mib)) for mib in (20, 120, 60)]
    rows = recorder.wait_rows("zmem-same", 3)
    result(len(rows) == 1 and rows[0]["count"] == 3, "three of one name are one row", rows)
    check_peak(rows[0] if rows else None, max(peaks), 120 << 20, "with the highest peak")


def check_freed(recorder):
    peak = peak_of(start("zmem-freed", 200, "room.close()"))
    rows = recorder.wait_rows("zmem-freed", 1)
    check_peak(rows[0] if rows else None, peak, 200 << 20, "memory that was freed before the end is in the peak")


def check_threads(recorder):
    """All end at once; the first thread may end before them."""
    threads = "[threading.Thread(target=time.sleep, args=(100,), daemon=True).start() for i in range(8)]"
    peaks = [peak_of(start("zmem-threads", 40, threads)) for _ in range(5)]
    rows = recorder.wait_rows("zmem-threads", 5)
    result(len(rows) == 1 and rows[0]["count"] == 5, "a process with threads is counted once", rows)
    check_peak(rows[0] if rows else None, max(peaks), 40 << 20, "its peak is that of the process")


def check_killed(recorder):
    peak = peak_of(start("zmem-killed", 50, after="os.kill(os.getpid(), 9)"))
    rows = recorder.wait_rows("zmem-killed", 1)
    check_peak(rows[0] if rows else None, peak, 50 << 20, "one that is killed")


def check_others(recorder):
    """What is no memory of the process that ended."""
    peak_of(start("zmem-before", 200, after="os.execv('/bin/sleep', ['sleep', '0'])"))
    parent = subprocess.Popen((PYTHON, "-c", PARENT), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    parent.stdout.read(1)
    peak = peak_of(start("zmem-behind", 10))
    recorder.wait_rows("zmem-behind", 1)
    rows = recorder.ended()
    result([row for row in rows if row["name"] == "zmem-behind"] and peak, "one behind them is there", rows)
    wrong = [row for row in rows if row["name"] in ("sleep", "zmem-before", "true", "zmem-parent") and row["peak_bytes"] > 100 << 20]
    result(not wrong, "neither memory before an exec, nor that of the parent after vfork()", wrong)
    parent.stdin.close()
    peak = peak_of(parent)
    check_peak((recorder.wait_rows("zmem-parent", 1) or [None])[0], peak, 400 << 20, "the parent is there when it ends")


def check_cgroup(recorder):
    with oom.Group("zmem-ended", "200M") as group:
        name = os.path.basename(group.path)
        peak = peak_of(start("zmem-group", 50, preexec_fn=lambda: oom.write(group.path + "/cgroup.procs", str(os.getpid()))))
    result(not os.path.exists(group.path), "its cgroup is gone")
    rows = recorder.wait_rows("zmem-group", 1)
    result([(row["cgroup"] or "").split("/")[-1] for row in rows] == [name], "its path is known", rows)
    check_peak(rows[0] if rows else None, peak, 50 << 20, "the peak of one in a cgroup")


def check_shown(recorder, directory):
    """In the table of an OOM kill, of diff, and of the snapshot."""
    with oom.Group("zmem-ended-oom", "32M") as group:
        eater, events = oom.eater(directory, "zmem-eats"), []
        # Other tests make kills, too: one of a second has a table of its own.
        while not events or events[0]["table_age_ms"]:
            peak = peak_of(start("zmem-shown", 250))
            victim = group.kill(eater)
            events = wait_until(lambda: oom.events_of(recorder.path, {victim}))
    rows = [row for row in events[0]["ended"] or () if row["name"] == "zmem-shown"]
    check_peak(rows[0] if rows else None, peak, 250 << 20, "an OOM kill has what ended before")
    text = run("incidents", recorder.path, "--at", "event:" + events[0]["id"])
    result("\n  ended in the " in text and "zmem-shown" in text, "and so has its text", text)
    recorder.wait_rows("zmem-shown", 1)
    text = run("diff", recorder.path, "--to", "-0s")
    result("\nbegan and ended, or ended, between the two" in text and "zmem-shown" in text, "the text of diff", text)
    text = run("--replay", recorder.path)
    result("\nended in the " in text, "the text of a snapshot", text)
    if need("tmux", "top"):
        with Tmux((PROGRAM, "top", "--replay", recorder.path), columns=100, rows=30) as tmux:
            tmux.shows("top", "\nended in the ")
    document = oom.document("--replay", recorder.path)["system"]
    result(document["ended_ms"] > 0 and document["ended_missed_count"] >= 0 and isinstance(document["ended"], list),
           "and its JSON", document.get("ended_ms"))


def run(*arguments):
    return subprocess.run((PROGRAM, *arguments), stdout=subprocess.PIPE, check=False).stdout.decode()


def check_kept(directory):
    with Recorder(directory + "/kept") as recorder:
        for check in check_short, check_same, check_freed, check_threads, check_killed, check_others, check_cgroup:
            check(recorder)
        check_shown(recorder, directory)


def check_file(directory):
    """Of record without --keep, which may print JSON: of a series, the second snapshot has them."""
    path = directory + "/series.zmem"
    recorder = subprocess.Popen((PROGRAM, "record", path, "-i", "4", "-c", "2", "-J", "-q"), stdout=subprocess.PIPE)
    recorder.stdout.readline()
    job = start("zmem-series", 60)
    peak = peak_of(job)
    recorder.communicate()
    rows = [row for row in oom.document("--replay", path)["system"]["ended"] if row["name"] == "zmem-series"]
    check_peak(rows[0] if rows else None, peak, 60 << 20, "a series in a file")
    subprocess.run((PROGRAM, "record", path, "-q"), check=True)
    result("ended" not in oom.document("--replay", path)["system"], "one snapshot has none")


def check_off(directory):
    with Recorder(directory + "/off", "--no-ended") as recorder:
        peak_of(start("zmem-off", 20))
        wait_until(lambda: recorder.process.poll() is not None, 2)
        result("ended" not in oom.document("--replay", recorder.path)["system"] and recorder.ended() is None, "--no-ended: nothing")
        text = run("--replay", recorder.path) + run("diff", recorder.path, "--to", "-0s")
        result("total" in text and "ended in the" not in text and "began and ended" not in text, "and the text says nothing", text)


with tempfile.TemporaryDirectory() as directory:
    run_checks((check_kept, check_file, check_off), directory)
sys.exit(exit_code())
