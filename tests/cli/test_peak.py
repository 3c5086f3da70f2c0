#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""peak is to its command what time(1) is: streams, signals, rights and exit codes are the command's. Without BPF
it samples /proc."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from outcome import O, PROGRAM, exit_code, have, need, result, run_checks  # noqa: E402
from terminal import Pty  # noqa: E402

TMP = tempfile.TemporaryDirectory()
FILE = TMP.name + "/peak"
NOTE = "" if have("counters") else r"zmem-bpf: the peak is sampled from /proc, and may be missed: .+\n"
# What a process has of its parent, less its own numbers and times.
STATE = ("import os,resource as r,signal;"
         "s=[l for l in open('/proc/self/status') if l.startswith(('Cap','Sig','Shd','NoNew','Seccomp','Umask','Uid'))"
         " and not l.startswith('SigQ')];"
         "print(s,sorted(os.listdir('/proc/self/fd'))[:-1],os.nice(0),os.getcwd(),sorted(os.environ),"
         "[r.getrlimit(getattr(r,n)) for n in sorted(dir(r)) if n.startswith('RLIMIT_')],"
         "open('/proc/self/oom_score_adj').read())")


def peak(*words, before=(), program=PROGRAM, **more):
    return subprocess.run((*before, program, "peak", *words), capture_output=True, text=True, check=False, **more)


def report(*words, **more):
    """The document of a run, and the run."""
    run = peak("--json", "--output", FILE, *words, **more)
    with open(FILE, encoding="utf-8") as file:
        document = json.load(file)
    os.unlink(FILE)
    return document, run


def check_streams():
    run = peak("--", "cat", input="in\n")
    result(run.stdout == "in\n" and run.returncode == 0, "stdin and stdout are the command's", run)
    result(re.match(NOTE + "peak RSS ", run.stderr) and "exit code 0" in run.stderr, "the report is on stderr", run.stderr)
    document, run = report("--", "sh", "-c", "echo out; echo err >&2")
    result(run.stdout == "out\n" and re.fullmatch(NOTE + "err\n", run.stderr), "with --output stderr is the command's, too", run)
    result(document["command"] == ["sh", "-c", "echo out; echo err >&2"], "the command", document["command"])
    page = peak("-F", "html", "--", "true").stderr
    result(re.match(NOTE + "<!DOCTYPE html>", page) and "<svg" in page, "a page", page[:200])


def check_state():
    words = (sys.executable, "-c", STATE)
    alone = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    result(peak("--", *words).stdout == alone, "the command has the rights, limits and files that it has alone",
           (alone, peak("--", *words).stdout))


def check_codes():
    for words, code in ((("true",), 0), (("sh", "-c", "exit 3"), 3), (("sh", "-c", "kill -9 $$"), 137),
                        ((TMP.name + "/none",), 127), ((TMP.name,), 126)):
        result(peak("--", *words).returncode == code, "exit code %d" % code, words)
    made = TMP.name + "/made"
    for name, words in (("a file that cannot be written", ("--output", "/nonexistent/file", "--", "touch", made)),
                        ("two ways to say what", ("1", "--", "touch", made))):
        run = peak(*words)
        result(run.returncode == 125 and run.stderr.startswith("zmem-bpf: ") and not os.path.exists(made),
               name + ": 125, and the command does not run", run)
    run = peak()
    result(run.returncode == 2 and "COMMAND" in run.stderr, "without a command", run)
    run = peak("-o", "rss", "--", "true")
    result(run.returncode == 125, "it has no --columns", run)


IGNORED = ("env", "--ignore-signal=CHLD,PIPE,XFSZ")


def check_ignored():
    """Signals that were ignored before stay ignored in the command, and the end of the command is seen."""
    words = ("grep", "^SigIgn", "/proc/self/status")
    commands = [("peak",)]
    if need("counters", "ignored signals: grow"):
        commands.append(("grow", "-q", "-F", "folded", "--output", "/dev/null"))
    for command in commands:
        name = "ignored signals: %s: " % command[0]
        for before in ((), IGNORED):
            alone, run = (subprocess.run((*before, *own, *words), capture_output=True, text=True, check=False, timeout=60)
                          for own in ((), (PROGRAM, *command, "--")))
            result(run.stdout == alone.stdout, name + "the command has those that were ignored before", (alone, run))
        run = subprocess.run((*IGNORED, PROGRAM, *command, "--", "sh", "-c", "exit 3"), capture_output=True, text=True,
                             check=False, timeout=60)
        result(run.returncode == 3, name + "the end of the command is seen", run)


