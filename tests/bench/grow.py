#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""grow.py [PROGRAM…]: what a page fault takes in the first thread and in another one: alone, in another process than
grow counts for, and counted. All ways take turns, so that what else the machine does is the same for each; medians
in ns. Needs O (the build directory) and root. Several programs are compared with each other."""

import os
import statistics
import subprocess
import sys

import paths  # noqa: F401
from growing import open_files
from outcome import O

TURNS = int(os.environ.get("TURNS", "15"))
MIB = os.environ.get("MIB", "16")
LAB = O + "/growlab"


def one_page(*before, thread=False):
    """In ns; the command in front of it counts."""
    command = before + (LAB, "fault", MIB) + (("thread",) if thread else ())
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout.split(" ns")[0])


def beside(program, thread):
    """While it counts for another process."""
    with subprocess.Popen(("sleep", "100")) as other:
        with subprocess.Popen((program, "grow", str(other.pid)), stdout=subprocess.DEVNULL) as grow:
            while "/proc/%d" % other.pid not in open_files(grow.pid):
                pass
            page = one_page(thread=thread)
            grow.terminate()
        other.kill()
    return page


def counted(program, thread, *args):
    return one_page(program, "grow", "-q", "-F", "folded", "--output", "/dev/null", *args, "--", thread=thread)


def main():
    programs = sys.argv[1:] or [O + "/zmem-bpf"]
    taken = {}
    for _ in range(TURNS):
        for thread in (False, True):
            where = "another thread" if thread else "first thread"
            ways = {"alone": one_page(thread=thread)}
            for program in programs:
                ways[program + ": another process"] = beside(program, thread)
                ways[program + ": counted"] = counted(program, thread)
                ways[program + ": counted, --sample 1"] = counted(program, thread, "--sample", "1")
            for way, page in ways.items():
                taken.setdefault((where, way), []).append(page)
    for (where, way), pages in taken.items():
        more = [page - alone for page, alone in zip(pages, taken[where, "alone"])]
        print("%-15s %-52s %7.0f ns, %+6.0f" % (where, way, statistics.median(pages), statistics.median(more)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
