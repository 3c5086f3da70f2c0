#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""zmem-bpf serve with hostile filters: each is answered or refused and costs little memory; other
requests are answered. Some of the filters on the command line."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

import paths  # noqa: F401
from outcome import PROGRAM, exit_code, result, run_checks, wait_until
from serving import Serve

SANITIZED = "-san" in PROGRAM
NAMES = 60
MEMORY_KB = 96 * 1024
GUARD = 30  # seconds, against a hang alone

HOSTILE = [
    "a" + "+" * 24, "a" + "*" * 190, "a" + "?" * 190, "(" * 90 + "a" + ")+" * 45, "(" * 60 + "a*" + ")*" * 60,
    "(a|b)*a" + "." * 150 + "c", "(a|b)*a.{150}c", "(a|b)*a.{4000}c", "(.*){100}c", "(.?){4000}c", "(.?.?){2000}c",
    "((a{255}){255}){255}", "a{32767}", "a{99999}", "a{1,32767}b", "(((a{1,9}){1,9}){1,9}){1,9}c", "a{2}" + "{2}" * 40,
    "(a*)*b", "(a+)+$b", "(a|a)*c", "(a|aa)+$c", "([ab]+)*c", "((a*)*)*" * 20 + "c", "(|a)+" * 38 + "c",
    "|" * 199, "a|" * 99, "(a|b|ab|ba|aab|bba)*c", "(^|a|b|.){900}c", r"(\<|\>|.)*" * 15 + "c", r"(\ba?\B){999}c",
    ".*" * 99 + "c", ".+" * 99 + "c", "[ab]*" * 39 + "c", "[^c]*" * 39 + "c", "[[:alpha:]]*" * 16 + "c",
    r"(.*)\1", r"(a*)(b*)\1\2\1\2c", r"(.)(.)\2\1", "(" * 200, "[" * 200, "{" * 200, "\\", "[[:alpha:", "a{", "a{2,1}",
]


def start_names(directory):
    """Starts programs with names of 254 letters a and b."""
    rng = random.Random(14)
    for _ in range(NAMES):
        path = os.path.join(directory, "".join(rng.choice("ab") for _ in range(254)))
        os.link(os.path.join(directory, "program"), path)
        yield subprocess.Popen(["sleep", "3600"], executable=path)


def memory(pid):
    with open("/proc/%d/status" % pid) as file:
        fields = dict(line.split(":", 1) for line in file)
    return {key: int(fields[key].split()[0]) for key in ("VmHWM", "RssAnon")}


def ask(serve, pattern):
    start = time.monotonic()
    answer = serve.get("/snapshot.json?filter=" + urllib.parse.quote(pattern, safe=""), timeout=GUARD)
    return answer, time.monotonic() - start


def check_hostile(serve, processes):
    longest, codes = 0, {}
    for pattern in HOSTILE:
        try:
            answer, took = ask(serve, pattern)
        except OSError as error:
            result(False, "answered: %.40s" % pattern, error)
            return
        codes[pattern] = answer.code
        longest = max(longest, took)
        refused = answer.code == 400 and answer.text.startswith("filter: ") and answer.text.count("\n") == 1
        result(answer.code == 200 or refused, "answered or refused: %.40s" % pattern, (answer.code, answer.text[:200]))
        if serve.get("/healthz", timeout=GUARD).code != 200 or serve.get("/metrics", timeout=GUARD).code != 200:
            result(False, "other requests are answered after %.40s" % pattern)
    print("# the longest took %.3f s" % longest)
    result({200, 400} == set(codes.values()), "some filters are answered, some refused", codes)
    result(codes["(a|b)*a" + "." * 150 + "c"] == 200, "a cheap filter is answered", codes)
    answer, _ = ask(serve, "(.?){4000}c")
    result("too many steps" in answer.text, "an expensive filter: message", answer.text[:200])
    answer, _ = ask(serve, "((a{255}){255}){255}")
    result("too large" in answer.text, "a large filter: message", answer.text[:200])
    if not SANITIZED:
        for role, pid in processes.items():
            result(memory(pid)["VmHWM"] < MEMORY_KB, "%s: memory is bounded" % role, memory(pid))


def check_filters():
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy("/bin/busybox", os.path.join(directory, "program"))
        children = []
        try:
            children.extend(start_names(directory))
            with Serve("-i", "1") as serve:
                processes = {"collector": serve.process.pid, "http": serve.http_pid()}
                for _ in range(20):
                    ask(serve, "^[ab]+$")
                    serve.get("/metrics")
                before = {role: memory(pid)["RssAnon"] for role, pid in processes.items()}
                check_hostile(serve, processes)
                for role, pid in processes.items():
                    # A response in progress needs memory.
                    freed = SANITIZED or wait_until(lambda p=pid, b=before[role]: memory(p)["RssAnon"] <= b + 4096, GUARD)
                    result(freed, "%s: memory is freed" % role, (before[role], memory(pid)))
                answer, _ = ask(serve, "^[ab]+$")
                result(answer.code == 200 and len(json.loads(answer.text)["processes"]) == NAMES,
                       "^[ab]+$ finds the programs with long names", answer.text[:200])
                result(serve.stop() == 0, "exit code")
        finally:
            for child in children:
                child.kill()
                child.wait()


run_checks((check_filters,))
sys.exit(exit_code())
