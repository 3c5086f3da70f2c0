#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The contract for other programs: the C reader and the Python module show what the program shows,
also from records of newer and older programs."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.realpath(HERE + "/../..")
sys.path[:0] = [HERE + "/../support", SOURCE + "/src/dist/python"]

import zmem_bpf  # noqa: E402
from outcome import MKMEM, PROGRAM, exit_code, mkmem_pids, need, read, result, run_checks, see_own_processes_only, write

GROUP, USER = 4242, 65534
PATIENCE = 120


def program(*args):
    done = subprocess.run((PROGRAM, "-J", "-q", "--verify", "0", *args), stdout=subprocess.PIPE, check=False,
                          timeout=PATIENCE)
    return {p["pid"]: p for p in json.loads(done.stdout)["processes"]}


def compile_reader(directory, name, include):
    path = os.path.join(directory, name)
    subprocess.run((os.environ.get("CC", "gcc"), "-O2", "-Wall", "-Wextra", "-Werror", "-I", include, "-o", path,
                    SOURCE + "/src/dist/examples/pss.c"), check=True)
    return path


def as_member(*command):
    return subprocess.run(("setpriv", "--reuid=%d" % USER, "--regid=%d" % USER, "--groups=%d" % GROUP,
                           "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all", *command),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)


def read_c(path):
    done = as_member(path)
    if done.returncode:
        return done.stderr.strip()
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return {int(r[0]): [None if v == "-" else int(v) for v in r[1:5]] for r in rows}


def four(p):
    return [p["pss_bytes"], p["uss_bytes"], p["rss_bytes"], p["swap_bytes"]]


def near(a, b, within):
    return a == b or (isinstance(a, int) and isinstance(b, int) and abs(a - b) <= within)


