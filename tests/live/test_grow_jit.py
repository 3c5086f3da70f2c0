#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""grow and code that a program makes while it runs (support/jitlab.c): stacks go through it, and its
names come from the perf map of the process, whatever others put in its place."""
# needs: bpf ptrace users

import contextlib
import glob
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import paths  # noqa: F401
from growing import LIMIT, MIB, NOBODY, Grow, Lab, directory_for_all, fewer_capabilities, functions, run_live
from growing import stack_of_4_mib, write
from outcome import O, need, result

X86 = platform.machine() == "x86_64"
NAME = "py::keep:/app/job.py"
NAMED = ["site_touch", NAME, "run_code", "main"]
UNNAMED = ["site_touch", None, "run_code", "main"]


class Jit(Lab):
    """A jitlab that waits for its start."""

    program = O + "/jitlab"

    def __init__(self, *args, uid=None):
        super().__init__(self.program, *args, uid=uid)
        self.address = int(self.words[2], 16)

    def __exit__(self, *_):
        super().__exit__()
        with contextlib.suppress(OSError):
            os.unlink(self.path())

    def path(self):
        return "/tmp/perf-%d.map" % self.pid

    def line(self, name=NAME):
        return "%x 20 %s\n" % (self.address, name)


def largest(document):
    """The functions of the stack with the 4 MiB, from the innermost to main."""
    return functions(stack_of_4_mib(document))[:4]


def expect(expected, what, make, memory="anon", uid=None):
    """The inner functions of the stack, if make() has written the map."""
    with Jit("frame", memory, uid=uid) as one:
        make(one)
        got = largest(one.grown())
        result(got[:2] == expected[:2], what, got)


def check_stacks():
    """With a frame pointer, as a trampoline of CPython; where no table and no register says how."""
    for code in ("frame", "trampoline") if X86 else ("frame",):
        with Jit(code, "anon") as one:
            write(one.path(), one.line())
            got = largest(one.grown())
            result(got == NAMED, "%s: the stack goes through it, with its name" % code, got)
        with Jit(code, "anon", uid=NOBODY) as one:
            write(one.path(), one.line(), NOBODY)
            document = one.grown()
            got = largest(document)
            result(got == NAMED, "%s: the same of another user" % code, got)
            there = sum(s["resident_bytes"] or 0 for s in document["stacks"])
            result(there >= 4 * MIB, "%s: what is still there, of another user" % code, there)
        with Jit(code, "anon") as one:
            document = one.grown()
            got = largest(document)
            result(got == UNNAMED, "%s: without a perf map it has no name" % code, got)
            offsets = [f["offset"] for s in document["stacks"] if s["net_bytes"] >= 4 * MIB
                       for f in s["frames"]][1:2]
            result(offsets and one.address < offsets[0] < one.address + 32, "%s: it is its address" % code,
                   (offsets, one.address))
    if X86:
        with Jit("mess", "anon") as one:
            write(one.path(), one.line())
            document = one.grown()
            stack = max(document["stacks"], key=lambda s: s["net_bytes"])
            got = functions(stack)
            result(got[:2] == NAMED[:2] and None not in got, "a frame pointer that is none: no address of data",
                   stack["frames"])


def check_memory():
    """Memory that is in no file has names, code in a file never has."""
    for memory, expected in (("memfd", NAMED), ("zero", NAMED), ("file", UNNAMED)):
        expect(expected, "code in memory of %s: %s" % (memory, expected[1]), lambda one: write(one.path(), one.line()), memory)


def check_later():
    """The map is read when the report is made, also after the end of the process."""
    with Jit("frame", "anon") as one:
        got = largest(one.grown(after=lambda: write(one.path(), one.line())))
        result(got == NAMED, "a map that is made after the code ran", got)
    expect(NAMED, "an address that was used twice has its last name",
           lambda one: write(one.path(), one.line("older") + one.line()))
    with Jit("frame", "anon") as one:
        write(one.path(), one.line("older"))

        def append():
            with open(one.path(), "a", encoding="ascii") as file:
                file.write(one.line() + one.line("not whole")[:-1])

        got = largest(one.grown(after=append))
        result(got == NAMED, "a map that grows while it is counted; its last line is not whole", got)
    with Jit("frame", "anon") as one:
        write(one.path(), one.line())
        grow = one.count("--sample", "1")
        one.go()
        grow.wait_open(one.path())
        one.child.kill()
        one.child.wait()
        os.unlink(one.path())
        got = largest(grow.report(end=False))
        result(got[:2] == NAMED[:2], "a process that has ended, and its map is gone", got)


def check_users():
    """The map is one of the user of the process or of root, and this user can read it."""
    for what, expected, uid, owner, mode in (
            ("of the user alone", NAMED, NOBODY, NOBODY, 0o600),
            ("of root, readable", NAMED, NOBODY, 0, 0o644),
            ("of root, not readable", UNNAMED, NOBODY, 0, 0o600),
            ("of another user", UNNAMED, NOBODY, 1234, 0o644),
            ("of another user, a process of root", UNNAMED, None, NOBODY, 0o644),
    ):
        expect(expected, "a map %s: %s" % (what, expected[1]),
               lambda one, owner=owner, mode=mode: write(one.path(), one.line(), owner, mode), uid=uid)
    with directory_for_all() as directory, fewer_capabilities(directory):
        for mode, expected in ((0o644, NAMED), (0o600, UNNAMED)):
            expect(expected, "a map of mode %o, read by root that may not become another user" % mode,
                   lambda one, mode=mode: write(one.path(), one.line(), NOBODY, mode), uid=NOBODY)


def check_lies():
    """What is not a regular file with one name gives no names, and nothing waits for it. Lines that lie:
    unit/test_code_perf_map."""
    with directory_for_all() as directory:
        other = directory + "/other"

        def link(one):
            write(other, one.line())
            os.symlink(other, one.path())

        def hard_link(one):
            write(directory + "/first", one.line())
            os.link(directory + "/first", one.path())

        def large(one):
            write(one.path(), one.line())
            os.truncate(one.path(), 8 << 40)

        for what, make in (
                ("a link", link),
                ("a hard link", hard_link),
                ("a FIFO", lambda one: os.mkfifo(one.path(), 0o666)),
                ("a link to a terminal", lambda one: os.symlink("/dev/ptmx", one.path())),
                ("an end without a line", lambda one: write(one.path(), one.line()[:-1])),
                ("an empty file", lambda one: write(one.path(), "")),
                ("a file of 8 TiB", large),
        ):
            expect(UNNAMED, what + ": no name", make)
        with Jit("frame", "anon") as one:
            os.mkdir(one.path())
            try:
                got = largest(one.grown())
            finally:
                os.rmdir(one.path())
            result(got == UNNAMED, "a directory: no name", got)
        # The last 32 MiB count.
        expect(NAMED, "a map of 50 MB: its end is read",
               lambda one: write(one.path(), one.line("older") + "1 1 filler of many bytes\n" * 2000000 + one.line()))


def check_namespaces():
    """The map is below the root of the process, under the pid that the process has itself."""
    if not need("mount", "a container"):
        return
    before = ("unshare", "--pid", "--mount", "--fork", "--kill-child")
    script = 'mount -t tmpfs tmpfs /tmp && chmod 1777 /tmp && exec "$@"'
    # The program may lie in /tmp.
    fd = os.open(Jit.program, os.O_RDONLY)
    with Lab(*before, "sh", "-c", script, "sh", "/proc/%d/fd/%d" % (os.getpid(), fd), "frame", "anon") as one:
        os.close(fd)
        result(one.words[:2] == ["READY", "1"], "a pid namespace: the process is number 1", one.words)
        with open("/proc/%d/task/%d/children" % (one.pid, one.pid), encoding="ascii") as file:
            one.pid = int(file.read().split()[0])
        line = "%s 20 %s\n" % (one.words[2], NAME)
        write("/proc/%d/root/tmp/perf-1.map" % one.pid, line)
        write("/proc/%d/root/tmp/perf-%d.map" % (one.pid, one.pid), line.replace(NAME, "wrong"))
        got = largest(one.grown())
    result(got[:2] == NAMED[:2], "a container: its own /tmp, and its own pid", got)


def check_processes():
    """A child executes code of its parent; the same function of two processes is one."""
    with Jit("frame", "anon", "fork") as one:
        write(one.path(), one.line())
        got = largest(one.grown("--follow"))
        result(got[:3] == NAMED[:3], "a child without a map: names of its parent", got)
    with Jit("frame", "anon", "fork") as one:
        write(one.path(), one.line())
        grow = one.count("--sample", "1", "--follow")
        grow.child.send_signal(signal.SIGSTOP)
        one.go()
        grow.child.send_signal(signal.SIGCONT)
        got = largest(grow.report())
        result(got[:3] == NAMED[:3], "a child that ended before it was read: code of its parent", got)
    with Jit("frame", "anon") as one, Jit("frame", "anon") as two:
        write(one.path(), one.line())
        write(two.path(), two.line())
        grow = Grow(str(one.pid), str(two.pid), "--sample", "1")
        grow.wait_armed(one.pid)
        grow.wait_armed(two.pid)
        one.go()
        two.go()
        document = grow.report()
        sums = [s["net_bytes"] for s in document["stacks"] if functions(s)[:4] == NAMED]
        result(len(sums) == 1 and sums[0] >= 8 * MIB, "two processes: one stack by names", sums)


SCRIPT = """
import os, sys
kept = []
def keep(n):
    kept.append([str(i) * 3 for i in range(n)])
