#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""peak beside /proc: programs that hold known amounts (support/peaklab.c), in children that live a moment, in
threads, in processes that share an address space, and in those of a parent that has ended."""
# needs: counters python-jsonschema

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile

import paths  # noqa: F401
from growing import MIB, rollup
from outcome import O, PROGRAM, exit_code, need, read, result, run_checks, wait_until

LAB = O + "/peaklab"
VALIDATE = os.path.join(os.path.dirname(__file__), "../support/validate_json.py")
# Stack, page tables of the C library and its data, of a static program.
SLACK = 2 * MIB
TMP = tempfile.TemporaryDirectory()
DOCUMENT = TMP.name + "/peak.json"


class Run:
    """peak -- COMMAND: of peaklab, which says READY when it holds what it is to hold."""

    def __init__(self, *words, command=(LAB,)):
        self.child = subprocess.Popen((PROGRAM, "peak", "--source", "bpf", "--json", "--output", DOCUMENT, "--", *command, *words),
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ready(self):
        return [int(pid) for pid in self.child.stdout.readline().split()[1:] if pid != "0"]

    def end(self, *pids):
        """Kills them: what they then free is no new highest sum, and they do nothing more."""
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        out, err = self.child.communicate()
        if not os.path.exists(DOCUMENT):
            raise RuntimeError(out + err)
        with open(DOCUMENT, encoding="utf-8") as file:
            document = json.load(file)
        os.unlink(DOCUMENT)
        return document


def lag(document):
    """How far the sum may be off: 0 from Linux 6.2 on."""
    return document["peak"]["error_bytes"]


def expect_sums(name, document):
    peak, history = document["peak"], document["history"]
    parts = peak["rss_anon_bytes"] + peak["rss_file_bytes"] + peak["rss_shmem_bytes"]
    held = sum(process["rss_bytes"] for process in peak["processes"])
    result(parts == peak["rss_bytes"], name + ": the parts are the whole", peak)
    result(held == peak["rss_bytes"], name + ": the processes held all of it", (held, peak["rss_bytes"]))
    result(max(point["rss_bytes"] for point in history) == peak["rss_bytes"] and len(history) <= 1000,
           name + ": the curve has the peak", (history, peak["rss_bytes"]))
    offsets = [point["offset_us"] for point in history]
    result(offsets == sorted(offsets) and offsets[-1] == document["duration_us"],
           name + ": the curve ends with the command", offsets)
    result(document["lost_messages"] == document["without_room"] == 0, name + ": nothing is left out", document)
    validated = subprocess.run((sys.executable, VALIDATE), input=json.dumps(document) + "\n", text=True,
                               capture_output=True, check=False)
    result(validated.returncode == 0, name + ": as its schema says", validated.stdout + validated.stderr)


def near(value, expected, slack):
    return abs(value - expected) <= slack


def measure(name, mode):
    """Its peak is the sum of Rss of smaps_rollup. Returns the run, the document and smaps_rollup of each process."""
    run = Run(mode)
    rollups = {pid: rollup(pid) for pid in run.ready()}
    rss = sum(values["Rss:"] for values in rollups.values())
    document = run.end(*list(rollups)[::-1])
    expect_sums(name, document)
    result(near(document["peak"]["rss_bytes"], rss, lag(document)), name + ": the peak is Rss of smaps_rollup",
           (document["peak"], rss))
    return run, document, rollups


def check_one():
    run, document, (pid,) = measure("one process", "hold")
    result(document["exit_code"] == 137 and document["signal"] == 9 and run.child.returncode == 137,
           "one process: killed by signal 9", (document["exit_code"], run.child.returncode))
    process, = document["processes"]
    result(process["pid"] == pid and process["peak_bytes"] == document["peak"]["rss_bytes"] and
           process["name"] == "peaklab", "one process: its own peak", process)


def check_threads():
    """Each CPU has a part of each counter: added up they are exact."""
    _, document, _ = measure("threads", "threads")
    result(document["processes_count"] == 1, "threads are no processes", document["processes_count"])


def check_short():
    run = Run("short")
    document = run.end()
    expect_sums("short children", document)
    result(50 * MIB <= document["peak"]["rss_bytes"] <= 50 * MIB + 2 * SLACK and
           document["peak"]["processes_count"] == 2, "short children: one at a time", document["peak"])
    children = [process for process in document["processes"] if process["peak_bytes"] >= 50 * MIB]
    result(len(children) == 20 and document["processes_count"] == 21,
           "short children: each with its own peak", document["processes"])


def check_clone():
    document = Run("clone").end()
    expect_sums("CLONE_VM", document)
    result(near(document["peak"]["rss_bytes"], 50 * MIB, SLACK), "CLONE_VM: an address space counts once", document["peak"])
    result([process["peak_bytes"] for process in document["processes"]].count(None) == 3,
           "CLONE_VM: processes without memory of their own have no peak", document["processes"])


def check_detached():
    run = Run("detached")
    pid, = run.ready()
    other = run.child.pid
    command = int(read("/proc/%d/task/%d/children" % (other, other)).split()[0])
    document = run.end(pid, command)
    expect_sums("a child of init", document)
    result(near(document["peak"]["rss_bytes"], 60 * MIB, 2 * SLACK) and
           document["peak"]["processes"][0]["pid"] == pid, "a child of init is of the tree", document["peak"])


def check_family():
    _, document, rss = measure("a family", "family")
    peak = document["peak"]
    result({process["pid"]: process["rss_bytes"] for process in peak["processes"]} ==
           {pid: r["Rss:"] for pid, r in rss.items()} or lag(document), "a family: each one's part", (peak, rss))
    # Read while it grew, if the machine is busy.
    pss = sum(r["Pss:"] for r in rss.values())
    result(peak["pss_bytes"] is None or peak["pss_rss_bytes"] < peak["rss_bytes"] or
           near(peak["pss_bytes"], pss, 64 * 1024), "a family: PSS is that of smaps_rollup", (peak, pss))


def check_exec():
    run = Run("exec")
    pid, = run.ready()
    document = run.end(pid)
    expect_sums("vfork and exec", document)
    result(near(document["peak"]["rss_bytes"], 94 * MIB, 2 * SLACK), "vfork and exec: both address spaces",
           document["peak"])
    peaks = {process["pid"]: process["peak_bytes"] for process in document["processes"]}
    result(near(peaks[pid], 64 * MIB, SLACK), "vfork and exec: the child's peak is not its parent's", peaks)


# Forks so many at once, which wait; and ends them.
CROWD = """import os, signal, sys
count = int(sys.argv[1])
for _ in range(count):
    if os.fork() == 0:
        signal.pause()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.killpg(0, signal.SIGTERM)
