#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs a command on a terminal of a given size.

    pty_run.py ROWS COLUMNS OUTPUT COMMAND...

Its output goes to the file OUTPUT, with \\r\\n as \\n. Prints how many lines of that terminal it took,
and how many of its lines but the last one were too wide; the exit code is the command's. With
PTY_RESIZE="ROWS COLUMNS" in the environment the terminal gets that size after the first empty line.
"""

import fcntl
import os
import pty
import re
import struct
import sys
import termios
import unicodedata


def columns(char):
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def heights(text, width):
    """How many lines of a terminal, which wraps them, each line takes."""
    lines = re.sub("\x1b\\[[0-9;]*m", "", text).split("\n")[:-1]
    return [max(1, -(-sum(map(columns, line)) // (width or 80))) for line in lines]


def run(rows, width, command):
    """Returns the output and the exit code."""
    ready, go = os.pipe()
    pid, fd = pty.fork()
    if pid == 0:
        os.close(go)
        os.read(ready, 1)  # until the terminal has its size
        try:
            os.execvp(command[0], command)
        finally:
            os._exit(127)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, width, 0, 0))
    os.close(ready)
    os.close(go)
    chunks = []
    resize = os.environ.get("PTY_RESIZE")
    while True:
        try:
            chunk = os.read(fd, 65536)
        except OSError:  # EIO: no process has it open any more
            break
        if not chunk:
            break
        chunks.append(chunk)
        if resize and b"\r\n\r\n" in b"".join(chunks):
            fcntl.ioctl(fd, termios.TIOCSWINSZ,
                        struct.pack("HHHH", *map(int, resize.split()), 0, 0))
            resize = None
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return b"".join(chunks).replace(b"\r\n", b"\n"), status


def main():
    rows, width = int(sys.argv[1]), int(sys.argv[2])
    output, status = run(rows, width, sys.argv[4:])
    with open(sys.argv[3], "wb") as file:
        file.write(output)
    lines = heights(output.decode("utf-8", "replace"), width)
    print(sum(lines), sum(height > 1 for height in lines[:-1]))
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
