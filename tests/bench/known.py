# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""For leaks.py --truth: what the table of grow --malloc says of the programs of known.c, beside what these know."""

import collections
import contextlib
import functools
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import time

from growing import Lab, code_is_clean, libraries, open_files
from outcome import PROGRAM, wait_until

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "known.c")
LIMIT = 120
# What is wanted: the truth within its bounds in so many runs, and never further away than so many bounds. (Right bounds
# of 95 % leave out 3 of 20 runs, or more, in one of 13 cases.)
WITHIN = 0.9
WORST = 2
ATTACHED = ("before",)
WITH_JEMALLOC = ("two_allocators",)
# It may have no sample, as the manual says.
NEED_NOT_BE_FIRST = ("small_leak",)
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


class Failed(Exception):
    """A run without a table."""


class Table:
    """The rows of a table in its order: place, held bytes, and the least and the most that it may hold."""

    def __init__(self, text, messages):
        self.messages = messages.strip()
        lines = iter(text.splitlines())
        head = next((line for line in lines if line.rstrip().endswith("CODE")), None)
        if not head:
            raise Failed("no table: " + text[:200])
        # Of the rows that sum unsure places it is only known what they hold together.
        self.rows, self.unsure = [], 0
        for line in lines:
            *numbers, code = re.split(r" {2,}", line.strip(), maxsplit=len(head.split()) - 1)
            if code.startswith("total, "):
                break
            try:
                # Of what is missing blocks only the least is known.
                held, *rest = (math.inf if number == "-" else int(number.removeprefix(">=")) for number in numbers)
            except ValueError as error:
                raise Failed("not a row: " + line) from error
            least, most = rest if len(rest) == 2 else (held - rest[0], held + rest[0])
            self.rows.append((re.sub(r" \(\+\d+( paths)?\)$", "", code.split(" < ")[0]), held, least, most))
            if re.match(r"\d+ places with an error ", code):
                self.unsure = most
        mean = re.search(r"one sample in ([\d.]+) (\w+)", text)
        self.mean = float(mean[1]) * UNITS[mean[2]] if mean else UNITS["MiB"] / 2

    def of(self, function):
        """Held, the least and the most, and whether it has a row. Without one it holds 0: at most what has no sample in
        one of 20 cases, or what those unsure places hold."""
        rows = [row[1:] for row in self.rows if row[0] == function]
        if not rows:
            return 0, 0, max(3 * self.mean, self.unsure), False
        held = sum(row[0] for row in rows)
        return (held, held - math.hypot(*(held - least for held, least, _ in rows)),
                held + math.hypot(*(most - held for held, _, most in rows)), True)


@functools.cache
def columns():
    """An older program has one error for both sides."""
    new = "held,held_least,held_most,code"
    done = subprocess.run((PROGRAM, "grow", "-q", "--malloc", "-o", new, "--", "true"), check=False,
                          capture_output=True)
    return new if done.returncode == 0 else "held,error,code"


def grow(sample, *target):
    sampled = ("--sample", sample) if sample else ()
    return (PROGRAM, "grow", "-q", "--malloc=slow", "--wide", "--bytes", *sampled, "-o", columns(), *target)


