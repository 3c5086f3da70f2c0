# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""exchange.py DIR SHAPE TARGET: in DIR, makes a file "a" and beside it a "link" to TARGET, a "fifo",
or, instead of the file, a directory and a "dir" link to TARGET; exchanges the two names until it
is killed or its parent has ended."""
import ctypes
import os
import sys

AT_FDCWD = -100
RENAME_EXCHANGE = 2


def make(shape, target):
    for name in ("a", "b"):
        try:
            os.unlink(name)
        except OSError:
            pass
    try:
        if shape == "dir":
            os.mkdir("a")
        else:
            os.close(os.open("a", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except OSError:
        pass
    try:
        if shape == "fifo":
            os.mkfifo("b", 0o666)
        else:
            os.symlink(target, "b")
    except OSError:
        pass


def main():
    os.chdir(sys.argv[1])
    os.umask(0)
    parent = os.getppid()
    rename = ctypes.CDLL(None).renameat2
    while os.getppid() == parent:
        make(sys.argv[2], sys.argv[3])
        for _ in range(500):
            rename(AT_FDCWD, b"a", AT_FDCWD, b"b", RENAME_EXCHANGE)


main()
