#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""make flamegraph: its stacks, its picture, and both of a run of the program's."""

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from paths import HERE
from outcome import O, PROGRAM, exit_code, need, read, result

BENCH = HERE + "/../bench"
SVG = "{http://www.w3.org/2000/svg}"
FOLDED_LINE = re.compile(r"[^;\s]+(;[^;\s]+)* [1-9][0-9]*")

# As perf script prints it.
SAMPLES = """\
zmem-bpf
\tffffffffc0001234 bpf_prog_6c45487a59df7572_walk_step (bpf_prog_6c45487a59df7572_walk_step)
\tffffffff815f09b8 vfs_read ([kernel.kallsyms])
\t    7f0000000001 read (/usr/lib/libc.so.6)
\t           20ca3 main (/bin/zmem-bpf)

bash
\t           20ca3 main (/bin/bash)

zmem-bpf
\tffffffffc0001200 bpf_prog_0000000000000000_walk_step (bpf_prog_0000000000000000_walk_step)
\tffffffff815f09b8 vfs_read ([kernel.kallsyms])
\t    7f0000000001 read (/usr/lib/libc.so.6)
\t           20ca3 main (/bin/zmem-bpf)

zmem-bpf
\tffffffffc0001200 [unknown] ([unknown])
\t               1 a; name (/bin/with (odd) name)
\t               1 [unknown] (/usr/lib/libz.so.1)
\t               2 [unknown] (/usr/lib/libz.so.1)
"""
STACKS = """\
zmem-bpf;[libz.so.1];a__name;[unknown]_[k] 1
zmem-bpf;main;read;vfs_read_[k];bpf:walk_step 2
"""
HOSTILE = b"all;<script>alert(1)</script> 60\nall;&amp;\"'\x1b[31m\x01\xff\xfe 30\nall;\xed\xa0\x80bpf:x 9\nall;too_small 1\n"


def flamegraph(text, *args):
    done = subprocess.run([sys.executable, BENCH + "/flamegraph.py", *args], input=text, capture_output=True,
                          check=False)
    result(done.returncode == 0, "flamegraph.py %s: exit code 0" % args[0], done.stderr)
    return done.stdout


def frames_of(text):
    """{title: width} of the frames, after looking at the rest."""
    root = ElementTree.fromstring(text)
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    result(tags <= {"svg", "style", "rect", "text", "g", "title"}, "the picture is boxes and text", tags)
    links = [name for element in root.iter() for name in element.attrib if "href" in name or name.startswith("on")]
    result(not links, "it asks for nothing and runs nothing", links)
    return {g.find(SVG + "title").text: float(g.find(SVG + "rect").get("width")) for g in root.iter(SVG + "g")}


def check_fold():
    stacks = flamegraph(SAMPLES.encode(), "fold", "zmem-bpf").decode()
    result(stacks == STACKS, "fold: the program's stacks, equal ones added up, kernel and BPF named", stacks)
    result(flamegraph(b"", "fold", "zmem-bpf") == b"", "fold: of nothing, nothing")


def check_picture():
    frames = frames_of(flamegraph(STACKS.encode(), "svg", "a <title> & more"))
    names = [title.partition(":")[0] for title in frames]
    result(names[:3] == ["zmem-bpf", "main", "read"], "svg: the biggest first, from the root on", names)
    result("bpf:walk_step: 2 samples, 66.7 %" in frames, "svg: a frame's samples and share", list(frames))
    whole = frames["zmem-bpf: 3 samples, 100.0 %"]
    result(abs(frames["main: 2 samples, 66.7 %"] / whole - 2 / 3) < 0.01, "svg: widths are shares", frames)


def check_hostile():
    frames = frames_of(flamegraph(HOSTILE, "svg", "\x1b</svg>&"))
    result("<script>alert(1)</script>: 60 samples, 60.0 %" in frames, "svg: names are text", list(frames))
    result(len(frames) == 6, "svg: bytes that are no text do no harm", list(frames))
    frames_of(flamegraph(b"", "svg", "of nothing"))


def check_program():
    if not need("bpf perf", "a flame graph of the program"):
        return
    with tempfile.TemporaryDirectory() as directory:
        env = dict(os.environ, O=O, PROGRAM=PROGRAM, PROFILE_DIR=directory, PROFILE_RUNS="20",
                   PROFILE_WORKLOAD="W2")
        done = subprocess.run([BENCH + "/profile"], capture_output=True, env=env, check=False)
        if b"perf does not work here" in done.stderr:
            print("skip a flame graph of the program:", done.stderr.decode().strip())
            return
        result(done.returncode == 0, "a flame graph of the program: exit code 0", done.stderr)
        if done.returncode:
            return
        lines = read(directory + "/flamegraph.folded").splitlines()
        frames = frames_of(read(directory + "/flamegraph.svg"))
    bad = [line for line in lines if not FOLDED_LINE.fullmatch(line)]
    result(lines and not bad, "its folded lines are well formed", bad[:3])
    text = "\n".join(lines)
    for name in (";command_snapshot", "_[k];", ";bpf:task_pss"):
        result(name in text, "its stacks have %s" % name, lines[:3])
        title = name.strip(";")
        result(any(title in frame for frame in frames), "its picture has %s" % title, list(frames)[:10])
    whole = sum(int(line.rpartition(" ")[2]) for line in lines)
    rooted = sum(int(line.rpartition(" ")[2]) for line in lines if re.search(r"_start|start_thread|;main[; ]", line))
    # A sanitizer's library keeps no frame pointers.
    result(rooted > whole / 2 or "-san-" in PROGRAM, "most stacks reach to where they began", (rooted, whole))


def check_without_perf():
    env = dict(os.environ, O=O, PROGRAM=PROGRAM, PATH="/nowhere")
    done = subprocess.run(["/bin/bash", BENCH + "/profile"], capture_output=True, env=env, check=False)
    result(done.returncode == 1 and b"flamegraph: " in done.stderr, "without perf it says so", done.stderr)


check_fold()
check_picture()
check_hostile()
check_program()
check_without_perf()
sys.exit(exit_code())
