#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Where grow has names from: files that the user of the process may read, and no others; binaries
that were deleted or replaced; files in the root of the process; FIFOs, links and lies in their place."""
# needs: bpf ptrace users

import contextlib
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import paths  # noqa: F401
from growing import MIB, NOBODY, Lab, directory_for_all, fewer_capabilities, open_files
from growing import run_live, stack_of_4_mib, write
from outcome import PROGRAM, need, result, wait_until

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support/growlab.c")


def run(*command):
    subprocess.run(command, check=True, capture_output=True)


def build(directory, *flags, name="lab", link=True):
    """A program without symbols, and the file that has them beside it; returns its build id."""
    path = directory + "/" + name
    run("gcc", "-D_GNU_SOURCE", "-O2", "-g1", *flags, "-o", path, SOURCE, "-lpthread")
    run("objcopy", "--only-keep-debug", path, path + ".debug")
    run("strip", "-s", path)
    if link:
        run("objcopy", "--add-gnu-debuglink=" + path + ".debug", path)
    notes = subprocess.run(("readelf", "-n", path), check=True, capture_output=True, text=True).stdout
    return next((line.split()[-1] for line in notes.splitlines() if "Build ID" in line), None)


def site_frames(one, *args):
    """The frames of the stack of the 4 MiB of site mmap: functions, or module+offset."""
    begin = time.monotonic()
    document = one.grown(*args)
    result(time.monotonic() - begin < 20, "it ends at once")
    return stack_of_4_mib(document)["frames"]


def names(frames):
    return [f["function"] for f in frames[:3]]


NAMED, NONE = ["site_mmap", "run_site", "main"], [None] * 3


def expect(expected, what, *command, uid=None):
    with Lab(*command, "mmap", uid=uid) as one:
        got = names(site_frames(one))
    result(got == expected if any(expected) else not any(got), what, got)


def check_rights():
    """Of what a user cannot read there are no names, for any reader; what the user can read has them."""
    with directory_for_all() as directory:
        build(directory)
        debug, secret = directory + "/lab.debug", directory + "/secret"
        os.mkdir(secret, 0o700)
        lab = directory + "/lab"
        expect(NAMED, "a debug file that everybody may read: names", lab, uid=NOBODY)
        os.chmod(debug, 0o600)
        with Lab(lab, "mmap", uid=NOBODY) as child:
            frames = site_frames(child)
        result(names(frames) == NONE, "a debug file of root alone: no names", names(frames))
        result(frames[0]["module"] == "lab" and frames[0]["offset"] > 0, "it is module+offset", frames[0])
        expect(NAMED, "a debug file of root alone, a process of root: names", lab)
        with fewer_capabilities(directory):
            expect(NONE, "the same, by root that may not become another user", lab, uid=NOBODY)
        os.chmod(debug, 0o644)
        with fewer_capabilities(directory):
            expect(NAMED, "what everybody may read, by root that may not become another user", lab, uid=NOBODY)
        os.rename(debug, secret + "/lab.debug")
        os.symlink(secret + "/lab.debug", debug)
        expect(NONE, "a link into a directory of root: no names", lab, uid=NOBODY)
        expect(NAMED, "a link into a directory of root, a process of root: names", lab)
        os.unlink(debug)
        shutil.copy(secret + "/lab.debug", debug)
        # Root without capabilities could not read these either.
        for path in (lab, debug):
            os.chown(path, NOBODY, NOBODY)
            os.chmod(path, 0o700)
        expect(NAMED, "files of the user alone: names", lab, uid=NOBODY)
        for path in (lab, debug):
            os.chown(path, 0, 0)
            os.chmod(path, 0o711)
        expect(NONE, "a program that the user may execute and not read: no names", lab, uid=NOBODY)


def check_not_files():
    """A FIFO, a device, a directory or garbage has the name of the debug file: nothing waits for it."""
    with directory_for_all() as directory:
        build(directory)
        debug = directory + "/lab.debug"
        os.unlink(debug)
        for what, make, remove in (
                ("a FIFO", lambda: os.mkfifo(debug, 0o666), os.unlink),
                ("a link to a FIFO", lambda: (os.mkfifo(debug + "2", 0o666), os.symlink("lab.debug2", debug)), os.unlink),
                ("a link to a terminal", lambda: os.symlink("/dev/ptmx", debug), os.unlink),
                ("a link to memory of the kernel", lambda: os.symlink("/proc/kcore", debug), os.unlink),
                ("a link to itself", lambda: os.symlink("lab.debug", debug), os.unlink),
                ("a directory", lambda: os.mkdir(debug), os.rmdir),
                ("garbage", lambda: write(debug, "garbage"), os.unlink),
                ("an empty file of 8 TiB", lambda: (write(debug, ""), os.truncate(debug, 8 << 40)), os.unlink),
        ):
            make()
            expect(NONE, what + " as debug file: no names", directory + "/lab", uid=NOBODY)
            remove(debug)


def check_root():
    """A container: the files are those in its root, and no link leads out of it."""
    with directory_for_all() as directory:
        root = directory + "/root"
        os.mkdir(root)
        build_id = build(root, "-static", link=False)
        place = root + "/usr/lib/debug/.build-id/" + build_id[:2]
        os.makedirs(place)
        inside, outside = place + "/" + build_id[2:] + ".debug", directory + "/lab.debug"
        shutil.copy(root + "/lab.debug", inside)
        os.rename(root + "/lab.debug", outside)

        lab = ("chroot", root, "/lab")
        expect(NAMED, "a debug file by its build id in the root of the process: names", *lab)
        os.unlink(inside)
        os.symlink(outside, inside)
        expect(NONE, "an absolute link out of the root: no names", *lab)
        os.unlink(inside)
        os.symlink("../" * 12 + outside[1:], inside)
        expect(NONE, "a relative link out of the root: no names", *lab)
        os.unlink(inside)
        shutil.copy(outside, root + "/kept.debug")
        os.symlink("/kept.debug", inside)
        expect(NAMED, "a link within the root: names", *lab)


def check_deleted():
    """The kernel's link to what is mapped, and the build id of the debug file, decide."""
    with directory_for_all() as directory:
        build(directory)
        with Lab(directory + "/lab", "mmap") as child:
            os.unlink(directory + "/lab")
            result(names(site_frames(child)) == NAMED, "a deleted program: names")
        build(directory)
        with Lab(directory + "/lab", "mmap", uid=NOBODY) as child:
            os.rename(directory + "/lab", directory + "/old")
            os.rename(directory + "/lab.debug", directory + "/kept.debug")
            # A function more: the same addresses have other functions.
            build(directory, "-O1", "-Dsite_mmap=site_other")
            frames = site_frames(child)
            result(names(frames) == NONE, "an upgraded program: the debug file of another build id is not used",
                   names(frames))
        with Lab(directory + "/old", "mmap", uid=NOBODY) as child:
            os.unlink(directory + "/lab.debug")
            os.rename(directory + "/kept.debug", directory + "/lab.debug")
            os.unlink(directory + "/old")
            write(directory + "/old", "another file")
            result(names(site_frames(child)) == NAMED, "a replaced program with its own debug file: names")
        # Without a build id, the checksum of the link decides.
        build(directory, "-Wl,--build-id=none")
        expect(NAMED, "no build id, but the checksum: names", directory + "/lab")
        with open(directory + "/lab.debug", "ab") as file:
            file.write(b"\0")
        expect(NONE, "no build id, another checksum: no names", directory + "/lab")


