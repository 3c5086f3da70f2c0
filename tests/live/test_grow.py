#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""grow beside /proc: a program with sites that allocate known amounts (support/growlab.c), processes
that end, execute, fork, are stopped, and many threads and stacks."""
# needs: bpf ptrace users python-jsonschema

import os
import re
import signal
import subprocess
import sys
import tempfile

import paths  # noqa: F401
from growing import COUNTERS, KIB, LIMIT, MIB, Grow, Lab, functions, program, rollup, run_live, status
from outcome import O, PROGRAM, cgroup_removed, need, result, wait_until, write
from terminal import Pty

LAB = O + "/growlab"
# Sizes of tables and of the page that ends a stack belong to a site, too.
SLACK_KIB = 128


def lab(*sites):
    return Lab(LAB, *sites)


def site_sums(document, counter):
    """Net KiB of each site, over all stacks that go through it."""
    sums = {}
    for stack in document["stacks"]:
        for function in functions(stack):
            if function and (function.startswith("site_") or function == "start_threads"):
                key = function.replace("site_", "").replace("start_threads", "thread_stack")
                sums[key] = sums.get(key, 0) + stack["net"][counter + "_bytes"] // KIB
                break
    return sums


def expect_exact(name, document, before, after):
    change = {k: after[k] - before[k] for k in COUNTERS}
    stacks = {k: document["accounted"]["stacks"][k + "_bytes"] // KIB for k in COUNTERS}
    counters = {k: document["accounted"]["change"][k + "_bytes"] // KIB for k in COUNTERS}
    result(counters == change, name + ": the change is that of /proc in kB", (counters, change))
    result(stacks == change, name + ": the stacks sum to it in kB", (stacks, change))
    history, accounted = document["history"], document["accounted"]["stacks"]
    times = [point["time_ms"] for point in history]
    result(not any(history[0][key] for key in accounted) and times == sorted(times) and
           {key: history[-1][key] for key in accounted} == accounted,
           name + ": the history begins with nothing and ends with all", (history[0], history[-1]))


def check_sites():
    listed = subprocess.run((LAB, "list"), capture_output=True, text=True, check=True).stdout
    # The ring fills while other programs have all CPUs.
    for _ in range(5):
        with lab() as one:
            document, before, after = one.measured("--sample", "1")
        if not document["accounted"]["lost_events"]:
            break
    expect_exact("sites", document, before, after)
    # The page of a change without room is with the next stack, which may be of another site.
    astray = 4 * document["accounted"]["lost_events"]
    for line in listed.splitlines():
        site, *sizes = line.split()
        for counter, size in zip(("anon", "file", "shmem"), map(int, sizes)):
            # What a file gives back, and what a program maps, is not the point of a site.
            if counter == "file":
                continue
            got = site_sums(document, counter).get(site, 0)
            result(abs(got - size) <= SLACK_KIB + astray, "site %s: %s" % (site, counter), (got, size))
    for stack in document["stacks"]:
        if "site_mmap" in functions(stack) and stack["net_bytes"] > 1 << 20:
            result(functions(stack)[:3] == ["site_mmap", "run_site", "main"],
                   "sites: the callers are right without frame pointers", functions(stack))
            result(0 <= 4 * MIB - stack["resident_bytes"] <= astray * KIB, "sites: its pages are still there",
                   stack["resident_bytes"])


def check_attribution():
    """Sampling names the function that leaks beside one that gives back what it takes (site_handle of growlab)."""
    requests, taken = 3000, 512 * KIB
    # One page in 16 is sampled, at random, and stands for 16: five standard deviations of the pages that are kept.
    bound = 5 * (requests * 15) ** 0.5 * 4096
    for name, *args in (("at the defaults",), ("one in 16", "--sample", "16")):
        with lab("handle") as one:
            document, before, after = one.measured(*args)
        expect_exact("a leak, " + name, document, before, after)
        for function, key, want in (("remember", "net_bytes", requests * 4096), ("handle", "net_bytes", 0),
                                    ("handle", "gross_bytes", requests * taken)):
            got = sum(s[key] for s in document["stacks"] if function in functions(s))
            result(abs(got - want) <= bound, "a leak, %s: %s of %s()" % (name, key, function), (got, want, bound))


def check_no_room():
    """The changes of many threads while the program that counts does not read them: none is lost from the sums."""
    with lab("threads") as one:
        grow = one.count("--sample", "1")
        before = status(one.pid)
        grow.child.send_signal(signal.SIGSTOP)
        one.go()
        after = status(one.pid)
        grow.child.send_signal(signal.SIGCONT)
        document = grow.report()
    expect_exact("without room", document, before, after)
    result(document["accounted"]["lost_events"] > 0, "without room: it is said", document["accounted"])


def resident(document, function):
    return sum(s["resident_bytes"] for s in document["stacks"] if function in functions(s))


def check_still():
    """In another thread than the first one: pages that are touched, and pages of a file that are copied."""
    with lab("in_thread") as one:
        document = one.grown()
    for site in ("site_mmap", "site_cow"):
        result(abs(resident(document, site) - 4 * MIB) <= SLACK_KIB * KIB, "still there, of a thread: " + site,
               resident(document, site))


def check_kernel_adds():
    """Pages that the kernel adds without a page fault, and pages that move."""
    for site in ("populate", "lock", "moved"):
        with lab(site) as one:
            document = one.grown()
        got = resident(document, "site_" + site)
        result(abs(got - 4 * MIB) <= SLACK_KIB * KIB, "still there: " + site, got)


def check_copied():
    """A process that writes to what its child has, too: its resident memory stays, its own memory grows."""
    def private(pid):
        return sum(size // KIB for name, size in rollup(pid).items() if name.startswith("Private_"))

    script = ("import ctypes, os, signal, sys\n"
              "inherited = bytearray(b'x') * (32 << 20)\n"
              "print('READY', os.getpid(), flush=True)\n"
              "if os.fork() == 0:\n"
              "    ctypes.CDLL(None).prctl(1, signal.SIGKILL)\n"
              "    signal.pause()\n"
              "sys.stdin.readline()\n"
              "inherited[0::4096] = bytes(len(inherited) // 4096)\n"
              "print('DONE', flush=True)\n"
              "sys.stdin.read()\n")
    with Lab(sys.executable, "-c", script) as one:
        grow = one.count("--sample", "1")
        before = private(one.pid)
        one.go()
        grown = private(one.pid) - before
        document = grow.report()
    copied = sum(s["copied_bytes"] for s in document["stacks"]) // KIB
    net = document["accounted"]["counter_change_bytes"] // KIB
    result(abs(copied + net - grown) <= SLACK_KIB and copied >= 32 * 1024, "copied: what its private memory grew by",
           (copied, net, grown))


def check_absent_pages():
    """Callers behind a part of the stack that was never used."""
    with lab("callers") as one:
        document = one.grown()
    stack = functions(max(document["stacks"], key=lambda s: s["gross_bytes"]))
    result(stack[:2] == ["site_mmap", "site_deep"], "callers behind absent pages of the stack", stack)


def check_end():
    """The report is of the moment before the end: what the exit frees is not counted."""
    with lab("mmap", "shmem") as one:
        document, before, after = one.measured("--sample", "1", kill=True)
    change = {k: after[k] - before[k] for k in COUNTERS}
    stacks = {k: document["accounted"]["stacks"][k + "_bytes"] // KIB for k in COUNTERS}
    result(stacks["anon"] == change["anon"] and stacks["shmem"] == change["shmem"],
           "a killed process: the report is of the moment before", (stacks, change))
    result(document["target"]["processes"][0]["ended"] is True, "a killed process: it is said",
           document["target"])
    result(all(s["resident_bytes"] is None for s in document["stacks"]),
           "a killed process: what is still there is not known")


def check_command():
    """A command is counted from its first instruction, and through what it executes."""
    # One that ends within some 20 ms may be gone before its mappings are read: then it has no user stacks.
    grow = Grow("--sample", "1", "--", "sh", "-c", 'exec "$0" fault 60 >/dev/null', LAB)
    out = grow.report(end=False)
    sums = site_sums(out, "anon")
    named = [f for s in out["stacks"] for f in functions(s) if f == "fault"]
    result(named, "a command: its function is named", [functions(s) for s in out["stacks"]][:5])
    result(not sums, "a command: no other site is", sums)
    accounted = out["accounted"]
    result(accounted["stacks_bytes"] == accounted["counter_change_bytes"],
           "a command: all is accounted for", accounted)
    gross = sum(s["gross_bytes"] for s in out["stacks"] if "fault" in functions(s))
    result(gross >= 20 << 20, "a command: all that it added and gave back", gross)
    bad = subprocess.run((PROGRAM, "grow", "--", "/nonexistent"), capture_output=True, text=True,
                         check=False, timeout=LIMIT)
    result(bad.returncode == 127 and "No such file" in bad.stderr, "a command that does not exist",
           (bad.returncode, bad.stderr))
    for name, words, code in (("0", ("true",), 0), ("3", ("sh", "-c", "exit 3"), 3), ("a signal", ("sh", "-c", "kill -9 $$"), 137),
                              ("cannot be run", ("/tmp",), 126),
                              ("the report cannot be written", ("--output", "/nonexistent/file", "--", "true"), 125)):
        run = subprocess.run((PROGRAM, "grow", "-q", *(() if "--" in words else ("--",)), *words), stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, check=False, timeout=LIMIT)
        result(run.returncode == code, "exit code of a command: " + name, run)
    run = subprocess.run((PROGRAM, "grow", "-q", "-i", "0.2", "-c", "1", "--", "sleep", "20"), stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True, check=False, timeout=LIMIT)
    result(run.returncode == 0, "exit code of a command that grow ended", run)
    # It has the rights, the signals and the descriptors that it has without grow.
    show = ("sh", "-c", "grep -E 'NoNewPrivs|Cap|Sig[BIC]' /proc/self/status; ls /proc/self/fd >&2; echo end")
    alone, counted = (subprocess.run(before + show, capture_output=True, text=True, check=False, timeout=LIMIT,
                                     stdin=subprocess.DEVNULL)
                      for before in ((), (PROGRAM, "grow", "-q", "-F", "folded", "--output", "/dev/null", "--")))
    result(counted.stdout == alone.stdout and counted.stderr.split() == alone.stderr.split(),
           "a command has the rights that it has without grow", (alone, counted))
    # It becomes another user, whom this program may not end.
    done = subprocess.run((PROGRAM, "grow", "-c", "1", "-F", "folded", "--output", "/dev/null", "--", "setpriv",
                           "--reuid", "65534", "--clear-groups", "sh", "-c", "echo $$; exec >/dev/null 2>&1 sleep 20"),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=LIMIT)
    result(done.returncode == 0 and "runs on" in done.stderr, "a command of another user runs on", done)
    os.kill(int(done.stdout), signal.SIGKILL)


def check_cgroup():
    """The processes of a cgroup of its own, and no other."""
    if not need("cgroups", "a cgroup"):
        return
    base = "/sys/fs/cgroup/memory" if os.path.isdir("/sys/fs/cgroup/memory") else "/sys/fs/cgroup"
    group = "zmem-grow-%d" % os.getpid()
    os.mkdir(base + "/" + group)
    try:
        with lab("mmap") as one, lab("mmap"):
            write("%s/%s/cgroup.procs" % (base, group), "%d" % one.pid)
            grow = Grow("--sample", "1", "--cgroup", "*" + group)
            grow.wait_armed(one.pid)
            one.go()
            document = grow.report()
            targets = [p["pid"] for p in document["target"]["processes"]]
            result(targets == [one.pid], "a cgroup: its process alone", targets)
            result(site_sums(document, "anon").get("mmap") == 4096, "a cgroup: what its process added",
                   site_sums(document, "anon"))
    finally:
        wait_until(lambda: cgroup_removed(base + "/" + group))


def check_follow():
    """Children, which have a copy that is not their growth."""
    script = ("import os, time\n"
              "b = bytearray(b'x') * (32 << 20)\n"
              "print('READY', os.getpid(), flush=True)\n"
              "input()\n"
              "if os.fork() == 0:\n"
              "    c = bytearray(b'y') * (16 << 20)\n"
              "    os._exit(0)\n"
              "os.wait()\n"
              "print('DONE', flush=True)\n"
              "__import__('sys').stdin.read()\n")
    for follow in (False, True):
        with Lab(sys.executable, "-c", script) as one:
            document = one.grown(*(["--follow"] if follow else []))
        gross = sum(s["gross_bytes"] for s in document["stacks"]) >> 20
        count = len(document["target"]["processes"])
        if follow:
            result(count == 2 and 16 <= gross < 24, "--follow: the child, too", (count, gross))
            child = [s["resident_bytes"] for s in document["stacks"] if s["gross_bytes"] >= 4 << 20]
            result(child and not any(child), "--follow: the child has ended, and holds nothing", child)
        else:
            result(count == 1 and gross < 4, "without --follow the process alone", (count, gross))


def check_short():
    """Programs that live for half a millisecond: of some runs all code is known."""
    script = "for i in 1 2 3 4 5; do /bin/true; done"
    for _ in range(40):
        document = Grow("--sample", "1", "--follow", "--", "/bin/sh", "-c", script).report(end=False)
        frames = [f for s in document["stacks"] for f in s["frames"]]
        unknown = [f for f in frames if f["function"] is None and f["module"] is None]
        processes = len(document["target"]["processes"])
        if processes == 6 and not unknown:
            break
    result(processes == 6 and not unknown, "short-lived programs: their mappings are read in time",
           (processes, unknown[:4]))


def check_frame_pointers():
    """A program with frame pointers, by the kernel's walk."""
    source = os.path.join(os.path.dirname(__file__), "../support/growlab.c")
    with tempfile.TemporaryDirectory() as directory:
        program = directory + "/growlab-fp"
        subprocess.run(("gcc", "-D_GNU_SOURCE", "-O2", "-fno-omit-frame-pointer",
                        "-mno-omit-leaf-frame-pointer", "-o", program, source, "-lpthread"),
                       check=True)
        with Lab(program, "mmap", "shmem", "in_thread") as one:
            document, before, after = one.measured("--stack", "fp", "--sample", "1")
    expect_exact("frame pointers", document, before, after)
    stacks = [functions(s)[:3] for s in document["stacks"] if s["net_bytes"] >= 4 << 20]
    result(["site_mmap", "run_site", "main"] in stacks, "frame pointers: the callers", stacks)
    result(abs(resident(document, "site_mmap") - 8 * MIB) <= SLACK_KIB * KIB, "frame pointers: what is still there",
           resident(document, "site_mmap"))


