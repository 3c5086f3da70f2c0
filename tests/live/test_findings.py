#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What is wrong now, in all places that say it: a cgroup that thrashes at its limit, one that is nearly full, OOM kills of the
last hour. In guests vm/findings has what is wrong with a whole machine."""
import json
import os
import re
import subprocess
import sys
import tempfile

import paths  # noqa: F401
import oom
from in_cgroup import MIB, random_file, reader, sleeper
from outcome import PROGRAM, exit_code, need, result, run_checks, wait_until, write
from terminal import Tmux


def run(*args, around=()):
    return subprocess.run((*around, PROGRAM, *args), capture_output=True, text=True, check=False, timeout=120)


def found(*args, around=()):
    done = run(*args, "-J", around=around)
    return json.loads(done.stdout)["findings"] if done.stdout else [{"key": "error", "text": done.stderr}]


def of_cgroup(findings, group):
    """(key, level) of those of this cgroup: other tests have cgroups, too."""
    return [(f["key"], f["level"]) for f in findings if (f.get("cgroup") or "").endswith("/" + os.path.basename(group.path))]


def set_limit(group, mib):
    for file in ("memory.limit_in_bytes", "memory.max"):
        if os.path.exists(group.path + "/" + file):
            write(group.path + "/" + file, "%dM" % mib)


def screen():
    """The first lines on a terminal of 100 columns."""
    with Tmux((PROGRAM,), columns=100, rows=40) as tmux:
        return tmux.until(lambda s: "exit code" in s)


def check_thrashing():
    if not need("counters cgroups", "a cgroup that thrashes"):
        return
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory, oom.Group("zz-reads", "100M") as group:
        path = directory + "/file"
        random_file(path, 160)
        name = "/" + os.path.basename(group.path)
        with reader(group, path):
            sentence = re.compile(r"AT ITS LIMIT: cgroup %s \(100M\): it reads back [0-9.]+[MG] a second" % re.escape(name))
            for args in ((), ("--source", "proc"), ("system",)):
                result(("cgroup_limit", "critical") in of_cgroup(found(*args), group), "in JSON: " + " ".join(args or ("snapshot",)),
                       found(*args))
            shown = " ".join(screen().split())
            result(re.search(r"(AT ITS LIMIT|OOM KILLS|THRASHING|THROTTLED): .* RAM \d", shown), "first on the screen of a snapshot", shown[:900])
            for args in (("system", "-v"), ("system", "-l", "-v")):
                text = run(*args).stdout
                result(sentence.search(text), " ".join(args), text[:900])
                result(text.index("AT ITS LIMIT: ") < text.index("RAM "), "%s: it comes first" % " ".join(args), text[:200])
            commands = re.search(r"^next: (.*)$", run("system").stdout, re.M)
            result(commands and "zmem-bpf cgroups" in commands.group(1) and not re.search(r"zmem-bpf system( {3}|$)", commands.group(1)),
                   "the next command, without the one that runs", commands)
            metrics = run("-F", "openmetrics").stdout
            result(re.search(r'^zmem_finding\{key="cgroup_limit",level="critical"\} [1-9]', metrics, re.M), "a metric",
                   re.findall(r"zmem_finding\S* \d+", metrics))
            with Tmux((PROGRAM, "top", "-i", "0.5"), columns=160, rows=30) as tmux:
                tmux.shows("top", lambda s: sentence.search(s) or "AT ITS LIMIT: " in s)
            done = run("record", directory + "/kept", "-i", "0.5", "-c", "3", "-q")
            result(("cgroup_limit", "critical") in of_cgroup(found("--replay", directory + "/kept"), group), "a recording", done.stderr)
        # What it needs fits now: it reads back nothing, though its cache is as large as it can be.
        set_limit(group, 200)
        with reader(group, path):
            result(wait_until(lambda: not of_cgroup(found(), group)), "with room nothing is found", found())


def check_full():
    """Memory that cannot be dropped, and page cache that can."""
    if not need("counters cgroups", "a cgroup that is nearly full"):
        return
    with oom.Group("zz-holds", "80M") as group:
        with sleeper(group, 64 * MIB):
            calm = found()
            result(not of_cgroup(calm, group), "below: nothing is found", calm)
            set_limit(group, 70)
            near = found()
            result(of_cgroup(near, group) == [("cgroup_full", "warning")], "nearly full, and nothing hurts it", near)
            text = next((f["text"] for f in near if f["key"] == "cgroup_full"), "")
            result(re.match(r"NEAR ITS LIMIT: cgroup /zz-holds-\d+ \(70\.0M\): 6\d\.\dM of it are anonymous and shared memory", text), "in words", text)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory, oom.Group("zz-caches", "60M") as group:
        random_file(directory + "/file", 200)
        with reader(group, directory + "/file"):
            pass
        # The cache stays charged: the cgroup is at its limit, and has all that it needs.
        with sleeper(group, MIB):
            cached = found()
            result(not of_cgroup(cached, group), "full of page cache that can be dropped: nothing is found", cached)


def check_kills():
    """The usual recording is another one in a mount namespace of its own."""
    if not need("bpf cgroups mount", "kills of the last hour"):
        return
    code = ("mount -t tmpfs none /var/lib && mkdir /var/lib/zmem-bpf && mount --bind \"$0\" /var/lib/zmem-bpf && "
            "exec \"$@\"")

    def kills(directory):
        """The finding; None: there is none."""
        around = ("unshare", "-m", "sh", "-c", code, directory)
        return next((f for f in found(around=around) if f["key"] == "oom_kills"), None)

    def counts(finding):
        """All kills, and those that were not recorded."""
        text = finding["text"]
        others = re.search(r"(\d+) of them (?:is|are) not in the recording", text)
        return int(re.search(r"KILLS: (\d+) ", text).group(1)), int(others.group(1)) if others else 0

    with tempfile.TemporaryDirectory() as directory, oom.Group("zmem-hour") as group:
        program = oom.eater(directory, "eats-now")
        oom.record(directory + "/one.zmem", group, program, 2)
        os.mkdir(directory + "/kept")
        os.rename(directory + "/one.zmem", directory + "/kept/0000000001.zmem")
        recorded = kills(directory + "/kept")
        result(recorded and recorded["level"] == "critical" and recorded["run"] == "incidents" and
               re.search(r"the last one at \d\d:\d\d: eats-now in /zmem-hour-\d+", recorded["text"]), "kills of the last hour", recorded)
        # Other tests make kills as well, which this recording does not have.
        total, others = counts(recorded)
        result(total - others == 2, "two of them are recorded", recorded)
        group.kill(program)
        later = kills(directory + "/kept")
        result(counts(later)[0] - counts(later)[1] == 2 and counts(later)[1] > others, "one more while nothing was recorded", later)
        os.unlink(directory + "/kept/0000000001.zmem")
        with open("/proc/uptime", encoding="ascii") as file:
            young = float(file.read().split()[0]) < 3600
        alone = kills(directory + "/kept")
        result(bool(alone) == young, "without a recording only the kills of a machine that booted within the hour are of it", alone)


run_checks([check_thrashing, check_full, check_kills])
sys.exit(exit_code())