def check_refusals():
    gone = subprocess.Popen(("true",))
    gone.wait()
    for words, said in ((("--pid", str(gone.pid)), "no such process"), (("--cgroup", "/not/there"), "no process matches"),
                        (("--name", "not-there"), "no process matches")):
        run = peak(*words)
        result(run.returncode == 3 and said in run.stderr and not run.stdout, "%s of none" % words[0], run)
    for form in ((), ("-J",), ("-F", "html")):
        run = peak("--output", "/dev/full", *form, "--", "sh", "-c", "exit 3")
        result(run.returncode == 125 and "No space left" in run.stderr, "a full disk %s" % " ".join(form), run)
    # Its reader is gone: the command has ended well.
    read, write = os.pipe()
    os.close(read)
    run = subprocess.run((PROGRAM, "peak", "--", "true"), stderr=write, check=False)
    os.close(write)
    result(run.returncode == 0, "a report into a closed pipe", run)


# A signal that comes before it waits stays pending.
TRAP = "import os,signal,sys\nall=(2,3,15)\nsignal.pthread_sigmask(signal.SIG_BLOCK,all)\nprint('ready',flush=True)\n" \
       "os.write(1,b'got %d\\n' % signal.sigwait(all))\nsys.exit(7)"


def check_signals():
    for number in (signal.SIGTERM, signal.SIGINT):
        run = subprocess.Popen((PROGRAM, "peak", "--output", FILE, "--", sys.executable, "-c", TRAP), text=True,
                               stdout=subprocess.PIPE)
        run.stdout.readline()
        run.send_signal(number)
        out = run.communicate()[0]
        with open(FILE, encoding="utf-8") as file:
            text = file.read()
        result(out == "got %d\n" % number and run.returncode == 7 and "exit code 7" in text,
               "%s is passed on" % number.name, (out, run.returncode, text))
    # The terminal sends it to the command itself: it comes once.
    for key, number in ((b"\x03", 2), (b"\x1c", 3)):
        pty = Pty([PROGRAM, "peak", "--", sys.executable, "-c", TRAP])
        pty.read_until(b"ready")
        pty.type(key)
        pty.read_until(b"exit code 7")
        pty.wait()
        result(pty.data.count(b"got %d" % number) == 1 and b"exit code 7" in pty.data,
               "signal %d of the terminal comes once" % number, pty.data)
        pty.close()


def check_samples():
    words = ("--", "dd", "if=/dev/zero", "of=/dev/null", "bs=80M", "count=40")
    document, run = report(*words, before=(O + "/deny_bpf", "EPERM"))
    result(document["method"] == "sample" and document["peak"]["rss_bytes"] >= 80 << 20 and
           document["peak"]["error_bytes"] is None and document["interval_us"] > 0,
           "without BPF it samples /proc", document)
    short, _ = report("--", "true", before=(O + "/deny_bpf", "EPERM"))
    result(short["peak"]["rss_bytes"] != 0, "a peak that no sample met is null", short["peak"])
    result("sampled from /proc" in run.stderr and run.returncode == 0, "and says so", run.stderr)
    result(document["peak"]["pss_bytes"] is None and document["peak"]["pss_reason"], "PSS is null, with a reason",
           document["peak"])
    run = peak("--source", "bpf", "--", "touch", TMP.name + "/ran", before=(O + "/deny_bpf", "EPERM"))
    result(run.returncode == 125 and not os.path.exists(TMP.name + "/ran"), "--source bpf does not run without it", run)
    if need("users", "a command of an ordinary user"):
        os.chmod(TMP.name, 0o777)
        program = shutil.copy(PROGRAM, TMP.name)
        document, run = report(*words, program=program, before=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"))
        result(document["method"] == "sample" and document["peak"]["rss_bytes"] >= 80 << 20 and run.returncode == 0,
               "anybody can measure a command of their own", (document["peak"], run.stderr))


if __name__ == "__main__":
    run_checks((check_streams, check_state, check_codes, check_ignored, check_refusals, check_signals, check_samples))
    sys.exit(exit_code())
