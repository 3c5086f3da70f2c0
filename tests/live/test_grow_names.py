#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""grow and names that are made to cost time or memory: the report comes, its helpers stay small, what was
too much is counted, and other names are there."""

import contextlib
import os
import shutil
import struct
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # the tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from growing import MIB, Lab, directory_for_all, functions, run_live, stack_of_4_mib, write  # noqa: E402
from outcome import O, result, wait_until  # noqa: E402

TREE_MAX = 400 * MIB  # of the program and its helpers; without a bound gigabytes


def doubling(levels):
    """f(A, B<A, A>, B<B<A, A>, B<A, A>>, …): each type is twice as long as the one before."""
    name = "_Z1f1A1BIS_S_E"
    for i in range(1, levels):
        last = "S%s_" % base36(i)
        name += "S0_I%s%sE" % (last, last)
    return name


def base36(n):
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return digits[n] if n < 36 else base36(n // 36) + digits[n % 36]


class Watched:
    """The largest sum of resident memory of a process and its children while the block runs."""

    def __init__(self, grow):
        self.pid, self.largest, self.stop, self.children = grow.child.pid, 0, False, set()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.stop:
            try:
                with open("/proc/%d/task/%d/children" % (self.pid, self.pid), encoding="ascii") as file:
                    children = [int(pid) for pid in file.read().split()]
            except OSError:
                return
            self.children.update(children)
            pids = [self.pid] + children
            self.largest = max(self.largest, sum(self.anon(pid) for pid in pids))
            time.sleep(0.005)

    @staticmethod
    def anon(pid):
        try:
            with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as file:
                return sum(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon"))
        except OSError:
            return 0

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop = True
        self.thread.join()


def is_helper(pid):
    with contextlib.suppress(OSError), open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
        name, state = file.read().split("(", 1)[1].rsplit(") ", 1)
        return name.startswith("zmem-bpf") and state[0] != "Z"
    return False


def grown(lab, what):
    """The document; its making stays small."""
    grow = lab.count("--sample", "1")
    with Watched(grow) as watched:
        lab.go()
        document = grow.report()
    # Those that were too slow were killed.
    result(watched.children and wait_until(lambda: not any(map(is_helper, watched.children)), 10),
           what + ": no helper is left", watched.children)
    result(watched.largest < TREE_MAX, what + ": its memory is bounded", "%d MiB" % (watched.largest // MIB))
    return document


def renamed_lab(directory, old, new):
    """growlab, with another name for one of its functions."""
    path = directory + "/lab"
    subprocess.run(["objcopy", "--redefine-sym", "%s=%s" % (old, new), O + "/growlab", path], check=True)
    return path


def check_symbols():
    with directory_for_all() as directory:
        for levels, known in ((3, True), (24, False), (40, False)):
            what = "a name of C++ with %d levels" % levels
            with Lab(renamed_lab(directory, "site_mmap", doubling(levels)), "mmap") as lab:
                document = grown(lab, what)
            names = functions(stack_of_4_mib(document))
            result(names[0] == ("f" if known else doubling(levels)), what + ": " + ("demangled" if known else "as it is"),
                   names[0][:60])
            result(names[1:3] == ["run_site", "main"], what + ": its callers have names", names[1:3])
            limited = document["accounted"]["names_left_out"]["limit"]
            result((limited == 0) == known, what + ": it is counted", limited)


def check_perf_map():
    with Lab(O + "/jitlab", "frame", "anon") as lab:
        path, address = "/tmp/perf-%d.map" % lab.pid, int(lab.words[2], 16)
        write(path, "%x 20 %s\n" % (address, doubling(40)))
        try:
            document = grown(lab, "the same in a perf map")
            names = functions(stack_of_4_mib(document))
            result(names[1] == doubling(40) and names[3] == "main", "the same in a perf map: as it is", names[1][:60])
        finally:
            os.unlink(path)


def section_header(name, kind, offset, size, link=0, entry=0):
    return struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, link, 0, 8, entry)


def check_sections():
    """The symbols of a program are a hole of 3 GiB; they are 300,000 at one address."""
    with directory_for_all() as directory:
        path = directory + "/lab"
        shutil.copy(O + "/growlab", path)
        subprocess.run(["strip", "-s", path], check=True)
        with open(path, "r+b") as file:
            header = file.read(64)
            end = file.seek(0, os.SEEK_END)
            # Two sections: symbols in a hole, and their names.
            table = section_header(0, 0, 0, 0) + section_header(0, 2, 1 << 30, 3 << 30, 2, 24) + \
                section_header(0, 3, end, 64)
            file.write(bytes(64) + table)
            file.seek(0)
            file.write(header[:40] + struct.pack("<Q", end + 64) + header[48:58] + struct.pack("<HHH", 64, 3, 0))
            file.truncate(4 << 30)
        with Lab(path, "mmap") as lab:
            document = grown(lab, "symbols of 3 GiB")
            result(document["accounted"]["stacks_bytes"] >= 4 * MIB, "symbols of 3 GiB: a report",
                   document["accounted"]["stacks_bytes"])
        source = directory + "/aliases.s"
        common = "x" * 200
        with open(source, "w", encoding="ascii") as file:
            file.write(".text\n.globl many\n")
            for i in range(300000):
                file.write(".type %s%d,@function\n.set %s%d,many\n.size %s%d,8\n" % ((common, i) * 3))
            file.write("many: ret\n.skip 7\n.size many,8\n.type many,@function\n.section .note.GNU-stack\n")
        lab_source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support/growlab.c")
        subprocess.run(["gcc", "-D_GNU_SOURCE", "-O2", "-o", path, lab_source, source, "-lpthread"], check=True)
        with Lab(path, "mmap") as lab:
            document = grown(lab, "300,000 names of an address")
            names = functions(stack_of_4_mib(document))[:3]
            result(names == ["site_mmap", "run_site", "main"], "300,000 names of an address: others have theirs", names)


if __name__ == "__main__":
    sys.exit(run_live(check_symbols, check_perf_map, check_sections))
