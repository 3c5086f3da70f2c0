# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Switches on swap and the accounting of swap-ins, and off again."""

import contextlib
import os
import subprocess
import time

from outcome import read, write

CONTROL = "/sys/class/zram-control"
DELAYS = "/proc/sys/kernel/task_delayacct"


@contextlib.contextmanager
def zram(compressor, size="512M"):
    """A device of its own as swap: its directory below /sys/block."""
    number = read(CONTROL + "/hot_add").strip()
    at, device = "/sys/block/zram" + number, "/dev/zram" + number
    swapped = False
    try:
        write(at + "/comp_algorithm", compressor)
        write(at + "/disksize", size)
        subprocess.run(["mkswap", device], stdout=subprocess.DEVNULL, check=True)
        subprocess.run(["swapon", "-p", "100", device], check=True)
        swapped = True
        yield at
    finally:
        # It fails while a cgroup at its limit has memory there.
        for _ in range(100):
            if not swapped or subprocess.run(["swapoff", device], check=False).returncode == 0:
                break
            time.sleep(0.1)
        write(at + "/reset", "1")
        write(CONTROL + "/hot_remove", number)


@contextlib.contextmanager
def delay_accounting(on):
    before = read(DELAYS)
    write(DELAYS, str(on))
    try:
        yield
    finally:
        write(DELAYS, before)
