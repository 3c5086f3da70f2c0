#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""keep.py [SECONDS [PROCESSES...]]: what `record --keep` costs: bytes of files and bytes written to the device a day, and CPU.
Beside so many processes (100, 500, 2000) on an ordinary machine and on a churning one, and beside atop (ATOP=FILE) if it is
there, all at once, and a second zmem-bpf (COMPARED=FILE). MACHINES=ordinary: not the churning one. Half of the processes are forks
of one program, a third are programs of their own, each tenth changes its memory every few
seconds. A churning machine also has build/churn, which starts and ends processes all the time. Run it as root."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from measure import seconds_of  # noqa: E402

O = os.environ.get("O", "build")
PROGRAM = os.environ.get("PROGRAM", O + "/zmem-bpf")
ATOP = os.environ.get("ATOP") or shutil.which("atop")
COMPARED = os.environ.get("COMPARED")
DAY = 86400
INTERVAL = int(os.environ.get("INTERVAL", "10"))


def change_memory():
    """A process that holds between 1 and 9 MiB, another amount every 1 to 6 seconds."""
    os.close(0)
    while True:
        held = bytearray(os.urandom(4096)) * random.randrange(256, 2304)
        time.sleep(random.uniform(1, 6))  # a process: it changes now and then
        del held


class Machine:
    """Some processes, which end with it."""

    def __init__(self, processes, churns):
        self.pids = []
        self.fleet = subprocess.Popen([O + "/fleet", str(processes // 2), "300"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.fleet.stdout.readline()
        names = ["/bin/sleep", "/usr/bin/tail", "/bin/cat"]
        self.idle = [subprocess.Popen({"/bin/sleep": ["sleep", "9999"], "/usr/bin/tail": ["tail", "-f", "/dev/null"],
                                       "/bin/cat": ["cat"]}[names[i % 3]], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
                     for i in range(processes * 4 // 10)]
        for _ in range(processes // 10):
            pid = os.fork()
            if not pid:
                change_memory()
            self.pids.append(pid)
        self.churn = churns and subprocess.Popen([O + "/churn", "3"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        time.sleep(3)  # time itself: the starts are not measured

    def end(self):
        for pid in self.pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        for process in self.idle:
            process.kill()
            process.wait()
        for process in (self.fleet, self.churn):
            if process:
                process.stdin.close()
                process.wait()


def written(pid):
    with open("/proc/%d/io" % pid) as file:
        values = dict(line.split(": ") for line in file)
    return int(values["write_bytes"]) - int(values["cancelled_write_bytes"])


def resident(pid):
    with open("/proc/%d/status" % pid) as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024


def size(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(path, name)) for name in os.listdir(path))


def measure(recorders, seconds):
    """All of them at once, (command, path) each, from the second snapshot on: the first one stands alone. Yields what a snapshot
    costs: bytes of files, bytes written to the device, seconds of CPU; then the bytes of the first one, and resident MiB."""
    started = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for command, _ in recorders]

    def now():
        return [(size(path), written(recorder.pid), seconds_of(recorder.pid)) for recorder, (_, path) in zip(started, recorders)]

    try:
        time.sleep(INTERVAL * 0.5 + 2)  # time itself: the starts are not measured
        begin = now()
        time.sleep(seconds)  # time itself: what is measured
        end = now()
        memory = [resident(recorder.pid) for recorder in started]
    finally:
        for recorder in started:
            recorder.send_signal(signal.SIGTERM)
            recorder.wait()
    frames = seconds / INTERVAL
    for before, after, held in zip(begin, end, memory):
        yield [(b - a) / frames for a, b in zip(before, after)] + [before[0], held]


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    counts = [int(word) for word in sys.argv[2:]] or [100, 500, 2000]
    machines = [word == "churning" for word in os.environ.get("MACHINES", "ordinary churning").split()]
    names = ["zmem-bpf"] + (["compared"] if COMPARED else []) + (["atop"] if ATOP else [])
    per_day = DAY / INTERVAL
    print("%-26s %9s %12s %9s %12s %8s %8s" % ("", "processes", "snapshot, B", "MB a day", "device, MB", "CPU, %", "RSS, MiB"))
    for churns in machines:
        for count in counts:
            machine = Machine(count, churns)
            there = sum(name.isdigit() for name in os.listdir("/proc"))
            try:
                with tempfile.TemporaryDirectory(dir="/var/tmp") as where:
                    recorders = []
                    for name in names:
                        path = where + "/" + name
                        command = [COMPARED if name == "compared" else PROGRAM, "record", "--keep", "7d", path, "-i", str(INTERVAL),
                                   "-q", "--dense", "0"]
                        recorders.append(([ATOP, "-w", path, str(INTERVAL)] if name == "atop" else command, path))
                    for name, (frame, device, cpu, first, memory) in zip(names, measure(recorders, seconds)):
                        # Each thirtieth snapshot stands alone.
                        day = per_day * frame if name == "atop" else per_day * (frame * 29 + first) / 30
                        print("%-26s %9d %12.0f %9.1f %12.1f %8.3f %8.1f" % (
                            name + (", churning" if churns else ""), there, frame, day / 1e6, per_day * device / 1e6,
                            100 * cpu * per_day / DAY, memory), flush=True)
            finally:
                machine.end()
    return 0


sys.exit(main())
