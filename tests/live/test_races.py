#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What happens to a process between the moment the kernel side has read it and the one when its
/proc is opened: it ends, its number is used again, it is another program. A preloaded library makes
it happen just then. Then the processes that have no memory of their own."""

import contextlib
import json
import mmap
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import paths  # noqa: F401
from outcome import (MKMEM, O, PRELOAD, PROGRAM, exit_code, have, need, result, run_checks,
                     see_own_processes_only)

LIMIT = 60
TURNS = O + "/turns"
BPF = have("counters")


def snapshot(*args, env=None):
    done = subprocess.run((PROGRAM, "--json") + args, stdin=subprocess.DEVNULL, timeout=LIMIT,
                          capture_output=True, check=False, env=dict(os.environ, **(env or {})))
    if done.returncode:
        raise RuntimeError("exit code %d: %s" % (done.returncode, done.stderr))
    return json.loads(done.stdout)


@contextlib.contextmanager
def when_opened(pid, command, nth=1):
    """Yields the environment for it. Another process runs the command: the program and its children no longer have
    the capabilities to kill others or to choose pids."""
    with tempfile.TemporaryDirectory() as where:
        go, done = where + "/go", where + "/done"
        os.mkfifo(go)
        os.mkfifo(done)
        with subprocess.Popen(("sh", "-c", "read x <%s; %s; echo >%s" % (go, command, done))) as agent:
            try:
                yield {"LD_PRELOAD": PRELOAD, "AT_OPEN": str(pid), "AT_OPEN_NTH": str(nth),
                       "AT_OPEN_RUN": "unset LD_PRELOAD AT_OPEN; echo >%s; read x <%s" % (go, done)}
            finally:
                agent.kill()


def snapshot_when_opened(*args, pid, command, nth=1):
    with when_opened(pid, command, nth) as env:
        return snapshot(*args, env=env)


@contextlib.contextmanager
def victim(*command):
    with subprocess.Popen(command or ("sleep", "1000"), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as child:
        try:
            yield child
        finally:
            child.kill()
            child.stdin.close()


def row_of(document, pid):
    rows = [p for p in document["processes"] if p["pid"] == pid]
    return rows[0] if rows else {}


# ---- the kernel hides a process from BPF ----

def check_unseen():
    """A machine may hide processes from BPF itself: those are counted, too."""
    before = snapshot()["collection"]["not_seen"]
    with victim() as a, victim() as b:
        env = {"LD_PRELOAD": PRELOAD, "HIDE_PIDS": "%d,%d" % (a.pid, b.pid)}
        document = snapshot(env=env)
        found = document["collection"]
        result(found["not_seen"] == before + 2 and found["complete"] is False and
               (before > 3 or {a.pid, b.pid} < set(found["not_seen_pids"]) | {0}) and
               not row_of(document, a.pid) and not row_of(document, b.pid),
               "two processes that BPF does not show: counted, the snapshot is incomplete", found)
        done = subprocess.run((PROGRAM, "doctor"), stdin=subprocess.DEVNULL, timeout=LIMIT, text=True,
                              capture_output=True, check=False, env=dict(os.environ, **env))
        result("/proc shows %d that BPF does not see: pids " % (before + 2) in done.stdout, "doctor: a row says so", done.stdout)
        document = snapshot("--pss", "rollup", env=env)
        result(document["collection"]["not_seen"] == before + 2, "also with --pss rollup", document["collection"])
        document = snapshot("-p", str(os.getpid()), env=env)
        result(document["collection"]["not_seen"] == 0 and document["collection"]["complete"],
               "not where other pids were asked for", document["collection"])
        document = snapshot("--source", "proc", env=env)
        result(document["collection"]["not_seen"] == 0 and row_of(document, a.pid).get("rss_bytes", 0) > 0,
               "--source proc: shows it", document["collection"])
        done = subprocess.run((PROGRAM, "-p", str(a.pid)), stdin=subprocess.DEVNULL, timeout=LIMIT, text=True,
                              capture_output=True, check=False, env=dict(os.environ, **env))
        result(done.returncode == 3 and "does not show it to BPF" in done.stderr, "-p: its own message", done.stderr)
        done = subprocess.run((PROGRAM, "--json", "-p", str(a.pid)), stdin=subprocess.DEVNULL, timeout=LIMIT,
                              capture_output=True, check=False, env=dict(os.environ, **env))
        totals = json.loads(done.stdout)["totals"]
        result(totals["rss_bytes"] is None and totals["pss_bytes"] is None, "-p: its values are unknown, not 0", totals)


def listed(pids, *args):
    """Whether /proc was listed by a program that does not see these processes, and its values."""
    with tempfile.NamedTemporaryFile() as said:
        document = snapshot(*args, env={
            "LD_PRELOAD": PRELOAD, "HIDE_PIDS": pids, "AT_OPEN": ".", "AT_OPEN_NTH": "1",
            "AT_OPEN_RUN": "unset LD_PRELOAD AT_OPEN; echo listed >%s" % said.name})
        return bool(said.read()), document["collection"]


def check_unseen_parent():
    """A hidden process that others name as their parent is found without a list of /proc. In a pid namespace, where
    the machine always has more tasks, /proc is listed."""
    first = os.readlink("/proc/self/ns/pid") == "pid:[4026531836]"  # PROC_PID_INIT_INO
    before = snapshot()["collection"]["not_seen"]
    with contextlib.ExitStack() as stack:
        # A record has no room for their names, which threads of the program itself read.
        program = stack.enter_context(tempfile.TemporaryDirectory()) + "/" + 80 * "x"
        shutil.copy("/bin/sleep", program)
        for _ in range(10):
            stack.enter_context(victim(program, "1000"))
        parent = stack.enter_context(victim("sh", "-c", "sleep 1000 & echo; wait"))
        other = stack.enter_context(victim())
        parent.stdout.readline()
        time.sleep(0.03)  # what began in the tick of the reading counts as begun later
        for args in (("--pss", "none"), ("--readers", "3")):
            tries = []
            # Whenever a task begins meanwhile that does not read, /proc is listed.
            while len(tries) < 50 and (not tries or tries[-1][0] == first):
                tries.append(listed(str(parent.pid), *args))
            result(tries[-1][0] != first and all(found["not_seen"] == before + 1 for _, found in tries),
                   "a parent that BPF does not show: counted without a list of /proc, " + " ".join(args), tries)
        was_listed, found = listed("%d,%d" % (parent.pid, other.pid), "--pss", "none")
        result(was_listed and found["not_seen"] == before + 2,
               "beside a process that no option names: /proc is listed", found)
        with open("/proc/%d/task/%d/children" % (parent.pid, parent.pid), encoding="ascii") as children:
            os.kill(int(children.read()), signal.SIGKILL)


def check_no_unseen_under_churn():
    """Processes that begin and end meanwhile do not count."""
    before = snapshot()["collection"]["not_seen"]
    churn = "while :; do for i in 1 2 3 4 5 6 7 8; do /bin/true & done; wait; done"
    with subprocess.Popen(("bash", "-c", churn), start_new_session=True) as child:
        try:
            found = [snapshot("--pss", "none")["collection"]["not_seen"] for _ in range(40)]
            result(found == [before] * 40, "processes that begin and end are not missing", found)
        finally:
            os.killpg(child.pid, signal.SIGKILL)


# ---- the process ends ----

# An ended process is a zombie, because we do not wait for it.
KILL = "kill -KILL %d; while ! grep -q State:.Z /proc/%d/status; do :; done"


def check_exit():
    for args in (("--pss", "rollup"), ("--pss", "rollup", "-n", "1")) if BPF else ():
        with victim() as child:
            document = snapshot_when_opened(*args, "-p", str(child.pid), pid=child.pid,
                                            command=KILL % (child.pid, child.pid))
            p = row_of(document, child.pid)
            name = "ended before its /proc is opened, %s: " % " ".join(args)
            result(p.get("pss_status") == "gone" and p["pss_bytes"] is None and
                   p["uss_bytes"] is None and p["pss_source"] is None, name + "gone", p)
            result(p.get("rss_bytes", 0) > 0 and p["counters_source"] == "bpf",
                   name + "its counters are there", p)
            result(document["collection"]["gone"] == 1 and document["collection"]["complete"] and
                   document["totals"]["pss_bytes"] is None and
                   document["totals"]["pss_missing_processes"] == 1, name + "and it is counted",
                   (document["collection"], document["totals"]))
    with victim() as child:
        document = snapshot_when_opened("--source", "proc", pid=child.pid, nth=2,
                                        command=KILL % (child.pid, child.pid))
        p = row_of(document, child.pid)
        result(p.get("pss_status") == "gone" and p["rss_bytes"] > 0 and p["pss_bytes"] is None,
               "ended before its /proc is opened again: gone", p)
    with victim() as child:
        document = snapshot_when_opened("--source", "proc", pid=child.pid,
                                        command=KILL % (child.pid, child.pid))
        result(not row_of(document, child.pid), "ended once it was listed: it is none",
               row_of(document, child.pid))


# ---- its pid is reused ----

REUSE = """
sleep 1000 & victim=$!
until grep -q sleep /proc/$victim/comm; do :; done
cd "$(mktemp -d)" && mkfifo go done hold && exec 8<>hold || exit
(
	read x <go
	kill -KILL $victim
	while [ "$(cut -d" " -f3 /proc/$victim/stat 2>/dev/null)" = S ]; do :; done
	while [ -e /proc/$victim ]; do sleep 0.01; done
	echo $((victim - 1)) >/proc/sys/kernel/ns_last_pid
	"$MKMEM" anon <&8 >ready &
	[ $! = $victim ] && until grep -q DONE ready; do :; done && echo >done
) &
export AT_OPEN=$victim AT_OPEN_NTH=%s AT_OPEN_RUN='unset LD_PRELOAD AT_OPEN; echo >go; read x <done'
(LD_PRELOAD=$PRELOAD exec "$PROGRAM" --json %s -p $victim) &
wait $!
rm -rf "$PWD"
"""


def reuse(nth, args):
    """In its own pid namespace; the first process reaps the others."""
    done = subprocess.run(("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c",
                           "trap : CHLD; " + REUSE % (nth, args)),
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False,
                          env=dict(os.environ, PRELOAD=PRELOAD, PROGRAM=PROGRAM, MKMEM=MKMEM))
    try:
        return json.loads(done.stdout)["processes"][0]
    except (ValueError, IndexError) as error:
        return {"error": repr(error), "said": done.stderr}


def check_reuse():
    if not need("mount", "a pid used again"):
        return
    p = reuse(2, "--source proc")
    result(p.get("name") == "sleep" and p["pss_status"] == "gone" and p["pss_bytes"] is None and
           0 < p["rss_bytes"] < 8 << 20, "a pid used again, --source proc: gone", p)
    if not BPF:
        return
    p = reuse(1, "--pss rollup")
    result(p.get("name") == "sleep" and p["pss_status"] == "gone" and p["pss_bytes"] is None and
           0 < p["rss_bytes"] < 8 << 20, "a pid used again before its /proc is opened: gone", p)
    p = reuse(1, "-o +cmdline --pss none")
    # Its own is known only if the kernel side has read it before.
    result(p.get("name") == "sleep" and not (p.get("cmdline") or "").startswith(MKMEM),
           "a pid used again: no command line of the next", p)


# ---- exec of another program ----


def check_exec():
    for args in (("--pss", "rollup"), ("--pss", "rollup", "--verify", "0"), ()):
        with victim("bash", "-c", "read x; exec sleep 1000") as child:
            go = "echo >/proc/%d/fd/0; while grep -q bash /proc/%d/comm; do :; done" % (
                child.pid, child.pid)
            document = snapshot_when_opened(*args, "-p", str(child.pid), pid=child.pid, command=go)
            p = row_of(document, child.pid)
            name = "another program before its /proc is opened, %s: " % (" ".join(args) or "auto")
            result(p.get("pss_status") == "ok" and 0 < p["uss_bytes"] <= p["pss_bytes"] <=
                   p["rss_bytes"], name + "its values are of one moment", p)
            result(document["collection"]["cross_check"]["different"] == 0,
                   name + "no difference is called one", document["collection"])


# Each open of smaps_rollup sees the other program, each BPF walk sees the first one: both walks are
# alike, and the reading between them is not.


@contextlib.contextmanager
def turning():
    """Yields the process and the environment that switches its program."""
    with subprocess.Popen((TURNS, "L"), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        try:
            child.stdout.read(1)
            yield child, {"LD_PRELOAD": PRELOAD, "AT_OPEN": str(child.pid),
                          "TURNS_TO": str(child.stdin.fileno()),
                          "TURNS_FROM": str(child.stdout.fileno())}
        finally:
            child.kill()


def run_turning(*args):
    with turning() as (child, env):
        done = subprocess.run((PROGRAM,) + args + ("-p", str(child.pid)), timeout=LIMIT,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              env=dict(os.environ, **env),
                              pass_fds=(child.stdin.fileno(), child.stdout.fileno()))
        return done.returncode, json.loads(done.stdout or "null"), done.stderr.decode()


def check_exec_between():
    check = {"gone": 1}
    for _ in range(10):  # a busy machine may not let it exec before the reader's deadline
        if check["gone"]:
            code, document, said = run_turning("--json", "--verify", "all")
            check = document["collection"]["cross_check"]
    result(code == 0 and check["checked"] == check["moved"] == 1 and check["different"] == 0,
           "another program whenever smaps_rollup is read: it moved", (code, check, said))
    result(len(said.splitlines()) == 1 and "exec" in said and "PID" in said,
           "another program whenever smaps_rollup is read: it is said", said)
    result(document["processes"][0]["pss_bytes"] > 2 << 20,
           "another program whenever smaps_rollup is read: the kernel saw the large one",
           document["processes"])
    code, document, said = run_turning("compare", "--json")
    verdicts = {c["counter"]: c["verdict"] for c in document["cells"]}
    result(code == 0 and verdicts.get("rss") == verdicts.get("pss") == "moved" and
           "DIFFERENT" not in verdicts.values(),
           "another program whenever smaps_rollup is read, compared: it moved",
           (code, verdicts, said))


# ---- processes without memory of their own ----


def is_kthread(pid):
    try:
        with open("/proc/%s/stat" % pid, encoding="ascii", errors="replace") as f:
            return int(f.read().rsplit(")", 1)[1].split()[6]) & 0x200000
    except OSError:
        return False


def check_kthreads():
    pids = [n for n in os.listdir("/proc") if n.isdigit() and is_kthread(n)]
    if not pids:
        print("skip kernel threads: /proc shows none here")
        return
    for source in ("bpf", "proc") if BPF else ("proc",):
        document = snapshot("--source", source, "-p", ",".join(pids[:50] + ["2"]))
        rows = document["processes"]
        bad = [p for p in rows if p["pss_status"] != "kernel_thread" or
               any(v is not None for k, v in p.items() if k.endswith("_bytes"))]
        result(rows and not bad, "kernel threads, %s: no value, for that reason" % source, bad[:1])
        document = snapshot("--source", source)
        result(document["collection"]["kernel_threads"] >= len(rows) and
               not {p["pid"] for p in document["processes"]} & {int(n) for n in pids},
               "kernel threads, %s: counted and not shown" % source, document["collection"])


def check_vfork():
    """While its child runs, the parent waits in vfork() and both share one address space."""
    code = "import os, time; os.posix_spawn is None\nimport ctypes\n" \
           "libc = ctypes.CDLL(None)\nprint(os.getpid(), flush=True)\n" \
           "if libc.vfork() == 0:\n    time.sleep(1000)\n"  # a process: the child
    with victim(sys.executable, "-c", code) as child:
        parent = int(child.stdout.readline())
        children = []
        while not children:
            with open("/proc/%d/task/%d/children" % (parent, parent), encoding="ascii") as f:
                children = [int(n) for n in f.read().split()]
        try:
            for args in ((), ("--source", "proc"), ("--pss", "rollup")):
                document = snapshot(*args, "-p", "%d,%d" % (parent, children[0]))
                a, b = row_of(document, parent), row_of(document, children[0])
                result(a.get("mm_id") and a["mm_id"] == b.get("mm_id") and
                       a["mm_owner"] and not b["mm_owner"] and
                       a["pss_status"] == b["pss_status"] == "ok" and
                       document["totals"]["rss_bytes"] == a["rss_bytes"] and
                       document["totals"]["pss_bytes"] == a["pss_bytes"],
                       "vfork: the parent carries both (%s)" % (" ".join(args) or "auto"), (a, b))
        finally:
            os.kill(children[0], signal.SIGKILL)


def major_faults():
    with open("/proc/self/stat", encoding="ascii") as file:
        return int(file.read().rsplit(")", 1)[1].split()[9])


def check_faults_of_threads():
    """Threads, each with a major fault, end while they are read, those first that are read last."""
    count, size, known, wrong = 1500, mmap.PAGESIZE, 0, []
    ready, ends = threading.Semaphore(0), [threading.Event() for _ in range(count)]
    # Not below TMPDIR, which may be in memory.
    with tempfile.TemporaryFile(dir=O if os.access(O, os.W_OK) else "/var/tmp") as file:
        file.write(bytes(count * size))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        area = mmap.mmap(file.fileno(), count * size)
    area.madvise(mmap.MADV_RANDOM)

    def fault(number):
        ready.release(area[number * size] + 1)
        ends[number].wait()

    def end_all():
        for end in reversed(ends):
            end.set()
            time.sleep(0.0003)

    threads = [threading.Thread(target=fault, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for _ in threads:
        ready.acquire()
    threads.append(threading.Thread(target=end_all))
    threads[-1].start()
    while threads[-1].is_alive():
        before = major_faults()
        got = row_of(snapshot("-p", str(os.getpid()), "--pss", "none"), os.getpid())["majflt"]
        known += got is not None
        if got is not None and not before <= got <= major_faults():
            wrong.append((before, got))
    for thread in threads:
        thread.join()
    result(known and not wrong, "major faults of threads that end count once", (known, wrong[:5]))


def main():
    # A preloaded library causes the races, and a sanitizer requires its own library first.
    plain = have("plain")
    see_own_processes_only([check_kthreads] + ([check_unseen_parent] if plain and BPF else []))
    run_checks((check_vfork, check_faults_of_threads))
    if need("plain", "races between reads"):
        run_checks((check_exit, check_reuse))
    if need("counters", "races with BPF"):
        run_checks((check_no_unseen_under_churn, *((check_exec, check_exec_between, check_unseen) if plain else ())))
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
