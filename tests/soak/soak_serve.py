#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""soak_serve.py SECONDS FLEET CHURN [ARGUMENT...]: zmem-bpf serve, while CHURN starts and ends other
processes. Three clients send requests without a pause: for every page, with refused queries, and with
aborts at any point. Every response must be valid and fresh. After FLEET and a fifth of the time, neither
process of serve may hold more of anything."""

import http.client
import json
import os
import re
import socket
import struct
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../support")

from holdings import Heap, Noise, compare, fleet, holdings, least  # noqa: E402
from outcome import exit_code, result, wait_until  # noqa: E402
from serving import Serve  # noqa: E402

INTERVAL_S = 0.1  # the least that it takes
LINE = re.compile(r'(#.*|[a-z_]+(\{([a-z_]+="([^"\\]|\\.)*",?)*\})? \S+)$')


def metrics(text, end=""):
    lines = text.split("\n")
    assert lines.pop() == "" and (not end or lines[-1] == end), "the end is %r" % text[-60:]
    wrong = [line for line in lines if not LINE.match(line)]
    assert not wrong, wrong[:3]
    assert "\nzmem_collect_failures_total 0\n" in text, "collecting has failed"
    return float(re.search(r"^zmem_collections_total (\S+)$", text, re.M)[1])


def open_metrics(text):
    return metrics(text, "# EOF")


def snapshot(rows="processes", least_rows=1):
    def check(text):
        document = json.loads(text)
        assert document["schema"] == "zmem.snapshot" and len(document[rows]) >= least_rows, text[:300]
        return document["collection"]["processes_seen"]
    return check


def page(text):
    assert text.startswith("<!DOCTYPE html>") and text.rstrip().endswith("</html>"), (text[:60], text[-60:])


def health(text):
    assert re.match(r"ok, last snapshot \d+\.\d{3} s ago\n$", text), text


def refused(text):
    assert text.endswith("\n") and text.count("\n") == 1, text[:300]


QUERIES = tuple(("/snapshot.json" + query, {}, 200, check) for query, check in (
    ("", snapshot()), ("?group_by=name&sort=swap&top=3", snapshot("groups")), ("?filter=%5Esoak_serve%7Cchurn", snapshot()),
    ("?group_by=unit&reverse=1", snapshot("groups")), ("?pid=%d&sort=pid" % os.getpid(), snapshot()), ("?user=root&min=1M", snapshot()),
    ("?group_by=cgroup&cgroup=*", snapshot("groups", 0)), ("?group_by=user&sort=rss", snapshot("groups")),
    ("?filter=nobody-has-that-name", snapshot("processes", 0))))
PAGES = (
    ("/metrics", {}, 200, metrics),
    ("/metrics", {"Accept": "application/openmetrics-text"}, 200, open_metrics),
    QUERIES[0], QUERIES[1], ("/page.json", {}, 200, json.loads), ("/history.json", {}, 200, json.loads),
    ("/files.json", {}, 200, json.loads),
    ("/", {}, 200, page), ("/healthz", {}, 200, health),
    ("/nope", {}, 404, refused), ("/snapshot.json?sort=z", {}, 400, refused), ("/snapshot.json?filter=(", {}, 400, refused),
    ("/snapshot.json?pid=4194304", {}, 404, refused), ("/metrics?" + "x" * 3000, {}, 414, refused),
    ("/metrics", {"Host": "evil.example"}, 421, refused), ("/metrics", {"Content-Length": "5"}, 413, refused),
)
GET = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALF = b"GET /metr"
# The bytes to send, how many bytes of the answer are read, and whether a reset ends the connection.
BROKEN_OFF = (
    (b"", 0, False), (HALF, 0, True), (GET[:-2] % b"/metrics", 0, True), (GET % b"/metrics", 0, False),
    (GET % b"/snapshot.json", 0, True), (GET % b"/", 100, True), (GET % b"/page.json", 100, False),
    (GET % b"/healthz" * 5 + GET[:20], 20, True), (b"\0\xff" * 300 + b"\r\n\r\n", 0, True),
    (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc", 10, True),
)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Scrapers:
    """Three clients. Errors are in `wrong`."""

    def __init__(self, serve, path):
        self.serve, self.path = serve, path
        self.wrong, self.answers, self.broken, self.most, self.collections = [], 0, 0, 0, 0
        self.answered = 0.0  # when the last metrics came
        self.lock = threading.Lock()

    def ask(self, connection, asked):
        target, headers, code, check = asked
        start = time.monotonic()
        connection.request("GET", target, headers=headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        assert answer.status == code, "%s is answered %d, %s" % (target, answer.status, text[:100])
        found = check(text)
        if check in (metrics, open_metrics):
            self.count(start, found)
        with self.lock:
            self.answers += 1
            if target.startswith("/snapshot") and found:
                self.most = max(self.most, found)

    def count(self, start, collections):
        """If the last answer is older than the interval, the snapshot must be a newer one."""
        least_one = start - self.answered > INTERVAL_S
        assert collections >= self.collections + least_one, "collection %s is not fresh, after %s" % (
            collections, self.collections)
        self.answered, self.collections = time.monotonic(), collections

    def keep_asking(self, stop):
        """Sends requests on one persistent connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.serve.port, timeout=30)
        self.turn(stop, PAGES, lambda asked: self.ask(connection, asked))
        connection.close()

    def ask_anew(self, stop):
        """Sends each request on a new connection to the Unix socket."""
        def once(asked):
            connection = UnixConnection(self.path)
            try:
                self.ask(connection, asked)
            finally:
                connection.close()
        self.turn(stop, QUERIES, once)

    def break_off(self, stop):
        def once(broken):
            data, size, abrupt = broken
            with socket.create_connection(("127.0.0.1", self.serve.port), 30) as s:
                s.sendall(data)
                if size:
                    assert s.recv(size), "no answer to %r" % data[:40]
                if abrupt:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.broken += 1
            time.sleep(0.005)  # leaves time for the other clients
        self.turn(stop, BROKEN_OFF, once)

    def leave_halves(self):
        """Ends connections after half a request: serve closes them after ten seconds."""
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", self.serve.port), 30) as s:
                s.sendall(HALF)
            self.broken += 1

    def turn(self, stop, things, do):
        """Does all things at least once."""
        while True:
            for thing in things:
                try:
                    do(thing)
                except Exception as error:  # any error is a failure
                    self.wrong.append("%r: %r" % (thing[:2], error))
                    if len(self.wrong) > 100:
                        return
            if stop.is_set():
                return

    def go(self, seconds):
        stop = threading.Event()
        threads = [threading.Thread(target=target, args=(stop,)) for target in
                   (self.keep_asking, self.ask_anew, self.break_off)]
        for thread in threads:
            thread.start()
        time.sleep(seconds)  # time itself: the clients load serve for so long
        stop.set()
        for thread in threads:
            thread.join()


