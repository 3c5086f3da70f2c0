#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# needs: counters
# alone: free frames of the machine are compared
"""FREED of processes that hold kernel memory by descriptors: as many frames come free when they end. What a process outside of the row
holds as well, by a descriptor, a mapping or a message, is not in it."""

import array
import ctypes
import json
import mmap
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import paths  # noqa: F401
import test_kernel_memory as kernel
from outcome import PROGRAM, exit_code, need, result, run_checks, see_own_processes_only, wait_until
from test_kernel_memory import MIB, NUMBER, SIZE, kept, libc

CLONE = {"x86_64": 56, "aarch64": 220}.get(os.uname().machine)
CLONE_FILES = 0x400

# ---- scenes: the first process makes it, and a second one may hold a part of it ----


def wait():
    while True:
        signal.pause()


def second(act):
    """Another process, which does this and then waits."""
    ready, told = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(ready)
        act(told)
        os.write(told, b"x")
        os.close(told)
        wait()
    os.close(told)
    os.read(ready, 1)
    os.close(ready)
    return pid


def descriptors():
    return [item if isinstance(item, int) else item.fileno() for item in kept if not isinstance(item, mmap.mmap)]


def close(chosen):
    for fd in chosen:
        os.close(fd)


def close_all(*but):
    """Those that mmap.mmap() has made of its own as well."""
    close(fd for fd in map(int, os.listdir("/proc/self/fd")) if fd > 2 and fd not in but and os.path.exists("/proc/self/fd/%d" % fd))


def shared():
    """Both have all descriptors."""
    kernel.pipes()
    return second(lambda told: None)


def mapped_by_second(make):
    """The second one has the mapping alone, the first one a descriptor alone."""
    make()
    pid = second(close_all)
    for item in kept:
        if isinstance(item, mmap.mmap):
            item.close()
    return pid


