#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""zmem-bpf serve: every page and code, what it takes and refuses, who it is while it runs, how it
ends. What Prometheus and a browser make of it is for tests/metrics and tests/browser."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../support")

from outcome import O, PROGRAM, exit_code, result, run_checks  # noqa: E402
from serving import Serve  # noqa: E402

GUEST = HERE + "/../fixtures/recordings/guest-6.12.zmem"
SANITIZED = "-san" in PROGRAM
SECRET = "a-secret-of-the-command-line"


def same(name, got, want):
    result(got == want, name, "%r, not %r" % (got, want))


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
            same(path + ": not kept", answer.headers["cache-control"], "no-store")
            head = serve.get(path, "HEAD")
            same(path + ": HEAD", (head.code, head.body), (200, b""))
            result(int(head.headers["content-length"]) > 0, path + ": HEAD has a length", head.headers)
        policy = serve.get("/").headers["content-security-policy"]
        result("script-src 'sha256-" in policy and "connect-src 'self'" in policy, "/: what it may", policy)
        opened = serve.get("/metrics", Accept="application/openmetrics-text; version=1.0.0,text/plain;q=0.5")
        result(opened.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0"),
               "OpenMetrics for who asks", opened.headers)
        result(opened.text.endswith("\n# EOF\n"), "OpenMetrics has its end")
        refused = serve.get("/metrics", Accept="application/openmetrics-text;q=0, text/plain")
        result(refused.headers["content-type"].startswith("text/plain; version=0.0.4"), "but not for who refuses it",
               refused.headers)
        result(serve.get("/healthz").text.startswith("ok, last snapshot "), "healthz says how old")
        document = json.loads(serve.get("/snapshot.json").text)
        with tempfile.NamedTemporaryFile() as file:
            file.write(serve.get("/snapshot.json").body)
            file.flush()
            run = subprocess.run(["/usr/bin/python3", HERE + "/../support/validate_json.py", file.name],
                                 capture_output=True)
            same("the snapshot fits its schema", (run.returncode, run.stderr), (0, b""))
        result(any(p["pid"] == os.getpid() for p in document["processes"]), "and has us in it")
        same("the history begins", json.loads(serve.get("/history.json").text)["step_s"], 15)
        same("ends", serve.stop(), 0)
        same("and said nothing but where it is", serve.said().count("\n"), 1)


def cli(*args):
    return subprocess.run([PROGRAM, "-q", "--replay", GUEST, *args], capture_output=True).stdout.decode()


def check_queries():
    """The words mean what the options mean: the same rows of the same recording."""
    queries = {
        "": [], "top=3": ["-n", "3"], "sort=rss&top=4": ["-s", "rss", "-n", "4"],
        "sort=name,pid&reverse=1": ["-s", "name,pid", "-r"], "group_by=name": ["-g", "name"],
        "group_by=user&sort=procs": ["-g", "user", "-s", "procs"], "group_by=unit&top=2": ["-g", "unit", "-n", "2"],
        "group_by=cgroup": ["-g", "cgroup"], "group_by=container": ["-g", "container"],
        "min=2M": ["--min", "2M"], "filter=%5Emkmem%24": ["-f", "^mkmem$"], "user=0": ["-u", "0"],
        "user=0&group_by=name&min=1M": ["-u", "0", "-g", "name", "--min", "1M"], "pid=1": ["-p", "1"],
        "cgroup=/": ["--cgroup", "/"], "filter=no-such-name": ["-f", "no-such-name"],
    }
    # What pruning leaves unread, and who was checked, is of a collection and not of the rows.
    with Serve("--replay", GUEST, "--numeric") as serve:
        for query, options in queries.items():
            answer = serve.get("/snapshot.json?" + query)
            want = json.loads(cli("-J", *options))
            # What the option has read for it.
            for row in want.get("processes", []):
                for key in [key for key in row if key.startswith("cmdline")]:
                    del row[key]
            got = json.loads(answer.text) if answer.code == 200 else {}
            rows = "groups" if "groups" in want else "processes"
            pruned = "-n" in options and "-g" not in options
            # Of all processes PSS is known here, and of those asked for there.
            some = not {"-f", "-p"}.isdisjoint(options)
            for key in (rows,) if pruned else (rows, "totals", "source", "host") + (() if some else ("system",)):
                result(got.get(key) == want[key], "?%s: %s as the options have it" % (query, key),
                       "%s, not %s" % (got.get(key), want[key]))
            same("?%s: filtered" % query, got.get("collection", {}).get("filtered"), want["collection"]["filtered"])
        same("the page has the rows", json.loads(serve.get("/page.json").text)["rows"],
             len(json.loads(cli("-J"))["processes"]))
    for key in ("name", "user", "unit", "cgroup"):
        with Serve("--replay", GUEST, "-g", key, "-n", "3") as serve:
            def groups(text):
                return sorted(line for line in text.split("\n") if line.startswith("zmem_group_") or
                              line.startswith("zmem_memory") or line.startswith("zmem_source"))
            got = groups(serve.get("/metrics").text)
            want = groups(cli("-F", "prometheus", "-g", key, "-n", "3"))
            own = [line for line in got if line.startswith("zmem_groups_")]
            same("metrics by %s as the program prints them" % key, [g for g in got if g not in own], want)
    for query in ("x=1", "top=0", "top=1&top=1", "filter=(", "filter=a%7B9", "pid=x", "min=y", "sort=z",
                  "group_by=q", "filter=%00", "group_by=cmdline", "pss=none"):
        with_ = BAD.get("/snapshot.json?" + query)
        same("?%s: refused in a line" % query, (with_.code, with_.text.count("\n")), (400, 1))
    same("a pid that is not there", BAD.get("/snapshot.json?pid=4194304").code, 404)
    same("a user that is not there", BAD.get("/snapshot.json?user=nobody-of-that-name").code, 404)


