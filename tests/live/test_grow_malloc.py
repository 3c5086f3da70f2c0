#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""grow --malloc beside a program that knows what it allocates and keeps (support/malloclab.c), with the allocators
that are installed."""
# needs: bpf ptrace

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import paths  # noqa: F401
from growing import LIMIT, Grow, Lab, code_is_clean, functions, libraries, named, run_live
from outcome import O, PROGRAM, result, wait_until

LAB = O + "/malloclab"


def known():
    """Of each site: allocated and kept bytes."""
    listed = subprocess.run((LAB, "list"), capture_output=True, text=True, check=True).stdout
    return {name: (int(allocated), int(kept)) for name, allocated, kept in map(str.split, listed.splitlines())}


def place(site):
    return {"threads": "thread_keeps"}.get(site, "site_" + site)


def sums(document, function):
    """Allocated and held bytes of all stacks with this function, and the error of the latter."""
    stacks = [s for s in document["stacks"] if function in functions(s)]
    return (sum(s["allocated_bytes"] for s in stacks), sum(s["held_bytes"] for s in stacks),
            sum(s["error_bytes"] ** 2 for s in stacks) ** 0.5)


def bounds(document, function):
    """Between which a function holds, if all of it has one stack; of one that has no sample, 0 to what may be missed."""
    stacks = [s for s in document["stacks"] if function in functions(s) and s["held_bytes"]]
    if not stacks:
        return 0, 4 * max(document["malloc"]["sample_bytes"], 16384)
    return (sum(s["held_least_bytes"] for s in stacks), sum(s["held_most_bytes"] for s in stacks))


def expect_exact(name, document):
    # A full ring samples, and says so.
    bound = 2 * sum(s["error_bytes"] for s in document["stacks"])
    for site, (allocated, kept) in known().items():
        got = sums(document, place(site))
        result(abs(got[0] - allocated) <= bound and abs(got[1] - kept) <= bound,
               "%s: %s to the byte" % (name, site), (got, allocated, kept))


def held_by(one, *args):
    """The document of its run, which begins when there are probes."""
    sample = () if "--sample" in args else ("--sample", "1")
    grow = Grow(str(one.pid), "--malloc=slow", *sample, *args)
    wait_until(lambda: not code_is_clean(one.pid))
    grow.wait_armed(one.pid)
    one.go()
    return grow.report()


def counted(program, *args, env=None):
    # While others have all CPUs, the ring fills, and blocks are sampled.
    for _ in range(5):
        with Lab(*program, *known(), env=env) as one:
            document = held_by(one, *args)
        if args or not any(s["error_bytes"] for s in document["stacks"]):
            break
    return document


def check_exact():
    expect_exact("each block", counted((LAB,)))
    expect_exact("each block, by frame pointers of the program's callers", counted((O + "/malloclab-static",)))


def check_allocators():
    """Other allocators: in front of the C library, in the program, and another C library."""
    for name, path in libraries():
        expect_exact(name, counted((LAB,), env=dict(os.environ, LD_PRELOAD=path)))
    if not shutil.which("musl-gcc"):
        return
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        for name, flags in ("musl", ()), ("musl, static", ("-static",)):
            program = directory + "/lab"
            source = os.path.join(os.path.dirname(__file__), "../support/malloclab.c")
            subprocess.run(("musl-gcc", "-std=gnu17", "-D_GNU_SOURCE", "-O2", *flags, source, "-o", program),
                           check=True)
            expect_exact(name, counted((program,)))


def check_sampled():
    """Of a block of s bytes the chance is 1 - exp(-s / mean): large ones are exact."""
    document = counted((LAB,), "--sample", "65536")
    truth = known()
    for site, (_, kept) in truth.items():
        _, held, error = sums(document, place(site))
        # Three standard deviations and a half; of a site without a sample there is no row.
        result(abs(held - kept) <= 1.75 * error + (10 * 65536 if held < 10 * 65536 else 0),
               "one sample in 64 KiB: %s" % site, (held, error, kept))
    allocated, held, _ = sums(document, "site_passes")
    result(allocated > 0 == held, "one sample in 64 KiB: what is freed is not held", (allocated, held))


def check_reuse():
    """A leak in pages that were used before: the resident set does not tell it, the allocator does. Another one that has
    probes at the same functions has the kernel replace each return address: stacks are whole nevertheless."""
    with Lab(LAB) as other, Lab(LAB, "churn", "leak_small") as one:
        beside = Grow(str(other.pid), "--malloc")
        wait_until(lambda: not code_is_clean(other.pid))
        document = held_by(one)
        beside.report()
    net = {f: sum(s["net_bytes"] for s in document["stacks"] if f in functions(s))
           for f in ("site_churn", "site_leak_small")}
    result(net["site_churn"] > 8 << 20 > 2 << 20 > net["site_leak_small"],
           "reuse: the growth is that of the function that gives back", net)
    # A full ring samples, and says so.
    bound = 2 * sum(s["error_bytes"] for s in document["stacks"])
    result(abs(sums(document, "site_leak_small")[1] - (10 << 20)) <= bound and
           abs(sums(document, "site_churn")[1] - 1024) <= bound,
           "reuse: what is held is that of the other one", (sums(document, "site_leak_small"), bound))


def run_command(*args):
    """The document, and the words that the command prints. One that waits for a line gets it, and is read in a second."""
    with subprocess.Popen((PROGRAM, "grow", "-J", "--malloc") + args, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as child:
        with contextlib.suppress(BrokenPipeError):
            child.stdin.write("go\n")
            child.stdin.flush()
        time.sleep(1)  # time itself: what the command says is part of the output
        done = child.communicate(timeout=LIMIT)[0]
    if child.returncode:
        raise RuntimeError("exit code %d" % child.returncode)
    begin, end = done.index("{\n"), done.rindex("}") + 1
    return named(json.loads(done[begin:end])), (done[:begin] + done[end:]).split()


def check_command():
    """From its first call on: probes are in the C library before the program maps it."""
    document, words = run_command("--sample", "1", "--", LAB, "calls", "5000", "1", "10")
    pairs = int(words[0])
    kept = (pairs + 9) // 10
    result(sums(document, "keeps") == (kept * 200, kept * 200, 0), "a command: what it keeps, to the byte",
           (sums(document, "keeps"), kept * 200))
    result(sums(document, "takes") == ((pairs - kept) * 200, 0, 0), "a command: what it frees, to the byte",
           (sums(document, "takes"), (pairs - kept) * 200))


def is_within(function, kept, *command):
    """Whether the bounds of a run have what is kept: they may miss it in one of 20 runs, and not three times."""
    for _ in range(3):
        document, words = run_command("--", *command)
        least, most = bounds(document, function)
        want = kept(words)
        if least <= want <= most:
            break
    return least <= want <= most, (least, want, most), document


def check_rate():
    """At any rate all calls are seen, and what is kept is within its bounds."""
    for rate, seconds in (150000, 2), (0, 2):
        good, what, document = is_within("keeps", lambda words: (int(words[0]) + 19) // 20 * 200, LAB, "calls", str(rate),
                                         str(seconds), "20")
        result(good and 0 < what[0] < what[2] < 2 * what[0], "%d pairs a second: what is kept" % rate, what)
        allocated, held, _ = sums(document, "takes")
        result(held < 0.02 * allocated, "%d pairs a second: what is freed is not held" % rate, (allocated, held))
        heap = document["malloc"]
        result(heap["rate_per_s"] > 100000 and heap["price_ns"] and
               0 < heap["speed_least_percent"] <= heap["speed_most_percent"] <= 100 and heap["sample_bytes"] >= 16384,
               "%d pairs a second: rate, price and speed are said" % rate, heap)


def check_burst():
    """A burst at the beginning, and then a slow leak: each has its own."""
    for function, kept in ("site_leak_small", 10 << 20), ("site_burst", 1000), ("site_churn", 1024):
        good, what, _ = is_within(function, lambda _, kept=kept: kept, LAB, "churn", "burst", "leak_small")
        result(good, "a burst: %s" % function, what)


def check_price():
    """A program that runs is left alone if probes would slow it down too much; a command is not."""
    child = subprocess.Popen((LAB, "calls", "0", "20", "10"), stdout=subprocess.DEVNULL)
    try:
        done = subprocess.run((PROGRAM, "grow", "--malloc", str(child.pid), "-c", "20"), capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        result(done.returncode == 1 and done.stdout == "" and "--malloc=slow" in done.stderr and
               "times a second, and a probe costs" in done.stderr and child.poll() is None,
               "too slow: it is left alone, with rate and price", done)
        result(wait_until(lambda: code_is_clean(child.pid)), "too slow: no probe is left")
        done = subprocess.run((PROGRAM, "grow", "--malloc=slow", str(child.pid), "-c", "2"), capture_output=True,
                              text=True, timeout=LIMIT, check=False)
        result(done.returncode == 0 and "keeps" in done.stdout and "of its CPU time" in done.stdout, "--malloc=slow: it counts",
               done)
    finally:
        child.kill()
        child.wait()
    done = subprocess.run((PROGRAM, "grow", "--malloc=fast", "1"), capture_output=True, text=True, check=False)
    result(done.returncode == 2 and "--malloc=fast: its only word is slow" in done.stderr, "--malloc=fast: not known", done)


def check_detached():
    """Nothing is left in the program, also if the one that counts is killed."""
    for name, end in ("a report", lambda grow: grow.report()), ("SIGKILL", lambda grow: (grow.child.kill(),
                                                                                         grow.child.communicate())):
        with Lab(LAB, "churn", "realloc") as one:
            grow = Grow(str(one.pid), "--malloc")
            result(wait_until(lambda one=one: not code_is_clean(one.pid)), "%s: there are probes" % name)
            end(grow)
            result(wait_until(lambda one=one: code_is_clean(one.pid)), "%s: no probe is left" % name)
            result(one.go() == "DONE\n", "%s: the program goes on" % name)


MANY = 250


def check_interrupted():
    """A signal while probes are set in many processes: it stays with those that have some."""
    with contextlib.ExitStack() as stack:
        pids = [str(stack.enter_context(Lab(LAB)).pid) for _ in range(MANY)]
        grow = Grow(",".join(pids), "--malloc")
        wait_until(lambda: not code_is_clean(int(pids[0])))
        document = grow.report()
        count = len(document["target"]["processes"])
        result(count > 0, "a signal while probes are set: %d of %d processes" % (count, MANY), count)
        wait_until(lambda: all(code_is_clean(int(pid)) for pid in pids))
        result(all(code_is_clean(int(pid)) for pid in pids), "a signal while probes are set: none stays")


def check_children():
    """The blocks of a child are its own, and gone with it."""
    code = ("import ctypes, os, sys\nprint('READY', os.getpid(), flush=True)\nsys.stdin.readline()\n"
            "libc = ctypes.CDLL(None)\ntake = lambda size: [libc.malloc(ctypes.c_size_t(size)) for i in range(100)]\n"
            "take(7000)\nready, end = os.pipe(), os.pipe()\nchild = os.fork()\nif not child:\n"
            "    __import__('time').sleep(1)\n"  # time itself: probes of a new process come some milliseconds later
            "    os.close(end[1]); take(9000); os.write(ready[1], b'x'); os.read(end[0], 1); os._exit(0)\n"
            "os.read(ready[0], 1)\nprint('DONE', flush=True)\nsys.stdin.readline()\nos.close(end[1])\n"
            "os.waitpid(child, 0)\n")
    for args, sizes in ((), (7000,)), (("--follow",), (7000, 9000)):
        with Lab("/usr/bin/python3", "-S", "-c", code) as one:
            document = held_by(one, *args)
        held = max(s["held_bytes"] for s in document["stacks"])
        result(held == 100 * sum(sizes), "a child %s: it holds what it allocates" % " ".join(args), held)


def check_python():
    """With malloc alone each object is seen; of pymalloc's none is counted twice."""
    code = ("import sys\nprint('READY', __import__('os').getpid(), flush=True)\nsys.stdin.readline()\n"
            "kept = [bytes(100 + i % 2) for i in range(20000)]\nlarge = [bytes(5000) for i in range(1000)]\n"
            "lists = [[i] for i in range(5000)]\nprint('DONE', flush=True)\nsys.stdin.readline()\n")
    # An object of bytes has 33 bytes of its own, a list 56 and 8 for each item; lists have room for more.
    large, small = 1000 * 5033 + 26000 * 8, 20000 * 133 + 5000 * (56 + 16)
    for name, env in ("malloc", {"PYTHONMALLOC": "malloc"}), ("pymalloc", {}):
        with Lab("/usr/bin/python3", "-S", "-c", code, env=dict(os.environ, **env)) as one:
            document = held_by(one)
        held = sum(s["held_bytes"] for s in document["stacks"])
        least = large + small * (name == "malloc")
        result(least <= held <= 1.2 * (large + small), "Python with %s: what its objects hold" % name, (held, least))

    # The advice to have malloc alone is for those that do not.
    advised = {}
    for name in "malloc", "pymalloc":
        done = subprocess.run((PROGRAM, "grow", "--malloc", "--", "/usr/bin/python3", "-S", "-c", "import time; time.sleep(0.2)"),
                              capture_output=True, text=True, env=dict(os.environ, PYTHONMALLOC=name), check=True,
                              timeout=LIMIT)
        advised[name] = "PYTHONMALLOC=malloc" in done.stderr
    result(not advised["malloc"], "Python with malloc: it is not advised again", advised)
    # Debian's has its allocator built into other functions.
    result(advised["pymalloc"] or "ID=debian" not in open("/etc/os-release", encoding="utf-8").read(),
           "Python with pymalloc: malloc is advised", advised)


if __name__ == "__main__":
    sys.exit(run_live(check_exact, check_allocators, check_sampled, check_reuse, check_command, check_rate,
                      check_burst, check_price, check_detached, check_interrupted, check_children, check_python))
