#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""serve counts real OOM kills by group: each one, in a burst, also while the process that speaks HTTP is stopped, and
beyond the number of groups. Each group begins at 0. Without its program there is no counter, and a reason. top finds
the kills of a recording. Other tests make kills, too: what is checked are kills of programs of ours."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import paths  # noqa: F401
import oom
from outcome import PROGRAM, exit_code, need, result, run_checks, same, wait_until
from serving import Serve
from terminal import Tmux, headings_at

NAME = "zmem-eats-%d" % os.getpid()  # no other program has it
BURST = 40
STOPPED = 300  # more than the socket between the two processes holds


def kills_of(serve, group):
    return serve.metric('zmem_oom_kills_total{group="%s"}' % group)


def kills_until(serve, group, count):
    """The counter of the group, once it is `count`, or after some seconds."""
    wait_until(lambda: kills_of(serve, group) == count, 60)
    return kills_of(serve, group)


def started(*args):
    serve = Serve("-i", "0.1", *args)
    serve.get("/metrics")  # the program is loaded before the first snapshot
    return serve


def kill_seen(serve, group, program):
    """A kill of a process that a snapshot of serve has, with its name, in the cgroup. Returns its pid."""
    def seen(pid):
        answer = serve.get("/snapshot.json?pid=%d" % pid)
        if answer.code != 200:
            return False
        row = json.loads(answer.text)["processes"][0]
        return row["name"] == NAME and (row["cgroup"] or "").endswith(os.path.basename(group.path))
    return group.kill(program, seen)


def check_counter(group, program):
    with started("-g", "name") as serve:
        same("kills are watched", serve.metric("zmem_oom_kills_watched"), 1)
        same("no kill: no series of the group", kills_of(serve, NAME), None)
        text = serve.get("/metrics").text
        names = [set(re.findall(r'(?m)^%s\{group="([^"]*)"' % metric, text))
                 for metric in ("zmem_group_processes", "zmem_oom_kills_total")]
        result(len(names[0]) > 2 and names[0] <= names[1], "each group that is shown has a counter before its first kill", names)
        others = kills_of(serve, "other")
        result(others is not None, "the series of the others is there from the start")
        pid = kill_seen(serve, group, program)
        same("one kill", kills_until(serve, NAME, 1), 1)
        events = json.loads(serve.get("/history.json").text)["events"]
        event = next(e for e in events if e["victim"]["pid"] == pid)
        victim = event["victim"]
        same("the event names the victim", (event["kind"], victim["pid"], victim["name"], victim["comm"], victim["user"]),
             ("oom_kill", pid, NAME, NAME[:15], "root"))
        result(4 << 20 < victim["rss_anon_bytes"] < 8 << 20, "the event has its memory", victim["rss_anon_bytes"])
        result(victim["cgroup"].endswith(os.path.basename(group.path)), "the event has its cgroup", victim["cgroup"])
        result(abs(event["time_ms"] / 1000 - time.time()) < 60, "the event has its time", event["time_ms"])
        for _ in range(BURST):
            group.kill(program)
        same("a burst: each kill is counted", kills_until(serve, NAME, 1 + BURST), 1 + BURST)
        os.kill(serve.http_pid(), signal.SIGSTOP)
        try:
            for _ in range(STOPPED):
                group.kill(program)
        finally:
            os.kill(serve.http_pid(), signal.SIGCONT)
        same("while HTTP is stopped: each kill is counted", kills_until(serve, NAME, 1 + BURST + STOPPED), 1 + BURST + STOPPED)
        events = json.loads(serve.get("/history.json").text)["events"]
        same("the newest kills are kept", len(events), 64)
        same("they are in order", [e["time_ms"] for e in events], sorted(e["time_ms"] for e in events))
        same("no message", [line for line in serve.said().split("\n") if "OOM" in line], [])
        same("SIGTERM: exit code 0", serve.stop(), 0)


def check_groups(group, program):
    """A group is what -g says. unit/test_serve_selection.c has how many are remembered."""
    for key, label in (("cgroup", "/" + os.path.basename(group.path)), ("user", "root")):
        with started("-g", key) as serve:
            before = kills_of(serve, label) or 0
            kill_seen(serve, group, program)
            now = wait_until(lambda serve=serve, label=label, before=before: (kills_of(serve, label) or 0) > before)
            result(now, "by " + key, serve.get("/metrics").text)
            if key == "cgroup":
                same("by cgroup: once", kills_of(serve, label), before + 1)
    with started() as serve:
        group.kill(program)
        same("by unit: a victim without one counts by its name", kills_until(serve, NAME, 1), 1)


