#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""record --keep notes signals by which processes end others: by an operator, by timeout, by a daemon of root that sends
SIGTERM first; with the exact memory of the receiver. It does not note those to a process itself, to small processes, of the
OOM killer, and other signals. A burst is counted, and loses no OOM kill. Other tests send signals, too: what is checked
are those of ours."""
# needs: bpf cgroups users

import os
import signal
import subprocess
import sys
import tempfile
import time

import paths  # noqa: F401
import oom
from outcome import PROGRAM, exit_code, read, result, run_checks, wait_until

PYTHON = "/usr/bin/python3"
HOLD = ("import sys, signal; b = bytearray(b'x') * (%d << 20); exec(sys.argv[1]); print('ready', flush=True)\n"
        "while True:\n    signal.pause()")
HANDLED = "signal.signal(signal.SIGTERM, lambda *_: None)"
BURST = 2000
NOBODY = 65534


def hold(mib, prepare="", **more):
    """A process that holds so much memory."""
    held = subprocess.Popen((PYTHON, "-c", HOLD % mib, prepare), stdout=subprocess.PIPE, **more)
    held.stdout.readline()
    return held


def anon(pid):
    with open("/proc/%d/status" % pid, encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("RssAnon"))


class Recorder:
    def __init__(self, path, *options):
        self.path = path
        self.process = subprocess.Popen((PROGRAM, "record", "--keep", "1h", path, "-i", "1", "-q", *options))
        wait_until(lambda: oom.document("--replay", path))

    def signals(self, pid=None):
        """Those to this process, or all."""
        events = (oom.document("incidents", self.path) or {"events": ()})["events"]
        return [e for e in events if e["kind"] == "signal" and pid in (None, e["victim"]["pid"])]

    def wait_signals(self, pid, count=1):
        return wait_until(lambda: len(found := self.signals(pid)) >= count and found) or self.signals(pid)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.process.terminate()
        self.process.wait()


def end(process):
    process.kill()
    process.wait()
    process.stdout.close()


def check_senders(directory):
    """The sender of a signal, its receiver, and what the receiver held."""
    with Recorder(directory + "/senders") as recorder:
        held = hold(24)
        exact, sender = anon(held.pid), subprocess.Popen(("sh", "-c", "read -r go; kill -9 $0", str(held.pid)), stdin=subprocess.PIPE)
        sender.communicate(b"\n")
        found = recorder.wait_signals(held.pid)
        held.wait()
        result(len(found) == 1, "kill -9 of a shell", found)
        e = found[0]
        result((e["signal"], e["sender"]["pid"], e["sender"]["comm"], e["sender"]["uid"]) == (9, sender.pid, "sh", 0),
               "its sender", e["sender"])
        result((e["victim"]["rss_anon_bytes"], e["victim"]["uid"]) == (exact, 0), "its receiver holds %d bytes" % exact, e["victim"])
        text = subprocess.run((PROGRAM, "incidents", recorder.path, "--at", "event:" + e["id"]), stdout=subprocess.PIPE, check=False).stdout.decode()
        for line in ("SIGKILL at ", "(event:%s)" % e["id"], "\n  sent by: %s, PID %d, uid 0" % (e["sender"]["name"], sender.pid),
                     "\n  received by: %s, PID %d, user root" % (e["victim"]["name"], held.pid), "\n  it held: anon 2"):
            result(line in text, "the screen has %r" % line.split(",")[0].strip(), text)
        limited = subprocess.Popen(("timeout", "-s", "KILL", "2", PYTHON, "-c", HOLD % 20, ""), stdout=subprocess.PIPE, start_new_session=True)
        limited.stdout.readline()
        child = int(read("/proc/%d/task/%d/children" % (limited.pid, limited.pid)))
        found = recorder.wait_signals(child)
        result([(e["signal"], e["sender"]["pid"], e["sender"]["name"]) for e in found] == [(9, limited.pid, "timeout")], "timeout", found)
        end(limited)
        # The cgroup of a process that no snapshot had.
        with oom.Group("zmem-signals-new", "200M") as group:
            held = hold(24, preexec_fn=lambda: oom.write(group.path + "/cgroup.procs", str(os.getpid())))
            held.kill()
            found = recorder.wait_signals(held.pid)
            held.wait()
            result([(e["victim"]["cgroup"] or "").split("/")[-1] for e in found] == [os.path.basename(group.path)],
                   "the cgroup of one that has just begun", found)
        # Of a user: SIGKILL alone.
        held = hold(20, HANDLED, user=NOBODY)
        subprocess.run(("sh", "-c", "kill -15 $0 && kill -9 $0", str(held.pid)), user=NOBODY, check=True)
        found = recorder.wait_signals(held.pid)
        held.wait()
        result([(e["signal"], e["sender"]["uid"]) for e in found] == [(9, NOBODY)], "a user: SIGKILL, and no SIGTERM", found)


def check_daemon(directory):
    """As earlyoom: SIGTERM, then SIGKILL. Its name is that of the last snapshot, its cgroup, too."""
    daemon = directory + "/earlyoom"
    with open(daemon, "w", encoding="ascii") as file:
        file.write("#!%s\nimport os, sys\n"
                   "for line in sys.stdin:\n    for number in 15, 9:\n        os.kill(int(line), number)\n" % PYTHON)
    os.chmod(daemon, 0o755)
    with oom.Group("zmem-signals", "200M") as group, Recorder(directory + "/daemon") as recorder:
        started = subprocess.Popen((daemon,), stdin=subprocess.PIPE, start_new_session=True)
        held = hold(32, HANDLED, preexec_fn=lambda: oom.write(group.path + "/cgroup.procs", str(os.getpid())))

        def seen():
            rows = (oom.document("--replay", recorder.path, "-p", "%d,%d" % (held.pid, started.pid)) or {"processes": ()})["processes"]
            # A snapshot of before its move to the group has the other cgroup.
            return len(rows) == 2 and all((row["cgroup"] or "").endswith(os.path.basename(group.path)) for row in rows if row["pid"] == held.pid)
        wait_until(seen)
        started.communicate(b"%d\n" % held.pid)
        found = recorder.wait_signals(held.pid, 2)
        held.wait()
        result([e["signal"] for e in found] == [15, 9], "a daemon: SIGTERM, then SIGKILL", found)
        result({(e["sender"]["pid"], e["sender"]["name"], e["sender"]["comm"]) for e in found} == {(started.pid, "earlyoom", "earlyoom")},
               "its name", found)
        result(all(e["victim"]["cgroup"].endswith(os.path.basename(group.path)) for e in found), "the cgroup of the receiver", found)


def check_refused(directory):
    """Signals that are not noted, of one process after the other; the last one is noted."""
    with oom.Group("zmem-signals-oom", "32M") as group, Recorder(directory + "/refused") as recorder:
        own = hold(24, "import os; os.fork() or os.kill(os.getpid(), 9)")
        small = hold(4)
        small.kill()
        other = hold(24, "signal.signal(signal.SIGUSR1, lambda *_: None)")
        other.send_signal(signal.SIGUSR1)
        os.kill(other.pid, 0)
        victim = group.kill(oom.eater(directory, "zmem-eats"))
        other.kill()
        result(len(recorder.wait_signals(other.pid)) == 1, "a signal behind the others is noted, SIGUSR1 is not")
        wait_until(lambda: oom.events_of(recorder.path, {victim}))
        children = {e["victim"]["pid"] for e in recorder.signals() if e["sender"]["pid"] == e["victim"]["pid"]}
        result(not children, "no process sends one to itself", children)
        result(not recorder.signals(small.pid), "none to a small process")
        result(not recorder.signals(victim) and len(oom.events_of(recorder.path, {victim})) == 1, "an OOM kill is no signal")
        for process in (own, small, other):
            end(process)


def check_burst(directory):
    """More than there are turns for: the first ones are noted, the others counted, and a kill among them is recorded."""
    with oom.Group("zmem-signals-burst", "32M") as group, Recorder(directory + "/burst") as recorder:
        # Each child shares the memory of its parent, and is killed.
        burst = ("for i in range(%d):\n    pid = os.fork()\n    pid or signal.pause()\n    os.kill(pid, 9)\n    os.waitpid(pid, 0)\n" % BURST)
        sender = hold(20, "import os\n" + burst, start_new_session=True)
        victims = {group.kill(oom.eater(directory, "zmem-eats-too"))}

        def own():
            return [e for e in recorder.signals() if e["sender"]["pid"] == sender.pid]

        def told():
            """Without a further signal."""
            return sum(e["receivers_count"] for e in own())

        result(wait_until(lambda: told() == BURST), "each one is told", told())
        result(16 <= sum(e["victim"]["pid"] is not None for e in own()) < BURST, "a part of the burst is noted", len(own()))
        standing = [e for e in own() if e["receivers_count"]]
        result(sum(e["receivers_bytes"] for e in standing) > BURST * (16 << 20), "with their memory", standing)
        name = standing[0]["sender"]["name"]
        text = subprocess.run((PROGRAM, "incidents", recorder.path), stdout=subprocess.PIPE, check=False).stdout.decode()
        lines = [line for line in text.splitlines() if " %s sent SIGKILL to " % name in line]
        result(len(lines) == len(standing) <= 3, "in few lines", lines)
        late = hold(20)
        time.sleep(1)  # time itself: there is a turn again
        late.kill()
        result(wait_until(lambda: recorder.signals(late.pid)), "a signal behind the burst is noted")
        result(not sum(e["signals_missed"] for e in recorder.signals(late.pid)), "none is left to it", recorder.signals(late.pid))
        result(len(oom.events_of(recorder.path, victims)) == len(victims), "no OOM kill is lost")
        end(sender)
        end(late)


def check_unwatched(directory):
    with oom.Group("zmem-signals-off", "32M") as group, Recorder(directory + "/off", "--no-signals") as recorder:
        held = hold(24)
        held.kill()
        victim = group.kill(oom.eater(directory, "zmem-eats-off"))
        wait_until(lambda: oom.events_of(recorder.path, {victim}))
        result(not recorder.signals() and oom.events_of(recorder.path, {victim}), "--no-signals: OOM kills alone", recorder.signals())
        end(held)


with tempfile.TemporaryDirectory() as directory:
    run_checks((check_senders, check_daemon, check_refused, check_burst, check_unwatched), directory)
sys.exit(exit_code())
