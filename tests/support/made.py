# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Recordings that no machine made: snapshots of this test with other times, and with events."""
import os
import subprocess
import time

from outcome import O, PROGRAM

STEP = 300  # s between two snapshots
FRAMES = 6
BEGIN = 1700000000 // 86400 * 86400 + 36000  # 2023-11-14 10:00 UTC


def run(*args, around=()):
    return subprocess.run((*around, PROGRAM, *args), capture_output=True, text=True, check=False, timeout=120)


def minutes(n, day="2023-11-14T"):
    return day + time.strftime("%H:%M", time.gmtime(BEGIN + n * 60))


def seconds(n):
    return time.strftime("2023-11-14T%H:%M:%S", time.gmtime(BEGIN + n))


class Recordings:
    """Copies of some snapshots: other times, other events."""

    def __init__(self, directory):
        self.directory = directory
        self.source = directory + "/source"
        # In a container, the parent may be outside.
        other = subprocess.Popen(("sleep", "120"))
        self.pids = [os.getpid(), other.pid]
        try:
            subprocess.run((PROGRAM, "-q", "record", self.source, "--source", "proc", "-p", "%d,%d" % tuple(self.pids),
                            "-i", "0.1", "-c", str(FRAMES)), check=True, timeout=120)
        finally:
            other.kill()
            other.wait()

    def make(self, name, begin, *changes, step=STEP):
        path = "%s/%s.zmem" % (self.directory, name)
        subprocess.run((O + "/obj/edit_recording", "edit", self.source, path, "time=%d" % begin, "step=%d" % step, *changes), check=True)
        return path
