#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""zmem-bpf serve: pages of other sites, requests with ambiguous hosts, users that try to signal or trace
the HTTP process, and a collector process that does not answer."""

import ctypes
import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import paths  # noqa: F401
from outcome import PROGRAM, exit_code, have, need, read, result, run_checks, same, wait_until
from serving import Answer, Serve

FILES = ("/files", "/files.json") if have("counters") else ()
PAGES = ("/", "/metrics", "/snapshot.json", "/page.json", "/history.json", "/healthz", *FILES)
OPTIONS = ("--files",) if FILES else ()
NOBODY = 65534
PTRACE_SEIZE = 0x4206
SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8914, 0x8916, 1
NAMES = "127.0.0.1 localhost\n10.9.9.9 box.example\n127.0.1.1 home.example\n"


def check_other_sites(serve):
    ours = "http://localhost:%d" % serve.port
    host = "localhost:%d" % serve.port
    for page in PAGES:
        answer = serve.get(page, host=host, Sec_Fetch_Site="cross-site")
        same(page + ": cross-site", (answer.code, "another site" in answer.text), (403, True))
        same(page + ": another Origin", serve.get(page, host=host, Origin="http://evil.example").code, 403)
        same(page + ": its own Origin", serve.get(page, host=host, Origin=ours, Sec_Fetch_Site="same-origin").code, 200)
    same("Host 0.0.0.0: cross-site", serve.get("/", host="0.0.0.0:1", Sec_Fetch_Site="cross-site").code, 403)
    codes = [line for line in serve.get("/metrics").text.split("\n") if line.startswith('zmem_http_requests_total{code="403"}')]
    same("refusals are counted", [line.split()[-1] for line in codes], [str(2 * len(PAGES) + 1)])


def check_hosts(serve):
    """RFC 9112, 3.2."""
    for head, code in (("HTTP/1.1\r\n", 400), ("HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n", 400),
                       ("HTTP/1.1\r\nHost: localhost\r\nhOST: evil.example\r\n", 400),
                       ("HTTP/1.0\r\nHost: localhost\r\nHost: localhost\r\n", 400),
                       ("HTTP/1.1\r\nHost: localhost\r\n", 200), ("HTTP/1.1\r\nHost:\r\n", 421),
                       ("HTTP/1.0\r\n", 200), ("HTTP/1.0\r\nHost: localhost\r\n", 200)):
        for page in ("/healthz", "/metrics"):
            answer = Answer(serve.send(("GET %s %sConnection: close\r\n\r\n" % (page, head)).encode()))
            same("%s %r" % (page, head), answer.code, code)


def check_both_families(serve):
    """A passed IPv6 socket that also accepts IPv4: 127.0.0.1 is loopback there, too."""
    with socket.socket(socket.AF_INET6) as s:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        s.bind(("::", 0))
        s.listen()
        script = 'exec 3<&%d; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" serve' % s.fileno()
        process = subprocess.Popen(["sh", "-c", script, PROGRAM], pass_fds=[s.fileno()], stderr=subprocess.DEVNULL)
        try:
            for address in ("127.0.0.1", "::1"):
                with socket.create_connection((address, s.getsockname()[1]), 30) as c:
                    c.sendall(b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
                    same("both families, %s: another host" % address, Answer(c.recv(1000)).code, 421)
        finally:
            process.terminate()
            same("both families: exit code", process.wait(30), 0)


def healthz(place, host, extra=""):
    """The status of an answer of that address and port."""
    with socket.create_connection(place, 30) as c:
        c.sendall(("GET /healthz HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s\r\n" % (host, extra)).encode())
        return Answer(c.recv(1000)).code


def check_names():
    """DNS rebinding: where --listen has a name, no other name is answered. Runs in namespaces of its own."""
    with socket.socket() as s:
        for name, address in (("lo", None), ("lo:1", "10.9.9.9")):
            value = struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(address)) if address else struct.pack("=H14x", IFF_UP)
            fcntl.ioctl(s, SIOCSIFADDR if address else SIOCSIFFLAGS, struct.pack("16s16s", name.encode(), value))
    with tempfile.NamedTemporaryFile("w") as hosts:
        hosts.write(NAMES)
        hosts.flush()
        subprocess.run(["mount", "--bind", hosts.name, "/etc/hosts"], check=True)
        with Serve(listen="box.example:0,home.example:0,10.9.9.9:0") as serve:
            box, home, number = (("10.9.9.9" if "10." in line else "127.0.1.1", int(line.rsplit(":", 1)[1].rstrip("/")))
                                 for line in serve.said().splitlines() if "listening on" in line)
            for place, own in ((box, "box.example"), (home, "home.example")):
                for host, code in ((own, 200), ("localhost", 200), ("evil.example", 421), ("evil." + own, 421)):
                    same("--listen %s: Host %s" % (own, host), healthz(place, host), code)
            same("another address's name", [healthz(box, "home.example"), healthz(home, "box.example")], [421, 421])
            # The names of this address are not known.
            same("--listen 10.9.9.9: Host any.example", healthz(number, "any.example"), 200)
            # A link to this machine, as in a dashboard, may be followed; on loopback it may not.
            link = "Sec-Fetch-Site: cross-site\r\n"
            same("a link of another site", [healthz(box, "box.example", link), healthz(home, "home.example", link)], [200, 403])
            same("names: exit code", serve.stop(), 0)


def check_names_apart(_):
    if not need("mount", "names"):
        return
    sys.stdout.flush()
    run = subprocess.run(["unshare", "-n", "-m", sys.executable, "-B", __file__, "names"], check=False)
    same("names: all were tried", run.returncode, 0)


def as_user(uid, deed):
    """Runs deed() in a child as that user. Returns 0 or its errno."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            os._exit(deed())
        except OSError as error:
            os._exit(error.errno)
        finally:
            os._exit(255)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def ids_of(pid):
    with open("/proc/%d/status" % pid) as file:
        return [set(line.split()[1:]) for line in file if line.startswith(("Uid:", "Gid:"))]