def check_unrecorded(group, program):
    """Kills while no recorder ran, and while it could not watch them, are events of their own."""
    directory = os.path.dirname(program)

    def events(kept):
        return [e for e in oom.document("incidents", kept)["events"] if e["kind"] == "kills_unrecorded"]

    def record(kept, *options):
        subprocess.run((PROGRAM, "-q", "record", "--keep", "1h", kept, "-i", "0.3", *options), check=True, timeout=120)

    kept = directory + "/absent"
    # Cgroups without processes are not read.
    with subprocess.Popen(("sh", "-c", "echo $$ >%s/cgroup.procs; echo; exec cat" % group.path), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as inside:
        inside.stdout.readline()
        record(kept, "-c", "2")
        same("a recording that begins: none", events(kept), [])
        for _ in range(3):
            group.kill(program)
        record(kept, "-c", "2")
        inside.stdin.close()
    found = events(kept)
    # Other tests make kills as well.
    result(len(found) == 1 and found[0]["oom_kills"] >= 3 and found[0]["since_ms"] < found[0]["time_ms"], "while no recorder ran", found)
    result(found[0]["oom_kills"] > 3 or (found[0]["cgroup"] or "").endswith(os.path.basename(group.path)), "their cgroup", found)
    text = subprocess.run((PROGRAM, "incidents", kept), stdout=subprocess.PIPE, text=True, check=True).stdout
    result(re.search(r"^ +\d+  .*  \d+ OOM kills not recorded, .* to then(, in \S+)?$", text, re.M), "in words", text)
    known = [e["time_ms"] for e in found]
    record(kept, "-c", "2")
    result([e["time_ms"] for e in events(kept)][:1] == known, "once", events(kept))


def time_line(screen):
    return screen.splitlines()[headings_at(screen) - 1]


def check_top(group, program):
    """top --replay: E and e lead to the kills of a recording, and its victims are shown."""
    if not need("tmux", "top finds the kills of a recording"):
        return
    path = os.path.dirname(program) + "/kept.zmem"
    pids = oom.record(path, group, program, 2)
    with Tmux((PROGRAM, "top", "--replay", path, "-i", "1000", "-f", NAME), columns=140, rows=40) as tmux:
        screen = tmux.until(lambda screen: "2 events" in screen)
        line = time_line(screen)
        result(line.count("!") == 2 and line.endswith("  2 events"), "both kills are on the time line", screen)
        tmux.keys("{")
        for keys, event, victim in (("e", 2, pids[0]), ("e", 1, pids[1]), ("E", 2, pids[0])):
            tmux.keys(*keys)
            victim_row = re.compile(r"^ *%d .* %s \(killed\) *(│.*)?$" % (victim, NAME), re.M)
            tmux.shows("%s: event:%d, with its victim" % (keys, event), lambda screen, event=event, row=victim_row: "  event:%d" % event in time_line(screen) and row.search(screen))
        tmux.keys("E")
        tmux.shows("E: no event is earlier", "there is no earlier event")
        tmux.keys("]", "E")
        tmux.shows("E from the end: the last kill",
                   lambda screen: "  event:1" in time_line(screen) and re.search(r"^ *%d " % pids[1], screen, re.M))
        tmux.keys("@", "event:2", "Enter")
        tmux.shows("@ event:2: the first kill",
                   lambda screen: "  event:2" in time_line(screen) and re.search(r"^ *%d " % pids[0], screen, re.M))
        if os.environ.get("SCREENS"):
            print(screen)


def check_unwatched():
    with Serve("--source", "proc") as serve:
        text = serve.get("/metrics").text
        same("not watched", serve.metric("zmem_oom_kills_watched"), 0)
        result("zmem_oom_kills_total" not in text, "not watched: no counter, not even 0")
        history = json.loads(serve.get("/history.json").text)
        same("not watched: no events, and why", (history["events"], history["events_reason"]),
             (None, "with --source proc no BPF program is loaded"))
        result("zmem-bpf: OOM kills are not counted: with --source proc" in serve.said(), "not watched: a message", serve.said())


run_checks((check_unwatched,))
if need("bpf cgroups", "OOM kills"):
    with tempfile.TemporaryDirectory() as directory, oom.Group("zmem-kills", "8M") as group:
        run_checks((check_counter, check_groups, check_unrecorded, check_top), group, oom.eater(directory, NAME))
sys.exit(exit_code())
