#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What programs and applications are called: real processes, their groups in each document, and in a recording."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile

import paths  # noqa: F401
from outcome import PROGRAM, exit_code, need, read, result, run_checks, see_own_processes_only, wait_until
from peers import run

PTY_RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "pty_run.py")
TIMEOUT = "1000"  # a process: the test ends it


def rows(*args):
    done = run(PROGRAM, "--json", *(() if "--replay" in args else ("--pss", "none")), *args)
    if done.returncode:
        raise RuntimeError("exit code %d: %s" % (done.returncode, done.stderr.decode()[:300]))
    return json.loads(done.stdout)


@contextlib.contextmanager
def started(*command, **more):
    """Yields the pid of the command, which has called exec and does nothing more."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             **more)
    try:
        yield child.pid
    finally:
        child.kill()
        child.wait()


# ---- applications ----


@contextlib.contextmanager
def writing(file, *args):
    """Yields the pid of a program of this file with any arguments: a copy of echo that waits for its output to be read."""
    subprocess.run(["cp", "/bin/echo", file], check=True)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, bytes(4096))
    os.set_blocking(writer, True)
    child = subprocess.Popen((os.path.basename(file), *args), executable=file, stdout=writer)
    try:
        yield child.pid
    finally:
        child.kill()
        child.wait()
        os.close(reader)
        os.close(writer)


@contextlib.contextmanager
def applications(home):
    """Yields {pid: app} of processes with titles, scripts and applets."""
    wanted = {}
    os.makedirs(home + "/shop/src")
    for script in ("/shop/src/run.sh", "/backup.sh"):
        with open(home + script, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nread x\n")
        os.chmod(home + script, 0o755)
    for name in ("postgres", "nginx", "php-fpm8.2", "chromium"):
        subprocess.run(["cp", "/bin/sleep", home + "/" + name], check=True)
    with contextlib.ExitStack() as stack:
        for name, title, app in (
                ("postgres", "postgres: 15/main: shop orders [local] idle", "postgres: shop orders"),
                ("postgres", "postgres: 15/main: checkpointer ", "postgres: checkpointer"),
                ("nginx", "nginx: worker process", "nginx: worker process"),
                ("php-fpm8.2", "php-fpm: pool www", "php-fpm: pool www"),
                ("chromium", "/usr/lib/chromium --type=renderer --user-data-dir=/tmp/work --secret", "chromium: work")):
            wanted[stack.enter_context(started(title, TIMEOUT, executable=home + "/" + name))] = app
        for name, args, app in (
                # The class is behind 20 KiB.
                ("java", ("-cp", "x" * 20480, "com.acme.Billing", "--prod"), "Billing"),
                ("qemu-system-x86_64", ("-name", "guest=w\u00e9b,debug-threads=on", "-m", "secret"),
                 "qemu-system-x86_64: w\u00e9b"),
                ("php8.2", ("artisan", "queue:work", "secret"), "artisan queue:work")):
            wanted[stack.enter_context(writing(home + "/" + name, *args))] = app
        for command, app in (
                (("/bin/sh", home + "/shop/src/run.sh", "secret"), "shop/run.sh"),
                ((home + "/backup.sh", "secret" + "x" * 3900), "backup.sh"),
                ((sys.executable, "-c", "input()", "secret"), os.path.basename(sys.executable)),
                *([(("busybox", "sleep", TIMEOUT), "sleep")] if need("busybox", "apps: an applet") else [])):
            child = subprocess.Popen(command, stdin=subprocess.PIPE)
            stack.callback(lambda child=child: (child.kill(), child.wait(), child.stdin.close()))
            wanted[child.pid] = app
        pids = ",".join(map(str, wanted))
        wait_until(lambda: {p["pid"]: p["app"] for p in rows("-p", pids, "-o", "+app")["processes"]} == wanted)
        yield wanted


def groups_of(*args):
    return {g["group"]: g["procs"] for g in rows("-g", "app", *args)["groups"]}


def check_apps():
    """unit/test_model_app.c has every kind of program."""
    with tempfile.TemporaryDirectory() as home, applications(home) as wanted:
        pids = ",".join(map(str, wanted))
        found = {p["pid"]: p["app"] for p in rows("-p", pids, "-o", "+app")["processes"]}
        result(found == wanted, "apps: of processes", (found, wanted))
        text = run(PROGRAM, "-p", pids, "-g", "app", "-F", "openmetrics").stdout.decode()
        result('group="postgres: shop orders"' in text and "secret" not in text, "apps: metrics", text)
        recording = home + "/recording"
        done = run(PROGRAM, "record", "-p", pids, recording)
        replayed = {p["pid"]: p["app"] for p in rows("--replay", recording, "-o", "+app")["processes"]}
        result(done.returncode == 0 and replayed == wanted, "apps: recorded", (done.stderr, replayed))


def check_rules():
    """unit/test_query_app_rules.c has what a file of rules may be."""
    with tempfile.TemporaryDirectory() as home, applications(home) as wanted:
        pids = ",".join(map(str, wanted))
        rules = home + "/rules"

        def write(text):
            with open(rules, "w", encoding="latin-1") as file:
                file.write(text)
            os.chmod(rules, 0o644)

        def refused(name, code, message, *args):
            done = run(PROGRAM, "-q", "--pss", "none", "-p", pids, "--apps", rules, *(args or ("-g", "app")))
            said = done.stderr.decode()
            result(done.returncode == code and message in said and said.count("\n") == 1, "rules: refused: " + name, said)

        write("# the shop\nshop: ^(postgres|nginx|php-fpm)|/shop/src/run\\.sh secret$\nbrowser: ^chromium$\n"
              "bills: ^java .*x com\\.acme\\.Billing --prod$\n")
        named = {pid: "shop" if app.startswith(("postgres", "nginx", "php", "shop")) else
                 "browser" if app.startswith("chromium") else "bills" if app == "Billing" else app
                 for pid, app in wanted.items()}
        counts = {app: list(named.values()).count(app) for app in named.values()}
        result(groups_of("-p", pids, "--apps", rules) == counts, "rules: groups by name, executable and command line",
               (groups_of("-p", pids, "--apps", rules), counts))
        recording = home + "/recording"
        run(PROGRAM, "record", "-p", pids, "--apps", rules, recording)
        result(groups_of("--replay", recording) == counts, "rules: a recording has them", groups_of("--replay", recording))
        refused("not asked for", 2, "--apps: nothing shows apps (-g app, -o +app)", "-n", "1")
        refused("in a recording", 2, "record --apps", "--replay", recording, "-g", "app")
        write("a: b\n\nc: (\n")
        refused("a line", 1, "/rules:3: ")
        write("a: b\n")
        os.chmod(rules, 0o664)
        refused("of a group", 1, "may write it")
        os.chmod(rules, 0o644)
        if need("users", "rules: of another user"):
            os.chown(rules, 65534, 65534)
            refused("of another user", 1, "another user")
        os.unlink(rules)
        os.mkfifo(rules, 0o600)
        refused("a FIFO", 1, "regular")


# ---- one name in each screen ----

# More memory than any other process here has; a file of shared memory; pages of a packet ring, where one can be had.
HOLDS = """import mmap, socket, struct, sys
own = bytearray(b"x") * (96 << 20)
file = open(sys.argv[1], "wb+")
file.truncate(1 << 20)
pages = mmap.mmap(file.fileno(), 1 << 20)
pages[:] = b"x" * len(pages)
if sys.argv[2] == "ring":
    ring = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    ring.setsockopt(263, 10, 2)
    ring.setsockopt(263, 5, struct.pack("7I", 1 << 20, 8, 2048, 4096, 0, 0, 0))
    mapped = mmap.mmap(ring.fileno(), 8 << 20)