def serve():
    keep(100000)
print("READY", os.getpid(), flush=True)
sys.stdin.readline()
serve()
print("DONE", flush=True)
sys.stdin.read()
"""


def find_python():
    """A Python that writes perf maps; None: there is none."""
    names = [sys.executable] + ["python3.%d" % minor for minor in range(12, 20)] + glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3"))
    for path in filter(None, map(shutil.which, names)):
        done = subprocess.run((path, "-X", "perf", "-c", "import os, sys; active = sys.is_stack_trampoline_active(); "
                               "os.unlink('/tmp/perf-%d.map' % os.getpid()); sys.exit(not active)"),
                              capture_output=True, check=False)
        if done.returncode == 0:
            return path
    return None


def check_python():
    """The rows are functions of Python, with or without frame pointers in the interpreter."""
    path = find_python()
    if not path:
        print("# no Python of 3.12 or later is here: its functions are not checked")
        return
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(SCRIPT)
        script.flush()
        with Lab(path, "-X", "perf", script.name) as one:
            document = one.grown()
        with contextlib.suppress(OSError):
            os.unlink("/tmp/perf-%d.map" % one.pid)
        want = ["py::%s:%s" % (name, script.name) for name in ("keep", "serve", "<module>")]
        grown_there = 0
        for stack in document["stacks"]:
            if [n for n in functions(stack) if n in want] == want:
                place = next((f for f in stack["frames"] if not f["allocator"]), {})
                grown_there += stack["net_bytes"] if place.get("function") == want[0] else 0
        result(grown_there > 4 * MIB, "a real Python: its functions are the places", grown_there)


def hints(argv, after=lambda one: None):
    """Which runtime the report says has no names."""
    with Lab(*argv) as one:
        grow = one.count("-F", "table")
        one.go()
        after(one)
        grow.child.send_signal(signal.SIGINT)
        text = grow.child.communicate(timeout=LIMIT)[0].decode()
    with contextlib.suppress(OSError):
        os.unlink("/tmp/perf-%d.map" % one.pid)
    return re.findall("^(Python|JavaScript|Java) frames have no names: (?:start it with (?:python3|node) -|run jcmd )", text, re.M)


def check_hints():
    """What to do where the functions of a runtime have no names."""
    keep = "import sys; print('READY', flush=True); sys.stdin.readline(); kept = [bytearray(1 << 22) for _ in range(4)]; "
    keep += "print('DONE', flush=True); sys.stdin.read()"
    got = hints((sys.executable, "-c", keep))
    result(got == ["Python"], "Python without names: the report says what to do", got)
    path, node = find_python(), shutil.which("node")
    if path:
        got = hints((path, "-X", "perf", "-c", keep))
        result(got == [], "Python with names: no hint", got)
    keep = ("let kept = []; console.log('READY'); process.stdin.once('data', () => { for (let i = 0; i < 300000; i++) "
            "kept.push({i, s: 's' + i}); console.log('DONE'); process.stdin.on('data', () => 0); })")
    for words, want in (((), ["JavaScript"]),
                        (("--perf-basic-prof", "--interpreted-frames-native-stack"), [])) if node else ():
        with tempfile.TemporaryDirectory() as directory:  # node writes a log where it is
            got = hints(("env", "-C", directory, node, *words, "-e", keep))
        result(got == want, "node with%s names: %s" % ("" if words else "out", want or "no hint"), got)


def check_interpreter():
    """A program with the name of Python, and with code that has names of Python, is an interpreter."""
    before = Jit.program
    with tempfile.TemporaryDirectory() as directory:
        try:
            for name, code, expected in (("python3-lab", NAME, NAME), ("python3-lab", "JS:keep", "site_touch"),
                                         ("lab", NAME, "site_touch")):
                Jit.program = shutil.copy(before, directory + "/" + name)
                with Jit("frame", "anon") as one:
                    write(one.path(), one.line(code))
                    document = one.grown()
                stack = max(document["stacks"], key=lambda s: s["net_bytes"])
                place = next(f["function"] for f in stack["frames"] if not f["allocator"])
                result(place == expected, "%s with %s: the place is %s" % (name, code, expected), stack["frames"])
        finally:
            Jit.program = before


if __name__ == "__main__":
    sys.exit(run_live(check_stacks, check_memory, check_later, check_users, check_lies, check_namespaces,
                      check_processes, check_interpreter, check_python, check_hints))