def check_same(directory, pids):
    """Idle processes of known shapes: the three agree. Others may exec and exit, so it is tried again."""
    reader = compile_reader(directory, "pss", SOURCE + "/include")
    for turn in range(30):
        before = program("--pinned", "-p", ",".join(map(str, pids)))
        by_c = read_c(reader)
        by_python = {p["pid"]: p for p in zmem_bpf.snapshot(pin=True)}
        after = program("--pinned", "-p", ",".join(map(str, pids)))
        still = [pid for pid in pids if before[pid] == after[pid] and before[pid]["pss_bytes"] is not None]
        # On a busy machine programs begin and end between the readings, which moves PSS by some bytes.
        within = 0 if turn < 20 else 4095
        wrong_c = [(pid, by_c[pid], four(before[pid])) for pid in still
                   if by_c[pid][1:] != four(before[pid])[1:] or not near(by_c[pid][0], before[pid]["pss_bytes"], within)]
        wrong_python = [(pid, key, by_python[pid][key], before[pid][key]) for pid in still for key in by_python[pid]
                        if key in before[pid] and
                        not near(by_python[pid][key], before[pid][key], within if "pss" in key else 0)]
        large = [pid for pid in still if before[pid]["rss_shmem_bytes"] > 128 << 20]
        if len(still) > len(pids) // 2 and large and not wrong_c and not wrong_python:
            break
    print("# %d of %d processes did not change" % (len(still), len(pids)))
    result(len(still) > len(pids) // 2, "processes stand still", (len(still), len(pids)))
    result(not wrong_c, "the C reader: PSS, USS, RSS and swap of the program", wrong_c[:3])
    result(not wrong_python, "the Python module: every value of the program", wrong_python[:3])
    result(large and all(by_c[pid][0] is not None for pid in large), "walks of several visits are complete", large)


def check_without_group(directory, _):
    child = os.fork()
    if not child:
        os.setgroups([])
        os.setresuid(USER, USER, USER)
        try:
            zmem_bpf.snapshot(pin=True)
        except zmem_bpf.Error as error:
            os._exit(42 if "Permission denied" in str(error) else 1)
        os._exit(0)
    result(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42, "Python: outside of the group")
    done = subprocess.run(("setpriv", "--reuid=%d" % USER, "--clear-groups", os.path.join(directory, "pss")),
                          stderr=subprocess.PIPE, text=True, check=False)
    result(done.returncode == 1 and "Permission denied" in done.stderr, "C: outside of the group", done.stderr)


def newer(data):
    """The records as a program writes them that has 16 bytes more, and a bit that is not known."""
    out = bytearray()
    for r in zmem_bpf.parse(data):
        at = len(newer.taken)
        record = bytearray(data[at:at + r.size])
        newer.taken += record
        if r.kind == zmem_bpf._PROCESS:
            end = len(record) - (zmem_bpf._PAGES.size if r.pages else 0)
            record[end:end] = b"\xa5" * 16
            struct.pack_into("=H", record, 0, len(record))
            struct.pack_into("=I", record, 4, r.valid | 1 << 31)
        out += record
    return bytes(out)


def parsed_by_c(path, data):
    return subprocess.run((path,), input=data, stdout=subprocess.PIPE, check=False).stdout


def check_versions(directory, _):
    data = zmem_bpf._read(zmem_bpf.PLACE + "pss")
    newer.taken = bytearray()
    grown = newer(data)
    old = [zmem_bpf._process(r) for r in zmem_bpf.parse(data)]
    new = [zmem_bpf._process(r) for r in zmem_bpf.parse(grown)]
    result(len(old) > 10 and len(grown) > len(data) and old == new, "Python: an old reader reads new records")
    for cut in (1, 8, 57, 300):
        try:
            list(zmem_bpf.parse(data[:-cut]))
            result(False, "Python: %d bytes less" % cut)
        except zmem_bpf.Error:
            result(True, "Python: %d bytes less are refused" % cut)

    # The parser of read.h alone, of this version and of one with a further member.
    program_text = """
#include <stdio.h>
#include <zmem/read.h>
static char data[1 << 24];
int main(void)
{
	struct zmem_pss_record r;
	struct zmem_values v;
	size_t len = fread(data, 1, sizeof(data), stdin);
	long size;
	for (size_t at = 0; at < len; at += (size_t)size) {
		if ((size = zmem_parse(data + at, len - at, &r)) <= 0)
			return 1;
		zmem_decode(&r, &v);
		printf("%d %u %llu %llu %llu %u\\n", r.record.pid, v.known, (unsigned long long)v.pss,
		       (unsigned long long)v.uss, (unsigned long long)v.rss, (unsigned)r.pages.flags);
	}
	return 0;
}
"""
    shutil.copytree(SOURCE + "/include", directory + "/future")
    path = directory + "/future/zmem/record.h"
    text = read(path)
    text, count = re.subn(r"(\tchar exe\[ZMEM_EXE_LEN\];[^\n]*\n)", r"\1\t__u64 future[2];\n", text)
    result(count == 1, "a member can be added behind the last one")
    write(path, text)
    write(directory + "/parse.c", program_text)
    for name, include in (("now", SOURCE + "/include"), ("then", directory + "/future")):
        subprocess.run(("gcc", "-O2", "-Wall", "-Werror", "-I", include, "-o", directory + "/" + name,
                        directory + "/parse.c"), check=True)
    want = parsed_by_c(directory + "/now", data)
    result(want.count(b"\n") == len(old), "C: every record")
    result(parsed_by_c(directory + "/now", grown) == want, "C: an old reader reads new records")
    result(parsed_by_c(directory + "/then", data) == want, "C: a new reader reads old records")
    result(parsed_by_c(directory + "/then", grown) == want, "C: a new reader reads new records")


def check_run():
    rows = zmem_bpf.snapshot(pin=False, program=PROGRAM)
    result(any(p["pid"] == os.getpid() for p in rows), "Python: without the pin it runs the program")
    try:
        zmem_bpf.snapshot(pin=False, program="/nowhere/zmem-bpf")
        result(False, "Python: no program")
    except zmem_bpf.Error:
        result(True, "Python: no program is an Error")


def main():
    see_own_processes_only()
    run_checks((check_run,))
    if not need("bpf mount users", "the pin"):
        return exit_code()
    subprocess.run(("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"), check=True)
    pin = subprocess.run((PROGRAM, "pin", str(GROUP)), stderr=subprocess.PIPE, text=True, check=False)
    if pin.returncode or not os.path.exists(zmem_bpf.PLACE + "pss"):
        print("skip the pin: no pin with PSS here:", pin.stderr.strip())
        return exit_code()
    try:
        with tempfile.TemporaryDirectory() as directory:
            os.chmod(directory, 0o755)
            child = subprocess.Popen((MKMEM, "anon", "shmem", "memfd2", "file", "cow_many", "fork", "shmem_big",
                                      "clone_vm"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            pids = sorted(set(mkmem_pids(child).values()))
            run_checks((check_same, check_without_group, check_versions), directory, pids)
            child.stdin.close()
            child.wait()
    finally:
        subprocess.run((PROGRAM, "unpin"), check=False)
    return exit_code()


sys.exit(main())
