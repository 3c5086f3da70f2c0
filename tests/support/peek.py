# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""peek.py FIFO COMMAND...: runs a command that writes to the fifo and, while it waits for somebody
to read, says whether this user can read its memory and environment, and trace it."""
import ctypes
import errno
import fcntl
import os
import subprocess
import sys
import time

PTRACE_SEIZE = 0x4206
FIONREAD = 0x541B
SMALLEST = 4096


def try_open(path):
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError as error:
        return errno.errorcode[error.errno]
    return "opened"


def main():
    fifo = os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(fifo, fcntl.F_SETPIPE_SZ, SMALLEST)
    child = subprocess.Popen(sys.argv[2:], stderr=subprocess.DEVNULL)
    room = bytearray(4)
    while child.poll() is None:
        fcntl.ioctl(fifo, FIONREAD, room)
        if int.from_bytes(room, sys.byteorder) == SMALLEST:
            break
        time.sleep(0.01)
    said = [f"{name} {try_open(f'/proc/{child.pid}/{name}')}" for name in ("mem", "environ")]
    libc = ctypes.CDLL(None, use_errno=True)
    failed = libc.ptrace(PTRACE_SEIZE, child.pid, None, None) < 0
    said.append(errno.errorcode[ctypes.get_errno()] if failed else "attached")
    print(", ".join(said))
    child.kill()
    child.wait()


main()