def check_refusals():
    same("another path", BAD.get("/nope").code, 404)
    same("a path below", BAD.get("/metrics/").code, 404)
    same("out of the root", BAD.get("/../etc/passwd").code, 404)
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"):
        answer = BAD.get("/metrics", method)
        same(method, (answer.code, answer.headers.get("allow")), (405, "GET, HEAD"))
    same("a body", BAD.get("/metrics", Content_Length="5").code, 413)
    same("a body without an end", BAD.get("/metrics", Transfer_Encoding="chunked").code, 413)
    same("a long URL", BAD.get("/metrics?" + "x" * 3000).code, 414)
    same("a path that long", BAD.get("/" + "x" * 3000).code, 414)
    result(BAD.get("/metrics?" + "x" * 100000).code in (0, 414, 431), "a URL of any length")
    result(BAD.get("/metrics", X="y" * 100000).code in (0, 413, 431), "headers of any length")
    for host in ("evil.example", "evil.example:80", "localhost.evil.example"):
        same("the host " + host, BAD.get("/snapshot.json", host=host).code, 421)
    for host in ("localhost", "127.0.0.1:1", "[::1]:1"):
        same("the host " + host, BAD.get("/healthz", host=host).code, 200)
    for garbage in (b"\0" * 5000, b"GET\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n", b"\xff\xfe / HTTP/1.1\r\n\r\n",
                    b"GET /metrics HTTP/1.1\r\n: x\r\n\r\n", b"GET http://[ HTTP/1.1\r\n\r\n", os.urandom(4000) + b"\r\n\r\n",
                    b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: -1\r\n\r\n"):
        with BAD.connect() as s:
            s.sendall(garbage)
            s.shutdown(socket.SHUT_WR)
            try:
                while s.recv(65536):
                    pass
            except OSError:
                pass
    same("garbage does not end it", BAD.get("/healthz").code, 200)
    ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    many = BAD.send(ask + b"\r\n" + ask + b"\r\n" + b"GET /nope HTTP/1.1\r\nHost: localhost\r\n\r\n" + ask +
                    b"Connection: close\r\n\r\n")
    same("several in one go", (many.count(b"HTTP/1.1 200"), many.count(b"HTTP/1.1 404")), (3, 1))
    codes = {line.split('"')[1]: float(line.split()[-1]) for line in BAD.get("/metrics").text.split("\n")
             if line.startswith("zmem_http_requests_total{")}
    result(codes["405"] >= 6 and codes["421"] == 3 and codes["400"] >= 12, "they are counted by code", codes)
    same("headers that are too long", BAD.get("/metrics", X="y" * 20000).code, 431)
    result('code="431"' not in BAD.get("/metrics").text, "which the library refuses, and nobody counts")


def check_token():
    with tempfile.TemporaryDirectory() as directory:
        path = directory + "/token"
        with open(path, "w") as file:
            file.write("s3cret\n")
        os.chmod(path, 0o644)
        run = subprocess.run([PROGRAM, "serve", "--token-file", path], capture_output=True, timeout=30)
        result(run.returncode == 1 and b"chmod 600" in run.stderr, "a token file that every user can read", run.stderr)
        os.chmod(path, 0o600)
        with Serve("--token-file", path) as serve:
            for how, code in ((None, 401), ("Bearer s3cre", 401), ("Bearer s3crett", 401), ("Basic s3cret", 401),
                              ("Bearer s3cret", 200)):
                headers = {"Authorization": how} if how else {}
                for page in ("/healthz", "/metrics", "/"):
                    same("%s with %s" % (page, how), serve.get(page, **headers).code, code)
            same("who is asked for one is told", serve.get("/").headers.get("www-authenticate"), "Bearer")
            for how, code in (("Bearer s3cret \t", 200), ("Bearer", 401), ("Bearer " + "s3cret" * 1000, 401),
                              ("Bearer x\r\nAuthorization: Bearer s3cret", 401)):
                same("with %.50r" % how, serve.get("/healthz", Authorization=how).code, code)
        for text, why in ((b"", b"is empty"), (b"\r\nx\n", b"is empty"), (b"x" * 512, b"longer than 511 bytes"),
                          (b"a\0b\n", b"not one word"), ("s3cret\n".encode("utf-16-le"), b"not one word"),
                          (b"a b\n", b"not one word")):
            with open(path, "wb") as file:
                file.write(text)
            run = subprocess.run([PROGRAM, "serve", "--token-file", path], capture_output=True, timeout=30)
            result(run.returncode == 1 and run.stderr.count(b"\n") == 1 and why in run.stderr,
                   "no token: %.20r" % text, run.stderr)
        with open(path, "w") as file:
            file.write("s3cret\r\n")
        with Serve("--token-file", path) as serve:
            same("a line that ends as in DOS", serve.get("/healthz", Authorization="Bearer s3cret").code, 200)


def check_unix():
    with tempfile.TemporaryDirectory() as directory:
        path = directory + "/z.sock"
        with Serve(listen="unix:" + path) as serve:
            same("unix socket: mode", stat.S_IMODE(os.stat(path).st_mode), 0o660)
            same("unix socket: answers, whatever the host", serve.get("/healthz", host="any.example").code, 200)
            other = subprocess.run([PROGRAM, "serve", "--listen", "unix:" + path], capture_output=True, timeout=30)
            result(other.returncode == 1 and b"in use" in other.stderr, "a unix socket that is in use", other.stderr)
            same("which goes on", serve.get("/healthz").code, 200)
            same("unix socket: ends", serve.stop(), 0)
        result(not os.path.exists(path), "unix socket: removed")
        serve = Serve(listen="unix:" + path)
        serve.stop(signal.SIGKILL)
        end = time.monotonic() + 10
        while time.monotonic() < end and not os.path.exists(path):
            time.sleep(0.05)
        time.sleep(0.3)
        with Serve(listen="unix:" + path) as again:
            same("one that a killed one left is replaced", again.get("/healthz").code, 200)
        with open(path, "w"):
            pass
        run = subprocess.run([PROGRAM, "serve", "--listen", "unix:" + path], capture_output=True, timeout=30)
        result(run.returncode == 1 and os.path.exists(path) and b"(this path is a file: remove it" in run.stderr,
               "a file is not", run.stderr)
        for where, why in ((path + "/s", b"Not a directory"), (directory + "/none/s", b"(create the directory first)"),
                           (path + "x" * 108, b"at most 107 bytes")):
            run = subprocess.run([PROGRAM, "serve", "--listen", "unix:" + where], capture_output=True, timeout=30)
            result(run.returncode in (1, 2) and run.stderr.count(b"\n") == 1 and why in run.stderr,
                   "a unix socket that cannot be: %s" % why.decode(), run.stderr)
    with tempfile.TemporaryDirectory() as directory:
        many = ",".join("unix:%s/%d" % (directory, i) for i in range(9))
        run = subprocess.run([PROGRAM, "serve", "--listen", many], capture_output=True, timeout=30)
        result(run.returncode == 2 and b"more than 8" in run.stderr, "more addresses than it takes", run.stderr)
        same("more addresses than it takes: none is left behind", os.listdir(directory), [])


def check_start():
    with Serve() as serve:
        run = subprocess.run([PROGRAM, "serve", "--listen", "127.0.0.1:%d" % serve.port], capture_output=True, timeout=30)
        result(run.returncode == 1 and run.stderr.count(b"\n") == 1 and b"in use (another program" in run.stderr,
               "a busy port", run.stderr)
    run = subprocess.run([PROGRAM, "serve", "--listen", "192.0.2.1:0"], capture_output=True, timeout=30)
    result(run.returncode == 1 and run.stderr.count(b"\n") == 1 and b"(this machine has no such address" in run.stderr,
           "an address of others", run.stderr)
    for args in (["--listen", "nonsense"], ["--listen", ":99999"], ["--listen", ","], ["-g", "cmdline"], ["-n", "1001"],
                 ["-o", "pid"], ["-s", "rss"], ["-p", "1"], ["-F", "json"], ["--output", "x"], ["--tree"], ["-i", "0"]):
        run = subprocess.run([PROGRAM, "serve", *args], capture_output=True, timeout=30)
        result(run.returncode == 2 and run.stderr.count(b"\n") == 1, "usage: " + " ".join(args), run)
    if os.path.exists(O + "/zmem-bpf-static"):
        run = subprocess.run([O + "/zmem-bpf-static", "serve"], capture_output=True, timeout=30)
        result(run.returncode == 1 and run.stderr.count(b"\n") == 1 and b"static" in run.stderr, "the static program", run)
    with Serve(listen="127.0.0.1:0,[::1]:0") as serve:
        same("two addresses", serve.said().count("listening on http://"), 2)
    # As systemd hands them over.
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        script = 'exec 3<&%d; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" serve' % s.fileno()
        process = subprocess.Popen(["sh", "-c", script, PROGRAM], pass_fds=[s.fileno()], stderr=subprocess.PIPE)
        with socket.create_connection(s.getsockname(), 30) as c:
            c.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
            result(c.recv(100).startswith(b"HTTP/1."), "a socket that is handed over")
        process.terminate()
        process.communicate(timeout=30)
        same("a socket that is handed over: ends", process.returncode, 0)
        many = subprocess.run(["timeout", "10", "sh", "-c", script.replace("FDS=1", "FDS=9"), PROGRAM],
                              pass_fds=[s.fileno()], capture_output=True)
        result(many.returncode == 1 and b"more than 8" in many.stderr, "more sockets than it takes", many.stderr)
        # Who names an address has that one.
        named = script.replace("serve", "serve --listen 127.0.0.1:0")
        process = subprocess.Popen(["sh", "-c", named, PROGRAM], pass_fds=[s.fileno()], stderr=subprocess.PIPE)
        said = process.stderr.readline()
        result(b"listening on" in said and b":%d/" % s.getsockname()[1] not in said, "--listen beside them", said)
        process.terminate()
        process.communicate(timeout=30)


def status(pid):
    with open("/proc/%d/status" % pid) as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def sockets(pid):
    """Inodes."""
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
    secret = open("/etc/shadow" if os.path.exists("/etc/shadow") else "/etc/passwd")
    inherited = os.dup(secret.fileno())
    os.set_inheritable(inherited, True)
    with tempfile.TemporaryDirectory() as directory, Serve(listen="127.0.0.1:0,unix:%s/s" % directory) as serve:
        serve.get("/metrics")
        http, collector = status(serve.http_pid()), status(serve.process.pid)
        for key in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            same("the one that speaks HTTP: " + key, int(http[key], 16), 0)
        same("gains nothing", http["NoNewPrivs"], "1")
        if not SANITIZED:
            same("has a filter", http["Seccomp"], "2")
        for who, pid, has in (("speaks HTTP", serve.http_pid(), True), ("collects", serve.process.pid, False)):
            with open("/proc/%d/maps" % pid) as file:
                same("the one that %s: libmicrohttpd in it" % who, "libmicrohttpd" in file.read(), has)
        # CAP_SYS_PTRACE and CAP_IPC_LOCK at most: BPF is loaded once.
        result(int(collector["CapPrm"], 16) & ~(1 << 14 | 1 << 19 | 1 << 38 | 1 << 21) == 0, "the one that collects", collector["CapPrm"])
        listening = set()
        for name in ("tcp", "tcp6"):
            with open("/proc/net/" + name) as file:
                listening |= {line.split()[9] for line in file.readlines()[1:]}
        with open("/proc/net/unix") as file:
            listening |= {line.split()[6] for line in file.readlines()[1:] if line.split()[3] == "00010000"}
        result(len(sockets(serve.http_pid()) & listening) == 2, "the one that speaks HTTP has what listens")
        same("the one that collects has not", sockets(serve.process.pid) & listening, set())
        for who, pid in (("collects", serve.process.pid), ("speaks HTTP", serve.http_pid())):
            names = [os.readlink("/proc/%d/fd/%s" % (pid, fd)) for fd in os.listdir("/proc/%d/fd" % pid)]
            result(secret.name not in names, "the one that %s has not what others had open" % who, names)
    os.close(inherited)
    secret.close()
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        program = directory + "/zmem-bpf"
        subprocess.run(["cp", PROGRAM, program], check=True)
        with Serve(prefix=[*nobody, "sh", "-c", 'shift; exec "$0" "$@"', program]) as serve:
            same("as nobody", serve.get("/metrics").code, 200)
            same("as nobody: from /proc", json.loads(serve.get("/snapshot.json").text)["source"]["counters"], "proc")
            same("as nobody: ends", serve.stop(), 0)


def check_ends():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        serve = Serve()
        serve.get("/metrics")
        same("%s: exit code" % number.name, serve.stop(number), 0)
        same("%s at once: exit code" % number.name, {Serve().stop(number) for _ in range(10)}, {0})
        serve = Serve()
        serve.get("/metrics")
        os.kill(serve.http_pid(), number)
        same("%s to the one that speaks HTTP" % number.name, serve.wait(), 0)
    with Serve(prefix=["sh", "-c", 'trap "" INT HUP; exec "$@"', "sh"]) as serve:
        for number in (signal.SIGINT, signal.SIGHUP):
            os.kill(serve.process.pid, number)
            os.kill(serve.http_pid(), number)
        same("signals that were ignored at the start stay so", serve.get("/metrics").code, 200)
        same("signals that were ignored: SIGTERM ends it", serve.stop(), 0)
    serve = Serve()
    serve.get("/metrics")
    os.kill(serve.http_pid(), signal.SIGKILL)
    same("the one that speaks HTTP is killed", serve.wait(), 1)
    result("was ended by signal 9" in serve.said(), "and the other says so", serve.said())
    serve = Serve()
    serve.get("/metrics")
    http = serve.http_pid()
    serve.stop(signal.SIGKILL)
    end = time.monotonic() + 20
    while time.monotonic() < end and os.path.exists("/proc/%d" % http) and "Z" not in status(http)["State"]:
        time.sleep(0.05)
    result(not os.path.exists("/proc/%d" % http) or "Z" in status(http)["State"], "the one that collects is killed")
    result("the collector process has ended" in serve.said(), "and the other says so", serve.said())


def check_secrets():
    sleeper = subprocess.Popen(["sh", "-c", "read line; :", SECRET], stdin=subprocess.PIPE)
    try:
        with Serve() as serve:
            for page in ("/", "/metrics", "/snapshot.json", "/snapshot.json?group_by=name", "/page.json", "/history.json"):
                result(SECRET not in serve.get(page).text, page + " has no command lines")
        with Serve("-o", "+cmdline") as serve:
            same("unless asked for", [SECRET in serve.get(page).text for page in
                 ("/", "/snapshot.json", "/page.json", "/metrics")], [True, True, True, False])
    finally:
        sleeper.stdin.close()
        sleeper.wait()


if os.getuid() != 0:
    print("skip test_serve.py: needs root")
    sys.exit(0)
BAD = Serve()
run_checks((check_pages, check_queries, check_refusals, check_token, check_unix, check_start,
            check_privileges, check_ends, check_secrets))
same("all that was refused did not end it", BAD.stop(), 0)
sys.exit(exit_code())
