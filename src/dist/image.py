#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes a container image, without a daemon and without root: image.py PROGRAM VERSION OUT.tar

The image is an OCI layout in a tar archive with one layer: the program, its shared libraries with
libmicrohttpd, and a user. The same files give the same bytes. The program has the three capabilities
in its file, permitted and not effective, so that it also starts where they are not given.
"""

import gzip
import hashlib
import io
import json
import os
import platform
import re
import struct
import subprocess
import sys
import tarfile
import tempfile

CAPABILITIES = 1 << 19 | 1 << 38 | 1 << 39  # CAP_SYS_PTRACE, CAP_PERFMON, CAP_BPF
USER = 65532
HTTP = "libmicrohttpd.so.12"
ARCH = {"x86_64": "amd64", "aarch64": "arm64"}


def libraries(path):
    """The files that the dynamic linker loads for it, by the name that it looks for."""
    out = subprocess.run(("ldd", path), stdout=subprocess.PIPE, text=True, check=True).stdout
    found = dict(re.findall(r"^\s*(\S+) => (/\S+) ", out, re.M))
    linker = re.search(r"^\s*(/\S*ld-linux\S*) \(", out, re.M)
    return found, linker and linker[1]


def http_library():
    out = subprocess.run(("/sbin/ldconfig", "-p"), stdout=subprocess.PIPE, text=True, check=True).stdout
    found = re.search(r"^\s*%s \(.*=> (\S+)$" % re.escape(HTTP), out, re.M)
    if not found:
        sys.exit("image: %s is not installed: apt-get install libmicrohttpd12" % HTTP)
    return found[1]


def stripped(path):
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(("strip", "-o", out.name, path), check=True)
        with open(out.name, "rb") as file:
            return file.read()


def content(path):
    with open(path, "rb") as file:
        return file.read()


def capability_text():
    """struct vfs_cap_data, revision 2 (include/uapi/linux/capability.h), as text of a PAX header."""
    data = struct.pack("<IIIII", 0x02000000, CAPABILITIES & 0xFFFFFFFF, 0, CAPABILITIES >> 32, 0)
    return data.decode("utf-8", "surrogateescape")


def layer(program):
    http = http_library()
    files, linker = libraries(program)
    files.update(libraries(http)[0])
    files[HTTP] = http
    entries = {"usr/bin/zmem-bpf": (stripped(program), 0o755),
               linker.lstrip("/"): (content(linker), 0o755),
               "etc/passwd": (b"zmem:x:%d:%d::/:/sbin/nologin\n" % (USER, USER), 0o644),
               "etc/group": (b"zmem:x:%d:\n" % USER, 0o644)}
    for name, path in files.items():
        entries[os.path.join(os.path.dirname(path).lstrip("/"), name)] = (content(path), 0o755)
    directories = {"tmp", "proc", "sys"}
    for path in entries:
        while os.path.dirname(path):
            path = os.path.dirname(path)
            directories.add(path)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(directories):
            info = tarfile.TarInfo(path)
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(info)
        for path, (data, mode) in sorted(entries.items()):
            info = tarfile.TarInfo(path)
            info.size, info.mode = len(data), mode
            if path == "usr/bin/zmem-bpf":
                info.pax_headers["SCHILY.xattr.security.capability"] = capability_text()
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def main():
    program, version, path = sys.argv[1:]
    tar = layer(program)
    packed = gzip.compress(tar, 9, mtime=0)
    blobs = {}

    def add(data, kind, **more):
        digest = hashlib.sha256(data).hexdigest()
        blobs["blobs/sha256/" + digest] = data
        return {"mediaType": "application/vnd.oci.image." + kind, "digest": "sha256:" + digest, "size": len(data), **more}

    arch = ARCH[platform.machine()]
    config = {
        "created": "1970-01-01T00:00:00Z", "architecture": arch, "os": "linux",
        "config": {"User": "%d:%d" % (USER, USER), "Entrypoint": ["/usr/bin/zmem-bpf"],
                   "Cmd": ["serve", "--listen", "0.0.0.0:19647"],
                   "ExposedPorts": {"19647/tcp": {}}, "Labels": {
                       "org.opencontainers.image.title": "zmem-bpf", "org.opencontainers.image.version": version,
                       "org.opencontainers.image.licenses": "GPL-2.0-only OR BSD-2-Clause"}},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(tar).hexdigest()]}}
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": add(json.dumps(config, sort_keys=True).encode(), "config.v1+json"),
                "layers": [add(packed, "layer.v1.tar+gzip")]}
    index = {"schemaVersion": 2, "manifests": [
        add(json.dumps(manifest, sort_keys=True).encode(), "manifest.v1+json",
            platform={"architecture": arch, "os": "linux"},
            annotations={"org.opencontainers.image.ref.name": "zmem-bpf:" + version})]}
    blobs["index.json"] = json.dumps(index, sort_keys=True).encode()
    blobs["oci-layout"] = b'{"imageLayoutVersion":"1.0.0"}'
    with tarfile.open(path + ".tmp", "w") as out:
        for name, data in sorted(blobs.items()):
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o644
            out.addfile(info, io.BytesIO(data))
    os.replace(path + ".tmp", path)
    print("%s: %.1f MiB to download, %.1f MiB unpacked" % (path, len(packed) / 2**20, len(tar) / 2**20))


main()