TOUCH = """
__attribute__((noinline)) static void touch(volatile char *p, long n) { for (long i = 0; i < n; i += 4096) p[i] = 1; }
void first(char *p, long n) { touch(p, n); p[0] = 2; }
void second(char *p, long n) { touch(p, n); p[0] = 2; }
"""
CALLER = """
import ctypes, mmap, os, sys
library = ctypes.CDLL(sys.argv[1])
calls = [library.first, library.second]
area = mmap.mmap(-1, 8 << 20)
address = ctypes.addressof(ctypes.c_char.from_buffer(area))
print('READY', os.getpid(), flush=True)
for i, call in enumerate(calls):
    sys.stdin.readline()
    call(ctypes.c_void_p(address + (i << 22)), ctypes.c_long(4 << 20))
    print('DONE', flush=True)
sys.stdin.read()
"""


def check_truncated():
    """A library that its owner truncates behind its code while it is read: the program goes on."""
    with directory_for_all() as directory:
        library = directory + "/lib.so"
        write(directory + "/lib.c", TOUCH)
        run("gcc", "-shared", "-fPIC", "-O2", "-Wl,-z,separate-code", "-o", library, directory + "/lib.c")
        with Lab(sys.executable, "-c", CALLER, library) as one:
            grow = one.count("--sample", "1")
            for _ in range(2):
                one.go()
                time.sleep(0.2)
                os.truncate(library, 0x2000)
            document = grow.report()
            one.child.kill()
        grown = sum(s["net_bytes"] for s in document["stacks"] if any(f["module"] == "lib.so" for f in s["frames"]))
        result(grown >= 8 * MIB, "a truncated library: what its code added is counted", grown)


@contextlib.contextmanager
def symbol_server(files):
    """Answers as debuginfod does: files by their paths. Yields its address and the paths that were asked for."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):  # pylint: disable=invalid-name
            asked.append(self.path)
            body = files.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):  # pylint: disable=arguments-differ
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield "http://127.0.0.1:%d" % server.server_port, asked
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def silent_server():
    """Takes connections, and sends nothing. Yields its address, and a function that waits for a request."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = []

        def has_asked():
            taken.append(server.accept()[0])
            taken[0].recv(1)

        try:
            yield "http://127.0.0.1:%d" % server.getsockname()[1], has_asked
        finally:
            for one in taken:
                one.close()


