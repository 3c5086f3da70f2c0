# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""held.py COMMAND...: runs it until it waits for a reader of its stdout, or to
the pipe behind --output, and prints the writing thread's "CapPrm CapEff CapBnd"; then "fine", or
what a thread has that it must not."""
import fcntl
import os
import subprocess
import sys
import time

SMALLEST = 4096


def status(path):
    with open(path + "/status") as file:
        return {line.split(":")[0]: line.split(":")[1].strip() for line in file}


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
        read_end = os.open(argv[argv.index("--output") + 1], os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(read_end, fcntl.F_SETPIPE_SZ, SMALLEST)
    child = subprocess.Popen(argv, stdout=write_end, stderr=subprocess.DEVNULL)
    os.close(write_end)
    room = bytearray(4)
    while child.poll() is None:
        fcntl.ioctl(read_end, 0x541B, room)  # FIONREAD
        if int.from_bytes(room, sys.byteorder) == SMALLEST:
            break
        time.sleep(0.01)
    base = f"/proc/{child.pid}"
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
