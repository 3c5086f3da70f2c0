# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""For tests of grow: programs that wait for their start (growlab.c, jitlab.c and others), and the program that counts."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import tempfile
import time

import outcome
from outcome import O

LIMIT = 60
NOBODY = 65534
KIB, MIB = 1 << 10, 1 << 20
COUNTERS = {"anon": "RssAnon", "file": "RssFile", "shmem": "RssShmem", "swap": "VmSwap"}


def status(pid):
    with open("/proc/%d/status" % pid) as file:
        lines = dict(line.split(":", 1) for line in file if ":" in line)
    return {key: int(lines[name].split()[0]) for key, name in COUNTERS.items()}


def rollup(pid):
    """smaps_rollup, in bytes."""
    with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
        return {words[0]: int(words[1]) * KIB for words in map(str.split, file) if words[-1] == "kB"}


def open_files(parent):
    """Of a process and its children."""
    with open("/proc/%d/task/%d/children" % (parent, parent)) as file:
        pids = [parent] + [int(pid) for pid in file.read().split()]
    for pid in pids:
        directory = "/proc/%d/fd" % pid
        with contextlib.suppress(OSError):
            for fd in os.listdir(directory):
                with contextlib.suppress(OSError):
                    yield os.readlink("%s/%s" % (directory, fd))


def named(document):
    """The document with frames in place of their numbers."""
    for stack in document["stacks"]:
        stack["frames"] = [document["frames"][number] for number in stack["frames"]]
    return document


ALLOCATORS = "libjemalloc.so.2", "libmimalloc.so.2.0", "libtcmalloc_minimal.so.4"
DIRECTORIES = "/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/usr/lib/"


def libraries():
    """Allocators that are installed: their names and paths."""
    for name in ALLOCATORS:
        path = next((d + name for d in DIRECTORIES if os.path.exists(d + name)), None)
        if path:
            yield name, path


def code_is_clean(pid, of=""):
    """Whether the code of a process is that of its files, or of the files with these words in their paths."""
    with open("/proc/%d/maps" % pid, encoding="utf-8") as maps, open("/proc/%d/mem" % pid, "rb") as memory:
        for line in maps:
            part, mode, offset, _, inode, *path = line.rstrip("\n").split(maxsplit=5)
            if "x" not in mode or inode == "0" or of not in path[0]:
                continue
            start, end = (int(x, 16) for x in part.split("-"))
            memory.seek(start)
            with open(path[0], "rb") as file:
                file.seek(int(offset, 16))
                code = file.read(end - start)
                if memory.read(end - start)[:len(code)] != code:
                    return False
    return True


class Grow:
    """The program, counting; report() ends it."""

    program = outcome.PROGRAM

    def __init__(self, *args, output=("-J",)):
        self.child = subprocess.Popen((self.program, "grow", *output, "-v") + args, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)

    def wait_open(self, path):
        for _ in range(400):
            with contextlib.suppress(OSError):
                if path in open_files(self.child.pid):
                    return
            time.sleep(0.02)
        raise RuntimeError("it does not open %s: %r" % (path, self.child.poll()))

    def wait_armed(self, pid):
        """It counts as soon as it holds the directory of the process open."""
        self.wait_open("/proc/%d" % pid)
        time.sleep(0.1)

    def output(self, end=True):
        if end:
            self.child.send_signal(signal.SIGINT)
        out, err = self.child.communicate(timeout=LIMIT)
        if self.child.returncode:
            raise RuntimeError("exit code %d: %s" % (self.child.returncode, err.decode()[:300]))
        return out

    def report(self, end=True):
        self.text = self.output(end).decode()
        return named(json.loads(self.text))


