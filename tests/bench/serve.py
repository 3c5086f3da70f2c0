#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""serve.py: the cost of zmem-bpf serve on W1 (2,000 processes): the time of /metrics without collecting,
and the CPU share of a scrape every 15 s. Prints values; asserts nothing."""

import os
import socket
import subprocess
import sys
import time

import paths  # noqa: F401
from outcome import O
from serving import Serve

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "0"))
ASK = b"GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: application/openmetrics-text\r\n\r\n"


def tell(name, value, unit):
    print("  %-58s %10.3f %s" % (name, value, unit))


def answer(connection, path):
    """The body, and its time in ms."""
    start = time.perf_counter()
    connection.sendall(ASK % path)
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(1 << 20)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(next(line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")))
    while len(body) < length:
        body += connection.recv(1 << 20)
    return body, 1000 * (time.perf_counter() - start)


def cpu(body):
    """Seconds of each process so far."""
    return {line.split('"')[1]: float(line.split()[-1]) for line in body.decode().split("\n")
            if line.startswith("process_cpu_seconds_total{")}


def figure(body, name):
    return next(float(line.split()[-1]) for line in body.decode().split("\n") if line.startswith(name + " "))


def quantiles(name, times):
    times.sort()
    for q in (0.5, 0.99):
        tell("%s, p%d" % (name, 100 * q), times[min(int(len(times) * q), len(times) - 1)], "ms")


def main():
    workload = subprocess.Popen([O + "/workload", "fork:2000x256"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if workload.stdout.readline() != b"READY\n":
        print("serve: W1 did not start", file=sys.stderr)
        return 1
    print("serve: W1, 2,000 processes")
    with Serve("-i", "3600") as serve, socket.create_connection(("127.0.0.1", serve.port)) as connection:
        answer(connection, b"/metrics")
        for path in (b"/metrics", b"/snapshot.json?group_by=name", b"/snapshot.json", b"/page.json"):
            times = [answer(connection, path)[1] for _ in range(1000 if path == b"/metrics" else 100)]
            quantiles("%s beyond collecting" % path.decode(), times)
    with Serve("-i", "0.1") as serve, socket.create_connection(("127.0.0.1", serve.port)) as connection:
        whole, collecting = [], []
        for _ in range(40):
            time.sleep(0.15)
            body, ms = answer(connection, b"/metrics")
            whole.append(ms)
            collecting.append(1000 * figure(body, "zmem_collect_duration_seconds"))
        quantiles("/metrics with a collection", whole)
        quantiles("the collection itself", collecting)
    with Serve() as serve, socket.create_connection(("127.0.0.1", serve.port)) as connection:
        answer(connection, b"/metrics")
        time.sleep(15)  # time itself: the interval of the scrapes
        before, rounds = cpu(answer(connection, b"/metrics")[0]), ROUNDS or 8
        for _ in range(rounds):
            time.sleep(15)  # time itself: the interval of the scrapes
            body, _ = answer(connection, b"/metrics")
        after = cpu(body)
        for role in ("collector", "http"):
            tell("CPU of the %s, scraped every 15 s" % role, 100 * (after[role] - before[role]) / (15 * rounds), "%")
            tell("resident memory of the %s" % role,
                 figure(body, 'process_resident_memory_bytes{role="%s"}' % role) / 2 ** 20, "MiB")
        tell("CPU of both, scraped every 15 s",
             100 * sum(after[r] - before[r] for r in after) / (15 * rounds), "%")
    workload.stdin.close()
    workload.wait()
    return 0


sys.exit(main())