def check_static():
    """The static program has libdw in it: it unwinds as the shared one does."""
    with program(O + "/zmem-bpf-static"), lab("mmap", "shmem", "in_thread") as one:
        document, before, after = one.measured("--sample", "1")
    expect_exact("the static program", document, before, after)
    stacks = [functions(stack)[:3] for stack in document["stacks"] if stack["net_bytes"] > 1 << 20]
    result(["site_mmap", "run_site", "main"] in stacks, "the static program: callers without frame pointers", stacks)


def check_stopped():
    """A stopped process is counted from outside."""
    with lab("mmap") as one:
        os.kill(one.pid, signal.SIGSTOP)
        document = one.count().report()
        os.kill(one.pid, signal.SIGCONT)
    result(document["accounted"]["counter_change_bytes"] == 0 and not document["stacks"],
           "a stopped process does not grow", document["accounted"])


def check_threads():
    """A thousand threads that touch memory, some of which are behind the end of their leader."""
    script = ("import threading, mmap\n"
              "print('READY', flush=True)\n"
              "input()\n"
              "kept = []\n"
              "def run():\n"
              "    kept.append(bytearray(b'x') * (1 << 16))\n"
              "threads = [threading.Thread(target=run) for _ in range(1000)]\n"
              "[t.start() for t in threads]\n"
              "[t.join() for t in threads]\n"
              "print('DONE', flush=True)\n"
              "__import__('sys').stdin.read()\n")
    with Lab(sys.executable, "-c", script) as one:
        document, before, after = one.measured()
    expect_exact("1,000 threads", document, before, after)


