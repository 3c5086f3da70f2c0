# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs in a memory cgroup (oom.Group): one that reads a file again and again, one that holds memory and sleeps."""

import contextlib
import os
import subprocess
import sys

MIB = 1 << 20

def inside(group, *args, **how):
    """Runs a program in a cgroup."""
    join = "echo $$ >%s/cgroup.procs; exec \"$@\"" % group.path
    return subprocess.Popen(("sh", "-c", join, "sh", *args), **how)


@contextlib.contextmanager
def running(*args, **how):
    process = inside(*args, **how)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()


READER = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
rounds = 0
while True:
    os.lseek(fd, 0, 0)
    while os.read(fd, 1 << 20):
        pass
    rounds += 1
    if rounds >= 2:
        print(flush=True)
"""
SLEEPER = """
import mmap, sys
area = mmap.mmap(-1, int(sys.argv[1]), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
area.madvise(15)  # MADV_NOHUGEPAGE
for at in range(0, len(area), mmap.PAGESIZE):
    area[at] = 1
print(flush=True)
sys.stdin.read()
"""


def random_file(path, mib):
    """A file that is not in the page cache."""
    with open(path, "wb") as file:
        for _ in range(mib):
            file.write(os.urandom(MIB))
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@contextlib.contextmanager
def reader(group, path):
    """Reads it in the cgroup; it has been read twice. A line follows each further time."""
    with running(group, sys.executable, "-c", READER, path, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield process


@contextlib.contextmanager
def sleeper(group, size):
    with running(group, sys.executable, "-c", SLEEPER, str(size), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield process