def array_map():
    """A map of BPF with a mapping of it."""
    attr = ctypes.create_string_buffer(128)
    for i, word in enumerate((2, 4, 4096, SIZE // 4096, 1 << 10)):  # BPF_F_MMAPABLE
        ctypes.c_uint32.from_buffer(attr, 4 * i).value = word
    kept.insert(0, mmap.mmap(kernel.system(NUMBER[0], 0, attr, 128), SIZE))


def perf_mapped_by_second():
    """fork does not copy these mappings: the second one makes them."""
    kernel.perf()
    del kept[:len(kept) // 2]

    def take(told):
        maps = [mmap.mmap(fd, MIB + mmap.PAGESIZE) for fd in kept]
        close_all(told)
        kept[:] = maps

    return second(take)


def in_flight(make):
    """The second one has them in a message that it has not received."""
    make()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    for fd in descriptors():
        ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
    ours.close()
    pid = second(lambda told: close(descriptors()))
    theirs.close()
    return pid


ENDS = 3000


def ends(apart):
    """Small pipes: both ends in one process, or one in each."""
    for _ in range(ENDS):
        pair = os.pipe()
        os.write(pair[1], b"x")
        kept.extend(pair)
    if not apart:
        return 0
    pid = second(lambda told: close(kept[::2]))
    close(kept[1::2])
    return pid


def one_table():
    """Both have one table of descriptors."""
    ends(False)
    pid = libc.syscall(CLONE, CLONE_FILES | signal.SIGCHLD, 0, 0, 0, 0)
    if not pid:
        wait()
    return pid


SCENES = {
    "pipes": kernel.pipes, "unix datagrams": kernel.datagrams, "packet ring": lambda: kernel.ring(2),
    "mapped packet ring": lambda: kernel.ring(2, True), "array map": lambda: kernel.bpf_map(2, 4, 4096, SIZE // 4096),
    "mapped array map": array_map, "perf": kernel.perf, "io_uring": kernel.uring, "small pipes": lambda: ends(False),
    "pipes of two": shared, "ends of small pipes": lambda: ends(True), "one table": one_table,
    "a ring that another maps": lambda: mapped_by_second(lambda: kernel.ring(2, True)),
    "a map that another maps": lambda: mapped_by_second(array_map), "perf that another maps": perf_mapped_by_second,
    "io_uring that another maps": lambda: mapped_by_second(kernel.uring),
    "pipes in a message": lambda: in_flight(kernel.pipes), "a ring in a message": lambda: in_flight(lambda: kernel.ring(2)),
    "a map in a message": lambda: in_flight(lambda: kernel.bpf_map(2, 4, 4096, SIZE // 4096)),
}


def hold(name):
    kernel.resource.setrlimit(kernel.resource.RLIMIT_NOFILE, (20000, 20000))
    made = SCENES[name]
    pid = made()
    print(os.getpid(), pid if name not in ALONE else 0, flush=True)
    wait()


# ---- what is said of it, and what comes free ----

# Kinds of one process: how much comes free less or more, in percent.
ALONE = {"pipes": 5, "unix datagrams": 15, "packet ring": 2, "mapped packet ring": 2, "array map": 3, "mapped array map": 3, "perf": 5,
         "io_uring": 5, "small pipes": 15}
# Of two processes: whether all of it is known to end with both.
BOTH = {"pipes of two": True, "ends of small pipes": False, "one table": False, "a ring that another maps": True,
        "a map that another maps": True, "perf that another maps": True, "io_uring that another maps": True, "pipes in a message": False,
        "a ring in a message": False, "a map in a message": False}
LITTLE = 4 * MIB  # a process that ends alone: its own memory


class Scene:
    def __init__(self, name):
        self.process = subprocess.Popen((sys.executable, "-B", __file__, "--hold", name), stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        words = self.process.stdout.readline().split()
        if not words:
            raise RuntimeError(name + ": " + self.process.stderr.read())
        self.pids = [int(word) for word in words if int(word)]

    def __enter__(self):
        return self

    def end(self, pids, expected):
        """Ends them. Returns the bytes that came free, as soon as they are as many as expected."""
        kernel.settle()
        before = kernel.free()
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        if self.pids[0] in pids:
            self.process.wait()
        wait_until(lambda: abs(kernel.free() - before - expected) < kernel.NOISE, 3)
        return kernel.free() - before

    def __exit__(self, *_):
        for pid in self.pids[::-1]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.communicate()


def freed(*args):
    """FREED of the only row, and its status."""
    done = subprocess.run((PROGRAM, "-J", "-s", "freed", *args), capture_output=True, check=False, timeout=60)
    document = json.loads(done.stdout)
    row = document["groups" if "-g" in args else "processes"][0]
    return row["freed_bytes"], row["freed_status"]


def measure(name, both):
    """FREED of the first process, or of both, its status, and what came free."""
    with Scene(name) as s:
        pids = s.pids if both else s.pids[:1]
        said, status = freed("-p", ",".join(map(str, pids)), *(("-g", "name") if both else ()))
        really = s.end(pids, said or 0)
    print("# %s%s: FREED %.1f MiB, frames %.1f MiB" % (name, ", both" if both else "", (said or 0) / MIB, really / MIB), flush=True)
    return said, status, really


def near(name, percent, both=False):
    """Whether as much comes free: measured again if not, because others take and free memory."""
    for _ in range(kernel.TRIES):
        said, status, really = measure(name, both)
        if status != "ok" or abs(really - said) <= kernel.NOISE + really * percent // 100:
            break
    result(status == "ok" and abs(really - said) <= kernel.NOISE + really * percent // 100,
           name + (": both free as much" if both else ": as much comes free"), (said, status, really))
    return said


def check_alone():
    for name, percent in ALONE.items():
        said = near(name, percent)
        result(said and said > (8 * MIB if name == "small pipes" else SIZE // 4), name + ": it is in FREED", said)


def check_both():
    for name, known in BOTH.items():
        said = near(name, 0)
        result(said is not None and said < LITTLE, name + ": one of them frees nothing of it", said)
        if known:
            near(name, 5, True)
            continue
        # It may say less. The middle one of several: others free memory, too.
        tries = sorted((measure(name, True) for _ in range(3)), key=lambda t: (t[0] or 0) - t[2])
        said, status, really = tries[1]
        result(status == "ok" and said <= really + kernel.NOISE, name + ": both free no less than they say", tries)


def check_unread():
    """A process whose map may not be read: FREED would be too little."""
    caps = "-all,+perfmon,+bpf"
    with tempfile.TemporaryDirectory() as directory, Scene("array map") as s:
        os.chmod(directory, 0o755)
        os.chmod(shutil.copy(PROGRAM, directory + "/zmem-bpf"), 0o755)
        done = subprocess.run(("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=" + caps,
                               "--ambient-caps=" + caps, "--bounding-set=" + caps, directory + "/zmem-bpf", "-J", "-o",
                               "+kernel,freed", "-p", str(s.pids[0])), capture_output=True, check=False, timeout=60)
        row = json.loads(done.stdout)["processes"][0]
    result((row["freed_bytes"], row["freed_status"], row["kernel_status"]) == (None, "denied", "denied"),
           "kernel memory that was not read: FREED is not known", row)


def main():
    if not NUMBER or not need("counters", "kernel memory that becomes free"):
        return 0
    checks = [check_alone, check_both]
    if need("caps", "kernel memory that may not be read"):
        checks.append(check_unread)
    run_checks(checks)
    return exit_code()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--hold"]:
        hold(sys.argv[2])
    else:
        see_own_processes_only()
        sys.exit(main())
