#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Each event by its own moment: kills that have no table of their own, kills that belong together, a limit that was lowered, a
shortage by its worst moment. The recordings are made of snapshots of this test; vm/oom and cli/incidents.sh have real kills."""
import json
import re
import sys
import tempfile

import paths  # noqa: F401
from made import BEGIN, FRAMES, STEP, Recordings, run
from outcome import exit_code, result, run_checks, same

MIB = 1 << 20


def events(path, *args):
    done = run("incidents", path, "-J", *args)
    return json.loads(done.stdout)["events"] if done.returncode == 0 else [{"error": done.stderr}]


def kill(frame, before_ms, **members):
    """A kill, so many ms before a frame."""
    words = ["event=%d-%d" % (frame, before_ms), "KIND=1"]
    return ",".join(words + ["%s=%s" % member for member in members.items()])


def lines(path, *args):
    """The list, without its heading."""
    return run("incidents", path, *args).stdout.partition("\n\n")[0].splitlines()[1:]


def check_tables(recordings):
    """The processes of a kill without a table: those of the kill before, if it is younger than a second."""
    group = dict(CGROUP="/g", LIMIT_CGROUP="/g", LIMIT=100 * MIB, AT_LEVEL=0, PART_ANON=20 * MIB, PARTS_MS=1, RSS_SHMEM=0)
    first = kill(1, 0, PID=recordings.pids[0], NAME="one", TABLE=1, RSS_ANON=MIB, SWAP=0, **group)
    for name, after_ms, known in (("0.7 s", 700, True), ("1.5 s", 1500, False)):
        # Frame 1 is its moment; frame 2 is a snapshot two seconds later.
        path = recordings.make("table", BEGIN, "cgroup=/g", "moment=1", first,
                               kill(2, 2000 - after_ms, PID=7, NAME="late", RSS_ANON=50 * MIB, SWAP=0, LISTED=1, **group), step=2)
        one, two = events(path)
        names = {g["group"]: g["anon_swap_bytes"] for g in (two["largest_in_cgroup"] or {"name": []})["name"]}
        same(name + ": the processes are known", two["largest_in_cgroup"] is not None, known)
        same(name + ": of the first kill, too", one["largest_in_cgroup"] is not None, True)
        same(name + ": how old they are", (one["table_age_ms"], two["table_age_ms"]), (0, after_ms))
        text = run("incidents", path, "--at", "event:1").stdout
        if known:
            same(name + ": with the victim", names.get("late"), 50 * MIB)
            result(len(recordings.pids) < 2 or len(names) > 1, name + ": and others", names)
            held = sum(g["procs"] for g in two["largest_in_cgroup"]["name"])
            same(name + ": without the victim before it", held, sum(g["procs"] for g in one["largest_in_cgroup"]["name"]))
            result(re.search(r"in /[^ ]*, 700 ms before, without those killed since", text), name + ": it is said", text)
        else:
            result(re.search(r"\n  in /[^ ]*: not read", text) and "no process" not in text, name + ": it is said", text)
            result("filled by: processes at least 20.0 MiB" in text, name + ": the sum is a part", text)
        parts = {c["part"] for c in two["charges"] or []}
        result("other" not in parts, name + ": what is not read is no other part", two["charges"])
    # A snapshot that was taken between two kills is such a table, too.
    for name, after_ms, known in (("a snapshot 0.7 s before", 700, True), ("a snapshot 1.5 s before", 1500, False)):
        path = recordings.make("table", BEGIN, "cgroup=/g", kill(1, 10, PID=recordings.pids[0], NAME="one", RSS_ANON=MIB, SWAP=0, **group),
                               kill(2, 2000 - after_ms, PID=7, NAME="late", RSS_ANON=50 * MIB, SWAP=0, LISTED=1, **group), step=2)
        table = events(path)[-1]["largest_in_cgroup"]
        same(name + ": the processes are known", table is not None, known)
        same(name + ": without the victim of the kill before", sum(g["procs"] for g in (table or {"name": []})["name"]),
             len(recordings.pids) if known else 0)


def check_bursts(recordings):
    """A container that is killed again and again is one line, whatever its id; a group is one, too."""
    pod = dict(NAME="java", POD="web-0", NAMESPACE="shop")
    loop = [kill(frame, 500, PID=100 + frame, CGROUP="/kubepods/pod1/%d" % frame, CONTAINER="%d" % frame, CONTAINER_ID="%d0" % frame, **pod)
            for frame in range(1, 5)]
    path = recordings.make("loop", BEGIN, *loop, "event=3-200,KIND=3,SIGNAL_NUMBER=9,PID=9,NAME=other")
    shown = lines(path)
    same("a crash loop: a line, and one for the signal", len(shown), 2)
    result("4 kills from 10:04 to 10:19" in shown[0], "its count and its span", shown)
    known = [(e["count"], e["span_ms"]) for e in events(path) if e["kind"] == "oom_kill"]
    same("in JSON", known, [(0, None)] * 3 + [(4, 3 * STEP * 1000)])
    same("its workload", {e["workload"] for e in events(path) if e["kind"] == "oom_kill"}, {"pod shop/web-0"})
    path = recordings.make("others", BEGIN, *(change.replace("web-0", "web-%d" % n) for n, change in enumerate(loop)))
    same("of other pods: a line each", len(lines(path)), 4)
    # Without the kubelet's files nothing but the path has the pod.
    slices = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod%s.slice/cri-containerd-%s.scope"
    unnamed = [kill(frame, 500, PID=100 + frame, NAME="java", CGROUP=slices % ("4c4c_" * 6 + "4c4c", "%064d" % frame), CONTAINER="%012d" % frame,
                    CONTAINER_ID="%064d" % frame) for frame in range(1, 5)]
    path = recordings.make("unnamed", BEGIN, *unnamed)
    same("of a pod without a name: a line", (len(lines(path)), {e["workload"] for e in events(path)}), (1, {"pod " + "4c4c-" * 6 + "4c4c"}))
    # Two such programs, which are killed in turn.
    other = [kill(frame, 400, PID=200 + frame, CGROUP="/system.slice/db.service", UNIT="db.service", NAME="postgres") for frame in range(2, 5)]
    path = recordings.make("turns", BEGIN, *(word for frame in range(1, 5) for word in loop + other if word.startswith("event=%d-" % frame)))
    same("two in turn: a line each", [(e["count"], e["victim"]["name"]) for e in events(path) if e["count"]], [(4, "java"), (3, "postgres")])
    path = recordings.make("between", BEGIN, *loop, "short=2-2")
    same("a shortage between them ends it", [e["count"] for e in events(path) if e["kind"] == "oom_kill"], [1] * 4)
    for oom_group, count in ((0, 4), (1, 1)):
        calls = [kill(2, 500 - n, PID=100 + n, NAME="p%d" % n, CGROUP="/g", LIMIT_CGROUP="/g", CALL=7, OOM_GROUP=oom_group)
                 for n in range(4)]
        path = recordings.make("group", BEGIN, *calls)
        same("oom.group=%d: lines" % oom_group, len(lines(path)), count)
        text = run("incidents", path, "--at", "event:4").stdout
        same("oom.group=%d: killed as a group" % oom_group, "killed as a group: 4 processes" in text, oom_group == 1)
        same("oom.group=%d: in JSON" % oom_group, events(path)[0]["group_kills"], 4 if oom_group else None)


def check_signals(recordings):
    """Who was ended by whom, in one line: a sender, a unit, so many processes and their sum."""
    def sent(frame, before_ms, **members):
        known = dict(SIGNAL_NUMBER=9, SENDER_PID=7, SENDER_NAME="systemd-oomd", UNIT="httpd.service", CGROUP="/system.slice/httpd.service")
        return kill(frame, before_ms, **{**known, **members}).replace("KIND=1", "KIND=3")
    many = [sent(2, 900 - n, PID=100 + n, NAME="httpd", RSS_ANON=20 * MIB, SWAP=MIB) for n in range(32)]
    # Those for which there was no turn are told within the next second.
    many.append(sent(2, 100, RECEIVERS=18, RECEIVERS_BYTES=18 * 21 * MIB))
    path = recordings.make("signals", BEGIN, *many, sent(4, 0, PID=9, NAME="postgres", UNIT="db.service", RSS_ANON=MIB, SWAP=0),
                           sent(4, 0, PID=10, NAME="postgres", UNIT="db.service", RSS_ANON=MIB, SWAP=0, SENDER_NAME="earlyoom"))
    shown = lines(path)
    same("a line for each sender and unit", len(shown), 3)
    result(shown[2].endswith("systemd-oomd sent SIGKILL to unit httpd.service: 50 processes, 1.03 GiB"), "in words", shown)
    result(shown[1].endswith("systemd-oomd sent SIGKILL to postgres (PID 9), 1.00 MiB"), "of a single one", shown)
    known = [(e["receivers_count"], e["receivers_bytes"]) for e in events(path)]
    same("in JSON", known, [(50, 50 * 21 * MIB)] + [(0, None)] * 32 + [(1, MIB)] * 2)
    # Two that send in turn are two lines; who began is shown.
    turns = [sent(2, 900 - n, PID=200 + n, NAME="httpd", RSS_ANON=MIB, SWAP=0, **({"SENDER_NAME": "systemd", "SENDER_PID": 1, "SIGNAL_NUMBER": 15}
                  if n % 2 else {})) for n in range(10)]
    turns_path = recordings.make("turns", BEGIN, *turns)
    same("in turn: a line for each sender", [line.partition("  ")[2].partition("Z  ")[2] for line in lines(turns_path)],
         ["systemd sent SIGTERM to unit httpd.service: 5 processes, 5.00 MiB",
          "systemd-oomd sent SIGKILL to unit httpd.service: 5 processes, 5.00 MiB"])
    result("\n\nSIGKILL at" in run("incidents", turns_path).stdout, "who began is shown", run("incidents", turns_path).stdout)
    text = run("incidents", path, "--at", "event:" + events(path)[0]["id"]).stdout if events(path)[0]["id"] else \
        run("incidents", path, "--at", "2023-11-14T10:09:59").stdout
    result("to unit httpd.service: 50 processes, 1.03 GiB; the first of them follows" in text, "the event", text)


def check_worst(recordings):
    """What held most is of the worst moment; from it the next commands go on."""
    path = recordings.make("worst", BEGIN, "available=900000000", "least=3-100000000", "short=1-4")
    event = events(path)[0]
    same("the worst snapshot", (event["worst"]["time_ms"], event["worst"]["memory_available_bytes"]),
         ((BEGIN + 3 * STEP) * 1000, 100000000))
    same("the least that was available", event["memory_available_least_bytes"], 100000000)
    text = run("incidents", path).stdout
    result("at the worst (2023-11-14 10:15:00Z): RAM available 95.4 MiB" in text, "in words", text)
    # The recording is not the usual one.
    result("--at 2023-11-14T10:15:00Z\n" in text and "--from 2023-11-14T10:04:59Z \\\n        --to 2023-11-14T10:15:00Z" in text,
           "next: from its beginning to the worst moment", text)


def main():
    with tempfile.TemporaryDirectory() as directory:
        run_checks((check_tables, check_bursts, check_signals, check_worst), Recordings(directory))
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
