#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Signals at any moment: those that end it leave the old file or the new one and nothing else,
those that do not (a window that changes, a stop, a profiler) change nothing in what it says. More moments
with LONG=1 (make soak)."""

import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import paths  # noqa: F401
from outcome import MKMEM, PRELOAD, PROGRAM, exit_code, have, mkmem_pids, need, read, result, write

LONG = bool(os.environ.get("LONG"))
ROUNDS = 24 if LONG else 6
STORMS = 6 if LONG else 3
LIMIT = 60


def start(*args, **more):
    """Python ignores SIGPIPE; a shell that started us in the background ignores SIGINT."""
    return subprocess.Popen((PROGRAM,) + args, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            restore_signals=True, **more)


def duration(*args):
    begin = time.monotonic()
    start(*args, stdout=subprocess.DEVNULL).communicate(timeout=LIMIT)
    return time.monotonic() - begin


def pause(seconds):
    """Sleeping is too coarse for a program that runs this briefly."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def check_ended(pids):
    """After any end there is the old file or the new one."""
    where = tempfile.mkdtemp()
    path = where + "/file"
    args = ("--json", "--output", path, "-p", pids)
    life = max(duration("--json", "-p", pids), 0.01)
    count = pids.count(",") + 1
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
                   signal.SIGALRM, signal.SIGKILL):
        problems, codes = [], set()
        for i in range(ROUNDS):
            write(path, "old")
            child = start(*args, preexec_fn=no_core)
            # Half of the signals near the end, where the file is renamed.
            pause(life * (random.random() if i % 2 else 0.7 + 0.4 * random.random()))
            child.send_signal(number)
            said = child.communicate(timeout=LIMIT)[1]
            codes.add(child.returncode)
            text = read(path)
            if child.returncode not in (0, -number):
                problems.append("exit code %d: %s" % (child.returncode, said))
            if text != "old" and len(json.loads(text)["processes"]) != count:
                problems.append(text[:200])
            if child.returncode == 0 and text == "old":
                problems.append("says it is done, and the file is the old one")
            # Before the rename the new file has a temporary name, which only SIGKILL leaves behind.
            if os.listdir(where) != ["file"] and number != signal.SIGKILL:
                problems.append(os.listdir(where))
            for name in os.listdir(where):
                os.unlink(where + "/" + name)
        result(not problems, "%s at any moment: the old file or the new one" % number.name,
               problems[:2])
        print("# %s: ended as %s" % (number.name, sorted(codes)))
    if "zmem-bpf-san" not in os.path.basename(PROGRAM):
        check_between(where, path, args)
    shutil.rmtree(where)


def check_between(where, path, args):
    """At the worst moment: the new file has its temporary name."""
    write(path, "old")
    child = start(*args, env=dict(os.environ, LD_PRELOAD=PRELOAD, TERM_AT_RENAME="1"))
    said = child.communicate(timeout=LIMIT)[1]
    text = read(path)
    result(child.returncode == -signal.SIGTERM and text.startswith("{") and
           os.listdir(where) == ["file"], "SIGTERM between two names: the new file, and no other",
           (child.returncode, said, text[:100], os.listdir(where)))


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def values(text):
    return [{k: v for k, v in p.items() if k in (
        "pid", "name", "rss_bytes", "rss_anon_bytes", "swap_bytes", "uss_bytes", "cmdline",
        "cgroup", "pss_status")} for p in json.loads(text)["processes"]]


def storm(child, numbers, longest):
    """Sends these signals in turn until it has ended. A program that is always stopped makes no progress."""
    sent = 0
    while child.poll() is None:
        for number in numbers:
            child.send_signal(number)
            sent += 1
        pause(random.random() * longest)
    return sent


def check_storm(pids):
    """Signals without a handler that do not end it may still interrupt a system call."""
    storms = {"SIGWINCH": (signal.SIGWINCH,), "SIGCHLD, SIGURG": (signal.SIGCHLD, signal.SIGURG),
              "SIGSTOP, SIGCONT": (signal.SIGSTOP, signal.SIGCONT)}
    for args in ((), ("--pss", "rollup"), ("--source", "proc"), ("--verify", "all")):
        want = None
        note = b"" if "proc" in args or have("counters") else b"zmem-bpf: counters come from /proc: .+\n"
        for name, numbers in ({"none": ()} | storms).items():
            problems, sent = [], 0
            for _ in range(STORMS if numbers else 1):
                with tempfile.TemporaryFile() as out:
                    child = start("--json", "-o", "+cmdline", "-p", pids, *args, stdout=out)
                    sent += storm(child, numbers, 0.05 if signal.SIGSTOP in numbers else 0.0005)
                    said = child.communicate(timeout=LIMIT)[1]
                    out.seek(0)
                    text = out.read()
                if child.returncode or not re.fullmatch(note, said):
                    problems.append("exit code %d: %s" % (child.returncode, said))
                    continue
                want = want or values(text)
                if values(text) != want:
                    problems.append([(a, b) for a, b in zip(values(text), want) if a != b][:1])
            if numbers:
                result(not problems, "a storm of %s, %s: the same" % (name, " ".join(args) or "auto"),
                       problems[:2])
                result(sent > STORMS, "a storm of %s, %s: enough signals" % (name, " ".join(args)), sent)


def check_load():
    """A stop aborts the verifier: each object is loaded again, also those that no snapshot of processes needs."""
    if not need("counters", "a storm of SIGSTOP, SIGCONT: files loads its program"):
        return
    problems = []
    for _ in range(2 * STORMS):
        child = start("files", "--json", stdout=subprocess.DEVNULL)
        storm(child, (signal.SIGSTOP, signal.SIGCONT), 0.05)
        said = child.communicate(timeout=LIMIT)[1]
        if child.returncode or said:
            problems.append("exit code %d: %s" % (child.returncode, said))
    result(not problems, "a storm of SIGSTOP, SIGCONT: files loads its program", problems[:2])


random.seed(1)
with subprocess.Popen((MKMEM, "anon", "fork", "shmem", "threads"), stdin=subprocess.PIPE,
                      stdout=subprocess.PIPE, text=True) as child:
    pids = [str(pid) for pid in mkmem_pids(child).values()]
    try:
        check_ended(",".join(pids))
        check_storm(",".join(pids))
        check_load()
    finally:
        child.stdin.close()
sys.exit(exit_code())
