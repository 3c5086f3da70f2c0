#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""zmem-bpf serve: pages, status codes, queries, refusals, addresses, privileges, signals. Prometheus and
a browser read it in tests/metrics and tests/browser."""

import contextlib
import collections
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

from paths import HERE
from outcome import O, PROGRAM, exit_code, have, need, read, result, run_checks, same, wait_until, write
from serving import Answer, PATIENCE, Serve

GUEST = HERE + "/../fixtures/recordings/guest-6.12.zmem"
SANITIZED = "-san" in PROGRAM
FILE_SIZE = 24 << 20
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
SECRET = "a-secret-of-the-command-line"


def check_pages():
    types = {"/": "text/html", "/metrics": "text/plain; version=0.0.4", "/snapshot.json": "application/json",
             "/page.json": "application/json", "/history.json": "application/json", "/healthz": "text/plain"}
    with Serve() as serve:
        for path, kind in types.items():
            answer = serve.get(path)
            same(path + ": code", answer.code, 200)
            result(answer.headers["content-type"].startswith(kind), path + ": type", answer.headers)
            same(path + ": length", int(answer.headers["content-length"]), len(answer.body))
            policy = answer.headers["content-security-policy"]
            result("default-src 'none'" in policy and "frame-ancestors 'none'" in policy, path + ": policy", policy)
            same(path + ": no-store", answer.headers["cache-control"], "no-store")
            head = serve.get(path, "HEAD")
            same(path + ": HEAD", (head.code, head.body), (200, b""))
            result(int(head.headers["content-length"]) > 0, path + ": HEAD has a length", head.headers)
        policy = serve.get("/").headers["content-security-policy"]
        result("script-src 'sha256-" in policy and "connect-src 'self'" in policy, "/: its policy allows its script and its server", policy)
        opened = serve.get("/metrics", Accept="application/openmetrics-text; version=1.0.0,text/plain;q=0.5")
        result(opened.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0"),
               "Accept: OpenMetrics: its type", opened.headers)
        result(opened.text.endswith("\n# EOF\n"), "OpenMetrics ends with # EOF")
        refused = serve.get("/metrics", Accept="application/openmetrics-text;q=0, text/plain")
        result(refused.headers["content-type"].startswith("text/plain; version=0.0.4"), "Accept: OpenMetrics with q=0: Prometheus text",
               refused.headers)
        result(serve.get("/healthz").text.startswith("ok, last snapshot "), "healthz: the age of the snapshot")
        document = json.loads(serve.get("/snapshot.json").text)
        with tempfile.NamedTemporaryFile() as file:
            file.write(serve.get("/snapshot.json").body)
            file.flush()
            run = subprocess.run(["/usr/bin/python3", HERE + "/../support/validate_json.py", file.name],
                                 capture_output=True)
            same("snapshot.json fits its schema", (run.returncode, run.stderr), (0, b""))
        if document["source"]["counters"] == "bpf":
            # A request within the interval gets the last snapshot again.
            result(wait_until(lambda: json.loads(serve.get("/snapshot.json").text)["collection"]["cross_check"]["snapshots_ago"]),
                   "snapshot.json: not each one is compared")
        result(any(p["pid"] == os.getpid() for p in document["processes"]), "snapshot.json has this process")
        ram = document["system"]["ram"]
        if have("counters"):
            result(ram and ram["method"] == "exact" and sum(row["bytes"] or 0 for row in ram["classes"]) == ram["frames_bytes"],
                   "snapshot.json: each page frame is in a class", ram)
        else:
            same("snapshot.json: without BPF, page frames are not counted", ram, None)
        if have("counters"):
            # A census lasts for a minute, or longer.
            later = wait_until(lambda: (now := json.loads(serve.get("/snapshot.json").text))["timestamp_ms"] > ram["time_ms"] + 2100 and now)
            same("snapshot.json: page frames are not counted each time", later["system"]["ram"]["time_ms"], ram["time_ms"])
        classes = re.findall(r'^zmem_ram_bytes\{class="(\w+)"\} ', serve.get("/metrics").text, re.M)
        rows = ram["classes"] if ram else []
        same("/metrics: the classes of snapshot.json", classes, [row["class"] for row in rows if row["bytes"] is not None])
        text = serve.get("/metrics").text
        lines = collections.Counter(re.findall(r'^zmem_group.*\bgroup="((?:[^"\\\\]|\\\\.)*)"', text, re.M))
        # Units, which other tests have, are cgroups: these have more.
        row = r"`-g container -n 100`.*? 101" if "zmem_group_memory_current_bytes{" in text else r"`-g name -n 50` \| \d+ \| 51"
        said = int(re.search(row + r" × (\d+)", read(HERE + "/../../src/doc/fleet.md")).group(1))
        # Without BPF there is one more: lazily freed memory, which smaps_rollup has.
        said += not have("counters")
        # One more counts kills.
        result(max(lines.values()) + 1 <= said, "/metrics: a group has no more series than src/doc/fleet.md says", (max(lines.values()) + 1, said))
        # What loading needed goes back to the kernel: the types of the kernel are tens of MiB.
        resident = int(re.search(r'process_resident_memory_bytes\{role="collector"\} (\d+)', serve.get("/metrics").text).group(1))
        result(SANITIZED or resident < 20 << 20, "the process that collects is small", resident)
        page = json.loads(serve.get("/page.json").text)["system"]["ram"]
        same("page.json has the same", page and set(page), ram and set(ram))
        same("history.json: its step", json.loads(serve.get("/history.json").text)["step_s"], 15)
        same("SIGTERM: exit code", serve.stop(), 0)
        # The address, that kills are not counted, and that counters come from /proc.
        same("stderr: its lines", serve.said().count("\n"), 1 + (not have("bpf")) + (not have("counters")))


def cli(*args):
    return subprocess.run([PROGRAM, "-q", "--replay", GUEST, *args], capture_output=True).stdout.decode()


def check_queries():
    """The words of a query select the rows that the options select from the same recording."""
    queries = {
        "": [], "sort=rss&top=4": ["-s", "rss", "-n", "4"], "group_by=unit&top=2": ["-g", "unit", "-n", "2"],
        "filter=%5Emkmem%24": ["-f", "^mkmem$"], "user=0&group_by=name&min=1M": ["-u", "0", "-g", "name", "--min", "1M"],
        "pid=1": ["-p", "1"], "filter=no-such-name": ["-f", "no-such-name"],
    }
    # "collection" differs: what is not read and which processes are checked depends on the options.
    with Serve("--replay", GUEST, "--numeric") as serve:
        for query, options in queries.items():
            answer = serve.get("/snapshot.json?" + query)
            want = json.loads(cli("-J", *options))
            # Options of the command line make it read command lines.
            for row in want.get("processes", []):
                for key in [key for key in row if key.startswith("cmdline")]:
                    del row[key]
            got = json.loads(answer.text) if answer.code == 200 else {}
            rows = "groups" if "groups" in want else "processes"
            pruned = "-n" in options and "-g" not in options
            # serve knows PSS of all processes, the command line that of the selected ones.
            some = not {"-f", "-p"}.isdisjoint(options)
            for key in (rows,) if pruned else (rows, "totals", "source", "host") + (() if some else ("system",)):
                result(got.get(key) == want[key], "?%s: %s equals that of the options" % (query, key),
                       "%s, not %s" % (got.get(key), want[key]))
            same("?%s: filtered" % query, got.get("collection", {}).get("filtered"), want["collection"]["filtered"])
        same("page.json has all rows", json.loads(serve.get("/page.json").text)["rows"],
             len(json.loads(cli("-J"))["processes"]))
    for key in ("name", "cgroup"):
        with Serve("--replay", GUEST, "-g", key, "-n", "3") as serve:
            def groups(text):
                return sorted(line for line in text.split("\n") if line.startswith("zmem_group_") or
                              line.startswith("zmem_memory") or line.startswith("zmem_source"))
            got = groups(serve.get("/metrics").text)
            want = groups(cli("-F", "prometheus", "-g", key, "-n", "3"))
            own = [line for line in got if line.startswith("zmem_groups_")]
            same("metrics by %s equal those of the command line" % key, [g for g in got if g not in own], want)
    # unit/test_serve_request.c has the other words that are no query.
    for query in ("x=1", "filter=("):
        with_ = BAD.get("/snapshot.json?" + query)
        same("?%s: refused with one line" % query, (with_.code, with_.text.count("\n")), (400, 1))
    same("?pid: no such process", BAD.get("/snapshot.json?pid=4194304").code, 404)
    with Serve() as serve:
        done = threading.Event()
        thread = threading.Thread(target=done.wait)
        thread.start()
        answer = serve.get("/snapshot.json?pid=%d" % thread.native_id)
        same("?pid of a thread: its process", (answer.code, answer.text),
             (404, "pid: %d is a thread of process %d\n" % (thread.native_id, os.getpid())))
        done.set()
        thread.join()
    same("?user: no such user", BAD.get("/snapshot.json?user=nobody-of-that-name").code, 404)


def check_refusals():
    unknown = BAD.get("/nope")
    same("an unknown path", unknown.code, 404)
    listed = re.findall(r"/\S*", unknown.text)
    same("its answer: the paths that there are", (unknown.text.count("\n"), listed[0], "/snapshot.json" in listed, "/files" in listed),
         (1, "/", True, False))
    same("its answer: each of them is there", {path: BAD.get(path).code for path in listed}, dict.fromkeys(listed, 200))
    same("a path below a page", BAD.get("/metrics/").code, 404)
    same("a path above the root", BAD.get("/../etc/passwd").code, 404)
    for method in ("POST", "BREW"):
        answer = BAD.get("/metrics", method)
        same(method, (answer.code, answer.headers.get("allow")), (405, "GET, HEAD"))
    same("a body", BAD.get("/metrics", Content_Length="5").code, 413)
    same("a body without an end", BAD.get("/metrics", Transfer_Encoding="chunked").code, 413)
    same("a long URL", BAD.get("/metrics?" + "x" * 3000).code, 414)
    same("a long path", BAD.get("/" + "x" * 3000).code, 414)
    result(BAD.get("/metrics?" + "x" * 100000).code in (0, 414, 431), "a URL of 100,000 bytes")
    result(BAD.get("/metrics", X="y" * 100000).code in (0, 413, 431), "a header of 100,000 bytes")
    for garbage in (b"\0" * 5000, b"GET\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n", b"\xff\xfe / HTTP/1.1\r\n\r\n",
                    b"GET /metrics HTTP/1.1\r\n: x\r\n\r\n", b"GET http://[ HTTP/1.1\r\n\r\n", os.urandom(4000) + b"\r\n\r\n",
                    b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: -1\r\n\r\n"):
        with BAD.connect() as s:
            said = b""
            with contextlib.suppress(ConnectionError):
                s.sendall(garbage)
                # Closed or refused. What is no complete line is closed after ten seconds, for which nothing waits here.
                said = b"" if garbage[0] == 0 else s.recv(65536)
            result(not said or 400 <= Answer(said).code <= 505, "garbage: refused", (garbage[:30], said[:100]))
            same("beside garbage: serve answers", BAD.get("/healthz").code, 200)
    ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    many = BAD.send(ask + b"\r\n" + ask + b"\r\n" + b"GET /nope HTTP/1.1\r\nHost: localhost\r\n\r\n" + ask +
                    b"Connection: close\r\n\r\n")
    same("pipelined requests", (many.count(b"HTTP/1.1 200"), many.count(b"HTTP/1.1 404")), (3, 1))
    codes = {line.split('"')[1]: float(line.split()[-1]) for line in BAD.get("/metrics").text.split("\n")
             if line.startswith("zmem_http_requests_total{")}
    result(codes["405"] >= 2 and codes["400"] >= 2, "responses are counted by code", codes)
    same("a header of 20,000 bytes", BAD.get("/metrics", X="y" * 20000).code, 431)
    result('code="431"' not in BAD.get("/metrics").text, "a refusal of libmicrohttpd is not counted")


def check_token():
    with tempfile.TemporaryDirectory() as directory:
        path = directory + "/token"
        write(path, "s3cret\n")
        os.chmod(path, 0o644)
        run = subprocess.run([PROGRAM, "serve", "--token-file", path], capture_output=True, timeout=30)
        result(run.returncode == 1 and b"chmod 600" in run.stderr, "a token file that every user can read", run.stderr)
        os.chmod(path, 0o600)
        with Serve("--token-file", path) as serve:
            for how, code in ((None, 401), ("Bearer s3crett", 401), ("Bearer s3cret", 200)):
                headers = {"Authorization": how} if how else {}
                for page in ("/healthz", "/metrics", "/"):
                    same("%s with %s" % (page, how), serve.get(page, **headers).code, code)
            same("401: WWW-Authenticate", serve.get("/").headers.get("www-authenticate"), "Bearer")
        for text, why in ((b"", b"is empty"), (b"\r\nx\n", b"is empty"), (b"x" * 512, b"longer than 511 bytes"),
                          (b"a\0b\n", b"not one word"), ("s3cret\n".encode("utf-16-le"), b"not one word"),
                          (b"a b\n", b"not one word")):
            with open(path, "wb") as file:
                file.write(text)
            run = subprocess.run([PROGRAM, "serve", "--token-file", path], capture_output=True, timeout=30)
            result(run.returncode == 1 and run.stderr.count(b"\n") == 1 and why in run.stderr,
                   "a bad token file: %.20r" % text, run.stderr)
        write(path, "s3cret\r\n")
        with Serve("--token-file", path) as serve:
            same("a token line that ends with CR LF", serve.get("/healthz", Authorization="Bearer s3cret").code, 200)


def check_unix():
    with tempfile.TemporaryDirectory() as directory:
        path = directory + "/z.sock"
        with Serve(listen="unix:" + path) as serve:
            same("unix socket: mode", stat.S_IMODE(os.stat(path).st_mode), 0o660)
            same("unix socket: any Host is answered", serve.get("/healthz", host="any.example").code, 200)
            other = subprocess.run([PROGRAM, "serve", "--listen", "unix:" + path], capture_output=True, timeout=30)
            result(other.returncode == 1 and b"in use" in other.stderr, "a unix socket in use: the second serve", other.stderr)
            same("a unix socket in use: the first serve goes on", serve.get("/healthz").code, 200)
            same("unix socket: ends", serve.stop(), 0)
        result(not os.path.exists(path), "unix socket: removed")
        serve = Serve(listen="unix:" + path)
        http = serve.http_pid()
        serve.stop(signal.SIGKILL)
        wait_until(lambda: ended(http))
        with Serve(listen="unix:" + path) as again:
            same("a stale unix socket is replaced", again.get("/healthz").code, 200)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
            log.bind(directory + "/log")
            run = subprocess.run([PROGRAM, "serve", "--listen", "unix:" + directory + "/log"], capture_output=True, timeout=30)
            result(run.returncode == 1 and os.path.exists(directory + "/log") and b"in use" in run.stderr,
                   "a socket for datagrams is not replaced", run.stderr)
        with open(path, "w"):
            pass
        run = subprocess.run([PROGRAM, "serve", "--listen", "unix:" + path], capture_output=True, timeout=30)
        result(run.returncode == 1 and os.path.exists(path) and b"(this path is a file: remove it" in run.stderr,
               "a file is not replaced", run.stderr)
        for where, why in ((path + "/s", b"Not a directory"), (directory + "/none/s", b"(create the directory first)"),
                           (path + "x" * 108, b"at most 107 bytes")):
            run = subprocess.run([PROGRAM, "serve", "--listen", "unix:" + where], capture_output=True, timeout=30)
            result(run.returncode in (1, 2) and run.stderr.count(b"\n") == 1 and why in run.stderr,
                   "a unix socket that cannot be bound: %s" % why.decode(), run.stderr)
    with tempfile.TemporaryDirectory() as directory:
        many = ",".join("unix:%s/%d" % (directory, i) for i in range(9))
        run = subprocess.run([PROGRAM, "serve", "--listen", many], capture_output=True, timeout=30)
        result(run.returncode == 2 and b"more than 8" in run.stderr, "more than 8 addresses", run.stderr)
        same("more than 8 addresses: no socket is left", os.listdir(directory), [])


def check_start():
    with Serve() as serve:
        run = subprocess.run([PROGRAM, "serve", "--listen", "127.0.0.1:%d" % serve.port], capture_output=True, timeout=30)
        result(run.returncode == 1 and run.stderr.count(b"\n") == 1 and b"in use (another program" in run.stderr,
               "a busy port", run.stderr)
    run = subprocess.run([PROGRAM, "serve", "--listen", "192.0.2.1:0"], capture_output=True, timeout=30)
    result(run.returncode == 1 and run.stderr.count(b"\n") == 1 and b"(this machine has no such address" in run.stderr,
           "an address of another machine", run.stderr)
    for args in (["--listen", "nonsense"], ["-g", "cmdline"], ["-n", "1001"]):
        run = subprocess.run([PROGRAM, "serve", *args], capture_output=True, timeout=30)
        result(run.returncode == 2 and run.stderr.count(b"\n") == 1, "usage: " + " ".join(args), run)
    if os.path.exists(O + "/zmem-bpf-static"):
        run = subprocess.run([O + "/zmem-bpf-static", "serve"], capture_output=True, timeout=30)
        result(run.returncode == 1 and run.stderr.count(b"\n") == 1 and b"static" in run.stderr, "the static program", run)
    with Serve(listen="127.0.0.1:0,[::1]:0") as serve:
        same("two addresses", serve.said().count("listening on http://"), 2)
    # Sockets as systemd passes them.
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        script = 'exec 3<&%d; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" serve' % s.fileno()
        process = subprocess.Popen(["sh", "-c", script, PROGRAM], pass_fds=[s.fileno()], stderr=subprocess.PIPE)
        with socket.create_connection(s.getsockname(), 30) as c:
            c.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
            result(c.recv(100).startswith(b"HTTP/1."), "a passed socket")
        process.terminate()
        process.communicate(timeout=30)
        same("a passed socket: exit code", process.returncode, 0)
        many = subprocess.run(["timeout", "10", "sh", "-c", script.replace("FDS=1", "FDS=9"), PROGRAM],
                              pass_fds=[s.fileno()], capture_output=True)
        result(many.returncode == 1 and b"more than 8" in many.stderr, "more than 8 passed sockets", many.stderr)
        # --listen wins.
        named = script.replace("serve", "serve --listen 127.0.0.1:0")
        process = subprocess.Popen(["sh", "-c", named, PROGRAM], pass_fds=[s.fileno()], stderr=subprocess.PIPE)
        said = process.stderr.readline()
        result(b"listening on" in said and b":%d/" % s.getsockname()[1] not in said, "--listen beside a passed socket", said)
        process.terminate()
        process.communicate(timeout=30)


    with tempfile.TemporaryDirectory() as directory:
        for name, path in (("", directory + "/a"), ("", directory + "/" + "b" * 60), ("@", "zmem-%d" % os.getpid())):
            with socket.socket(socket.AF_UNIX) as s:
                s.bind(path if not name else "\0" + path)
                s.listen()
                with Serve(listen=None, passed=s) as serve:
                    same("a passed unix socket: its address", serve.path, name + path)


def check_kernel_memory():
    """With -o +kernel each response has kernel memory by descriptor, and without it none has."""
    if not need("counters", "kernel memory"):
        return
    with Serve() as serve:
        rows = json.loads(serve.get("/snapshot.json").text)["processes"]
        same("kernel memory is not asked for", [p["pid"] for p in rows if p["kernel_bytes"] is not None], [])
        result("zmem_group_kernel_bytes" not in serve.get("/metrics").text, "kernel memory is not asked for: no metric")
    pipes = subprocess.Popen((O + "/fill", "pipes", "8"), stdout=subprocess.PIPE)
    pipes.stdout.readline()
    try:
        with Serve("-o", "+kernel") as serve:
            rows = json.loads(serve.get("/snapshot.json").text)["processes"]
            row = [p for p in rows if p["pid"] == pipes.pid][0]
            part = [p for p in row["kernel_parts"] if p["kind"] == "pipe"][0]
            result(8 << 20 <= part["bytes"] < 9 << 20 and part["descriptors"] >= 16, "kernel memory: pipes", part)
            wrong = [p["pid"] for p in rows if p["kernel_bytes"] is not None and
                     p["kernel_bytes"] != sum(part["bytes"] for part in p["kernel_parts"])]
            same("kernel memory: parts add up", wrong, [])
            same("kernel memory: no command lines", [p["pid"] for p in rows if p.get("cmdline") is not None], [])
            largest = json.loads(serve.get("/snapshot.json?sort=kernel&top=1&filter=%5Efill%24").text)["processes"][0]
            result(largest["kernel_bytes"] >= 8 << 20, "kernel memory: sorted", largest["kernel_bytes"])
            found = re.search(r'^zmem_group_kernel_bytes\{group="fill"\} (\d+)$', serve.get("/metrics").text, re.M)
            result(found and int(found[1]) >= 8 << 20, "kernel memory: the metric", found and found[0])
            columns = {c["key"]: c for c in json.loads(serve.get("/page.json").text)["columns"]}
            result(columns["kernel"]["values"], "kernel memory: the page has the column")
    finally:
        pipes.kill()
        pipes.communicate()


def check_no_token():
    """Other machines can connect, and no token is needed: one line says so."""
    warning = "no token is needed (--token-file FILE)"
    with tempfile.TemporaryDirectory() as directory:
        path = directory + "/token"
        write(path, "s3cret\n")
        os.chmod(path, 0o600)
        for listen, args, lines in (("0.0.0.0:0", (), 1), (":0", (), 1), ("[::]:0", (), 1), ("127.0.0.1:0,0.0.0.0:0", (), 1),
                                    ("127.0.0.1:0", (), 0), ("127.9.9.9:0,[::1]:0", (), 0), ("localhost:0", (), 0),
                                    ("unix:%s/s" % directory, (), 0), (":0", ("--token-file", path), 0)):
            with Serve(*args, listen=listen) as serve:
                same("%s %s: lines about no token" % (listen, "".join(args[:1])), serve.said().count(warning), lines)
        for host, lines in (("0.0.0.0", 1), ("127.0.0.1", 0)):
            with socket.socket() as s:
                s.bind((host, 0))
                s.listen()
                with Serve(listen=None, passed=s) as serve:
                    same("a passed socket, %s: lines about no token" % host, serve.said().count(warning), lines)


def status(pid):
    with open("/proc/%s/status" % pid) as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def ended(pid):
    try:
        return status(pid)["State"][0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def sockets(pid):
    """The inodes of the sockets of a process."""
    found = set()
    for fd in os.listdir("/proc/%d/fd" % pid):
        try:
            name = os.readlink("/proc/%d/fd/%s" % (pid, fd))
        except OSError:
            continue
        if name.startswith("socket:["):
            found.add(name[8:-1])
    return found


def check_privileges():
    secret = open("/etc/shadow" if os.access("/etc/shadow", os.R_OK) else "/etc/passwd")
    inherited = os.dup(secret.fileno())
    os.set_inheritable(inherited, True)
    with tempfile.TemporaryDirectory() as directory, Serve(listen="127.0.0.1:0,unix:%s/s" % directory) as serve:
        serve.get("/metrics")
        http, collector = status(serve.http_pid()), status(serve.process.pid)
        for key in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            same("the HTTP process: " + key, int(http[key], 16), 0)
        same("the HTTP process: NoNewPrivs", http["NoNewPrivs"], "1")
        if not SANITIZED:
            same("the HTTP process: Seccomp", http["Seccomp"], "2")
        # What it has open, only root sees of another user.
        seen = http["Uid"] == collector["Uid"] or need("ptrace", "the HTTP process: its libraries and files")
        roles = [("collector", serve.process.pid)] + ([("HTTP", serve.http_pid())] if seen else [])
        for role, pid in roles:
            same("the %s process: libmicrohttpd is mapped" % role, "libmicrohttpd" in read("/proc/%d/maps" % pid), role == "HTTP")
        # CAP_SYS_PTRACE and CAP_IPC_LOCK at most: BPF is loaded once. CAP_SETUID and CAP_SETGID are for children
        # that enter homes, and CAP_KILL ends them.
        uses = 1 << 14 | 1 << 19 | 1 << 38 | 1 << 21
        own = int(status("self")["CapPrm"], 16)
        # Without CAP_SYS_PTRACE it keeps all that it has: so root of a container reads PSS of its own processes.
        uses |= 0 if own >> 19 & 1 else own
        result(int(collector["CapPrm"], 16) & ~(uses | 1 << 5 | 1 << 6 | 1 << 7) == 0 and int(collector["CapEff"], 16) & ~uses == 0,
               "the collector process: capabilities", (collector["CapPrm"], collector["CapEff"]))
        listening = set()
        for name in ("tcp", "tcp6"):
            with open("/proc/net/" + name) as file:
                listening |= {line.split()[9] for line in file.readlines()[1:]}
        with open("/proc/net/unix") as file:
            listening |= {line.split()[6] for line in file.readlines()[1:] if line.split()[3] == "00010000"}
        if seen:
            result(len(sockets(serve.http_pid()) & listening) == 2, "the HTTP process has the listening sockets")
        same("the collector process has no listening socket", sockets(serve.process.pid) & listening, set())
        for role, pid in roles:
            names = [os.readlink("/proc/%d/fd/%s" % (pid, fd)) for fd in os.listdir("/proc/%d/fd" % pid)]
            result(secret.name not in names, "the %s process has no inherited file" % role, names)
    os.close(inherited)
    secret.close()
    if not need("users", "as user nobody"):
        return
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        program = directory + "/zmem-bpf"
        subprocess.run(["cp", PROGRAM, program], check=True)
        with Serve(prefix=[*NOBODY, "sh", "-c", 'shift; exec "$0" "$@"', program]) as serve:
            same("as user nobody", serve.get("/metrics").code, 200)
            same("as user nobody: counters from /proc", json.loads(serve.get("/snapshot.json").text)["source"]["counters"], "proc")
            same("as user nobody: exit code", serve.stop(), 0)


def check_half_closed():
    """Clients that close their sending half with the request: the first waits for a snapshot, and each third does not."""
    with tempfile.TemporaryDirectory() as directory:
        for listen in ("127.0.0.1:0", "unix:" + directory + "/s"):
            with Serve("--interval", "0.2", listen=listen) as serve:
                for header in ("Connection: close\r\n", ""):
                    request = ("GET /metrics HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % header).encode()
                    answers = []
                    for pause in (0, 0.3, 0, 0.3, 0):
                        time.sleep(pause)  # time itself: longer than the age of a snapshot
                        began = time.monotonic()
                        answer = Answer(serve.send(request, half_close=True))
                        ok = answer.code == 200 and len(answer.body) == int(answer.headers["content-length"])
                        # libmicrohttpd's own limit for an idle connection is 90 s, send()'s is 30 s.
                        answers.append((ok, time.monotonic() - began < PATIENCE))
                    same("half closed, %s, %s: answers, and the end" % (listen[:4], header.strip() or "kept alive"), answers,
                         [(True, True)] * 5)
                two = serve.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2, half_close=True)
                same("half closed, %s: two requests in one" % listen[:4], two.count(b"HTTP/1.1 200"), 2)


def check_ends():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        serve = Serve()
        serve.get("/metrics")
        same("%s: exit code" % number.name, serve.stop(number), 0)
        same("%s right after the start: exit code" % number.name, {Serve().stop(number) for _ in range(5)}, {0})
        serve = Serve()
        serve.get("/metrics")
        os.kill(serve.http_pid(), number)
        same("%s to the HTTP process: exit code" % number.name, serve.wait(), 0)
    with Serve(prefix=["sh", "-c", 'trap "" INT HUP; exec "$@"', "sh"]) as serve:
        for number in (signal.SIGINT, signal.SIGHUP):
            os.kill(serve.process.pid, number)
            os.kill(serve.http_pid(), number)
        same("signals ignored at the start stay ignored", serve.get("/metrics").code, 200)
        same("signals ignored at the start: SIGTERM ends serve", serve.stop(), 0)
    serve = Serve()
    serve.get("/metrics")
    os.kill(serve.http_pid(), signal.SIGKILL)
    same("the HTTP process is killed: exit code", serve.wait(), 1)
    result("was ended by signal 9" in serve.said(), "the HTTP process is killed: message", serve.said())
    serve = Serve()
    serve.get("/metrics")
    http = serve.http_pid()
    serve.stop(signal.SIGKILL)
    result(wait_until(lambda: ended(http)), "the collector process is killed: the HTTP process ends")
    result("the collector process has ended" in serve.said(), "the collector process is killed: message", serve.said())


def check_secrets():
    sleeper = subprocess.Popen(["sh", "-c", "read line; :", SECRET], stdin=subprocess.PIPE)
    try:
        with Serve() as serve:
            for page in ("/", "/metrics", "/snapshot.json", "/snapshot.json?group_by=name", "/page.json", "/history.json"):
                result(SECRET not in serve.get(page).text, page + " has no command lines")
        with Serve("-o", "+cmdline") as serve:
            same("-o +cmdline: pages with command lines", [SECRET in serve.get(page).text for page in
                 ("/", "/snapshot.json", "/page.json", "/metrics")], [True, True, True, False])
    finally:
        sleeper.stdin.close()
        sleeper.wait()


def check_pages_of_files(path):
    with Serve("--files") as serve:
        answer = serve.get("/files.json")
        same("/files.json: code and type", (answer.code, answer.headers["content-type"]), (200, "application/json"))
        with tempfile.NamedTemporaryFile() as file:
            file.write(answer.body)
            file.flush()
            run = subprocess.run([HERE + "/../support/validate_json.py", file.name], capture_output=True)
            same("/files.json: valid", run.stderr, b"")
        doc = json.loads(answer.text)
        mine = [f for f in doc["files"] if f["path"] == path]
        same("/files.json: a file of tmpfs", [(f["resident_bytes"], f["swapped_bytes"], f["kind"], f["deleted"]) for f in mine],
             [(FILE_SIZE, 0, "tmpfs", False)])
        same("/files.json: the largest 2,000 at most", len(doc["files"]), min(2000, doc["totals"]["files"]))
        page = serve.get("/files")
        same("/files: code and type", (page.code, page.headers["content-type"]), (200, "text/html; charset=utf-8"))
        policy = page.headers["content-security-policy"]
        result("script-src 'sha256-" in policy and "connect-src 'self'" in policy and
               policy != serve.get("/").headers["content-security-policy"], "/files: its own policy", policy)
        result("zmem_serve_\\u003cb" in page.text and "<b>%d" % os.getpid() not in page.text, "/files: a name is no markup")
        same("/files: HEAD", (serve.get("/files", "HEAD").code, serve.get("/files", "HEAD").body), (200, b""))
        for other in ("/", "/metrics", "/snapshot.json", "/page.json", "/history.json"):
            result("zmem_serve_" not in serve.get(other).text, other + " has no names of files")
        # They are read at most every two seconds.
        os.unlink(path)
        result(any(serve.get("/files.json").text == serve.get("/files.json").text for _ in range(5)),
               "asked again at once: the same document")
        result(wait_until(lambda: path not in serve.get("/files.json").text), "later: a new document")
        same("--files: exit code", serve.stop(), 0)


def check_files():
    """Pages of files, which only --files gives."""
    path = "/dev/shm/zmem_serve_<b>%d" % os.getpid()
    with open(path, "wb") as file:
        file.write(b"x" * FILE_SIZE)
    try:
        with Serve() as serve:
            same("without --files: no such pages", [serve.get(page).code for page in ("/files", "/files.json")], [404, 404])
            result("serve --files" in serve.get("/files").text, "without --files: the page says how", serve.get("/files").text)
            same("without --files: the live page does not lead there", json.loads(serve.get("/history.json").text)["files"], False)
        if need("counters", "serve --files"):
            check_pages_of_files(path)
    finally:
        if os.path.exists(path):
            os.unlink(path)
    for args, code, why in ((("--replay", GUEST), 2, b"cannot be combined with --replay"),
                            (("--source", "proc"), 2, b"cannot be combined with --source proc")):
        run = subprocess.run([PROGRAM, "serve", "--files", *args], capture_output=True, timeout=30)
        result(run.returncode == code and why in run.stderr, "--files %s: refused" % args[0], (run.returncode, run.stderr))
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        program = directory + "/zmem-bpf"
        subprocess.run(["cp", PROGRAM, program], check=True)
        for caps, why in (("", b"CAP_BPF"), ("cap_bpf,cap_perfmon=ep", b"names of files are private")):
            if caps and not need("caps", "--files as user nobody with '%s': refused" % caps):
                continue
            if caps:
                subprocess.run(["setcap", caps, program], check=True)
            other = NOBODY[:-1] if have("users") else ()
            run = subprocess.run([*other, program, "serve", "--files"], capture_output=True, timeout=30)
            result(run.returncode == 1 and why in run.stderr,
                   "--files as user nobody with '%s': refused" % caps, run.stderr)


BAD = Serve()
run_checks((check_pages, check_queries, check_refusals, check_token, check_unix, check_start,
            check_no_token, check_privileges, check_half_closed, check_ends, check_secrets, check_files,
            check_kernel_memory))
same("after all refusals: exit code", BAD.stop(), 0)
sys.exit(exit_code())