for _ in range(count):
    os.wait()
"""


def check_crowd():
    document = Run("-c", CROWD, "3000", command=("setsid", "-w", sys.executable)).end()
    expect_sums("3,000 children", document)
    result(document["peak"]["processes_count"] == 3001 and document["exit_code"] == 0, "3,000 children at once",
           document["peak"]["processes_count"])
    result(document["processes_count"] == len(document["processes"]) == 3001, "each has a row",
           (document["processes_count"], len(document["processes"])))


def check_namespace():
    """Children with numbers of their own have those of the reader in the report."""
    if not need("mount", "a pid namespace"):
        return
    run = Run(LAB, "hold", command=("unshare", "--pid", "--fork"))
    run.ready()
    unshare = int(read("/proc/%d/task/%d/children" % (run.child.pid, run.child.pid)))
    pid = int(read("/proc/%d/task/%d/children" % (unshare, unshare)))
    rss = rollup(pid)["Rss:"]
    document = run.end(pid)
    expect_sums("a pid namespace", document)
    held = {process["pid"]: process["rss_bytes"] for process in document["peak"]["processes"]}
    result(near(held.get(pid, 0), rss, lag(document)), "a pid namespace: the numbers and the memory", (held, pid, rss))


def takes_signals(pid):
    """From then on a signal ends it with a report."""
    with contextlib.suppress(OSError):
        return any("signalfd" in os.readlink("/proc/%d/fd/%s" % (pid, fd)) for fd in os.listdir("/proc/%d/fd" % pid))
    return False


def check_running():
    """Processes that ran before, with what they had."""
    lab = subprocess.Popen((LAB, "family"), stdout=subprocess.PIPE, text=True)
    pids = [int(pid) for pid in lab.stdout.readline().split()[1:]]
    rss = sum(rollup(pid)["Rss:"] for pid in pids)
    try:
        child = subprocess.Popen((PROGRAM, "peak", "--source", "bpf", "--json", str(pids[0])), stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        wait_until(lambda: takes_signals(child.pid))
        os.kill(child.pid, signal.SIGINT)
        out, err = child.communicate()
        document = json.loads(out)
        expect_sums("processes that ran", document)
        result(near(document["peak"]["rss_bytes"], rss, lag(document)) and child.returncode == 0,
               "processes that ran: the child, too", (document["peak"], rss, err))
        result(document["command"] is None and document["exit_code"] is None and document["processes_left"] == 2,
               "processes that ran: they run on", document)
    finally:
        for pid in pids[::-1]:
            os.kill(pid, signal.SIGKILL)
        lab.wait()
    ended = subprocess.run((PROGRAM, "peak", str(pids[0])), capture_output=True, text=True, check=False)
    result(ended.returncode == 3 and "no such process" in ended.stderr, "a process that is gone", ended)


TREE = "sh -c 'sleep 100 & echo $$ $!; wait' & sleep 101 & echo $$ $! $(jobs -p | head -n 1); wait"


def tree():
    """A shell with a shell with a sleep, and a sleep of its own: its process and the pids of all."""
    shell = subprocess.Popen(("sh", "-c", TREE), stdout=subprocess.PIPE, text=True, start_new_session=True)
    return shell, {int(pid) for _ in range(2) for pid in shell.stdout.readline().split()}


def check_descendants():
    """Of several processes, each with all that descends from it, and nothing else."""
    trees = [tree() for _ in range(3)]
    try:
        for name, count in (("one", 1), ("two", 2)):
            child = subprocess.Popen((PROGRAM, "peak", "--source", "bpf", "--json", "-a",
                                      *(str(shell.pid) for shell, _ in trees[:count])), stdout=subprocess.PIPE, text=True)
            wait_until(lambda: takes_signals(child.pid))
            os.kill(child.pid, signal.SIGINT)
            document = json.loads(child.communicate()[0])
            result({p["pid"] for p in document["processes"]} == {pid for _, pids in trees[:count] for pid in pids},
                   "descendants of %s, and no others" % name, (document["processes"], trees))
    finally:
        for shell, _ in trees:
            os.killpg(shell.pid, signal.SIGKILL)
            shell.communicate()


if __name__ == "__main__":
    run_checks((check_one, check_threads, check_short, check_clone, check_detached, check_family, check_exec,
                check_crowd, check_namespace, check_running, check_descendants))
    sys.exit(exit_code())