def files(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def files_soon(pid):
    time.sleep(0.05)
    return files(pid)


def settled(serve, heap, pids, idle):
    """What both processes hold without other clients, apart from the list of files, which both keep."""
    samples = []
    result(wait_until(lambda: files(pids[1]) <= idle), "serve: aborted connections are closed", files(pids[1]))
    for _ in range(8):
        time.sleep(1.5 * INTERVAL_S)  # time itself: each sample is of another snapshot
        serve.get("/page.json")
        files_size = len(serve.get("/files.json").body)
        samples.append([holdings(pid, heap.read(i) - files_size) for i, pid in enumerate(pids)])
    return [least([sample[i] for sample in samples]) for i in range(len(pids))]


def end(serve, directory, pids):
    result(serve.stop() == 0, "serve: exit code 0 after SIGTERM", serve.process.returncode)
    said = [line for line in serve.said().splitlines() if "listening on" not in line]
    result(not said, "serve: no message", said)
    result(not any(os.path.exists("/proc/%d" % pid) for pid in pids), "serve: no process is left")
    result(not os.listdir(directory), "serve: no socket is left", os.listdir(directory))
    with socket.socket() as s:
        result(s.connect_ex(("127.0.0.1", serve.port)) != 0, "serve: the port is closed")


def main():
    if len(sys.argv) < 4:
        print("not ok serve: usage: soak_serve.py SECONDS FLEET CHURN [ARGUMENT...]")
        return 1
    seconds, heap = int(sys.argv[1]), Heap()
    with tempfile.TemporaryDirectory() as directory, \
            Serve("--files", "-i", str(INTERVAL_S), listen="127.0.0.1:0,unix:%s/socket" % directory,
                  environ=dict(os.environ, **heap.environ())) as serve:
        scrapers = Scrapers(serve, directory + "/socket")
        pids = (serve.process.pid, serve.http_pid())
        serve.get("/page.json")
        # With the first snapshot, and without the connection of this question.
        idle = min(files_soon(pids[1]) for _ in range(20))
        with fleet(sys.argv[2]):
            scrapers.go(0)
        most = scrapers.most
        with Noise(sys.argv[3:]):
            scrapers.go(seconds / 5)
            before = settled(serve, heap, pids, idle)
            scrapers.leave_halves()
            scrapers.go(seconds * 4 / 5)
            after = settled(serve, heap, pids, idle)
        result(not scrapers.wrong, "serve: every response is valid", scrapers.wrong[:3])
        result(scrapers.collections > 1, "serve: collections", scrapers.collections)
        for who, a, b in zip(("serve, collecting", "serve, HTTP"), before, after):
            compare(who, a, b, scrapers.most > most)
        print("# serve: %d answers, %d aborted, %d collections" % (
            scrapers.answers, scrapers.broken, scrapers.collections))
        end(serve, directory, pids)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
