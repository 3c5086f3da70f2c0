# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Real OOM kills of our own processes, in a small memory cgroup."""

import json
import os
import shutil
import subprocess
import time

from outcome import PROGRAM

V1, V2 = "/sys/fs/cgroup/memory", "/sys/fs/cgroup"


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


class Group:
    """A memory cgroup, which does not swap. The end of its context removes it."""

    def __init__(self, name, limit="32M"):
        self.path = None
        for root, file, swap in ((V1, "memory.limit_in_bytes", "memory.swappiness"), (V2, "memory.max", "memory.swap.max")):
            path = os.path.join(root, "%s-%d" % (name, os.getpid()))
            try:
                os.mkdir(path)
                write(os.path.join(path, file), limit)
                if os.path.exists(os.path.join(path, swap)):
                    write(os.path.join(path, swap), "0")
                self.path = path
                break
            except OSError:
                if os.path.isdir(path):
                    os.rmdir(path)

    def __bool__(self):
        return self.path is not None

    def kill(self, eater, seen=None):
        """Runs a program of eater() until it is killed. Returns its pid. With `seen` it waits for memory
        until seen(pid): of more than 10 kills in 5 seconds the kernel's log has the cgroup of 10
        (oom_kill_process() in mm/oom_kill.c), and an ended process is in none."""
        join = "echo $$ >%s/cgroup.procs; exec %s %s" % (self.path, eater, "" if seen else "/dev/zero")
        victim = subprocess.Popen(("sh", "-c", join), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
        end = time.monotonic() + 30
        while seen and not seen(victim.pid) and time.monotonic() < end:
            time.sleep(0.05)
        with victim.stdin as pipe:
            try:
                while seen:
                    pipe.write(bytes(1 << 20))
            except BrokenPipeError:
                pass
        victim.wait(30)
        if victim.returncode != -9:
            raise RuntimeError("the victim was not killed: %d" % victim.returncode)
        return victim.pid

    def __enter__(self):
        return self

    def __exit__(self, *args):
        if self.path:
            os.rmdir(self.path)


def eater(directory, name):
    """A program of this name, which needs more and more memory."""
    path = os.path.join(directory, name)
    shutil.copy(shutil.which("tail"), path)
    return path


def record(directory, group, program, kills):
    """Records some seconds with so many kills, each an episode of its own. Returns the pids."""
    recorder = subprocess.Popen((PROGRAM, "record", "--keep", "1h", directory, "-i", "0.5", "-q"))
    pids = []
    try:
        for number in range(kills):
            time.sleep(2.5)
            pids.append(group.kill(program))
            end = time.monotonic() + 20
            while time.monotonic() < end:
                said = subprocess.run((PROGRAM, "incidents", directory, "-J"), stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, check=False).stdout
                if said and len(json.loads(said)["events"]) > number:
                    break
                time.sleep(0.2)
        time.sleep(1.2)
    finally:
        recorder.terminate()
        recorder.wait()
    return pids
