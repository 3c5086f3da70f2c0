#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""top on terminals: keys, sizes, types of terminals. However top ends, it restores the terminal."""

import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

import paths  # noqa: F401
from outcome import MKMEM, O, PROGRAM, exit_code, mkmem_pids, need, read, result, write
from terminal import PATIENCE, Pty, Tmux

HERE = os.path.dirname(os.path.abspath(__file__)) + "/.."
PRLIMIT = shutil.which("prlimit")
GUEST = HERE + "/fixtures/recordings/guest-6.12.zmem"
ENTER_SCREEN, LEAVE_SCREEN = b"\x1b[?1049h", b"\x1b[?1049l"


def check_refusals():
    """A wrong request is refused with one line."""
    for why, args, code in (("no terminal", (), 1), ("json", ("-J",), 2), ("--total", ("--total",), 2),
                            ("--format csv", ("-F", "csv"), 2), ("a word", ("x",), 2),
                            ("--tree --group-by", ("--tree", "-g", "name"), 2)):
        run = subprocess.run((PROGRAM, "top") + args, stdin=subprocess.DEVNULL, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
        result(run.returncode == code, "%s: exit code" % why, run.returncode)
        result(not run.stdout and run.stderr.count(b"\n") == 1, "%s: one line" % why, run)


def trimmed(screen):
    return "".join(line.rstrip() + "\n" for line in screen.splitlines())


def check_golden(tmux, name, good):
    """Waits until the screen equals the golden file. A screen may be drawn in parts."""
    path = "%s/golden/top_replay_%s.txt" % (HERE, name)
    if os.environ.get("UPDATE_GOLDEN") == "1":
        tmux.until(good)
        time.sleep(1)  # time itself: the last part is drawn
        write(path, trimmed(tmux.screen()))
    want = read(path)
    screen = trimmed(tmux.until(lambda screen: trimmed(screen) == want))
    differ = [(a, b) for a, b in zip(want.splitlines(), screen.splitlines()) if a != b]
    result(want == screen, "a recording, %s: to the byte" % name, differ[:2])


def check_replay():
    """The screens of a recording are always the same. `whole`: to the byte; the others have golden files of unit tests."""
    steps = (("list", (), "rows 1"), ("groups", ("g",), "of 13"),
             ("tree", ("g", "g", "g", "g", "g", "t"), "  tree "), ("bytes", ("t", "b"), "16904304"),
             ("search", ("b", "/", "mk"), "search: mk"), ("detail", ("Enter", "Enter"), "recordings do not contain them"),
             ("bad_filter", ("q", "f", "("), "a ( has no )"), ("help", ("Escape", "Escape", "?"), "Keys"))
    whole = ("list", "tree")
    with Tmux((PROGRAM, "top", "--replay", GUEST)) as tmux:
        tmux.until(lambda screen: "rows 1" in screen)
        for name, keys, sign in steps:
            for key in keys:
                tmux.keys(key)
            # The last line says that all keys have taken effect.
            end = "" if name in ("search", "bad_filter", "help", "detail") else "? help"
            good = lambda screen, sign=sign, end=end: sign in screen and end in screen  # noqa: E731
            if name in whole:
                check_golden(tmux, name, good)
            else:
                result(good(tmux.until(good)), "a recording, " + name)
        tmux.keys("q")
        tmux.resize(1, 1)
        tmux.resize(40, 10)
        check_golden(tmux, "narrow", lambda screen: len(screen.splitlines()) == 10 and
                     "RSS" not in screen and "PSS" in screen)
        tmux.keys("q")
        screen = tmux.until(lambda screen: "exit code" in screen)
        result("exit code 0" in screen, "q: exit code 0", screen)
        result("PSS" not in screen, "q: the former screen is back", screen)


def check_live():
    """Hostile names, filters, mappings, and a followed process that ends."""
    with subprocess.Popen((MKMEM, "anon", "names"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as child:
        pids = [str(pid) for pid in mkmem_pids(child).values()]
        with Tmux((PROGRAM, "top", "-i", "0.2", "-p", ",".join(pids), "-o", "pid,pss,pss_change,comm"),
                  columns=100, rows=40) as tmux:
            screen = tmux.shows("hostile names: all rows", lambda screen: "%d rows" % len(pids) in screen)
            result(all(ord(c) >= 32 and not 0x7f <= ord(c) < 0xa0 and not 0x202a <= ord(c) <= 0x202e
                       for c in screen.replace("\n", "")), "hostile names: no control characters",
                   screen)
            result("\\x1b" in screen, "hostile names: escaped", screen)
            check_maps(tmux)
            check_gone(tmux, child, pids)
        child.stdin.close()


def bpf_files(tmux):
    """How many programs, maps and links of BPF the program in the tmux holds."""
    shell = tmux.tmux("display-message", "-p", "#{pane_pid}").strip()
    pid = read("/proc/%s/task/%s/children" % (shell, shell)).split()[0]
    count = 0
    for fd in os.listdir("/proc/%s/fd" % pid):
        try:
            count += "bpf" in os.readlink("/proc/%s/fd/%s" % (pid, fd))
        except OSError:
            pass
    return count


def check_growth():
    """w counts what a process adds, with its stacks; Escape ends it."""
    argv = (O + "/growlab", "mmap")
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        child.stdout.readline()
        with Tmux((PROGRAM, "top", "-i", "0.5", "-p", str(child.pid))) as tmux:
            tmux.until(lambda screen: "1 row" in screen)
            before = bpf_files(tmux)
            tmux.keys("w")
            screen = tmux.until(lambda screen: "nothing grew" in screen)
            result("which code makes it grow" in screen and "nothing grew" in screen, "growth: nothing yet", screen)
            child.stdin.write("go\n")
            child.stdin.flush()
            child.stdout.readline()  # all has grown; a screen may be of before
            grown = re.compile(r"^ *4\.00 MiB +\+4\.00 MiB .*site_mmap < run_site < main", re.M)
            screen = tmux.until(grown.search)
            result(grown.search(screen), "growth: the site of 4 MiB, and its callers", screen)
            found = re.search(r"([0-9,]+) kB of ([0-9,]+) kB accounted for", screen)
            result(found and found.group(1) == found.group(2), "growth: all is accounted for", screen)
            during = bpf_files(tmux)
            tmux.keys("?")
            screen = tmux.until(lambda screen: "Keys" in screen)
            result(bpf_files(tmux) == during > before, "growth: help does not end it", (before, during))
            tmux.keys("q")
            child.stdin.close()
            child.wait()
            screen = tmux.until(lambda screen: "it has ended" in screen)
            result("it has ended" in screen and "site_mmap" in screen, "growth: the process ends", screen)
            tmux.keys("Escape")
            screen = tmux.until(lambda screen: "? help  q quit" in screen)
            result("? help  q quit" in screen and bpf_files(tmux) == before, "growth: Escape detaches it",
                   (before, bpf_files(tmux)))
        child.stdout.close()


def check_maps(tmux):
    tmux.keys("Enter")
    screen = tmux.until(lambda screen: "mappings of" in screen and "[heap]" in screen or
                        "permission denied" in screen)
    result("[heap]" in screen and "mappings of" in screen, "details: mappings", screen)
    tmux.keys("q")


def check_gone(tmux, child, pids):
    """The followed process ends, then all others."""
    tmux.keys("j", "j", "F")
    screen = tmux.until(lambda screen: "following" in screen)
    found = re.search(r"following (\d+)", screen)
    result(found and found.group(1) in pids, "F: follows a process", screen)
    child.stdin.close()
    tmux.shows("the followed process ends: message", "is gone")
    tmux.shows("all end: no rows", "no rows")


def started(term):
    return term.read_until(b"PSS") and term.read_until(b"quit" if "no-such-kind" not in term.kind else b"xterm")


def check_kinds():
    """top opens and restores each type of terminal, and refuses those that cannot position text."""
    for kind in ("xterm-256color", "xterm", "vt100", "linux", "screen", "tmux-256color", "no-such-kind"):
        term = Pty((PROGRAM, "top", "--replay", GUEST), TERM=kind)
        result(started(term), "TERM=%s: starts" % kind, term.data[-200:])
        if kind == "no-such-kind":
            result(b"is unknown: using xterm" in term.data, "an unknown type: message", term.data[:200])
        term.type(b"q")
        status = term.wait()
        result(status == 0, "TERM=%s: exit code 0" % kind, status)
        result(term.restored(), "TERM=%s: modes are restored" % kind)
        result((ENTER_SCREEN in term.data) == (LEAVE_SCREEN in term.data),
               "TERM=%s: the screen is left" % kind)
        term.close()
    for kind in ("dumb", "", "unknown", None):
        term = Pty((PROGRAM, "top", "--replay", GUEST), TERM=kind)
        status = term.wait()
        result(status is not None and os.waitstatus_to_exitcode(status) == 1,
               "TERM=%s: exit code 1" % kind, status)
        result(term.data.count(b"\n") == 1 and b"watch" in term.data and b"\x1b" not in term.data,
               "TERM=%s: one line" % kind, term.data)
        term.close()


def check_colors():
    """Colours by option and environment; ASCII without a UTF-8 locale."""
    color = re.compile(rb"\x1b\[[0-9;]*3[0-9]")
    for why, args, environment, wanted in (
            ("usual", (), {}, True), ("never", ("--color", "never"), {}, False),
            ("NO_COLOR", (), {"NO_COLOR": "1"}, False),
            ("always", ("--color", "always"), {"NO_COLOR": "1"}, True),
            ("vt100", (), {"TERM": "vt100"}, False)):
        term = Pty((PROGRAM, "top", "--replay", GUEST) + args, **environment)
        result(started(term), "colours, %s: starts" % why)
        result(bool(color.search(term.data)) == wanted, "colours, %s" % why, term.data[:200])
        term.type(b"q")
        term.wait()
        term.close()
    for locale, ascii_only in (("C", True), ("C.UTF-8", False), ("xx_XX.UTF-8", False)):
        term = Pty((PROGRAM, "top", "--tree", "--replay", GUEST), LC_ALL=locale)
        result(started(term), "locale %s: starts" % locale)
        result(term.data.isascii() == ascii_only, "locale %s: characters" % locale, term.data[-300:])
        term.type(b"q")
        term.wait()
        term.close()


def check_ends():
    """Signals and keys end top and restore the terminal."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV,
                   signal.SIGABRT, signal.SIGXCPU, signal.SIGUSR1):
        term = Pty((PROGRAM, "top", "-i", "0.1"))
        started(term)
        os.kill(term.pid, number)
        status = term.wait()
        want = 0 if number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT) else -number
        result(status is not None and os.waitstatus_to_exitcode(status) == want,
               "%s: status" % number.name, status)
        result(term.restored(), "%s: modes are restored" % number.name)
        result(LEAVE_SCREEN in term.data, "%s: the screen is left" % number.name)
        result(term.data.rstrip().endswith((b"\x1b[?1049l", b"\x1b[?1l\x1b>", b"\x1b[23;0;0t",
                                            b"\x1b[?12l\x1b[?25h")),
               "%s: nothing is written after that" % number.name, term.data[-80:])
        term.close()
    for key in (b"\x03", b"q", b"\x1b[21~"):
        term = Pty((PROGRAM, "top"))
        started(term)
        term.type(key)
        status = term.wait()
        result(status == 0 and term.restored(), "key %s: exit code 0" % ascii(key), status)
        term.close()
    term = Pty((PROGRAM, "top", "-c", "2", "-i", "0.1"))
    result(term.wait() == 0 and term.restored(), "--count 2: exit code 0")
    term.close()


def redrawn(term, what, gone):
    """Redraws whole screens, not only changed cells, until one has `what` and lacks `gone`."""
    end = time.monotonic() + PATIENCE
    term.data = b""
    while (what not in term.data or gone in term.data) and time.monotonic() < end:
        term.data = b""
        term.type(b"\x0c")
        term.read(0.3)
    return what in term.data and gone not in term.data


def check_shortage():
    """Without files or memory, a message is left on the terminal, or a later tick works again."""
    wrong, failed = [], 0
    for files in range(6, 17):
        term = Pty((PRLIMIT, "--nofile=%d:%d" % (files, files), PROGRAM, "top", "-c", "1"))
        status = os.waitstatus_to_exitcode(term.wait())
        said = term.data.split(LEAVE_SCREEN)[-1]
        failed += status == 1
        if not term.restored() or status not in (0, 1) or \
                (status == 1 and b"Too many open files (ulimit -n 256)" not in said):
            wrong.append((files, status, said[-200:]))
        term.close()
    result(not wrong and failed, "few files: the terminal has a hint", wrong or failed)
    limits = [(resource.RLIMIT_NOFILE, 3, b"", b"Too many open files (ulimit -n 256)")]
    if "-san" not in PROGRAM:
        limits.append((resource.RLIMIT_DATA, 4096, b"t", b"Cannot allocate memory (memory.max"))
    for limit, low, key, why in limits:
        term = Pty((PROGRAM, "top", "-i", "0.5"), columns=120)
        started(term)
        before = resource.prlimit(term.pid, limit)
        resource.prlimit(term.pid, limit, (low, before[1]))
        term.data = b""
        term.type(key)
        result(term.read_until(why), "%s: message" % why.decode(), term.data[-200:])
        resource.prlimit(term.pid, limit, before)
        result(redrawn(term, b" RAM; ", why), "%s: a later tick works" % why.decode(), term.data[-200:])
        term.type(b"q")
        result(term.wait() == 0, "%s: exit code 0" % why.decode())
        term.close()


def check_hangup():
    """The terminal hangs up: top ends."""
    term = Pty((PROGRAM, "top", "-i", "0.1"))
    started(term)
    os.close(term.slave)
    os.close(term.master)
    term.master = term.slave = -1
    try:
        _, status = os.waitpid(term.pid, 0)
        result(status == 0 or os.WTERMSIG(status) == signal.SIGHUP, "hangup: it ends", status)
    finally:
        term.close()


def check_stop():
    """SIGTSTP restores the terminal, SIGCONT opens it again."""
    term = Pty((PROGRAM, "top", "--replay", GUEST))
    started(term)
    # The kernel ignores SIGTSTP in an orphaned process group, and this one is orphaned: its parent is
    # in another session.
    os.kill(term.pid, signal.SIGTSTP)
    term.read(0.3)
    pid, status = os.waitpid(term.pid, os.WUNTRACED | os.WNOHANG)
    if pid and os.WIFSTOPPED(status):
        result(term.restored(), "stopped: modes are restored")
        os.kill(term.pid, signal.SIGCONT)
    result(term.data.count(LEAVE_SCREEN) >= 1, "SIGTSTP: the screen is left", term.data[-100:])
    term.data = b""
    os.kill(term.pid, signal.SIGCONT)
    result(term.read_until(b"quit"), "SIGCONT: redrawn", term.data[-100:])
    result(not term.restored(), "SIGCONT: modes of top")
    term.type(b"q")
    result(term.wait() == 0 and term.restored(), "continued: exit code 0")
    term.close()


def check_shell():
    """Ctrl-Z in a shell restores its terminal; fg continues top."""
    with Tmux(("bash", "--norc", "--noprofile", "-i"), PS1="prompt:") as tmux:
        tmux.until(lambda screen: "prompt:" in screen)
        tmux.keys(shlex.join((PROGRAM, "top", "--replay", os.path.realpath(GUEST))), "Enter")
        tmux.until(lambda screen: "rows 1 to" in screen)
        tmux.keys("C-z")
        tmux.shows("Ctrl-Z: the shell is back", "Stopped")
        tmux.keys("stty -a", "Enter")
        screen = tmux.until(lambda screen: "icanon" in screen)
        result(" icanon" in screen and " echo " in screen, "Ctrl-Z: modes of the shell", screen)
        tmux.keys("fg", "Enter")
        tmux.shows("fg: redrawn", "rows 1 to")
        tmux.keys("q")
        screen = tmux.until(lambda screen: "icanon" in screen)
        result("rows 1 to" not in screen, "fg, q: the shell is back", screen)


def check_sizes():
    """All screens in sizes from 1×1 on."""
    for keys in (b"", b"\n", b"?", b"o", b"g", b"t", b"/a", b"x"):
        term = Pty((PROGRAM, "top", "-i", "0.1"))
        started(term)
        term.type(keys)
        for rows, columns in ((1, 1), (2, 3), (1, 200), (100, 1), (100, 300), (24, 80)):
            term.resize(rows, columns)
            os.kill(term.pid, signal.SIGWINCH)
            term.read(0.05)
        term.type(b"\x1b")
        term.read(0.1)
        result(term.quit() == 0 and term.restored(), "resized in %s: exit code 0" % ascii(keys))
        term.close()

    for name in ("COLUMNS", "LINES"):
        for value in ("99999", "0", "-1"):
            term = Pty((PROGRAM, "top", "--replay", GUEST), **{name: value})
            result(started(term), "%s=%s: ignored" % (name, value), term.data[-200:])
            term.type(b"q")
            result(term.wait() == 0 and term.restored(), "%s=%s: exit code 0" % (name, value))
            term.close()


def check_last_cell():
    """With one column, ncurses would write the last cell through a cell outside its lines: top does not write it."""
    term = Pty((PROGRAM, "top", "-i", "0.1", "-c", "2"), rows=5, columns=1, TERM="screen")
    result(term.wait() == 0 and term.restored(), "one column: exit code 0")
    result("…".encode() in term.data, "one column: drawn", term.data)
    result(not re.search(rb"\x1b\[(4h|1?@)", term.data), "one column: the last cell is not written", term.data)
    term.close()


def check_idle():
    """An unchanged screen is not written again."""
    term = Pty((PROGRAM, "top", "-i", "0.1", "--replay", GUEST))
    started(term)
    term.read(0.5)
    data = term.read(1)
    result(not data, "an unchanged screen: nothing is written", data[:200])
    term.close()


check_refusals()
check_kinds()
check_colors()
check_ends()
check_shortage()
check_hangup()
check_stop()
check_sizes()
check_last_cell()
check_idle()
if need("tmux", "screens"):
    check_replay()
    check_shell()
    check_live()
    if need("bpf", "growth"):
        check_growth()
sys.exit(exit_code())
