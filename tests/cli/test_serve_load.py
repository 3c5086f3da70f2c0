#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""zmem-bpf serve with many clients, slow clients, few descriptors, and a collector process that hangs or
fails."""

import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from paths import HERE
from outcome import PROGRAM, exit_code, have, need, result, run_checks, same, wait_until
from serving import Answer, Serve

SANITIZED = "-san" in PROGRAM


def check_waiting():
    """A late snapshot delays only the requests that need it."""
    with Serve("-i", "0.1") as serve:
        serve.get("/metrics")
        time.sleep(0.15)  # with -i 0.1 a snapshot is too old then
        os.kill(serve.process.pid, signal.SIGSTOP)
        waiting = [serve.connect() for _ in range(5)]
        for s in waiting:
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        # These come later, so that serve has read the others by then.
        same("collecting takes long: history.json", serve.get("/history.json").code, 200)
        same("collecting takes long: healthz", serve.get("/healthz").code, 200)
        same("collecting takes long: no answer yet", select.select(waiting, [], [], 0)[0], [])
        os.kill(serve.process.pid, signal.SIGCONT)
        same("collecting continues: all are answered", [Answer(s.recv(65536)).code for s in waiting], [200] * 5)
        for s in waiting:
            s.close()
        subprocess.run(["prlimit", "--pid", str(serve.process.pid), "--nofile=3:"], check=True)
        time.sleep(0.15)  # with -i 0.1 a snapshot is too old then
        same("collecting fails: metrics", serve.get("/metrics").code, 503)
        same("collecting fails: healthz", serve.get("/healthz").code, 503)
        subprocess.run(["prlimit", "--pid", str(serve.process.pid), "--nofile=1024:"], check=True)
        time.sleep(0.15)  # with -i 0.1 a snapshot is too old then
        same("collecting works again: metrics", serve.get("/metrics").code, 200)
        same("collecting works again: healthz", serve.get("/healthz").code, 200)
        result(serve.metric("zmem_collect_failures_total") >= 1, "failures are counted")
    with Serve("-i", "600") as serve:
        for _ in range(10):
            serve.get("/metrics")
        result(serve.metric("zmem_collections_total") <= 2, "ten scrapers cost one collection")


def wait_until_accepted(port):
    """Waits until no connection is pending: a later connection may replace an accepted one."""
    def none_pending():
        with open("/proc/net/tcp", encoding="ascii") as file:
            lines = [line.split() for line in file]
        return any(line[1].endswith(":%04X" % port) and line[3] == "0A" and line[4].endswith(":00000000") for line in lines)

    wait_until(none_pending)


def check_slow():
    """A thousand slow clients do not block a quick one."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    with Serve() as serve:
        slow, codes = [], []
        stop = threading.Event()

        def drip():
            while not stop.wait(0.2):
                for s in slow:
                    try:
                        s.send(b"X-a: b\r\n")
                    except OSError:
                        pass

        thread = threading.Thread(target=drip)
        thread.start()
        for i in range(1000):
            try:
                s = serve.connect(10)
                s.send(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n")
                slow.append(s)
            except OSError:
                pass
            if i % 100 == 99:
                codes.append(serve.get("/metrics").code)
        for _ in range(10):
            codes.append(serve.get("/metrics").code)
        stop.set()
        thread.join()
        same("a thousand slow clients: scrapes", codes, [200] * 20)
        result(serve.metric("zmem_http_connections") <= 128, "a thousand slow clients: connections")
        for s in slow:
            s.close()
        # Clients that send requests and do not read the responses.
        lazy = []
        for _ in range(300):
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            s.connect(("127.0.0.1", serve.port))
            s.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3)
            lazy.append(s)
        wait_until_accepted(serve.port)
        same("clients that do not read: scrapes", [serve.get("/metrics").code for _ in range(5)], [200] * 5)
        for s in lazy:
            s.close()
        same("after slow clients: exit code", serve.stop(), 0)


# Connects 300 times and stays: PORT, and a Python expression that prepares the socket s of the i-th connection.
FLOOD = """
import socket, sys
open_ = []
for i in range(300):
    s = socket.socket()
    eval(sys.argv[2])
    s.connect(("127.0.0.1", int(sys.argv[1])))
    open_.append(s)
print("all are open", flush=True)
sys.stdin.read()
"""
FLOODS = {
    "one address": "None",
    "an address for each connection": 's.bind(("127.%d.%d.1" % (i % 250 + 1, i // 250), 0))',
    "bound to lo": 's.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")',
}


def check_users():
    """A user with many connections closes none of another user's, whatever addresses they have."""
    ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for name, prepare in FLOODS.items() if need("users", "another user floods") else ():
        with Serve("--replay", GUEST) as serve, serve.connect() as kept:
            kept.sendall(ask)
            same(name + ": before", Answer(kept.recv(1000)).code, 200)
            flood = subprocess.Popen([*NOBODY, sys.executable, "-c", FLOOD, str(serve.port), prepare], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE)
            same(name + ": another user floods", flood.stdout.readline(), b"all are open\n")
            wait_until_accepted(serve.port)
            said = b""
            try:
                kept.sendall(ask)
                said = kept.recv(1000)
            except ConnectionError:
                pass
            same(name + ": the connection of root", Answer(said).code, 200)
            same(name + ": a new one of root", serve.get("/healthz").code, 200)
            flood.communicate(timeout=30)
    if not need("mount", "a passed socket of another network namespace"):
        return
    # The kernel does not know it where serve is.
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        with Serve("--replay", GUEST, listen=None, passed=s, prefix=["unshare", "-n"]) as serve:
            with socket.create_connection(s.getsockname(), 30) as c:
                c.sendall(ask)
                same("users are not known: an answer", Answer(c.recv(1000)).code, 200)
            same("users are not known: a line", serve.said().count("the kernel does not name their users"), 1)


NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"] \
    if have("users") else []
GUEST = os.path.realpath(HERE + "/../fixtures/recordings/guest-6.12.zmem")


def sleeps(pid):
    """True if the process sleeps, instead of polling in a loop. On a busy machine it may first wait for a CPU."""
    seen = []

    def often():
        with open("/proc/%d/stat" % pid) as file:
            seen.append(file.read().rsplit(")", 1)[1].split()[0])
        return seen.count("S") > 10

    return wait_until(often)


def check_files_without_descriptors():
    with Serve("--files", "-i", "0.1") as serve:
        for turn in range(2):
            before = len(os.listdir("/proc/%d/fd" % serve.process.pid))
            serve.get("/metrics")
            for few, code in ((5, 503), (before + 64, 200)):
                subprocess.run(["prlimit", "--pid", str(serve.process.pid), "--nofile=%d:" % few], check=True)
                # Until a new document is due, the old one is served without a file.
                result(wait_until(lambda c=code: serve.get("/files.json").code == c),
                       "files, %s descriptors, %d" % ("no" if few == 5 else "enough", turn), "never %d" % code)
                same("files, %s descriptors, %d: again" % ("no" if few == 5 else "enough", turn), serve.get("/files.json").code, code)
        same("files without descriptors: exit code", serve.stop(), 0)


def check_few_files():
    """With few descriptors serve accepts fewer connections, or prints a line with a hint."""
    refused, served, wrong = 0, 0, []
    for files in range(5 if SANITIZED else 4, 20):
        with Serve("--replay", GUEST, prefix=["prlimit", "--nofile=%d:%d" % (files, files)]) as serve:
            try:
                code = serve.get("/metrics").code if serve.port else 0
            except OSError:
                code = 0
            served += code == 200
            if code == 0:
                refused += 1
                lines = [line for line in serve.said().splitlines() if "listening on" not in line]
                if serve.wait() != 1 or not lines or \
                        not all(line.endswith("Too many open files (ulimit -n 256)") for line in lines):
                    wrong.append((files, serve.wait(), lines))
    same("few files: an answer, or a hint", wrong, [])
    result(refused and served, "few files: some limits are enough, some are not", (refused, served))
    if need("counters", "files without descriptors"):
        check_files_without_descriptors()
    with Serve("-i", "0.1", prefix=["prlimit", "--nofile=32:32"]) as serve:
        idle = [serve.connect() for _ in range(40)]
        result(sleeps(serve.http_pid()), "more connections than files: the HTTP process sleeps")
        used = len(os.listdir("/proc/%d/fd" % serve.http_pid()))
        same("more connections than files: two descriptors are free", used, 30)
        same("more connections than files: a scrape", serve.get("/metrics").code, 200)
        time.sleep(0.15)  # with -i 0.1 a snapshot is too old then
        same("more connections than files: the next snapshot", serve.get("/metrics").code, 200)
        for s in idle:
            s.close()
        same("more connections than files: exit code", serve.stop(), 0)


def check_no_files():
    """While no descriptor is free, an open connection gets 503 and a new one waits."""
    with tempfile.TemporaryDirectory() as directory:
        program, guest = directory + "/zmem-bpf", directory + "/guest"
        os.chmod(directory, 0o755)
        shutil.copy(PROGRAM, program)
        shutil.copy(GUEST, guest)
        with Serve("--replay", guest, "-i", "0.1", prefix=[*NOBODY, "sh", "-c", 'shift; exec "$0" "$@"', program]) as serve:
            ask = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
            same("no file left: before", serve.get("/metrics").code, 200)
            http = serve.http_pid()
            with serve.connect() as there:
                there.sendall(ask)
                there.recv(100)
                used = len(os.listdir("/proc/%d/fd" % http))
                subprocess.run([*NOBODY, "prlimit", "--pid", str(http), "--nofile=%d:" % used], check=True)
                with serve.connect() as late:
                    late.sendall(ask)
                    result(sleeps(http), "no file left: the HTTP process sleeps")
                    there.recv(1 << 20)
                    there.sendall(ask)
                    result(b" 503 " in there.recv(1000).split(b"\r\n")[0], "no file left: 503")
                    result("receiving a document: Too many open files (ulimit -n 256)" in serve.said(), "no file left: message",
                           serve.said())
                    subprocess.run([*NOBODY, "prlimit", "--pid", str(http), "--nofile=100:"], check=True)
                    result(b" 200 " in late.recv(1000).split(b"\r\n")[0], "files again: the new connection is answered")
            same("files again: a scrape", serve.get("/metrics").code, 200)
            same("files again: exit code", serve.stop(), 0)


run_checks((check_waiting, check_slow, check_users, check_few_files, check_no_files))
sys.exit(exit_code())