def check_user(serve):
    if not need("users", "the user of the HTTP process"):
        return
    http, libc = serve.http_pid(), ctypes.CDLL(None, use_errno=True)
    uids, gids = ids_of(http)
    with open("/etc/passwd") as file:
        known = {line.split(":")[0]: line.split(":")[2] for line in file}
    result(len(uids) == 1 and len(gids) == 1, "the HTTP process has one user and one group", (uids, gids))
    uid = int(uids.pop())
    if "zmem-bpf" in known:
        same("the package's user", str(uid), known["zmem-bpf"])
    else:
        result(61184 <= uid <= 65519, "the user is in the range", uid)
        result(str(uid) not in known.values(), "the user is not in passwd", uid)
        with Serve() as other:
            result(ids_of(other.http_pid())[0] != {str(uid)}, "another serve has another user", uid)

    def trace():
        return ctypes.get_errno() if libc.ptrace(PTRACE_SEIZE, http, 0, 0) < 0 else 0

    for number in (0, signal.SIGSTOP, signal.SIGKILL):
        same("another service's user: signal %d" % number, as_user(NOBODY, lambda n=number: os.kill(http, n) or 0), 1)
    same("another service's user: ptrace", as_user(NOBODY, trace), 1)
    result(as_user(NOBODY, lambda: os.open("/proc/%d/mem" % http, os.O_RDONLY) and 0) != 0, "another service's user: reads memory")
    if "-san" not in PROGRAM:  # the thread sanitizer adds one
        same("one thread: Landlock and seccomp bind a thread", len(os.listdir("/proc/%d/task" % http)), 1)
    same("after signals: serve answers", serve.get("/healthz").code, 200)


def state(pid):
    return read("/proc/%d/stat" % pid).rsplit(")", 1)[1].split()[0]


def check_goes_on(serve):
    """After SIGSTOP the kernel restarts poll() as restart_syscall()."""
    http = serve.http_pid()
    for _ in range(3):
        os.kill(http, signal.SIGSTOP)
        wait_until(lambda: state(http) == "T")
        os.kill(http, signal.SIGCONT)
        wait_until(lambda: state(http) == "S")
    same("stopped and continued", (serve.get("/metrics").code, serve.process.poll()), (200, None))


def check_no_answer(serve):
    """Each page is answered before the timeout of Prometheus (10 s); the test allows 20 s."""
    waiting = ("/metrics", "/", "/snapshot.json", "/page.json", *FILES[1:])
    with Serve(*OPTIONS, "-i", "0.1") as stuck:
        same("before: metrics", stuck.get("/metrics").code, 200)
        time.sleep(0.15)  # with -i 0.1 a snapshot is too old then
        os.kill(stuck.process.pid, signal.SIGSTOP)
        answers = {}

        def ask(page):
            try:
                answer = stuck.get(page, timeout=20)
                answers[page] = (answer.code, answer.text.startswith("no answer in time"))
            except OSError as error:
                answers[page] = error

        threads = [threading.Thread(target=ask, args=(page,)) for page in waiting]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        same("the collector is stopped", answers, {page: (503, True) for page in waiting})
        health = stuck.get("/healthz")
        same("the collector is stopped: healthz", (health.code, health.text), (503, "collecting is stuck\n"))
        same("the collector is stopped: history.json", stuck.get("/history.json").code, 200)
        # The snapshot is overdue: if each of these waited, they would fill all connections.
        many = [threading.Thread(target=ask, args=("/metrics?%d" % i,)) for i in range(100)]
        for thread in many:
            thread.start()
        for thread in many:
            thread.join()
        same("the collector is stopped: later requests", {answers["/metrics?%d" % i] for i in range(100)}, {(503, True)})
        os.kill(stuck.process.pid, signal.SIGCONT)
        codes = set()
        wait_until(lambda: codes.update(stuck.get(page).code for page in PAGES) or not codes.difference({200}) or codes.clear())
        same("the collector continues: all pages", codes, {200})
        same("the collector continues: exit code", stuck.stop(), 0)


if sys.argv[1:] == ["names"]:
    run_checks((check_names,))
    sys.exit(exit_code())
with Serve(*OPTIONS) as SERVE:
    run_checks((check_other_sites, check_hosts, check_both_families, check_names_apart, check_user, check_goes_on, check_no_answer), SERVE)
    same("after all checks: exit code", SERVE.stop(), 0)
sys.exit(exit_code())
