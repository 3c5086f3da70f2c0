# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs on a terminal: Pty has the bytes that they write, Tmux the screen that these make."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time

from outcome import result, wait_until

PATIENCE = 60  # seconds after which something is stuck


def headings_at(screen):
    """The line of the headings of the list of top."""
    return next((i for i, line in enumerate(screen.splitlines()) if re.search(r"\bPID\b", line)), -1)


class Pty:
    """A program on its own pseudo-terminal. `modes`: the modes of the terminal before the start."""

    def __init__(self, argv, rows=24, columns=80, **environment):
        self.master, self.slave = pty.openpty()
        self.resize(rows, columns)
        self.modes = termios.tcgetattr(self.slave)
        self.data, self.kind = b"", environment.get("TERM") or ""
        env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES")}
        env.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        env.update(environment)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.close(self.master)
                os.login_tty(self.slave) if hasattr(os, "login_tty") else self.become_leader()
                for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE):
                    signal.signal(number, signal.SIG_DFL)
                os.execve(argv[0], argv, {k: v for k, v in env.items() if v is not None})
            finally:
                os._exit(127)

    def become_leader(self):
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        for fd in range(3):
            os.dup2(self.slave, fd)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        """The bytes that the program writes in that time."""
        end, chunk = time.monotonic() + seconds, b""
        while time.monotonic() < end:
            ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            if ready:
                try:
                    chunk += os.read(self.master, 65536)
                except OSError:  # EIO: no process has it open
                    break
        self.data += chunk
        return chunk

    def read_until(self, what):
        """Reads until `what` appears. False if it does not."""
        end = time.monotonic() + PATIENCE
        while what not in self.data and time.monotonic() < end:
            self.read(0.05)
        return what in self.data

    def type(self, keys):
        os.write(self.master, keys)

    def wait(self, options=0, patience=PATIENCE):
        """Waits until the program ends, with WUNTRACED also until it stops. Returns the wait status or None."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            self.read(0.02)
            pid, status = os.waitpid(self.pid, options | os.WNOHANG)
            if pid:
                self.read(0.05)
                return status
        return None

    def quit(self):
        """Types q until the program ends: a q right after an escape is part of a sequence. Returns the wait status."""
        status, end = None, time.monotonic() + PATIENCE
        while status is None and time.monotonic() < end:
            self.type(b"q")
            status = self.wait(patience=0.5)
        return status

    def restored(self):
        return termios.tcgetattr(self.slave) == self.modes

    def close(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        for fd in (self.master, self.slave):
            if fd >= 0:
                os.close(fd)


class Tmux:
    """A program in its own tmux, which emulates the terminal."""

    def __init__(self, argv, columns=80, rows=24, **environment):
        self.directory = tempfile.mkdtemp()
        self.socket = self.directory + "/socket"
        self.log = self.directory + "/error"
        env = "".join(" %s=%s" % item for item in environment.items())
        words = " ".join("'%s'" % word for word in argv)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows),
                  "env LC_ALL=C.UTF-8%s %s; echo exit code $?; exec sleep 1000" % (env, words))

    def tmux(self, *args):
        return subprocess.run(("tmux", "-u", "-S", self.socket) + args, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=dict(os.environ, LC_ALL="C.UTF-8"),
                              check=False, timeout=PATIENCE).stdout.decode("utf-8", "replace")

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def until(self, good):
        """The first screen for which good(screen) holds, or the last screen."""
        screens = []

        def seen():
            screens[:] = [self.screen()]
            return good(screens[0])

        wait_until(seen, PATIENCE)
        return screens[0]

    def shows(self, name, seen):
        """A check that a screen comes which has a text, or of which seen(screen) is true. Returns it."""
        good = seen if callable(seen) else lambda screen: seen in screen
        screen = self.until(good)
        result(good(screen), name, screen)
        return screen

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()

    def close(self):
        self.tmux("kill-server")
        # The server removes its socket when it ends, perhaps meanwhile.
        shutil.rmtree(self.directory, ignore_errors=True)