class Known:
    """A program of known.c."""

    def __init__(self, name, directory, sample):
        self.name, self.sample = name, sample
        self.command, self.truth = (directory + "/known", name), directory + "/truth"
        self.env = dict(os.environ, TRUTH=self.truth)
        self.attached = name in ATTACHED
        library = dict(libraries()).get("libjemalloc.so.2")
        self.lacks = "libjemalloc.so.2" if name in WITH_JEMALLOC and not library else None
        if name in WITH_JEMALLOC:
            self.command = ("env", "LD_PRELOAD=%s" % library, *self.command)

    def alone(self):
        """Its seconds."""
        begin = time.monotonic()
        subprocess.run(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True, env=self.env)
        return time.monotonic() - begin

    def started(self):
        done = subprocess.run(("timeout", "-k5", str(LIMIT), *grow(self.sample, "--"), *self.command), check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=dict(self.env, ENDS_PARENT="1"))
        if done.returncode:
            raise Failed("exit code %d: %s" % (done.returncode, done.stderr[:200]))
        return done.stdout, done.stderr

    def attached_to(self):
        with Lab(*self.command, env=dict(self.env, WAITS_FOR_START="1")) as lab:
            with subprocess.Popen(grow(self.sample, str(lab.pid)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as counting:
                counts = wait_until(lambda: not code_is_clean(lab.pid) and
                                    "/proc/%d" % lab.pid in open_files(counting.pid))
                if counts:
                    time.sleep(0.1)
                    lab.go()
                counting.send_signal(signal.SIGINT)
                texts = counting.communicate(timeout=LIMIT)
        if not counts:
            raise Failed("it sets no probes")
        return texts

    def counted(self):
        """Its table, what it knows, and its seconds."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.truth)
        begin = time.monotonic()
        table = Table(*(self.attached_to() if self.attached else self.started()))
        seconds = time.monotonic() - begin
        if not os.path.exists(self.truth):
            raise Failed("it ended before the program did")
        with open(self.truth, encoding="ascii") as file:
            return table, {function: int(held) for function, held in map(str.split, file)}, seconds


def distance(truth, held, least, most):
    """In units of the bound on that side."""
    off, bound = (truth - held, most - held) if truth > held else (held - truth, held - least)
    if most == math.inf and truth < least:
        return 1 + (least - truth) / least
    return off / bound if bound > 0 else math.inf if off else 0


def size(number):
    if number == math.inf:
        return "-"
    unit = next(unit for unit in reversed(UNITS) if abs(number) >= UNITS[unit] or unit == "B")
    return "%.3g %s" % (number / UNITS[unit], unit)


Said = collections.namedtuple("Said", "held least most has_row away")


class Runs:
    """Those of a program: what they said of each function, and the wants that are missed."""

    def __init__(self, known):
        self.known, self.truth, self.said = known, {}, {}
        self.seconds, self.firsts, self.errors, self.messages = [], [], [], ""
        self.missed = self.within = self.compared = 0

    def run(self):
        try:
            table, self.truth, seconds = self.known.counted()
        except Failed as error:
            self.errors.append(str(error))
            return
        self.seconds.append(seconds)
        self.messages = table.messages
        self.firsts.append(table.rows[0][0] if table.rows else "no row")
        for function, truth in self.truth.items():
            held, least, most, has_row = table.of(function)
            said = Said(held, least, most, has_row, distance(truth, held, least, most))
            self.said.setdefault(function, []).append(said)

    def show_last(self):
        if self.firsts:
            print("    first row: %s %s" % (self.firsts[-1], self.messages))
        for function, said in self.said.items():
            last = said[-1]
            print("    %-14s %s, %s to %s, %.3g bounds away%s" % (function, *map(size, last[:3]), last.away,
                                                                 "" if last.has_row else ", no row"), flush=True)

    def marked(self, text, met):
        self.missed += not met
        return text + (" " if met else "!")

    def show(self, count, alone):
        right = self.firsts.count(max(self.truth, key=self.truth.get)) if self.truth else 0
        print("%s: first row right in %s of %d, %.2f s, alone %.2f s" % (
            self.known.name, self.marked(str(right), right == count or self.known.name in NEED_NOT_BE_FIRST).strip(),
            count, statistics.median(self.seconds or (0,)), alone))
        for function, said in self.said.items():
            within, worst = sum(run.away <= 1 for run in said), max(run.away for run in said)
            self.within += within
            self.compared += count
            held, least, most = (size(statistics.median(column)) for column in list(zip(*said))[:3])
            print(ROW % ("  " + function, size(self.truth[function]), held, least, most,
                         sum(run.has_row for run in said), self.marked(str(within), within >= WITHIN * count),
                         self.marked("%.3g" % worst, worst <= WORST)))
        for error in self.errors:
            print("  " + self.marked(error, False))
        sys.stdout.flush()


ROW = "%-16s %9s %9s %9s %9s %5s %7s %6s"


def compare(names, count, sample, verbose, directory):
    """0 if the tables say what is so, else 1."""
    subprocess.run(("gcc", "-std=gnu17", "-O2", "-g1", SOURCE, "-o", directory + "/known", "-lpthread", "-lm"),
                   check=True)
    with open(SOURCE, encoding="utf-8") as file:
        programs = [Known(name, directory, sample) for name in re.findall(r'\{"(\w+)", \w+, \w+\}', file.read())]
    print("Medians of %d runs; in how many of them a function has a row, and the truth is within its bounds; the worst\n"
          "distance in bounds. !: not as wanted" % count)
    print(ROW % ("", "truth", "held", "least", "most", "rows", "within ", "worst "))
    done = []
    for known in programs:
        if names and known.name not in names:
            continue
        if known.lacks:
            print("%s: left out, without %s" % (known.name, known.lacks))
            continue
        alone = known.alone()
        done.append(Runs(known))
        for _ in range(count):
            done[-1].run()
            if verbose:
                done[-1].show_last()
        done[-1].show(count, alone)
    missed = sum(runs.missed for runs in done)
    print("The truth is within its bounds in %d of %d cases. Wants that are missed: %d" % (
        sum(runs.within for runs in done), sum(runs.compared for runs in done), missed))
    return 1 if missed or not done else 0