@contextlib.contextmanager
def environment(**values):
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def check_debuginfod():
    """Symbols of a server: with the option alone, and of the same build id alone."""
    with directory_for_all() as directory:
        build_id = build(directory)
        path = "/buildid/%s/debuginfo" % build_id
        with open(directory + "/lab.debug", "rb") as file:
            debug = file.read()
        build(directory, "-O1", name="other")
        with open(directory + "/other.debug", "rb") as file:
            other = file.read()
        os.unlink(directory + "/lab.debug")
        lab = directory + "/lab"

        def frames_with(files, *args):
            with tempfile.TemporaryDirectory() as cache, symbol_server(files) as (url, asked), \
                    environment(DEBUGINFOD_URLS=url, DEBUGINFOD_CACHE_PATH=cache, DEBUGINFOD_TIMEOUT="5"), \
                    Lab(lab, "mmap") as child:
                return names(site_frames(child, *args)), asked

        frames, asked = frames_with({path: debug})
        result(frames == NONE and not asked, "without --debuginfod no server is asked", (frames, asked))
        frames, asked = frames_with({path: debug}, "--debuginfod")
        result(frames == NAMED and path in asked, "--debuginfod: names of the server", (frames, asked))
        result(all(a.startswith("/buildid/") and a.endswith("/debuginfo") for a in asked),
               "--debuginfod: build ids are all that is sent", asked)
        for what, files in (("another build id", {path: other}), ("garbage", {path: b"garbage"}), ("nothing", {})):
            frames, asked = frames_with(files, "--debuginfod")
            result(frames == NONE and path in asked, "--debuginfod: a server that sends %s" % what, (frames, asked))
    with environment(DEBUGINFOD_URLS=""):
        done = subprocess.run((PROGRAM, "grow", "--debuginfod", "--", "true"), capture_output=True, text=True,
                              check=False, timeout=60)
        result(done.returncode == 125 and "DEBUGINFOD_URLS names no server" in done.stderr,
               "--debuginfod: no server is named", (done.returncode, done.stderr))


def check_debuginfod_home():
    """The cache is in a home of the user alone, whatever HOME is. A signal ends the wait for a server."""
    if not need("mount", "--debuginfod: the cache"):
        return
    with directory_for_all() as directory:
        build_id = build(directory)
        with open(directory + "/lab.debug", "rb") as file:
            files = {"/buildid/%s/debuginfo" % build_id: file.read()}
        os.unlink(directory + "/lab.debug")
        for name, uid in (("own", 0), ("other", 1234)):
            os.mkdir(os.path.join(directory, name))
            os.chown(os.path.join(directory, name), uid, uid)
        write(directory + "/passwd", "root:x:0:0::%s/own:/bin/sh\n" % directory)
        begin = 'mount --bind "$0/passwd" /etc/passwd && exec "$@"'
        for what in ({"HOME": directory + "/other"}, {"XDG_CACHE_HOME": directory + "/other/.cache"},
                     {"DEBUGINFOD_CACHE_PATH": directory + "/other/cache"}):
            with symbol_server(files) as (url, asked), environment(DEBUGINFOD_URLS=url, **what):
                # The report goes to a file, and what the program says to us.
                with Lab("unshare", "-m", "sh", "-c", begin, directory, PROGRAM, "grow", "--debuginfod", "--output",
                         directory + "/report", "--", directory + "/lab", "mmap") as child:
                    wait_until(lambda child=child: directory + "/lab" in open_files(child.pid))
                    child.go()
            made = (os.listdir(directory + "/other"), os.listdir(directory + "/own"))
            with open(directory + "/report", encoding="utf-8", errors="replace") as file:
                report = file.read()
            result(asked and made == ([], [".cache"]), "--debuginfod: the cache, %s" % list(what), (made, asked, report[-400:]))
            shutil.rmtree(directory + "/own/.cache", ignore_errors=True)
        with silent_server() as (url, has_asked), environment(DEBUGINFOD_URLS=url), Lab(directory + "/lab", "mmap") as child:
            grow = child.count("--debuginfod")
            child.go()
            grow.child.send_signal(signal.SIGINT)
            has_asked()
            grow.child.send_signal(signal.SIGINT)
            try:
                out, _ = grow.child.communicate(timeout=20)
                left_out = json.loads(out)["accounted"]["names_left_out"]
                result(left_out["timeout"] > 0, "a server that does not answer: a signal ends it, and it is said", left_out)
            except subprocess.TimeoutExpired:
                result(False, "a server that does not answer: a signal ends it", "it does not")
                grow.child.kill()


if __name__ == "__main__":
    sys.exit(run_live(check_rights, check_not_files, check_root, check_deleted, check_truncated, check_debuginfod, check_debuginfod_home))
