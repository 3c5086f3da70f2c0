#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# needs: counters
# alone: classes of all RAM are compared
"""zmem-bpf system names the processes that hold kernel memory: pages of pipes and rings are a class of their own, with the
process, and what that class gets the unnamed pages lose. Maps of BPF that no process holds have the file that pins them."""

import contextlib
import ctypes
import json
import os
import struct
import subprocess
import sys

import paths  # noqa: F401
from outcome import PROGRAM, exit_code, need, result, run_checks, wait_until
from test_kernel_memory import MIB, NUMBER, SIZE, Holder, system as call_system

NOISE = 3 * MIB  # what others take and free meanwhile
TRIES = 4
FIRST_PIDS = 0xeffffffc  # the inode of the pid namespace that a machine starts with


class Machine:
    """What `system` says. Each time the classes are all of RAM, to the byte."""

    def __init__(self, *before):
        done = subprocess.run((*before, PROGRAM, "system", "-J", "--exact"), capture_output=True, check=False, timeout=60)
        self.document = json.loads(done.stdout)
        ram = self.document["ram"]
        self.figure = {c["class"]: c for c in ram["classes"] + ram["of_which"]}
        if sum(c["bytes"] or 0 for c in ram["classes"]) != ram["frames_bytes"]:
            result(False, "the classes are all of RAM", ram)

    def bytes(self, name):
        return self.figure[name]["bytes"] or 0

    def part(self, name, pid):
        return next((p for p in self.figure[name]["parts"] if p["pid"] == pid), None)

    def maps(self):
        return self.document["descriptors"]["bpf_maps"] or []


def moved(name, change):
    """A process that holds it; how much each class of `change` is off, and what is said then."""
    for _ in range(TRIES):
        before = Machine()
        with Holder(name) as h:
            if h.known is None:
                raise RuntimeError(name + ": " + h.why)
            now = Machine()
            pid = h.process.pid
        off = {c: now.bytes(c) - before.bytes(c) - change[c] for c in change}
        if max(abs(n) for n in off.values()) <= NOISE:
            break
    return off, now, pid


def check_pages():
    """Pages without a mark go from the unnamed ones to their class, and the part has the process."""
    for name, title in (("packet_ring v3", "packet rings"), ("pipe", "pipes")):
        off, now, pid = moved(name, {"descriptors": SIZE, "unnamed_kernel": 0})
        result(max(abs(n) for n in off.values()) <= NOISE, name + ": the class has it, and unnamed pages do not", off)
        part = now.part("descriptors", pid) or {}
        result(part.get("process") == "test_kernel_memory.py", name + ": a script has its name", part)
        result(part.get("name") == "%s (%d) %s" % (part.get("process"), pid, title) and SIZE <= part["bytes"] < SIZE + SIZE // 50,
               name + ": the process has a part", now.figure["descriptors"]["parts"])
        kinds = {k["kind"]: k["bytes"] for k in now.document["descriptors"]["kinds"]}
        result(kinds[name.split()[0]] >= SIZE and now.document["descriptors"]["bytes"] >= SIZE, name + ": it is in the sum", kinds)


def check_others():
    """Sockets and maps stay in the classes of their pages: there they have a part."""
    for name, figure in (("udp", "sockets"), ("unix", "slab"), ("bpf_map array", "vmalloc")):
        with Holder(name) as h:
            if h.known is None:
                raise RuntimeError(name + ": " + h.why)
            parts = Machine().figure[figure]["parts"]
            part = [p for p in parts if p["pid"] == h.process.pid]
            result(len(part) == 1 and part[0]["bytes"] > 16 * MIB and "(%d) " % h.process.pid in part[0]["name"], "%s: a part of %s" %
                   (name, figure), parts)
            if figure == "vmalloc":
                listed = Machine().maps()
                result(all(m["bytes"] != h.known for m in listed), "a map that a process holds is not of no process", listed)


def check_text():
    with Holder("packet_ring v3") as h:
        done = subprocess.run((PROGRAM, "system", "-l", "--wide"), capture_output=True, text=True, check=False, timeout=60)
        result("(%d) packet" % h.process.pid in done.stdout and "pipes and rings" in done.stdout, "-l names the process", done.stdout[:3000])
        result("of kernel memory by descriptors (zmem-bpf -o +kernel -s kernel)." in done.stdout.replace("\n", " "), "-l says what all hold", done.stdout)