class Lab:
    """A program that says "READY PID", waits for a line, allocates and says that it is done."""

    def __init__(self, *command, uid=None, env=None):
        prefix = () if uid is None else (O + "/drop", str(uid), "-")
        self.child = subprocess.Popen(prefix + command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                      env=env)
        self.words = self.child.stdout.readline().split()
        if self.words[:1] != ["READY"]:
            raise RuntimeError("%s: it did not start: %r" % (command, self.words))
        self.pid = self.child.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(BrokenPipeError):
            self.child.stdin.close()
        # A test that failed may have stopped it.
        self.child.send_signal(signal.SIGCONT)
        self.child.wait()
        self.child.stdout.close()

    def go(self):
        self.child.stdin.write("go\n")
        self.child.stdin.flush()
        return self.child.stdout.readline()

    def count(self, *args):
        grow = Grow(str(self.pid), *args)
        grow.wait_armed(self.pid)
        return grow

    def grown(self, *args, after=lambda: None):
        """The document of its run."""
        grow = self.count("--sample", "1", *args)
        self.go()
        after()
        return grow.report()

    def measured(self, *args, kill=False):
        """The document of its run, and what /proc says before and after it."""
        grow = self.count(*args)
        before = status(self.pid)
        self.go()
        after = status(self.pid)
        if kill:
            self.child.kill()
        return grow.report(end=not kill), before, after


def functions(stack):
    return [f["function"] for f in stack["frames"]]


def varints(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0


def protobuf(data):
    """The fields of a message of protocol buffers: (number, integer or bytes)."""
    def one(at):
        end = at
        while data[end] >= 0x80:
            end += 1
        return next(varints(data[at:end + 1])), end + 1

    at = 0
    while at < len(data):
        key, at = one(at)
        value, at = one(at)
        if key & 7 == 2:
            at += value
            value = data[at - value:at]
        elif key & 7:
            raise ValueError("type %d" % (key & 7))
        yield key >> 3, value


def read_profile(data):
    """Units of values, the values of each stack of functions, and the value that is shown first, as
    proto/profile.proto of pprof says."""
    types, samples, locations, names, strings, first = [], [], {}, {}, [], 0
    for number, value in protobuf(data):
        if number == 1:
            types.append(dict(protobuf(value)))
        elif number == 2:
            samples.append(dict(protobuf(value)))
        elif number == 4:
            fields = dict(protobuf(value))
            locations[fields[1]] = dict(protobuf(fields[4]))[1]
        elif number == 5:
            fields = dict(protobuf(value))
            names[fields[1]] = fields[2]
        elif number == 6:
            strings.append(value.decode())
        elif number == 14:
            first = value
    if strings[0]:
        raise ValueError("the first string is not empty")
    units = {strings[t[1]]: strings[t[2]] for t in types}
    signed = [[v - (1 << 64) if v >> 63 else v for v in varints(s[2])] for s in samples]
    stacks = [([strings[names[locations[i]]] for i in varints(s[1])], dict(zip(units, values)))
              for s, values in zip(samples, signed)]
    return units, stacks, strings[first]


def stack_of_4_mib(document):
    for stack in document["stacks"]:
        if stack["gross_bytes"] >= 4 * MIB:
            return stack
    raise RuntimeError("no stack of 4 MiB: %r" % [functions(s) for s in document["stacks"]])


def write(path, text, uid=None, mode=0o644):
    """As a program of this user would have made it."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        os.fchmod(fd, mode)
        if uid is not None:
            os.fchown(fd, uid, uid)
        file.write(text)


@contextlib.contextmanager
def directory_for_all():
    """Others than root can reach it."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="grow-files-") as directory:
        os.chmod(directory, 0o755)
        yield directory


@contextlib.contextmanager
def program(path):
    """grow of another program."""
    Grow.program = path
    try:
        yield
    finally:
        Grow.program = outcome.PROGRAM


@contextlib.contextmanager
def fewer_capabilities(directory):
    """grow as root of a container: CAP_SYS_PTRACE, CAP_PERFMON and CAP_BPF alone."""
    write(directory + "/fewer", "#!/bin/sh\nexec %s \"$@\"\n" % shlex.join((O + "/drop", "0", "19,38,39", outcome.PROGRAM)),
          mode=0o755)
    with program(directory + "/fewer"):
        yield


def run_live(*checks):
    outcome.run_checks(checks)
    return outcome.exit_code()
