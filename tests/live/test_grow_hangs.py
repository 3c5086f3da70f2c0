#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""grow and files that do not answer: a program on a FUSE file system with a server that stops. The report comes,
says what it left out, and has the names of the other files; a signal ends it at once; nothing that
reads its output waits for a helper that was left behind."""
# needs: bpf ptrace fuse
# alone: while a process keeps its lock, no other test could set probes

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time

import paths  # noqa: F401
from growing import Grow, Lab, code_is_clean, directory_for_all, functions, run_live, stack_of_4_mib
from outcome import O, PROGRAM, result, wait_until
from stuck import Process, Server

ENDS_S = 20  # far more than it takes; without helpers it never ended


@contextlib.contextmanager
def hanging_lab(*args):
    """A process with a program that can no longer be opened."""
    with directory_for_all() as directory:
        os.mkdir(directory + "/mount")
        with contextlib.closing(Server(directory + "/mount", O + "/growlab")) as server, \
                Lab(directory + "/mount/file", *args) as lab:
            server.hang()
            yield lab


def check_report():
    with hanging_lab("mmap") as lab:
        document = lab.grown()
        stack = stack_of_4_mib(document)
        left_out = document["accounted"]["names_left_out"]
        result(left_out["timeout"] > 0, "a program that does not answer: its addresses are counted", left_out)
        result(stack["frames"][0]["module"] == "file" and functions(stack)[0] is None,
               "its frames are module+offset", stack["frames"][0])


def check_others():
    """Another process of the same user has its names, though a helper was left behind with the first one's."""
    with hanging_lab("mmap") as stuck, Lab(O + "/growlab", "mmap") as other:
        grow = stuck.count("--sample", "1", str(other.pid))
        grow.wait_armed(other.pid)
        stuck.go()
        other.go()
        document = grow.report()
        names = [functions(stack)[:2] for stack in document["stacks"]]
        result(["site_mmap", "run_site"] in names, "another process has names", names)
        result(document["accounted"]["names_left_out"]["timeout"] > 0, "the first has none",
               document["accounted"]["names_left_out"])


def check_signal():
    """From the first moment on."""
    with hanging_lab("mmap") as lab:
        grow = Grow(str(lab.pid))
        grow.wait_open("/proc/%d" % lab.pid)
        grow.child.send_signal(signal.SIGINT)
        try:
            grow.child.communicate(timeout=ENDS_S)
            result(grow.child.returncode == 0, "a signal while a file is opened: it ends with its report",
                   grow.child.returncode)
        except subprocess.TimeoutExpired:
            result(False, "a signal while a file is opened: it ends", "it does not")
            grow.child.kill()


def check_pipe():
    """A reader of its output sees the end, though a helper hangs."""
    with hanging_lab("mmap") as lab:
        begin = time.monotonic()
        with subprocess.Popen("%s grow -c 1 -i 0.5 %d 2>&1 | cat >/dev/null" % (shlex.quote(PROGRAM), lab.pid), shell=True) as pipe:
            try:
                pipe.wait(timeout=ENDS_S)
                result(pipe.returncode == 0, "a reader of its output sees the end", time.monotonic() - begin)
            except subprocess.TimeoutExpired:
                result(False, "a reader of its output sees the end", "it does not")
                pipe.kill()


def check_malloc():
    """Functions on such a file system are not probed: the kernel would read them while no process can fork."""
    with directory_for_all() as directory:
        os.mkdir(directory + "/mount")
        with contextlib.closing(Server(directory + "/mount", O + "/malloclab-static")) as server, \
                Lab(directory + "/mount/file", "list-nothing") as lab:
            grow = Grow(str(lab.pid), "--malloc")
            grow.wait_armed(lab.pid)
            server.hang()
            malloc = grow.report()["malloc"]
        result(malloc["calls"] == 0 and [n["file"] for n in malloc["not_probed"]] == [directory + "/mount/file"] and
               "fuse" in malloc["not_probed"][0]["reason"], "its allocator is not probed, and it is said", malloc)


def libc_of(pid):
    with open("/proc/%d/maps" % pid, encoding="ascii") as file:
        return next(line.split()[-1] for line in file if "libc" in line)


def check_lock_at_begin():
    """A process that maps the C library keeps its mmap_lock: no probe is set, for meanwhile no process could fork."""
    # A program without an allocator of its own.
    with directory_for_all() as directory, Lab(O + "/growlab", "list-nothing") as lab:
        os.mkdir(directory + "/mount")
        command = PROGRAM, "grow", "--malloc", "-c", "1", "-i", "0.1", str(lab.pid)
        with contextlib.closing(Process(directory + "/mount", libc_of(lab.pid))) as stuck:
            done = subprocess.run(command, capture_output=True, text=True, timeout=ENDS_S)
            result(done.returncode == 1 and "process %d (stuck)" % stuck.pid in done.stderr,
                   "a process keeps its lock: no probe is set, and it is named", done.stderr)
        with contextlib.closing(Process(directory + "/mount", "/etc/passwd")):
            done = subprocess.run(command, capture_output=True, text=True, timeout=ENDS_S)
            result(done.returncode == 0 and "mmap_lock" not in done.stderr, "one that maps other files does not matter",
                   done.stderr)


def read_until(file, text):
    seen = ""
    while text not in seen:
        line = file.readline()
        if not line:
            break
        seen += line
    return seen


def check_lock_at_end():
    """The report comes; the probes are removed when the lock is free."""
    with directory_for_all() as directory, Lab(O + "/malloclab", "list-nothing") as lab:
        os.mkdir(directory + "/mount")
        grow = Grow(str(lab.pid), "--malloc")
        grow.wait_armed(lab.pid)
        wait_until(lambda: not code_is_clean(lab.pid))
        with contextlib.closing(Process(directory + "/mount", libc_of(lab.pid))) as stuck:
            grow.child.send_signal(signal.SIGINT)
            with os.fdopen(os.dup(grow.child.stderr.fileno()), encoding="utf-8") as errors:
                said = read_until(errors, "probes are still set")
            result("process %d (stuck)" % stuck.pid in said, "it says which process it waits for", said)
            document = json.loads(b"".join(iter(grow.child.stdout.readline, b"}\n")) + b"}")
            result(document["malloc"]["calls"] >= 0 and grow.child.poll() is None and not code_is_clean(lab.pid),
                   "the report is there, and so are the probes", grow.child.poll())
            grow.child.send_signal(signal.SIGINT)
            time.sleep(0.5)  # time itself: nothing shows that it does not end
            result(grow.child.poll() is None, "a signal does not remove them", grow.child.poll())
            # The old way would wait here as long as the lock is kept.
            subprocess.run("true", check=True, timeout=ENDS_S)
        grow.child.communicate(timeout=ENDS_S)
        result(grow.child.returncode == 0 and code_is_clean(lab.pid), "the lock is free: no probe is left",
               grow.child.returncode)


if __name__ == "__main__":
    sys.exit(run_live(check_report, check_others, check_signal, check_pipe, check_malloc, check_lock_at_begin,
                      check_lock_at_end))