print(flush=True)
sys.stdin.read()
"""
SCREEN_NAME = "hölds-much-memory.py"


def check_screens():
    if not need("bpf", "screens") or not need("ptrace", "screens"):
        return
    ring = need("packet", "screens: pages of a driver")
    with tempfile.TemporaryDirectory() as home, tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="zmem-held-") as held:
        script, out = home + "/" + SCREEN_NAME, home + "/out"
        with open(script, "w", encoding="ascii") as file:
            file.write(HOLDS)
        with subprocess.Popen((sys.executable, script, held.name, "ring" if ring else "none"), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as child:
            child.stdout.readline()
            pid = child.pid

            def on_terminal(*args):
                run(sys.executable, PTY_RUN, "50", "200", out, PROGRAM, *args)
                return read(out)

            def has(text, line, name, part=SCREEN_NAME):
                found = [row for row in text.splitlines() if row.startswith(line) or line in row]
                result(any(part in row for row in found), "screens: " + name, (found or text)[:20])

            has(run(PROGRAM, "system").stdout.decode(), "processes (PSS)", "system")
            for args in (("-g", "user"), ("-n", "1", "-s", "pid")):
                has(on_terminal(*args), "processes (PSS)", "a snapshot of other rows: " + " ".join(args))
            page = run(PROGRAM, "-g", "user", "-F", "html").stdout.decode()
            result('"holders":[{"name":"%s"' % SCREEN_NAME in page, "screens: a page", page[-2000:])
            held_by = "%s(%d)" % (SCREEN_NAME, pid)
            has(run(PROGRAM, "files", "-o", "+holders", "-f", held.name).stdout.decode(), held.name, "holders of a file", held_by)
            has(on_terminal("files", "-n", "9", "-o", "+holders"), held.name, "holders on a terminal", held_by)
            if ring:
                classes = json.loads(run(PROGRAM, "system", "--json").stdout)["ram"]["classes"]
                parts = [part["name"] for c in classes if c["class"] == "driver_mapped" for part in c["parts"]]
                result(any(part.startswith("%s (%d) " % (SCREEN_NAME, pid)) for part in parts), "screens: pages of a driver", parts)
            grown = json.loads(run(PROGRAM, "grow", "-J", "-c", "1", "-i", "0.1", str(pid)).stdout)
            names = {p["name"] for p in grown["target"]["processes"]}
            result(names == {SCREEN_NAME}, "screens: grow", names)
            child.stdin.close()


see_own_processes_only()
run_checks((check_apps, check_rules, check_screens))
sys.exit(exit_code())
