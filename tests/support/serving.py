# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""zmem-bpf serve for tests: starts it on a port that the kernel chooses, and sends requests over plain sockets."""

import os
import re
import signal
import socket
import subprocess
import tempfile

from outcome import PROGRAM, wait_until

PATIENCE = 30


class Answer:
    def __init__(self, data):
        head, _, self.body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.raw, self.code = data, int(lines[0].split()[1]) if len(lines[0].split()) > 1 else 0
        self.headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}

    @property
    def text(self):
        return self.body.decode()


class Serve:
    """A running serve. The end of its context stops it. `passed` is a socket, as systemd passes it."""

    def __init__(self, *args, listen="127.0.0.1:0", prefix=(), environ=None, passed=None):
        self.log = tempfile.TemporaryFile("w+")
        command = [*prefix, PROGRAM, "serve", *args]
        if listen:
            command += ["--listen", listen]
        if passed:
            command = ["sh", "-c", 'exec 3<&%d; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"' % passed.fileno(), "sh", *command]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=self.log, env=environ, pass_fds=[passed.fileno()] if passed else ())
        self.port = self.path = None
        wait_until(lambda: "listening on" in self.said() or self.process.poll() is not None, PATIENCE)
        if found := re.search(r"listening on http://(\S+):(\d+)/", self.said()):
            self.port = int(found[2])
        if path := re.search(r"listening on unix:(\S+)", self.said()):
            self.path = path[1]

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def http_pid(self):
        """The process that speaks HTTP."""
        with open("/proc/%d/task/%d/children" % (self.process.pid, self.process.pid)) as file:
            children = [int(pid) for pid in file.read().split()]
        return children[0] if children else None

    def connect(self, timeout=PATIENCE):
        if self.port is None:
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(timeout)
            s.connect(self.path)
            return s
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def send(self, data, timeout=PATIENCE, half_close=False):
        """Sends bytes, and closes its sending half if asked to. Returns all that is received until the other end closes."""
        with self.connect(timeout) as s:
            try:
                s.sendall(data)
                if half_close:
                    s.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            parts = []
            try:
                while True:
                    part = s.recv(1 << 16)
                    if not part:
                        break
                    parts.append(part)
            except ConnectionResetError:
                pass
            return b"".join(parts)

    def get(self, path, method="GET", host="localhost", timeout=PATIENCE, **headers):
        head = "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n" % (method, path, host)
        head += "".join("%s: %s\r\n" % (k.replace("_", "-"), v) for k, v in headers.items())
        return Answer(self.send((head + "\r\n").encode(), timeout))

    def metric(self, series):
        """The value of a series of /metrics."""
        for line in self.get("/metrics").text.split("\n"):
            if line.startswith(series + " "):
                return float(line.rsplit(" ", 1)[1])
        return None

    def wait(self):
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "never ended"

    def stop(self, number=signal.SIGTERM):
        """Sends a signal. Returns the exit code."""
        if self.process.poll() is None:
            os.kill(self.process.pid, number)
        return self.wait()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.stop()
        self.log.close()
