# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""held.py COMMAND...: runs COMMAND until it waits to write its output, and prints "CapPrm CapEff
CapBnd" of the thread that writes; then "fine", or what a thread has that it must not. The output
goes to a pipe that is full from the start, so its first byte waits, however short it is."""
import fcntl
import os
import re
import subprocess
import sys
import time

SMALLEST = 4096


def text(path):
    with open(path) as file:
        return file.read()


def status(path):
    return dict(re.findall(r"(\w+):\s*(.*)", text(path + "/status")))


def wrong(thread, writer):
    for field in ("CapInh", "CapAmb"):
        if int(thread[field], 16):
            yield f"{field} {thread[field]}"
    if int(thread["CapPrm"], 16) & ~int(writer["CapPrm"], 16):
        yield f"CapPrm {thread['CapPrm']}"
    if thread["NoNewPrivs"] != "1":
        yield "new privileges"


def main():
    argv = sys.argv[1:]
    read_end, write_end = os.pipe()
    if "--output" in argv:
        os.close(read_end)
        path = argv[argv.index("--output") + 1]
        read_end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        os.close(write_end)
        write_end = os.open(path, os.O_WRONLY)
    os.write(write_end, bytes(fcntl.fcntl(read_end, fcntl.F_SETPIPE_SZ, SMALLEST)))
    child = subprocess.Popen(argv, stdout=write_end, stderr=subprocess.DEVNULL)
    os.close(write_end)
    base = f"/proc/{child.pid}"
    while child.poll() is None and "pipe_write" not in text(base + "/wchan"):
        time.sleep(0.01)
    if child.poll() is not None:
        sys.exit(f"ended with {child.returncode} and wrote nothing")
    writer = status(base)
    print(writer["CapPrm"], writer["CapEff"], writer["CapBnd"])
    found = [
        f"thread {tid}: {what}"
        for tid in os.listdir(base + "/task")
        for what in wrong(status(f"{base}/task/{tid}"), writer)
    ]
    print("; ".join(found) or "fine")
    child.kill()
    child.wait()


main()
