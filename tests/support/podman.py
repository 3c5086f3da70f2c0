# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Podman for tests: an image of the program, and containers of it that no other program sees."""

import fcntl
import os
import socket
import struct
import subprocess
import sys

from outcome import PROGRAM, have, result

SOURCE = os.path.realpath(os.path.dirname(os.path.abspath(__file__)) + "/../..")
VERSION = "1.2.3"
IMAGE = "localhost/zmem-bpf:" + VERSION
# The containers read by BPF, with capabilities of their own.
NEEDS = "podman bpf caps cgroups mount"
PODMAN = ("podman", "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs")
# Those of the machine may be more than a container may have here.
ULIMITS = ("--ulimit", "nofile=64:64", "--ulimit", "nproc=64:64")
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def own_mounts(*more):
    """If Podman can be tried: restarts the test with mounts of its own, and with an empty storage. `more` are options of
    unshare."""
    if not have(NEEDS):
        return
    if not os.environ.get("OWN_MOUNTS"):
        os.environ["OWN_MOUNTS"] = "1"
        os.execvp("unshare", ("unshare", "-m", *more, sys.executable, *sys.argv))
    os.makedirs("/var/lib/containers", exist_ok=True)
    for where in ("/var/lib/containers", "/run"):
        subprocess.run(("mount", "-t", "tmpfs", "tmpfs", where), check=True)
    subprocess.run(("umount", "/sys/fs/cgroup/unified"), stderr=subprocess.DEVNULL, check=False)


def loopback_up():
    """In a network namespace of our own."""
    with socket.socket() as s:
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


def make(path):
    """The image as a file, and its bytes."""
    subprocess.run((sys.executable, SOURCE + "/src/dist/image.py", PROGRAM, VERSION, path), check=True,
                   stdout=subprocess.DEVNULL)
    with open(path, "rb") as file:
        return file.read()


def podman(*args):
    return subprocess.run((*PODMAN, *args), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)


def load(path):
    """Loads the image. Returns why Podman, which is here, can run no container, or ""."""
    loaded = podman("load", "-q", "-i", path)
    result(loaded.returncode == 0, "podman accepts the image", loaded.stderr)
    done = podman("run", "--rm", *ULIMITS, "--network", "host", "--cap-drop", "all", IMAGE, "--version")
    if done.returncode and "OCI" in done.stderr:
        return "it cannot run a container here: " + done.stderr.strip().splitlines()[-1]
    return ""
