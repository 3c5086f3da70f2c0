# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Real OOM kills of our own processes, in a small memory cgroup."""

import json
import os
import shutil
import subprocess
import tempfile
import time

from outcome import O, PROGRAM, wait_until, write

EDIT = os.path.join(os.environ.get("B", O + "/obj"), "edit_recording")
V1, V2 = "/sys/fs/cgroup/memory", "/sys/fs/cgroup"


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
        if seen:
            wait_until(lambda: seen(victim.pid))
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
        if self.path and not wait_until(self._removed):
            os.rmdir(self.path)

    def _removed(self):
        """A process that was killed is in it until it is gone."""
        try:
            os.rmdir(self.path)
        except OSError:
            return False
        return True


def eater(directory, name):
    """A program of this name, which needs more and more memory."""
    path = os.path.join(directory, name)
    shutil.copy(shutil.which("tail"), path)
    return path


def document(*args):
    """A document of the program; None if it has an error."""
    done = subprocess.run((PROGRAM, *args, "-J", "-q"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return None if done.returncode else json.loads(done.stdout)


def events_of(directory, pids):
    """The kills of these processes in a recording."""
    events = (document("incidents", directory) or {"events": ()})["events"]
    return [e for e in events if e["kind"] == "oom_kill" and e["victim"]["pid"] in pids]


def record(path, group, program, kills):
    """Records so many kills, each with all processes of its moment. Returns the pids. Other tests make kills, too:
    the recording has only these. The kernel side reads all processes at one of the kills of a second."""
    pids, end = [], time.monotonic() + 120
    with tempfile.TemporaryDirectory() as directory:
        def newest():
            """The time of the last snapshot; 0 if it is the moment of a kill, perhaps of another test."""
            found = document("--replay", directory)
            return found["timestamp_ms"] if found and found["source"]["pss"] else 0
        recorder = subprocess.Popen((PROGRAM, "record", "--keep", "1h", directory, "-i", "0.5", "-q"))
        try:
            first = wait_until(newest)
            wait_until(lambda: newest() > first + 1500)
            while len(pids) < kills and time.monotonic() < end:
                # At kills of 3 seconds, if one of another test takes the place of the first one.
                killed, until = [group.kill(program)], time.monotonic() + 3
                while not (whole := [e for e in events_of(directory, killed) if e["table"]]) and time.monotonic() < until:
                    killed += [group.kill(program) for _ in range(5)]
                wait_until(lambda killed=killed: len(events_of(directory, killed)) == len(killed))
                whole = whole or [e for e in events_of(directory, killed) if e["table"]]
                if whole:
                    pids.append(whole[0]["victim"]["pid"])
                    # The snapshot right after a kill may still have its victim.
                    last = max(e["time_ms"] for e in events_of(directory, killed))
                    wait_until(lambda last=last: newest() > last + 1000)
        finally:
            recorder.terminate()
            recorder.wait()
        if len(pids) < kills:
            raise RuntimeError("all processes were read at %d kills of ours" % len(pids))
        subprocess.run((EDIT, "own", directory, path, os.path.basename(program)[:15], *map(str, pids)), check=True)
    return pids
