#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The container image: its parts, its size, the same bytes each time; and as Podman runs it, without
root, with three capabilities and a root that cannot be written. The manifest for Kubernetes: its token and its policy."""

import gzip
import hashlib
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../support")

from outcome import PROGRAM, exit_code, result, run_checks  # noqa: E402
from serving import Serve  # noqa: E402

try:
    import yaml
except ImportError:
    yaml = None

SOURCE = os.path.realpath(HERE + "/../..")
BYTES_MAX = 10 << 20  # to download
PODMAN = ("podman", "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs")
RUN = ("run", "--rm", "--ulimit", "nofile=64:64", "--ulimit", "nproc=64:64", "--pid", "host", "--network", "host",
       "--read-only", "--cap-drop", "all", "--cap-add", "BPF,PERFMON,SYS_PTRACE", "--security-opt",
       "seccomp=unconfined")


def skip(name, why):
    print("skip %s: %s" % (name, why))


def make(path):
    subprocess.run((sys.executable, SOURCE + "/src/dist/image.py", PROGRAM, "1.2.3", path), check=True,
                   stdout=subprocess.DEVNULL)
    with open(path, "rb") as file:
        return file.read()


def check_layout(path):
    first = make(path)
    result(make(path) == first, "the same files give the same bytes")
    result(len(first) < BYTES_MAX, "less than 10 MiB", len(first))
    print("# %.1f MiB" % (len(first) / 2**20))
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


def check_podman(path):
    if os.getuid() != 0 or not shutil.which("podman"):
        skip("podman", "it is not installed, or not for this user")
        return
    loaded = subprocess.run((*PODMAN, "load", "-q", "-i", path), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, timeout=120, check=False)
    result(loaded.returncode == 0, "podman accepts the image", loaded.stderr)
    start = time.monotonic()
    done = subprocess.run((*PODMAN, *RUN, "localhost/zmem-bpf:1.2.3", "-J"), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    if done.returncode and "OCI" in done.stderr:
        skip("podman", "it cannot run a container here: " + done.stderr.strip().splitlines()[-1])
        return
    print("# podman run: %.2f s" % (time.monotonic() - start))
    snapshot = json.loads(done.stdout)
    result(snapshot["source"]["counters"] == "bpf", "the image reads by BPF, without root", snapshot["source"])
    result(any(p["pid"] == os.getpid() and p["pss_bytes"] for p in snapshot["processes"]),
           "the image sees the processes of the host, and their PSS")
    done = subprocess.run((*PODMAN, *RUN, "localhost/zmem-bpf:1.2.3", "-J", "--output", "/x"), stderr=subprocess.PIPE,
                          text=True, timeout=120, check=False)
    result(done.returncode == 1, "the root cannot be written", done.stderr)


def check_page():
    """The options of src/doc/fleet.md are those that check_podman tries, but for the network of the machine."""
    with open(SOURCE + "/src/doc/fleet.md") as file:
        line = next(c for c in file.read().replace("\\\n", " ").split("\n") if c.startswith("podman run "))
    words = [w for option in shlex.split(line)[1:-1] for w in (option.split("=", 1) if option[:2] == "--" else [option])]
    at = words.index("-p")
    host = RUN.index("--network")
    result(words[:at] + words[at + 2:] == list(RUN[:2] + RUN[6:host] + RUN[host + 2:]), "the options of the page", words)


def check_manifest():
    """Pods need a token, which serve can read as the kubelet mounts it, and only the port of serve is open."""
    if not yaml:
        skip("manifest", "python3-yaml is not installed")
        return
    with open(SOURCE + "/src/dist/kubernetes/zmem-bpf.yaml") as file:
        objects = {o["kind"]: o["spec"] for o in yaml.safe_load_all(file)}
    pod = objects["DaemonSet"]["template"]
    container, volumes = pod["spec"]["containers"][0], {v["name"]: v for v in pod["spec"]["volumes"]}
    args, user = container["args"], container["securityContext"]["runAsUser"]
    result("--token-file" in args, "the manifest: a token", args)
    if "--token-file" not in args:
        return
    at, listen = args.index("--token-file") + 1, args.index("--listen") + 1
    mount = next((m for m in container["volumeMounts"] if m["mountPath"] == os.path.dirname(args[at])), {"name": None})
    secret = volumes.get(mount["name"], {}).get("secret", {})
    result(bool(secret) and not secret.get("optional") and mount["readOnly"], "the manifest: no pod without its secret", volumes)
    group = pod["spec"].get("securityContext", {}).get("fsGroup")
    result(group == container["securityContext"]["runAsGroup"], "the manifest: the group of the token", group)
    policy = objects["NetworkPolicy"]
    port = int(args[listen].rsplit(":", 1)[1])
    result(policy["podSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items(), "the policy: its pods", policy)
    result(set(policy["policyTypes"]) == {"Ingress", "Egress"} and not policy["egress"], "the policy: nothing leaves", policy)
    result(bool(policy["ingress"]) and all(rule["from"] and rule["ports"] == [{"protocol": "TCP", "port": port}]
                                           for rule in policy["ingress"]), "the policy: who connects, and where", policy)
    if os.getuid() != 0:
        skip("manifest", "needs root")
        return
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        program = shutil.copy(PROGRAM, directory)
        # As the kubelet mounts a secret: a link to a link to a file of root's, which fsGroup may read.
        os.mkdir(directory + "/..1", 0o755)
        with open(directory + "/..1/token", "w") as file:
            file.write("s3cret\n")
        os.chmod(file.name, secret.get("defaultMode", 0o644))
        os.chown(file.name, 0, group)
        os.symlink("..1", directory + "/..data")
        os.symlink("..data/token", directory + "/token")
        args[at], args[listen] = directory + "/token", "127.0.0.1:0"
        who = ["setpriv", "--reuid=%d" % user, "--regid=%d" % group, "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
        with Serve(*args[1:], listen=None, prefix=[*who, "sh", "-c", 'shift; exec "$0" "$@"', program]) as serve:
            result(serve.port is not None, "the manifest: serve reads the token", serve.said())
            if serve.port:
                codes = [serve.get("/metrics").code, serve.get("/metrics", Authorization="Bearer s3cret").code]
                result(codes == [401, 200], "the manifest: the token is needed", codes)


def main():
    if "-san" in PROGRAM or "-static" in PROGRAM:
        skip("image", "it is of the plain program")
        return 0
    if os.getuid() == 0:
        if not os.environ.get("OWN_MOUNTS"):
            os.environ["OWN_MOUNTS"] = "1"
            os.execvp("unshare", ("unshare", "-m", sys.executable, *sys.argv))
        os.makedirs("/var/lib/containers", exist_ok=True)
        for where in ("/var/lib/containers", "/run"):
            subprocess.run(("mount", "-t", "tmpfs", "tmpfs", where), check=True)
        subprocess.run(("umount", "/sys/fs/cgroup/unified"), stderr=subprocess.DEVNULL, check=False)
    with tempfile.TemporaryDirectory() as directory:
        run_checks((check_layout, check_podman), directory + "/image.tar")
    run_checks((check_page, check_manifest))
    return exit_code()


sys.exit(main())
