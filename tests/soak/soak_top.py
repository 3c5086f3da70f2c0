#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""soak_top.py TICKS FLEET CHURN [ARGUMENT...]: zmem-bpf top on a terminal with ten ticks a second, while
CHURN starts and ends processes and keys open every screen again and again. After FLEET and a fifth of
the ticks, top may hold no more of anything. It must end after its ticks."""

import os
import re
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../support")

from holdings import HEAP_SLACK, SANITIZED, Heap, Noise, compare, fleet, holdings, least, processes  # noqa: E402
from outcome import PROGRAM, exit_code, result  # noqa: E402
from terminal import PATIENCE, Pty  # noqa: E402

INTERVAL_S = 0.1
ESCAPE = b"\x1b"

DRAW = b"\x0c"  # redraws: otherwise only changed cells are written, not whole words

# Keys, and what then appears on the screen. After the last keys, all settings are the first ones again.
KEYS = (
    (b"S" + DRAW, b"by swap"), (b"rMr" + DRAW, b"by pss"), (b"s", b"Sort"), (ESCAPE, b""),
    (b"g" + DRAW, b"grouped by name"), (b"ggg", b""), (b"ggt" + DRAW, b"tree"), (b"t", b""), (b"jjj", b""), (ESCAPE, b""),
    (b"\r" + DRAW, b"oom_score_adj"), (b"m" + DRAW, b"mappings of|the process has ended"), (b"q", b""),
    (b"fchurn\r" + DRAW, b"filter churn"), (ESCAPE, b""), (b"uroot\r" + DRAW, b"user root"), (ESCAPE, b""),
    (b"/bash", b"search:"), (b"\rcb", b""), (b"cb", b""), (b"o", b"Columns"), (b"jj\rk\r", b""), (b"\rj\rq", b""),
    (b"?", b"Keys"), (b"q", b""), (b"x" + DRAW, b"changes per second"), (b"n", b""), (b"nx" + DRAW, b"changes since"),
    (b"x", b""), (b"jF" + DRAW, b"following"), (ESCAPE, b""), (b"p" + DRAW, b"paused"), (b"GkG", b""), (b"p", b""), (ESCAPE, b""),
)
# Keys that make the rows of a snapshot again.
SHAPES = (b"gggg", b"tt", b"S", b"M", b"fa", ESCAPE)
SIZES = ((1, 1), (5, 200), (60, 20), (40, 120))


class Session:
    def __init__(self, ticks):
        self.heap = Heap()
        self.term = Pty((PROGRAM, "top", "-i", str(INTERVAL_S), "-c", str(ticks)), rows=40, columns=120,
                        **self.heap.environ())
        self.ended = None  # the wait status
        self.size, self.missing, self.samples = 0, {}, []
        self.most = 0  # processes

    def look(self, seconds):
        """Reads the output of that time. False if top has ended."""
        part = self.term.read(seconds)
        self.size += len(part)
        if self.ended is None:
            pid, status = os.waitpid(self.term.pid, os.WNOHANG)
            self.ended = status if pid else None
        return self.ended is None

    def press(self, keys, sign):
        """Types keys and waits for a tick, or until the sign appears. False if top has ended."""
        self.term.data = b""
        self.term.type(keys)
        end = time.monotonic() + PATIENCE
        alive = self.look(INTERVAL_S)
        while alive and not re.search(sign, self.term.data) and time.monotonic() < end:
            alive = self.look(INTERVAL_S)
        if alive and not re.search(sign, self.term.data):
            self.missing[keys] = self.term.data[-200:]
        return alive

    def round(self):
        """All keys and sizes once. False if top has ended."""
        for keys, sign in KEYS:
            if not self.press(keys, sign):
                return False
        for size in SIZES:
            self.term.resize(*size)
            if not self.look(INTERVAL_S):
                return False
        return self.look(2 * INTERVAL_S)

    def shape(self):
        """The heap of a paused top after all shapes once, and after nine more times."""
        self.press(b"p" + DRAW, b"paused")
        heap = []
        for times in (1, 9):
            for keys in SHAPES * times:
                self.press(keys, b"")
            heap.append(self.heap.read(0))
        self.press(b"p", b"")
        return heap

    def measure(self):
        """Takes the least of four samples: one of them is between two ticks."""
        samples, self.most = [], max(self.most, processes())
        try:
            for _ in range(4):
                self.look(INTERVAL_S / 4)
                samples.append(holdings(self.term.pid, self.heap.read(0)))
            self.samples.append(least(samples))
        except (ProcessLookupError, FileNotFoundError, KeyError):
            pass  # top has just ended


def fifths(samples):
    """The least values in the second and in the last fifth."""
    part = max(1, len(samples) // 5)
    return least(samples[part:2 * part]), least(samples[-part:])


def main():
    if len(sys.argv) < 4:
        print("not ok top: usage: soak_top.py TICKS FLEET CHURN [ARGUMENT...]")
        return 1
    session = Session(int(sys.argv[1]))
    try:
        result(session.press(b"", b"quit"), "top: starts")
        with fleet(sys.argv[2]):
            result(session.round(), "top: many processes")
            few, many = session.shape()
            result(few or SANITIZED, "top: the heap of a paused top is known")
            result(many <= few + HEAP_SLACK, "top: other rows of one snapshot take no more heap", (few, many))
            most = processes()
        with Noise(sys.argv[3:]):
            while session.round():
                session.measure()
        result(not session.missing, "top: each key has its effect", session.missing)
        result(session.ended == 0, "top: exit code 0 after its ticks", session.ended)
        result(session.term.restored(), "top: the terminal is restored")
        rounds = len(session.samples)
        result(rounds >= 3, "top: at least three rounds", rounds)
        if rounds >= 3:
            compare("top", *fifths(session.samples), session.most > most)
        print("# top: %s ticks, %d rounds of keys, %d bytes written" % (sys.argv[1], rounds, session.size))
    finally:
        session.term.close() if session.ended is None else close_files(session.term)
    return exit_code()


def close_files(term):
    """Closes the files of a process that was reaped: its pid may belong to another process."""
    os.close(term.master)
    os.close(term.slave)


if __name__ == "__main__":
    sys.exit(main())
