#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Times of a recording as people type them: a range has the events that happen in it, also those that began before it; its
end may be later than now. unit/test_session_moment.c has what a text means."""
import json
import os
import re
import sys
import tempfile
import time

import paths  # noqa: F401
from made import BEGIN, FRAMES, STEP, Recordings, minutes, run, seconds
from outcome import exit_code, need, result, run_checks, same

def kinds(path, *args):
    done = run("incidents", path, "-J", *args)
    return [e["kind"] for e in json.loads(done.stdout)["events"]] if done.returncode == 0 else done.stderr


def check_range(path, since, until, count):
    """Whether a range has the shortage."""
    args = ("--since", since, "--until", until)
    name = "%s from %s to %s" % (os.path.basename(path), since[11:], until[11:])
    same(name + ", JSON", kinds(path, *args), ["pressure"] * count)
    text = run("incidents", path, *args).stdout
    result(("memory was short" in text) == bool(count), name + ", text", text)
    page = run("incidents", path, "-F", "html", *args)
    if page.returncode == 0:
        result(('"kind":"pressure"' in page.stdout) == bool(count), name + ", page", page.stdout[-500:])
    else:
        result("nothing was recorded" in page.stderr, name + ", page: no snapshot is in it", page.stderr)


def check_overlap(recordings):
    """Memory is short from 10:10 to 10:20; from 10:00:08 up to the end of the recording, 10:00:20; up to a gap behind
    it."""
    path = recordings.make("ended", BEGIN, "short=2-4")
    for since, until, count in ((0, 5, 0), (0, 8, 0), (5, 15, 1), (12, 13, 1), (15, 60, 1), (20, 60, 1), (21, 60, 0), (0, 60, 1)):
        check_range(path, minutes(since), minutes(until), count)
    path = recordings.make("goes-on", BEGIN, "short=2-", step=4)
    for since, until, count in ((0, 6, 0), (0, 8, 1), (10, 10, 1), (19, 19, 1), (15, 60, 1), (21, 60, 0)):
        check_range(path, seconds(since), seconds(until), count)
    text = run("incidents", path).stdout
    result("not over at the end of the recording" in text, "an end that is not there is said", text)
    path = recordings.make("stops", BEGIN, "short=2-")
    for since, until, count in ((5, 15, 1), (12, 13, 0), (15, 60, 0)):
        check_range(path, minutes(since), minutes(until), count)
    text = run("incidents", path).stdout
    result("no end was recorded" in text, "an end in a gap is said", text)


def check_clock(recordings):
    """The recording ended half an hour ago, or goes on now; the end of a range is the next such time of day."""
    now = int(time.time())

    def clock(seconds):
        return time.strftime("%H:%M", time.gmtime(seconds))

    for name, begin in (("ended", now - (FRAMES + 6) * STEP), ("goes on", now - FRAMES * STEP + 30)):
        path = recordings.make("clock", begin, "kill=victim")
        third = begin + 2 * STEP
        same(name + ": the end is later than now", kinds(path, "--since", clock(third - 60), "--until", clock(now + 1200)),
             ["oom_kill"] * (FRAMES - 2))
        same(name + ": one kill", kinds(path, "--since", clock(third - 60), "--until", clock(third + 60)), ["oom_kill"])
        same(name + ": without an end", kinds(path, "--since", clock(third - 60)), ["oom_kill"] * (FRAMES - 2))
        same(name + ": an end alone is the latest", kinds(path, "--until", clock(third + 60)), ["oom_kill"] * 3)
        done = run("watch", "--replay", path, "-F", "ndjson", "--since", clock(third - 60), "--until", clock(now + 1200))
        times = [json.loads(line)["timestamp_ms"] // 1000 for line in done.stdout.splitlines()
                 if json.loads(line).get("type") == "snapshot"]
        same(name + ": watch", times, [begin + n * STEP for n in range(2, FRAMES)])
        done = run("diff", path, "--from", clock(third - 60), "--to", clock(now + 1200), "-J")
        known = json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr}
        same(name + ": diff", (known.get("from_ms"), known.get("to_ms")), (1000 * (begin + STEP), 1000 * (begin + (FRAMES - 1) * STEP)))
    # A time between the last snapshot and now.
    result(re.search(r"no OOM kill, no shortage of memory and no signal was recorded in this time$",
                     run("incidents", path, "--since", clock(now - 60)).stdout, re.M), "between the last snapshot and now: none",
           run("incidents", path, "--since", clock(now - 60)))


def check_days(recordings):
    """A day begins with its first snapshot, for --from as for --since."""
    path = recordings.make("days", BEGIN + 14 * 3600 - 3 * STEP)  # three snapshots on the 14th, three on the 15th
    done = run("watch", "--replay", path, "-F", "ndjson", "--since", "2023-11-15")
    first = next(json.loads(line)["timestamp_ms"] for line in done.stdout.splitlines() if '"type":"snapshot"' in line)
    known = json.loads(run("diff", path, "--from", "2023-11-15", "--to", "2023-11-15", "-J").stdout)
    same("--from DAY is --since DAY", (known["from_ms"], known["to_ms"]), (first, first + 2 * STEP * 1000))
    known = json.loads(run("diff", path, "--from", "2023-11-14", "--to", "2023-11-15", "-J").stdout)
    same("a recording that begins on that day", (known["from_ms"], known["to_ms"]), (first - 3 * STEP * 1000, first + 2 * STEP * 1000))
    done = run("diff", path, "--from", "2023-11-16")
    result(done.returncode == 3 and "the recording is from" in done.stderr, "a day behind it", done)


def check_holes(recordings):
    """Where nothing was recorded, "no kill" is said of the rest alone."""
    path = recordings.make("holes", BEGIN)
    for since, until, said in ((5, 20, None), (-30, 20, "from 2023-11-14 09:30:00Z to 2023-11-14 10:00:00Z"),
                               (5, 90, "from 2023-11-14 10:25:00Z to 2023-11-14 11:30:59Z"),
                               (-30, 90, "from 2023-11-14 10:25:00Z to 2023-11-14 11:30:59Z, and at 1 other time")):
        text = run("incidents", path, "--since", minutes(since), "--until", minutes(until)).stdout
        result(text.startswith("no OOM kill, no shortage of memory and no signal was recorded in this time\n") and
               ("nothing at all was recorded " + said in text if said else "nothing" not in text),
               "from 10:%02d to 10:%02d" % (since, until), text)


def check_usual(recordings):
    """A moment without --replay is one of the usual recording."""
    if not need("mount", "the usual recording"):
        return
    with tempfile.TemporaryDirectory() as kept:
        os.chmod(kept, 0o700)
        os.rename(recordings.make("usual", BEGIN, "kill=victim"), kept + "/0000000001.zmem")
        code = ("mount -t tmpfs none /var/lib && mkdir /var/lib/zmem-bpf && mount --bind \"$0\" /var/lib/zmem-bpf && "
                "exec \"$@\"")
        around = ("unshare", "-m", "sh", "-c", code, kept)
        for args, ms in ((("--at", "event:1"), BEGIN + (FRAMES - 1) * STEP), (("--at", minutes(10)), BEGIN + 2 * STEP),
                         (("system", "--at", "event:2"), BEGIN + (FRAMES - 2) * STEP)):
            done = run(*args, "-J", around=around)
            known = json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr}
            same(" ".join(args), known.get("timestamp_ms"), ms * 1000)
        done = run("watch", "--since", minutes(10), "-F", "ndjson", around=around)
        same("watch --since", done.stdout.count('"type":"snapshot"'), FRAMES - 2)
    done = run("files", "--at", "event:1")
    result(done.returncode == 2 and "files does not take --at" in done.stderr, "files has no recording", done)


def main():
    with tempfile.TemporaryDirectory() as directory:
        run_checks((check_overlap, check_clock, check_days, check_holes, check_usual), Recordings(directory))
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