def check_unknown():
    """Not read is another thing than none."""
    done = subprocess.run((PROGRAM, "system", "-J", "--source", "proc"), capture_output=True, check=False, timeout=60)
    document = json.loads(done.stdout)
    figure = next(c for c in document["ram"]["classes"] if c["class"] == "descriptors")
    result(figure["bytes"] is None and figure["reason"] and document["descriptors"]["bytes"] is None and document["descriptors"]["reason"],
           "without BPF it is not known, and why", figure)
    if need("mount", "another pid namespace"):
        held = Machine("unshare", "--pid", "--fork", "--mount-proc").document["descriptors"]
        result(held["bpf_maps"] is None and "pid namespace" in held["bpf_maps_reason"], "in a pid namespace others may hold a map", held)


# ---- maps of no process, in a mount namespace of their own ----


def pinned():
    """Prints what is said of a map while a process holds it, then a file alone, and then nothing."""
    place = "/sys/fs/bpf/zmem-test/deeper"
    said = []
    attr = struct.pack("5I8x16s", 2, 4, 4096, SIZE // 4096, 0, b"zmem_pinned").ljust(128, b"\0")
    fd = call_system(NUMBER[0], 0, attr, 128)
    os.makedirs(place)
    os.symlink("/sys/fs/bpf/zmem-test", "/sys/fs/bpf/another")
    path = ctypes.create_string_buffer((place + "/map").encode())
    # BPF_OBJ_PIN returns no descriptor.
    if ctypes.CDLL(None).syscall(NUMBER[0], 6, struct.pack("QI", ctypes.addressof(path), fd).ljust(128, b"\0"), 128) < 0:
        raise OSError("BPF_OBJ_PIN")

    def look():
        now = Machine()
        mine = [m for m in now.maps() if m["name"] == "zmem_pinned"]
        said.append({"maps": mine, "pid": os.getpid(), "part": now.part("vmalloc", os.getpid()), "vmalloc": now.bytes("vmalloc"),
                     "pinned": [p for p in now.figure["vmalloc"]["parts"] if " pinned " + place in p["name"]]})
        return not mine

    look()
    os.close(fd)
    look()
    said[-1]["text"] = [subprocess.run((PROGRAM, "system", *args), capture_output=True, text=True, check=False, timeout=60).stdout
                        for args in ((), ("-l", "--wide"))]
    os.unlink(place + "/map")
    wait_until(look, 5)
    print(json.dumps([said[0], said[1], said[-1]]))


def check_pinned():
    if not need("mount", "maps of no process"):
        return
    if os.stat("/proc/self/ns/pid").st_ino != FIRST_PIDS:
        print("skip maps of no process: this is not the first pid namespace")
        return
    done = subprocess.run(("unshare", "--mount", "sh", "-c", 'mount -t bpf bpf /sys/fs/bpf && exec "$@"', "sh", sys.executable, "-B",
                           __file__, "--pinned"), capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        raise RuntimeError(done.stderr)
    held, alone, gone = json.loads(done.stdout)
    result(not held["maps"] and held["part"] and SIZE <= held["part"]["bytes"] < SIZE + MIB, "a process holds the map", held)
    result(len(alone["maps"]) == 1 and alone["maps"][0]["path"] == "/sys/fs/bpf/zmem-test/deeper/map" and
           SIZE <= alone["maps"][0]["bytes"] < SIZE + MIB and not alone["part"], "a file alone holds it, by its path", alone)
    result(len(alone["pinned"]) == 1 and alone["pinned"][0]["pid"] is None and alone["pinned"][0]["bytes"] == alone["maps"][0]["bytes"],
           "it is a part of vmalloc", alone["pinned"])
    result(abs(alone["vmalloc"] - held["vmalloc"]) <= NOISE, "and takes as much as before", alone)
    for text in alone["text"]:
        with contextlib.suppress(ValueError):
            text = text[text.index(" no descriptor in a process"):][:300]
        result("/sys/fs/bpf/zmem-test/deeper/map" in text.replace("\n", ""), "the text has its path", text)
    result(not gone["maps"] and held["vmalloc"] - gone["vmalloc"] >= SIZE - NOISE, "it ends with the file", gone)


def main():
    if not NUMBER or not need("counters packet", "owners of kernel memory"):
        return 0
    run_checks((check_pages, check_others, check_text, check_unknown, check_pinned))
    return exit_code()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--pinned"]:
        pinned()
    else:
        sys.exit(main())
