#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What programs are called: real processes that were started by links."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from outcome import PROGRAM, exit_code, result, run_checks, see_own_processes_only, wait_until  # noqa: E402
from peers import run  # noqa: E402

TIMEOUT = "1000"  # a process: the test ends it


def rows(*args):
    done = run(PROGRAM, "--json", "--pss", "none", *args)
    if done.returncode:
        raise RuntimeError("exit code %d: %s" % (done.returncode, done.stderr.decode()[:300]))
    return json.loads(done.stdout)


@contextlib.contextmanager
def started(*command, **more):
    """Yields the pid of the command, which has called exec and does nothing more."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             **more)
    try:
        yield child.pid
    finally:
        child.kill()
        child.wait()


def value_of(pid, key, *args):
    processes = rows("-p", str(pid), *args)["processes"]
    return processes[0][key] if processes else None


def check_links():
    with tempfile.TemporaryDirectory() as home:
        target, link = home + "/1.2.3", home + "/an-agent-with-a-long-name"
        subprocess.run(["cp", "/bin/sleep", target], check=True)
        os.symlink(target, link)
        for command, executable, wanted in (
                ((link, TIMEOUT), None, "an-agent-with-a-long-name"),
                # argv[0] alone or comm alone is not enough.
                (("another", TIMEOUT), target, "1.2.3"),
                ((target, TIMEOUT), link, "1.2.3"),
                ((target, TIMEOUT), None, "1.2.3")):
            with started(*command, executable=executable) as pid:
                name = wait_until(lambda: value_of(pid, "name") == wanted)
                result(name, "links: %s by %s" % (os.path.basename(command[0]), os.path.basename(executable or "itself")),
                       (value_of(pid, "name"), wanted))


see_own_processes_only()
run_checks((check_links,))
sys.exit(exit_code())
