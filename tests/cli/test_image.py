#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The container image: its parts, its size, the same bytes each time; and as Podman runs it, without
root, with three capabilities and a root that cannot be written."""
# needs: plain

import gzip
import hashlib
import io
import json
import os
import re
import shlex
import sys
import tarfile
import tempfile
import time

import paths  # noqa: F401
from outcome import PROGRAM, exit_code, need, read, result, run_checks
from podman import IMAGE, NEEDS, SOURCE, ULIMITS, load, make, own_mounts, podman

BYTES_MAX = 10 << 20  # to download
RUN = ("run", "--rm", *ULIMITS, "--pid", "host", "--network", "host",
       "--read-only", "--cap-drop", "all", "--cap-add", "BPF,PERFMON,SYS_PTRACE", "--security-opt",
       "seccomp=unconfined")


def check_layout(path):
    first = make(path)
    result(make(path) == first, "the same files give the same bytes")
    result(len(first) < BYTES_MAX, "less than 10 MiB", len(first))
    with tarfile.open(path) as tar:
        blobs = {name: tar.extractfile(name).read() for name in tar.getnames()}
    result(all(hashlib.sha256(data).hexdigest() == name.split("/")[-1] for name, data in blobs.items()
               if name.startswith("blobs/")), "each blob has the name of its digest")

    def blob(of):
        return blobs["blobs/sha256/" + of["digest"].split(":")[1]]

    manifest = json.loads(blob(json.loads(blobs["index.json"])["manifests"][0]))
    config, layer = json.loads(blob(manifest["config"])), gzip.decompress(blob(manifest["layers"][0]))
    result(config["config"]["User"] == "65532:65532", "it is not root", config)
    result(config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(layer).hexdigest()], "the digest of the layer")
    with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
        members = {m.name: m for m in tar.getmembers()}
    result("SCHILY.xattr.security.capability" in members["usr/bin/zmem-bpf"].pax_headers, "capabilities in the file")
    result(not [m.name for m in members.values() if m.mode & 0o6022], "nothing is set-uid, or can be written by others")
    result(any("libmicrohttpd" in name for name in members), "the library of serve")
    check_sizes({"download": len(first), "unpacked": len(layer), "libraries": sum(m.size for m in members.values() if ".so" in m.name)})


def check_sizes(sizes):
    """Those that src/doc/fleet.md states are true to a tenth."""
    said = re.search(r"to download \| ([\d.]+) MiB.*unpacked \| ([\d.]+) MiB, of which ([\d.]+) MiB are libraries", read(SOURCE + "/src/doc/fleet.md"), re.S)
    for (name, size), value in zip(sizes.items(), said.groups()):
        result(abs(size / 2**20 - float(value)) < float(value) / 10, "src/doc/fleet.md: " + name, "%.1f MiB" % (size / 2**20))


def check_podman(path):
    if not need(NEEDS, "podman"):
        return
    if why := load(path):
        print("skip podman:", why)
        return
    start = time.monotonic()
    done = podman(*RUN, IMAGE, "-J")
    print("# podman run: %.2f s" % (time.monotonic() - start))
    snapshot = json.loads(done.stdout)
    result(snapshot["source"]["counters"] == "bpf", "the image reads by BPF, without root", snapshot["source"])
    result(any(p["pid"] == os.getpid() and p["pss_bytes"] for p in snapshot["processes"]),
           "the image sees the processes of the host, and their PSS")
    done = podman(*RUN, IMAGE, "-J", "--output", "/x")
    result(done.returncode == 1, "the root cannot be written", done.stderr)


def check_page():
    """The options of src/doc/fleet.md are those that check_podman tries, but for the network of the machine."""
    line = next(c for c in read(SOURCE + "/src/doc/fleet.md").replace("\\\n", " ").split("\n") if c.startswith("podman run "))
    words = [w for option in shlex.split(line)[1:-1] for w in (option.split("=", 1) if option[:2] == "--" else [option])]
    at = words.index("-p")
    host = RUN.index("--network")
    result(words[:at] + words[at + 2:] == list(RUN[:2] + RUN[6:host] + RUN[host + 2:]), "the options of the page", words)


def main():
    if "-static" in PROGRAM:
        print("skip image: it is of the dynamic program")
        return 0
    own_mounts()
    with tempfile.TemporaryDirectory() as directory:
        run_checks((check_layout, check_podman), directory + "/image.tar")
    run_checks((check_page,))
    return exit_code()


sys.exit(main())
