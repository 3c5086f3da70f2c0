#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What system and a snapshot say of the fullest memory cgroup, and of kills of today."""
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

import paths  # noqa: F401
import oom
import peers
from outcome import exit_code, need, result, run_checks, wait_until

def on_terminal(pressure):
    """A snapshot on a terminal, with these words as /proc/pressure/memory, in a mount namespace of its own."""
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(pressure)
        file.flush()
        command = shlex.join(("unshare", "-m", "sh", "-c", 'mount --bind "$0" /proc/pressure/memory && exec "$1"', file.name,
                              peers.PROGRAM))
        return subprocess.run(("script", "-qec", command, "/dev/null"), capture_output=True, text=True, check=True,
                              stdin=subprocess.DEVNULL).stdout


def check_limit():
    """The short form names the memory cgroup that is nearest to its limit; the sums are those of processes."""
    if not need("cgroups", "the fullest cgroup"):
        return
    code = "import sys; held = bytearray(b'x') * (60 << 20); print('ready', flush=True); sys.stdin.read()"
    with oom.Group("zmem full", "64M") as group:
        with subprocess.Popen(("sh", "-c", 'echo $$ >"$0/cgroup.procs"; exec "$1" -c "$2"', group.path, sys.executable, code),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
            child.stdout.readline()
            def short():
                return subprocess.run((peers.PROGRAM, "system"), capture_output=True, text=True, check=True).stdout
            # A cgroup of another test may be fuller for a moment.
            named = wait_until(lambda: re.search(r"^Fullest cgroup: (9\d|100) % of 64.0M in /\S*zmem full-", short(), re.M))
            out = short()
            if need("mount", "the fullest cgroup in a snapshot"):
                calm, stalled = (on_terminal("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
                                             "full avg10=%s avg60=0.00 avg300=0.00 total=0\n" % full)
                                 for full in ("0.99", "1.00"))
                result("memory PSI:" in calm and "Fullest cgroup" not in calm,
                       "a snapshot of a calm machine reads no limit", calm)
                result("Fullest cgroup: " in stalled, "while tasks wait, a snapshot has the fullest cgroup", stalled)
            child.stdin.close()
        result(named, "the fullest cgroup", out)
        result(re.search(r"^\d+ processes hold |^PSS of \d+ of \d+ processes ", out, re.M), "the sums are of processes", out)


def check_kills():
    """Of today: what the usual recording has. It is another one in a mount namespace of its own."""
    if not need("bpf cgroups mount", "kills of today"):
        return
    code = ("mount -t tmpfs none /var/lib && mkdir /var/lib/zmem-bpf && mount --bind \"$0\" /var/lib/zmem-bpf && "
            "exec \"$@\"")
    with tempfile.TemporaryDirectory() as directory, oom.Group("zmem-today") as group:
        oom.record(directory + "/one.zmem", group, oom.eater(directory, "eats-today"), 2)
        os.mkdir(directory + "/kept")
        os.rename(directory + "/one.zmem", directory + "/kept/0000000001.zmem")

        def limits(*command):
            done = subprocess.run(("unshare", "-m", "sh", "-c", code, directory + "/kept", *command, peers.PROGRAM, "system"),
                                  capture_output=True, text=True, check=True)
            return next((line for line in done.stdout.splitlines() if "OOM kills since boot: " in line), ""), done.stderr
        line, said = limits()
        result(re.search(r"OOM kills since boot: \d+, today: 2$", line) and not said, "kills of today", (line, said))
        # A zone in which the day begins with this second. The kills were before: the recording went on for a second.
        west = int(time.time()) % 86400
        line, said = limits("env", "TZ=ZZZ%02d:%02d:%02d" % (west // 3600, west // 60 % 60, west % 60))
        result(line.endswith(", today: 0") and not said, "those before midnight are not of today", (line, said))
        os.unlink(directory + "/kept/0000000001.zmem")
        line, said = limits()
        result(line.split(": ")[-1].isdecimal() and not said, "without a recording: since boot alone", (line, said))


run_checks([check_limit, check_kills])
sys.exit(exit_code())
