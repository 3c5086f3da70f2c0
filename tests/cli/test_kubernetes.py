#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The manifest for Kubernetes: its parts fit together, kubectl knows each field, and Podman runs both containers with
the user, rights, mounts and arguments of the manifest: serve answers with the token, the recorder has an OOM kill."""
# needs: plain python-yaml

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile

import yaml

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../support")

import oom  # noqa: E402
from outcome import PROGRAM, exit_code, need, result, run_checks, wait_until  # noqa: E402
from podman import IMAGE, NEEDS, SOURCE, ULIMITS, load, loopback_up, make, own_mounts, podman  # noqa: E402

MANIFEST = SOURCE + "/src/dist/kubernetes/zmem-bpf.yaml"
PATIENCE = 60


def text():
    with open(MANIFEST) as file:
        return file.read()


def objects():
    return {o["kind"]: o for o in yaml.safe_load_all(text())}


def commented(kind):
    """What is commented out before the object of this kind: lines with text, or two spaces, behind the sign."""
    part = next(p for p in text().split("\n---\n") if "\nkind: %s\n" % kind in p)
    lines = re.findall(r"(?m)^#((?! \S).+)", part)
    return next(yaml.safe_load_all("\n".join(lines)))


def template():
    return objects()["DaemonSet"]["spec"]["template"]


# ---- the parts fit together ----


def check_pod():
    pod = template()["spec"]
    volumes, mounts = {v["name"] for v in pod["volumes"]}, [m for c in pod["containers"] for m in c["volumeMounts"]]
    result({m["name"] for m in mounts} == volumes, "each mount has a volume, and each volume is mounted", volumes)
    result([m["name"] for m in mounts if not m.get("readOnly")] == ["recording"], "one mount can be written", mounts)
    made = {v["name"]: v["hostPath"]["type"] for v in pod["volumes"] if "hostPath" in v}
    result(made.pop("recording") == "DirectoryOrCreate" and set(made.values()) == {"Directory"}, "the kubelet makes one directory", made)
    with open(SOURCE + "/Makefile") as file:
        version = re.search(r"(?m)^VERSION := (\S+)", file.read())[1]
    result([c["image"] for c in pod["containers"]] == ["localhost/zmem-bpf:" + version] * 2, "the version of the image", version)
    for c in pod["containers"]:
        rights = c["securityContext"]
        result(rights["readOnlyRootFilesystem"] and rights["capabilities"]["drop"] == ["ALL"],
               c["name"] + ": no more rights than those that are named", c)
        result("memory" in c["resources"]["requests"] and ("limits" in c["resources"]) == (c["name"] == "serve"),
               c["name"] + ": it asks for memory, and the recorder has no limit", c["resources"])
        result(not set(re.findall(r"\$\((\w+)\)", " ".join(c["args"]))) - {e["name"] for e in c.get("env", ())},
               c["name"] + ": its variables", c)
    serve = pod["containers"][0]
    token = serve["args"][serve["args"].index("--token-file") + 1]
    mount = next((m for m in serve["volumeMounts"] if m["mountPath"] == os.path.dirname(token)), {"name": None})
    secret = next((v.get("secret", {}) for v in pod["volumes"] if v["name"] == mount["name"]), {})
    result(bool(secret) and not secret.get("optional") and mount["readOnly"], "no pod without its secret", pod["volumes"])
    result(pod["securityContext"]["fsGroup"] == serve["securityContext"]["runAsGroup"], "the group of the token", pod)


def check_others():
    """Service, policy, and what is commented out for Prometheus."""
    there, labels = objects(), template()["metadata"]["labels"]
    port = template()["spec"]["containers"][0]["ports"][0]
    service, policy = there["Service"]["spec"], there["NetworkPolicy"]["spec"]
    monitor = commented("NetworkPolicy")
    for name, selector in (("the daemon set", there["DaemonSet"]["spec"]["selector"]["matchLabels"]), ("the service", service["selector"]),
                           ("the policy", policy["podSelector"]["matchLabels"]),
                           ("the pod monitor", monitor["spec"]["selector"]["matchLabels"])):
        result(bool(selector) and selector.items() <= labels.items(), name + ": its pods", selector)
    result(service["clusterIP"] == "None" and [p["targetPort"] for p in service["ports"]] == [port["name"]], "the service: its port", service)
    listen = template()["spec"]["containers"][0]["args"][2]
    result([listen.rsplit(":", 1)[1]] == [str(port["containerPort"])] == [str(p["port"]) for p in service["ports"]], "the port of serve", listen)
    result(set(policy["policyTypes"]) == {"Ingress", "Egress"} and not policy["egress"], "the policy: nothing leaves", policy)
    result(bool(policy["ingress"]) and all([set(f) for f in rule["from"]] == [{"namespaceSelector", "podSelector"}] and rule["ports"] == [{"protocol": "TCP", "port": port["containerPort"]}]
                                           for rule in policy["ingress"]), "the policy: what connects, and where", policy)
    secret = next(v["secret"] for v in template()["spec"]["volumes"] if "secret" in v)["secretName"]
    endpoint = monitor["spec"]["podMetricsEndpoints"][0]
    result(endpoint["port"] == port["name"] and endpoint["authorization"]["credentials"] == {"name": secret, "key": "token"},
           "the pod monitor: its port and the secret", endpoint)
    with open(SOURCE + "/src/dist/prometheus/zmem-bpf.rules.yml") as file:
        said = " ".join(file.read().split())
    command = re.search(r"kubectl exec \$\(kubectl get pod -o name -l (\S+)=(\S+) --field-selector spec.nodeName=.*?\) "
                        r"-c (\S+) -- zmem-bpf incidents", said)
    result(command and labels.get(command[1]) == command[2] and command[3] == template()["spec"]["containers"][1]["name"],
           "the command of the alert: its pod and its container", (labels, said))
    scrape = commented("Service")["scrape_configs"][0]
    result(scrape["relabel_configs"][0]["regex"] == there["Service"]["metadata"]["name"] and "credentials_file" in scrape["authorization"],
           "the configuration: the service and the token", scrape)


def lost(want, have, path):
    """The paths of values that are not the same."""
    if isinstance(want, dict) and isinstance(have, dict):
        return [x for k in want for x in lost(want[k], have.get(k), path + "." + k)]
    if isinstance(want, list) and isinstance(have, list) and len(want) == len(have):
        return [x for i, w in enumerate(want) for x in lost(w, have[i], "%s.%d" % (path, i))]
    return [] if want == have else [path]


def check_kubectl():
    """What these commands change, kubectl has read as an object of its kind: a field that it does not know is gone.
    No such command takes a policy."""
    if not need("kubectl", "kubectl"):
        return
    there = objects()
    for kind, what, change in (("DaemonSet", "image", "*=tried"), ("Service", "selector", "tried=yes")):
        done = subprocess.run(("kubectl", "set", what, "--local", "-o", "json", "-f", "-", change), input=json.dumps(there[kind]),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        got = json.loads(done.stdout) if done.returncode == 0 else {}
        changed = [x for x in lost(there[kind], got, kind) if not re.search(r"\.(image|selector\.app.*)$", x)]
        result(got and not changed, "kubectl knows each field: " + kind, changed or done.stderr)


# ---- as Podman runs it ----


def nodes_files(directory):
    """The files of a node that are mounted, by the name of the volume."""
    place = {}
    for v in template()["spec"]["volumes"]:
        place[v["name"]] = directory + "/" + v["name"]
        # The kubelet makes directories for root, and only for root to write.
        os.mkdir(place[v["name"]], 0o755)
        if "secret" in v:
            # A link to a link to a file of root's, which fsGroup may read.
            os.mkdir(place[v["name"]] + "/..1", 0o755)
            with open(place[v["name"]] + "/..1/token", "w") as file:
                file.write("s3cret\n")
            os.chmod(file.name, v["secret"]["defaultMode"])
            os.chown(file.name, 0, template()["spec"]["securityContext"]["fsGroup"])
            os.symlink("..1", place[v["name"]] + "/..data")
            os.symlink("..data/token", place[v["name"]] + "/token")
    place["cgroup"] = "/sys/fs/cgroup"
    return place


def start(container, place, address):
    """Starts a container of the manifest as the kubelet would."""
    pod, rights = template()["spec"], container["securityContext"]
    options = ["--name", container["name"], "--user", "%d:%d" % (rights["runAsUser"], rights["runAsGroup"]),
               "--group-add", str(pod["securityContext"]["fsGroup"]), "--network", "host", *ULIMITS]
    options += ["--pid", "host"] if pod["hostPID"] else []
    options += ["--read-only", "--read-only-tmpfs=false"] if rights["readOnlyRootFilesystem"] else []
    options += [] if rights["allowPrivilegeEscalation"] else ["--security-opt", "no-new-privileges"]
    if pod["securityContext"]["seccompProfile"]["type"] == "Unconfined":
        options += ["--security-opt", "seccomp=unconfined"]
    if "limits" in container["resources"]:
        options += ["--memory", container["resources"]["limits"]["memory"].replace("Mi", "m")]
    for what in ("drop", "add"):
        options += ["--cap-" + what, ",".join(rights["capabilities"][what])]
    for m in container["volumeMounts"]:
        options += ["-v", place[m["name"]] + ":" + m["mountPath"] + (":ro" if m.get("readOnly") else "")]
    return podman("run", "-d", *options, IMAGE, *(a.replace("$(POD_IP)", address) for a in container["args"]))


def metrics(address, port, **headers):
    """The status and the text, or None where no server listens."""
    connection = http.client.HTTPConnection(address, port, timeout=PATIENCE)
    try:
        connection.request("GET", "/metrics", headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except ConnectionRefusedError:
        return None
    finally:
        connection.close()


def logs(name):
    return podman("logs", name).stderr


def name_in_node(name, place):
    """As the kubelet names a container: a link in one directory, to a directory in the other. Returns the name."""
    os.makedirs(place["pods"] + "/prod_web-0_1/" + name, exist_ok=True)
    container = podman("inspect", "-f", "{{.Id}}", name).stdout.strip()
    os.symlink("/var/log/pods/prod_web-0_1/%s/0.log" % name, "%s/web-0_prod_%s-%s.log" % (place["containers"], name, container))
    return "prod/web-0/" + name


def check_serve(container, place, address, others):
    port, name = container["ports"][0]["containerPort"], "serve at %s: " % address
    done = start(container, place, address)
    named = name_in_node("serve", place)
    answer = wait_until(lambda: metrics(address, port), PATIENCE)
    result(answer and answer[0] == 401, name + "without the token it refuses", (answer, done.stderr, logs("serve")))
    if answer:
        text_of = lambda: metrics(address, port, Authorization="Bearer s3cret")[1]  # noqa: E731
        wait_until(lambda: named in text_of(), PATIENCE)
        got = text_of()
        # Mixed: a process changed while its page tables were read.
        result(re.search('counters="bpf",pss="(kernel|mixed)"', got), name + "with the token it has counters and PSS by BPF",
               [line for line in got.splitlines() if "pss=" in line])
        result('{group="%s"' % named in got, name + "it has the names of the kubelet", got)
        result([metrics(other, port) for other in others] == [None] * len(others), name + "it listens there alone", others)
    podman("rm", "-f", "-t", "2", "serve")


def check_record(container, place, directory):
    done = start(container, place, "")
    named = name_in_node("record", place)
    result(wait_until(lambda: "a day here" in logs("record"), PATIENCE), "record: it records", (done.stderr, logs("record")))
    victim = oom.eater(directory, "eater-%d" % os.getpid())
    with oom.Group("zmem-kubernetes") as group:
        pid = group.kill(victim)

    def incidents():
        said = podman("exec", "record", "zmem-bpf", "incidents", "-J", "-q").stdout
        return [e["victim"] for e in json.loads(said)["events"] if (e.get("victim") or {}).get("pid") == pid] if said else []

    seen = wait_until(incidents, PATIENCE)
    result(seen and seen[0]["name"] == os.path.basename(victim), "record: incidents shows the kill", seen or logs("record"))
    page = podman("exec", "record", "zmem-bpf", "incidents", "-F", "html").stdout
    result(page.rstrip().endswith("</html>"), "record: the page of incidents", page[-200:])
    podman("rm", "-f", "-t", "10", "record")
    files = os.listdir(place["recording"])
    result(all(os.stat(place["recording"] + "/" + f).st_mode & 0o777 == 0o600 for f in files), "record: files for root alone", files)
    # The node's own program, as after the pod.
    kept = oom.document("--replay", place["recording"])
    groups = {"%s/%s/%s" % (p["namespace"], p["pod"], p["container"]) for p in kept["processes"]} if kept else ()
    result(named in groups, "record: the recording outlives the pod, and has the names of the kubelet", groups)


def check_podman():
    if not need(NEEDS, "podman"):
        return
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        make(directory + "/image.tar")
        if why := load(directory + "/image.tar"):
            print("skip podman:", why)
            return
        loopback_up()
        place = nodes_files(directory)
        serve, record = template()["spec"]["containers"]
        try:
            check_serve(serve, place, "127.0.0.9", ("127.0.0.1", "::1"))
            check_serve(serve, place, "::1", ("127.0.0.1",))
            check_record(record, place, directory)
        finally:
            podman("rm", "-f", "-a", "-t", "2")


def main():
    if "-static" in PROGRAM:
        print("skip manifest: the image is of the dynamic program")
        return 0
    own_mounts("-n")
    run_checks((check_pod, check_others, check_kubectl, check_podman))
    return exit_code()


sys.exit(main())
