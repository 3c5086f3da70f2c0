# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A file system that stops answering (stuck.c)."""

import subprocess

from outcome import O


class Process:
    """A process that keeps its mmap_lock until close(); it maps these files, too."""

    def __init__(self, directory, *maps):
        self.child = subprocess.Popen(("unshare", "-m", O + "/stuck", "mmap", directory, *maps), stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True)
        self.pid = int(self.child.stdout.readline())

    def close(self):
        self.child.stdin.close()
        self.child.wait()
        self.child.stdout.close()


class Server:
    """DIR/file is a copy of a file, and hangs after hang()."""

    def __init__(self, directory, path, *owner):
        self.child = subprocess.Popen((O + "/stuck", "serve", directory, path, *map(str, owner)), stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True)
        if self.child.stdout.readline() != "ready\n":
            raise RuntimeError("the file system could not be mounted")

    def hang(self):
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        self.child.stdout.readline()

    def close(self):
        self.child.stdin.close()
        self.child.wait()
        self.child.stdout.close()
