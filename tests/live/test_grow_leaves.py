#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""grow --malloc of a program that leaves functions of its allocator in any way (support/leavelab.cc): it ends as it
does alone, with the same checksum. What cannot be probed without harm is said."""
# needs: bpf ptrace c++

import os
import platform
import subprocess
import sys
import tempfile
import time

import paths  # noqa: F401
from growing import LIMIT, Grow, Lab, code_is_clean, libraries, run_live
from outcome import result, wait_until

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support/leavelab.cc")
DIRECTORY = tempfile.TemporaryDirectory()
# A probe that decides at each call whether it looks at the return (UPROBE_SESSION).
SESSIONS = tuple(map(int, platform.release().split(".")[:2])) >= (6, 13)
NEW = "operator new(unsigned long)"


def build(name, *flags):
    path = DIRECTORY.name + "/" + name
    subprocess.run(("c++", "-std=c++17", "-O2", *flags, SOURCE, "-o", path), check=True)
    return path


def alone(lab, way, env):
    """The exit code and the checksum."""
    with Lab(lab, way, env=env) as one:
        line = one.go()
    return one.child.returncode, line


def measured(lab, way, env, *args):
    """The same, and the report."""
    with Lab(lab, way, env=env) as one:
        grow = Grow(str(one.pid), "--malloc", *args)
        grow.wait_armed(one.pid)
        if way == "dispatch":
            time.sleep(1)  # time itself: nothing shows that it is not probed
        else:
            # The C library has its probes before an allocator of its own.
            preloaded = os.path.basename((env or {}).get("LD_PRELOAD", ""))
            wait_until(lambda: not code_is_clean(one.pid, preloaded))
        line = one.go()
        document = grow.report()
    return (one.child.returncode, line), document


def expect_same(name, lab, ways, env=None):
    """The reports with each block."""
    documents = {}
    for way in ways:
        for args in (), ("--sample", "1"):
            want = alone(lab, way, env)
            got, documents[way] = measured(lab, way, env, *args)
            result(got == want, "%s, %s %s: as it does alone" % (name, way, " ".join(args)), (got, want))
    return documents


def check_operators():
    """Exceptions out of operator new, nothrow and aligned ones, handlers that throw and that jump."""
    ways = "return", "exception", "handler", "seccomp", "seccomp-later"
    lab = build("leavelab")
    documents = expect_same("the C library", lab, ways)
    for way in "exception", "seccomp":
        result(documents[way]["malloc"]["not_probed"] == [] and documents[way]["malloc"]["calls"] > 0,
               "the C library, %s: all is probed" % way, documents[way]["malloc"])
    for name, path in libraries():
        document = expect_same(name, lab, ways, dict(os.environ, LD_PRELOAD=path))["return"]
        said = {n["function"]: n["reason"] for n in document["malloc"]["not_probed"]}
        result("exceptions" in said.get(NEW, "") and document["malloc"]["calls"] > 0,
               name + ": operator new is not probed, and it is said", document["malloc"])
    path = next((p for n, p in libraries()), None)
    if path:
        with Lab(lab, "return", env=dict(os.environ, LD_PRELOAD=path)) as one:
            done = subprocess.run((Grow.program, "grow", str(one.pid), "--malloc", "-i", "0.5", "-c", "1"),
                                  capture_output=True, text=True, check=False, timeout=LIMIT)
        result("HELD lacks blocks of %s and " % NEW in done.stdout, "the table says it", done)


def check_calls():
    """An allocator that calls the program back."""
    # Static: no other test has probes in its functions, at which the kernel would look at each return.
    lab = build("ownlab", "-DOWN", "-static")
    documents = expect_same("calls back", lab, ("return", "longjmp", "siglongjmp", "exception", "handler", "dispatch"))
    malloc = documents["dispatch"]["malloc"]
    result(malloc["calls"] == 0 and any(n["pid"] and "system calls" in n["reason"] for n in malloc["not_probed"]),
           "dispatch: it is not probed, and it is said", malloc)
    # Before, each call has a probe of its return.
    if not SESSIONS:
        return
    documents = expect_same("calls back", lab, ("swapcontext", "coroutines", "dispatch-later"))
    for way in "coroutines", "dispatch-later":
        result(documents[way]["malloc"]["calls_not_counted"] > 0, way + ": calls are not counted, and it is said",
               documents[way]["malloc"])


if __name__ == "__main__":
    sys.exit(run_live(check_operators, check_calls))
