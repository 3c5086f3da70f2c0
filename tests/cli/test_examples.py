#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The commands in README.md, src/man, src/doc and src/dist/examples run, in a directory that has what they
name, and print something. What the pages show of a recording is what is printed. The filters of
src/dist/examples print the golden files (UPDATE_GOLDEN=1 rewrites them)."""

import concurrent.futures
import copy
import glob
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

from paths import HERE
import golden
from outcome import PROGRAM, exit_code, need, read, result, run_checks, see_own_processes_only, write
from serving import PATIENCE, Serve

ROOT = os.path.realpath(HERE + "/../..")
GOLDEN = HERE + "/../golden"
FILTERS = ROOT + "/src/dist/examples/"
DOCUMENTS = sorted(path for where in ("README.md", "src/man/*.[1-9]", "src/doc/*.md", "src/dist/examples/*.jq")
                   for path in glob.glob(ROOT + "/" + where))
# What they do is tested by live/test_swap.py, deb/boot.sh, cli/install_caps.sh and cli/pin.sh.
ELSEWHERE = r"sysctl |systemctl |make |setpriv |zmem-bpf (un)?pin|.* --pinned"
# What these commands need.
NEEDS = {"grow": "bpf", "files": "counters", "doctor --compare": "counters"}


def man_commands(text):
    """Each .Dl, and what is behind a prompt in a display."""
    text = re.sub(r" *\\e\n *", " ", text)
    shown = re.findall(r"^\.Bd.*?^\.Ed", text, re.S | re.M)
    found = re.findall(r"^\.Dl (.*)", text, re.M) + re.findall(r"^[#$] (.*)", "\n".join(shown), re.M)
    return [line.replace(r"\(aq", "'").replace(r"\e", "\\").replace(r"\-", "-") for line in found]


def markdown_commands(text):
    """The lines of blocks without a language, up to what is said about them, and the last cells of tables."""
    text = re.sub(r" *\\\n *", " ", text)
    blocks = re.findall(r"^```\n(.*?)^```", re.sub(r"^```\w.*?^```", "", text, flags=re.S | re.M), re.S | re.M)
    lines = [re.split(r"  | # ", line)[0] for block in blocks for line in block.splitlines()]
    cells = [line.split(" | ")[-1] for line in text.splitlines() if line.startswith("| ")]
    return [line for line in lines if re.match("zmem-bpf|for |xargs ", line)] + re.findall("`(zmem-bpf[^`]*)`", "".join(cells))


def commands_of(path):
    text = read(path)
    if path.endswith(".md"):
        return markdown_commands(text)
    if path.endswith(".jq"):
        return [re.split("  ", line)[0] for line in re.findall(r"^# {3}((?:zmem-bpf|jq) .*)", text, re.M)]
    return man_commands(text)


def adapted(command, pids, without):
    """The command with what is here and with short times; None if it begins like `without`."""
    if re.match(without, command):
        return None
    one = pids[0]
    for pattern, here in ((r"\b(1234,1235|3544,3546|PID,PID)\b", "%d,%d" % pids), (r"\b(4711|PID)\b", str(one)),
                          (r"\bERE\b", "sleep"), (r"\bUSER\b", "root"), (r"/var/lib/zmem-bpf", "kept"),
                          (r"/var/(log|lib/prometheus/node-exporter)/", ""), (r"--at (03:14|event:1)", "--at -0s"),
                          (r" sleep [0-9]+;", " sleep 0.1;"), (r" &$", "")):
        command = re.sub(pattern, here, command)
    words = command.split()
    verb = words[1] if len(words) > 1 else ""
    # There is no kill in it: cli/incidents.sh has them.
    if verb in ("incidents", "diff") and not re.search(r"kept|\.zmem", command):
        command = re.sub(r"(--from|--to) [^ ]+", r"\1 -0s", command).replace(verb, verb + " kept")
    elif re.search("--(at|since) ", command) and "--replay" not in words:
        command = re.sub(" --(at|since) ", r" --replay kept --\1 ", command, count=1)
        words += ["--replay"]
    if verb == "record" and "--keep" in words and "kept" not in words:
        command += " kept"
    if verb in ("watch", "grow", "top", "record") and ("--replay" not in words or verb == "top"):
        command = re.sub(" -i [0-9]+| -c [0-9]+", "", command)
        command = re.sub("--name leak|--cgroup '[^']*'", "--name sleep", command)
        command = re.sub("-- .*", "-- true", command)
        begin, dashes, end = command.partition(" | " if " | " in command else " -- ")
        if "--replay" not in words and not (verb == "record" and "--keep" not in words):
            begin += " -i 0.1"
        if not (verb == "record" and "--keep" not in words):
            begin += " -c 1" if verb == "top" else " -c 2"
        command = begin + dashes + end
    # Its report is on stderr.
    if verb == "peak":
        command = re.sub("-- make[^&]*", "-- true ", command) + " 2>&1"
    return command


def make_directory(where, kept):
    for path in glob.glob(FILTERS + "*.jq"):
        shutil.copy(path, where)
    for name in ("guest.zmem", "incident.zmem", "now.zmem"):
        shutil.copy(HERE + "/../fixtures/recordings/swap-6.12.zmem", where + "/" + name)
    shutil.copytree(kept, where + "/kept")
    for name in ("before", "after"):
        shutil.copy(GOLDEN + "/snapshot_ordinary.json", where + "/" + name)
    write(where + "/hosts", "web1\nweb2\n")
    write(os.open(where + "/web.apps", os.O_WRONLY | os.O_CREAT, 0o600), "shop: ^nginx\n")
    write(os.open(where + "/token", os.O_WRONLY | os.O_CREAT, 0o600), "a-token\n")


def run_serve(name, command):
    words = shlex.split(command.replace(":19647", "127.0.0.1:0").replace("unix:/run", "unix:" + os.getcwd()))
    with Serve(*words[2:], listen=None if "--listen" in words else "127.0.0.1:0") as serve:
        result(serve.port or serve.path, name + ": listens", serve.said())
        serve.process.send_signal(signal.SIGTERM)
        result(serve.process.wait(PATIENCE) == 0, name + ": exit code", serve.said())


def run_command(name, command, where, environ):
    command = re.sub("^curl -s", "curl -sf", command)
    if command.startswith("zmem-bpf top"):
        command = "script -qec %s /dev/null" % shlex.quote(command)
    done = subprocess.run(("bash", "-o", "pipefail", "-c", command), cwd=where, env=environ, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=PATIENCE, check=False)
    result(done.returncode == 0, name + ": exit code 0", (command, done.returncode, done.stderr))
    file = re.search("(?:--output |>>? ?|record )([a-zA-Z][^ ;']*)|record .*(kept)", command)
    if file:
        # What xargs runs: for a host of the file.
        path = where + "/" + (file[1] or file[2]).replace("HOST", "web2")
        result(os.path.exists(path) and os.path.getsize(path), name + ": writes its file", done.stderr)
    elif not re.search(r"jq (-c )?'|--min", command):
        result(done.stdout.strip(), name + ": prints something", done.stderr)
    return done.stdout.decode("utf-8", "replace")


def run_document(path, base, pids, without, environ, address, seen):
    """Runs the commands of a document in their order, in a directory of its own. A command that reads and
    writes no file is run for the first document alone."""
    where = tempfile.mkdtemp(dir=base)
    make_directory(where, base + "/kept")
    ran = []
    for command in commands_of(path):
        name = "%s: %s" % (os.path.basename(path), command)
        here = adapted(command, pids, without)
        if not here or here in seen:
            continue
        if not re.search(r"kept|record|\.zmem|>|--output|jq", here):
            seen.add(here)
        if here.startswith("zmem-bpf serve"):
            os.chdir(base)
            run_serve(name, here.replace(" token", " %s/token" % where))
        else:
            ran.append((command, run_command(name, here.replace("localhost:19647", address), where, environ)))
    return ran


HEADINGS = (("-g name -o uss,shared,pss,procs", "USS SHARED PSS PROCS NAME"),
            ("-r -o pid,user,cmdline", "PID USER CMDLINE SWAP USS PSS RSS"),
            ("-g user -o", "USER PROCS SWAP USS PSS RSS"), ("-o pid,vsize", "PID VSIZE RSS PSS USS CMDLINE"))


def check_documents():
    with tempfile.TemporaryDirectory() as base:
        os.symlink(PROGRAM, base + "/zmem-bpf")
        # It makes a picture, which is not ours to test. Each host is this machine.
        for name, text in (("flamegraph.pl", "exec cat"), ("ssh", 'shift; exec sh -c "$*"')):
            write(os.open(base + "/" + name, os.O_WRONLY | os.O_CREAT, 0o755), "#!/bin/sh\n%s\n" % text)
        environ = dict(os.environ, PATH=base + ":" + os.environ["PATH"], TERM="xterm", LC_ALL="C.UTF-8", TZ="UTC0",
                       PYTHONPATH=ROOT + "/src/dist/python")
        subprocess.run((PROGRAM, "-q", "record", "--keep", "1h", base + "/kept", "-c", "2", "-i", "0.2"), check=True)
        seen = set()
        without = "|".join([ELSEWHERE] + ["zmem-bpf " + verb for verb, needs in NEEDS.items()
                                          if not need(needs, "commands: " + verb)])
        sleeping = [subprocess.Popen(("sleep", "1000")) for _ in range(10)]
        pids = tuple(child.pid for child in sleeping[:2])
        try:
            with Serve() as serve, concurrent.futures.ThreadPoolExecutor(4) as pool:
                ran = dict(zip(map(os.path.basename, DOCUMENTS), pool.map(
                    lambda path: run_document(path, base, pids, without, environ, "127.0.0.1:%s" % serve.port, seen),
                    DOCUMENTS)))
                check_fleet(environ)
        finally:
            for child in sleeping:
                child.kill()
                child.wait()
        counts = {os.path.basename(path): len(commands_of(path)) for path in DOCUMENTS}
        result(sum(counts.values()) > 160 and all(counts[name] for name in ("README.md", "fleet.md", "influx.jq")) and
               counts["comparison.md"] > 24, "there are commands", counts)
        # The columns are those of the other tool, in the same order.
        tables = [pair for found in ran.values() for pair in found]
        for option, heading in HEADINGS:
            out = next(out for command, out in tables if option in command)
            result(out.split("\n")[0].split() == heading.split(), "comparison.md: the columns of " + option, out[:200])
        check_shown(dict(ran["zmem-bpf-system.1"]))


def check_shown(ran):
    """Each line that zmem-bpf-system(1) shows of a recording is the beginning of a line of the output, in its order.
    Of this machine it has the same headings and classes, and a text for each class."""
    page = read(ROOT + "/src/man/zmem-bpf-system.1")
    displays = re.findall(r"^\.Bd.*?\n(.*?)^\.Ed", page, re.S | re.M)
    here = [display for display in displays if re.match(r"\$ (?!.*--replay|.* -fmkmem)", display)]
    shown = [line for display in displays if display not in here for line in display.splitlines() if line[:1] != "$"]
    system = ran["zmem-bpf system -l --replay guest.zmem"]
    rows = next(out for command, out in ran.items() if "-fmkmem" in command)
    # The rows of the processes are between the last two tables of it.
    lines = iter((system + rows + system).splitlines())
    missing = next((want for want in shown if not any(line.startswith(want) for line in lines)), None)
    result(len(shown) > 30 and missing is None, "zmem-bpf-system.1: the example is what is printed", missing)
    ram = subprocess.run((PROGRAM, "-q", "system", "-l"), capture_output=True, text=True, check=True).stdout
    classes = re.findall(r"^(?!RAM|total)(?:of which |besides: )?(\w\S*(?: \S+)*)  ", ram.partition("\n\n")[0], re.M)
    missing = [name for name in classes if "\n.It %s Pq Li " % name not in page]
    result(len(classes) > 18 and not missing, "zmem-bpf-system.1: has each class", missing)
    check_first_screen(next(display for display in here if display.startswith("$ zmem-bpf system\n")), page)
    for display in here if need("counters", "zmem-bpf-system.1: page frames") else ():
        command, heading, *lines = display.splitlines()
        if command == "$ zmem-bpf system":
            continue
        done = subprocess.run((PROGRAM, "-q", *command.split()[2:]), capture_output=True, text=True, check=True)
        result(re.search(r"^\s*" + r"\s+".join(map(re.escape, heading.split())), done.stdout, re.M),
               "zmem-bpf-system.1: %s: headings" % command, done.stdout)
        wrong = [line for line in lines if re.match("[a-z]", line) and
                 not re.match("|".join(map(re.escape, classes + ["total"])) + "|[0-9]+ others", line)]
        result(len(lines) > 3 and not wrong, "zmem-bpf-system.1: %s: classes" % command, wrong)


def check_first_screen(display, page):
    """The lines of the short form are those of this machine but for numbers and names; the pages have each part."""
    page += read(ROOT + "/src/man/zmem-bpf.1")
    done = subprocess.run((PROGRAM, "-q", "system"), capture_output=True, text=True, check=True).stdout
    heading = next(line for line in display.splitlines() if re.match("RAM +SIZE", line))
    result(re.search(r"\s+".join(map(re.escape, heading.split())), done), "zmem-bpf-system.1: system: headings", done)
    known = re.findall(r"^\.(?:It|Em) ([a-z][^,\n]*?)(?: ,)?$", page, re.M)
    for what, text in (("the example", display), ("this machine", done)):
        parts = re.findall(r"^([a-z].*?) +[0-9.]+ [KMGT]iB +[0-9.]+", text, re.M)
        parts = [part for part in parts if not re.match("[0-9]+ others", part)]
        result(len(parts) > 3 and set(parts) <= set(known), "system: %s: each part has a text" % what, (parts, known))
        wrong = [form for form in (r"^RAM \S+: used \S+, can be freed \S+, free \S+$", r"^\[[|:.]+\]  memory PSI: ", r"^Swap ")
                 if not re.search(form, text, re.M)]
        result(not wrong, "system: %s: the sums, the bar, swap" % what, (wrong, text))


def check_fleet(environ):
    """The program in Python of fleet.md, and the files that the page names."""
    text = read(ROOT + "/src/doc/fleet.md")
    done = subprocess.run((sys.executable, "-c", re.search(r"```python\n(.*?)```", text, re.S)[1]), env=environ,
                          capture_output=True, text=True, check=False)
    rows = [line.split()[-2:] for line in done.stdout.splitlines()]
    result(len(rows) == 10 and all(n.isdigit() for row in rows for n in row), "fleet.md: the program in Python", done)
    files = ["src/doc/" + name for name in re.findall(r"\]\((\.\./[^)]*)\)", text)]
    files += re.findall(r"`((?:tests|src)/[a-z_/.-]+[a-z])`", text)
    missing = [name for name in files if not os.path.exists(ROOT + "/" + name)]
    result(files and not missing, "fleet.md: the files that it names exist", missing)


def check_sums():
    """Private + shared = RAM used, to the byte, as in ps_mem."""
    done = subprocess.run((PROGRAM, "-J", "-g", "name"), capture_output=True, check=False)
    wrong = [g for g in json.loads(done.stdout)["groups"]
             if g["pss_bytes"] is not None and g["uss_bytes"] + g["shared_bytes"] != g["pss_bytes"]]
    result(not wrong, "private and shared add up to RAM used", wrong[:2])


def as_golden(name, label, documents, *args):
    flags = {"ecs": "-cf", "growth": "-nrf"}.get(name, "-rf")
    done = subprocess.run(("jq", flags, FILTERS + name + ".jq", "-", *args), capture_output=True, check=False,
                          input="".join(map(json.dumps, documents)).encode())
    path = "%s/example_%s_%s.txt" % (GOLDEN, name, label)
    if os.environ.get("UPDATE_GOLDEN"):
        with open(path, "wb") as file:
            file.write(done.stdout)
    result(done.stdout == golden.read(path), "%s, %s: the golden output" % (name, label), done.stderr)


def check_filters():
    documents = {}
    for label in ("ordinary", "hostile", "bare", "groups"):
        documents[label] = json.loads(golden.read("%s/snapshot_%s.json" % (GOLDEN, label)))
    # A Hangul filler is an invisible letter.
    words = documents["words"] = copy.deepcopy(documents["ordinary"])
    words["host"]["name"] = "a b,c=d\\"
    words["processes"][0].update(name="a\u3164b", user='a;b,"c" = \x1b]0;t\x07 1 2\n\\', pss_status='"x\\')
    for label, document in documents.items():
        for name in ("top-swap", "ecs", "influx"):
            as_golden(name, label, [document])
    for label, rows in (("ordinary", "processes"), ("words", "processes"), ("groups", "groups")):
        before = copy.deepcopy(documents[label])
        del before[rows][0]
        for row in before[rows]:
            row["pss_swap_bytes"] = row["pss_swap_bytes"] and row["pss_swap_bytes"] // 4
        as_golden("growth", label, [before, documents[label]])
        if label == "ordinary":
            as_golden("growth", "one", [before, documents[label]], "--argjson", "n", "1")


def main():
    see_own_processes_only()
    run_checks((check_filters, check_sums, check_documents))
    return exit_code()


sys.exit(main())