def shown_lines(data):
    """The lines of a terminal at the end: a carriage return writes over what is there."""
    lines = []
    for text in data.decode().replace("\r\n", "\n").split("\n"):
        line = ""
        for part in text.split("\r"):
            line = part + line[len(part):]
        lines.append(line.rstrip())
    return lines


def check_progress():
    """A line that counts on a terminal, and is gone when the table comes."""
    line = re.compile(rb"\r\d+\.\d s( of \d+\.\d s)?: \+[0-9.]+ MiB, \d+ stacks? \(Ctrl-C shows them\)")
    with Lab(sys.executable, "-c", "import select, sys\nkept = []\nprint('READY', flush=True)\n"
             "while not select.select([sys.stdin], [], [], 0.01)[0]:\n    kept.append(bytearray(1 << 20))\n") as one:
        for columns in (100, 30):
            terminal = Pty([PROGRAM, "grow", str(one.pid)], columns=columns)
            seen = terminal.read_until(b"MiB,")
            terminal.read(0.5)
            terminal.type(b"\x03")
            status = terminal.wait()
            counts, lines = line.findall(terminal.data), shown_lines(terminal.data)
            result(seen and status == 0 and (len(counts) > 1 or columns < 60),
                   "progress, %d columns: it counts" % columns, (status, terminal.data))
            result(not any("stack" in shown or " s:" in shown for shown in lines) and
                   "^C" not in "".join(lines) and "CODE" in lines[0],
                   "progress, %d columns: it is erased" % columns, lines)
            terminal.close()
        for name, words in (("-q", '"$0" grow -q "$1" -c 1'), ("a pipe", '"$0" grow "$1" -c 1 | cat'),
                            ("stderr is no terminal", '"$0" grow "$1" -c 1 2>/dev/null')):
            terminal = Pty(["/bin/sh", "-c", words, PROGRAM, str(one.pid)])
            terminal.wait()
            result(b"Ctrl-C" not in terminal.data and b"GROWTH" in terminal.data, "progress: none with " + name,
                   terminal.data)
            terminal.close()


