#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A continuous command uses few resources: it allocates no memory per tick, opens no more files, locks
its memory and has a low priority; a tick without memory does not end it."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import paths  # noqa: F401
from outcome import O, PRELOAD, PROGRAM, exit_code, have, read, result, see_own_processes_only, wait_until, write

LIMIT = 60
FIRST, LAST = 20, 40  # ticks: by then all is there that is kept
TRIES = 6  # others may start programs just then
PROCESSES = 200
SANITIZED = "zmem-bpf-san" in os.path.basename(PROGRAM)


class Fleet:
    """Idle processes."""

    def __enter__(self):
        self.child = subprocess.Popen((O + "/fleet", str(PROCESSES), "64"), stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE)
        self.child.stdout.readline()
        with open("/proc/%d/task/%d/children" % (self.child.pid, self.child.pid),
                  encoding="ascii") as f:
            self.pids = ",".join(f.read().split())
        return self

    def __exit__(self, *args):
        self.child.stdin.close()
        self.child.stdout.close()
        self.child.wait()


def allocations(args):
    """The number of allocations between the two ticks."""
    with tempfile.NamedTemporaryFile() as counts:
        env = dict(os.environ, LD_PRELOAD=PRELOAD, FAIL_COUNT=counts.name)
        done = subprocess.run((PROGRAM, "watch", "-i", "0.1", "-c", str(LAST + 2)) + args, env=env,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=LIMIT,
                              check=False)
        numbers = [int(line) for line in counts.read().split()]
    if done.returncode or len(numbers) < LAST + 2:
        return "exit code %d, %d ticks: %s" % (done.returncode, len(numbers) - 1, done.stderr)
    return numbers[LAST] - numbers[FIRST]


def check_allocations(pids):
    # From /proc the text of each process may be read anew.
    most = 0 if have("counters") else 2 * PROCESSES * (LAST - FIRST)
    for words in ("", "-F ndjson --changed", "--grow -o +cgroup,unit", "-g name -s rss_change",
                  "-g unit -F ndjson"):
        seen = []
        while len(seen) < TRIES and not any(count in range(most + 1) for count in seen):
            seen.append(allocations(("-p", pids) + tuple(words.split())))
        result(any(count in range(most + 1) for count in seen), "watch %s: allocations between tick %d and %d: %s" %
               (words, FIRST, LAST, most or "none"), seen)


