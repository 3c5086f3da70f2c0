# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cost of one run of a command, statistics of many runs, and the load of other programs."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time

LIMIT_S = 60  # for what never ends
TICK = os.sysconf("SC_CLK_TCK")
DEVNULL = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)


class Failed(Exception):
    """A command that failed, with the reason."""


def why_failed(status, errors):
    """One line: the exit code or the signal, and the last message."""
    said = errors.decode(errors="replace").strip().splitlines() or [""]
    code = os.waitstatus_to_exitcode(status)
    how = "exit code %d" % code if code >= 0 else signal.Signals(-code).name
    return ("%s: %s" % (how, said[-1].strip()) if said[-1] else how)[:200]


def spawn(argv, out, err):
    """Runs the command; returns its status and usage."""
    pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=[
        (os.POSIX_SPAWN_DUP2, DEVNULL, 0), (os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, err, 2)])

    def too_long(_number, _frame):
        os.kill(pid, signal.SIGKILL)

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LIMIT_S)
    _, status, usage = os.wait4(pid, 0)
    signal.alarm(0)
    return status, usage


def run(argv, out=DEVNULL):
    """Wall time from before the start to after the end, and CPU time of the command and its children."""
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        try:
            status, usage = spawn(argv, out, errors.fileno())
        except OSError as error:
            raise Failed(error.strerror) from error
        wall = time.perf_counter() - start
        if status:
            errors.seek(0)
            raise Failed(why_failed(status, errors.read()))
    return {"wall_ms": round(1000 * wall, 3), "cpu_ms": round(1000 * (usage.ru_utime + usage.ru_stime), 3)}


def output_of(argv):
    with tempfile.TemporaryFile() as out:
        run(argv, out.fileno())
        out.seek(0)
        return out.read().decode(errors="replace")


def quantile(values, share):
    """The quantile of sorted values."""
    at = share * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


def spread(values):
    values = sorted(values)
    names = ("least", "low", "median", "high", "most")
    return {name: round(quantile(values, share / 4), 3) for share, name in enumerate(names)}


@contextlib.contextmanager
def helper(*argv):
    """A program that ends with its standard input."""
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as child:
        try:
            yield child
        finally:
            child.stdin.close()


# ---- other programs ----


def busy_and_all():
    """The sum over all CPUs in seconds."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(word) for word in file.readline().split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / TICK, sum(ticks) / TICK


def seconds_of(pid):
    if not pid:
        return 0
    with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
        words = file.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICK


class Load:
    """The load by programs that are not ours; pid: a child that still runs."""

    def __init__(self, pid=None):
        self.pid = pid
        self.before = os.getloadavg()[0]
        self.start = self.now()

    def now(self):
        busy, total = busy_and_all()
        return busy, total, sum(os.times()[:4]) + seconds_of(self.pid)

    def done(self):
        busy, total, ours = (new - old for new, old in zip(self.now(), self.start))
        others = 100 * max(busy - ours, 0) / total if total else 0
        return {"before": round(self.before, 2), "after": round(os.getloadavg()[0], 2),
                "others_percent": round(others, 1)}


def load_text(load):
    return "load %.1f to %.1f, others took %.0f %% of the CPUs" % (
        load["before"], load["after"], load["others_percent"])