def check_refusals():
    ended = subprocess.Popen(("true",))
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    for name, code, text, *args in (
            ("stacks of no process", 2, "needs a PID", "-F", "folded"),
            ("an order by text", 2, "--sort code: it is no number", "1", "-s", "code"),
            ("a pid that does not exist", 3, "no such process", "4000000"),
            ("a process that has ended", 3, "it has ended, and has no memory any more", str(ended.pid)),
            ("a name that does not exist", 3, "no process matches", "--name", "no-such-name"),
            ("two numbers of a stack", 2, "it has one of growth and added", "1", "-F", "folded", "-o", "growth,added"),
            ("blocks without --malloc", 2, "with --malloc also held", "1", "-F", "folded", "-o", "held"),
            ("without BPF", 125, "CAP_", "-q", "--", "true"),
    ):
        command = (PROGRAM, "grow") + tuple(args)
        if name == "without BPF":
            command = (O + "/drop", "65534", "") + command
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
        result(done.returncode == code and text in done.stderr, "refused: " + name,
               (done.returncode, done.stderr))


if __name__ == "__main__":
    sys.exit(run_live(check_sites, check_attribution, check_no_room, check_still,
                      check_kernel_adds, check_copied, check_absent_pages, check_end,
                      check_command, check_cgroup, check_follow, check_short, check_frame_pointers,
                      check_static, check_stopped, check_threads, check_progress, check_refusals))