class Watch:
    """A watch in the background."""

    def __init__(self, *args, **more):
        self.child = subprocess.Popen((PROGRAM, "watch", "-i", "0.1", "-F", "ndjson") + args,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def ticks(self, count):
        """Waits for this number of ticks."""
        while count:
            line = self.child.stdout.readline()
            if not line:
                raise EOFError(self.child.stderr.read())
            count -= b'{"type":"snapshot"' in line

    def proc(self, name):
        """A file in its /proc directory."""
        return read("/proc/%d/%s" % (self.child.pid, name))

    def status(self, key):
        """A number in its status."""
        return next(int(line.split()[1]) for line in self.proc("status").splitlines()
                    if line.startswith(key + ":"))

    def files(self):
        """The number of its open files."""
        return len(os.listdir("/proc/%d/fd" % self.child.pid))

    def end(self):
        """Ends it and returns its stderr."""
        self.child.send_signal(signal.SIGTERM)
        self.child.stdout.read()
        said = self.child.stderr.read()
        self.child.wait(LIMIT)
        self.child.stdout.close()
        self.child.stderr.close()
        return said.decode()


def check_holdings(pids):
    watch = Watch("-p", pids)
    watch.ticks(20)
    watch.child.send_signal(signal.SIGSTOP)  # between two moments, no file is open for a moment
    wait_until(lambda: watch.proc("stat").rsplit(")", 1)[1].split()[0] == "T")
    first = watch.files()
    watch.child.send_signal(signal.SIGCONT)
    seen = set()
    # On a busy machine it may be within a tick at each of ten looks.
    for i in range(50):
        if i >= 10 and min(seen) <= first:
            break
        watch.ticks(3)
        time.sleep(0.05)
        seen.add(watch.files())
    result(min(seen) <= first and max(seen) <= first + 3, "watch: no more files than before",
           (first, seen))
    locked = watch.status("VmLck")
    nice = int(watch.proc("stat").rsplit(")", 1)[1].split()[16])
    watch.end()
    if can_lock():
        result(locked > 0, "watch: its memory is locked", locked)
    else:
        result(locked == 0, "watch: its memory is not locked without the right to", locked)
    result(nice == 5, "watch: a low priority", nice)
    watch = Watch("-p", pids, "--no-lock", "--nice", "0")
    watch.ticks(1)
    result(watch.status("VmLck") == 0 and watch.proc("stat").rsplit(")", 1)[1].split()[16] == "0",
           "watch --no-lock --nice 0: neither")
    watch.end()
    watch = Watch("-p", pids, preexec_fn=lambda: os.nice(10))
    watch.ticks(1)
    result(watch.proc("stat").rsplit(")", 1)[1].split()[16] == "10", "watch: a lower priority is kept")
    watch.end()


def can_lock():
    """True if we have CAP_IPC_LOCK, of the machine; sanitizers disable mlockall()."""
    with open("/proc/self/uid_map", encoding="ascii") as f:
        if SANITIZED or f.read().split() != ["0", "0", "4294967295"]:
            return False
    with open("/proc/self/status", encoding="ascii") as f:
        mask = next(int(line.split()[1], 16) for line in f if line.startswith("CapEff:"))
    return mask >> 14 & 1


def check_without_lock(pids):
    """A limit of locked memory does not limit memory."""
    run = subprocess.run(("setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock", "prlimit",
                          "--memlock=65536:65536", PROGRAM, "watch", "-v", "-c", "3", "-i", "0.1",
                          "-p", pids), capture_output=True, timeout=LIMIT, check=False)
    result(run.returncode == 0 and b"memory is not locked: CAP_IPC_LOCK is missing" in run.stderr,
           "watch without CAP_IPC_LOCK: not locked, and it says so with -v", run.stderr[-500:])


def check_failures(pids):
    """A tick that fails gives a message and the next one is complete. A failed first tick ends watch."""
    for words in ((), ("-F", "ndjson")):
        env = dict(os.environ, LD_PRELOAD=PRELOAD, FAIL_TICK="1")
        first = subprocess.run((PROGRAM, "watch", "-c", "5", "-i", "0.1", "-p", pids) + words,
                               env=env, capture_output=True, timeout=LIMIT, check=False)
        result(first.returncode == 1 and first.stderr.startswith(b"zmem-bpf: "),
               "watch %s without memory: exit code 1 and why" % " ".join(words), first.stderr)


def check_one_failure(pids):
    """The second tick allocates memory for deltas; a failure gives one line."""
    lines = 1 if have("counters") else 2  # the first one says where counters come from
    env = dict(os.environ, LD_PRELOAD=PRELOAD, FAIL_TICK="2")
    run = subprocess.run((PROGRAM, "watch", "-c", "5", "-i", "0.1", "-F", "ndjson", "-p", pids),
                         env=env, capture_output=True, timeout=LIMIT, check=False)
    ticks = run.stdout.count(b'{"type":"snapshot"')
    result(run.returncode == 0 and ticks >= 4 and run.stderr.count(b"\n") == lines and
           run.stderr.startswith(b"zmem-bpf: "),
           "watch: a tick without memory does not end it, and says so", (ticks, run))


def cmdline(pid):
    with open("/proc/%d/cmdline" % pid, "rb") as file:
        return file.read()


def check_identity():
    """After exec a process has its new name from the next tick on, also from script to script."""
    with tempfile.TemporaryDirectory() as where:
        paths = [where + "/first_script.py", where + "/second_script.py"]
        with open(paths[0], "w", encoding="ascii") as f:
            f.write("import os, sys\nsys.stdin.readline()\n"
                    "os.execv(sys.executable, [sys.executable, '-S', sys.argv[1]])\n")
        write(paths[1], "import sys\nsys.stdin.readline()\n")
        child = subprocess.Popen(("/usr/bin/python3", "-S", paths[0], paths[1]),
                                 stdin=subprocess.PIPE)
        watch = Watch("-p", str(child.pid))
        watch.ticks(10)
        child.stdin.write(b"\n")
        child.stdin.flush()
        wait_until(lambda: b"second_script.py" in cmdline(child.pid))
        now = time.time() * 1000
        names = []
        while len(names) < 2:  # a tick that has its time and not the names yet, and the next one
            row = json.loads(watch.child.stdout.readline())
            if row["type"] == "process" and row["timestamp_ms"] > now:
                names.append(row["name"])
        watch.end()
        child.stdin.close()
        child.wait()
        result(names[1] == "second_script.py", "watch: a script that execs another is called by its name", names)


# Names that are too long for the cache are read in each tick.
see_own_processes_only()
with Fleet() as fleet:
    if not SANITIZED:
        check_allocations(fleet.pids)
        check_failures(fleet.pids)
        check_one_failure(fleet.pids)
    check_holdings(fleet.pids)
    check_without_lock(fleet.pids)
check_identity()
sys.exit(exit_code())
