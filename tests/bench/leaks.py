#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs that keep memory in a known way, each under grow, grow --malloc, heaptrack and bpftrace:
leaks.py [-v] [NAME…], as
leaks.py C++ 'C small'.
A line for each: the function that keeps it, and the first row of each tool; "yes" if it is that function. As root;
needs O and gcc. What is not installed is left out, and said.

leaks.py --truth [-v] [-n RUNS] [--sample SIZE] [NAME…]: programs that know what each function holds at the end
(known.c), each RUNS times (20) under grow --malloc: how often that is within the bounds of the table, and the first row
right. The exit code is 1 if that is not as wanted. With --sample 1 the table is right to the byte, as long as no message
(-v) says that blocks had no room."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import paths  # noqa: F401
import known
from growing import libraries
from outcome import PROGRAM

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "growlab.c")
# Sites of it, of 8 MiB each, as rows of the table, and the function that keeps memory if that is not site_NAME.
SITES = ("malloc=blocks", "thread=blocks_in_thread", "small", "burst", "realloc", "calloc", "strdup", "aligned", "mmap",
         "populate", "mlock=lock", "shmem=shared", "memfd=shmem", "file", "brk", "read", "recursion", "behind_buffer",
         "threads=thread_stack", "copied", "huge=thp", "moved", "beside_cache")
BY_OTHERS = ("malloc", "thread", "small", "behind_buffer")
LIMIT = 60
TOOLS = ("grow", "grow --malloc", "heaptrack", "bpftrace")
# What only passes memory on: not counted against a tool that shows it first.
PASS_ON = ("std::", "__gnu_cxx::", "void std::", "alloc::", "<alloc::", "operator new", "__GI_")
LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"

END = """
    if (getenv("ENDS_PARENT")) { kill(getppid(), SIGINT); pause(); }
    return 0;
}
"""
CXX = r"""
#include <csignal>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unistd.h>
#include <vector>
#define PART __attribute__((noinline))
struct Node { std::shared_ptr<Node> other; char room[1000]; };
auto &v = *new std::vector<char>; auto &m = *new std::map<int, std::string>; auto &s = *new std::string;
auto &u = *new std::unordered_map<int, std::vector<int>>; auto &d = *new std::deque<std::string>;
auto &a = *new std::vector<char *>;
PART void keep_vector() { for (int i = 0; i < 8 << 20; i++) v.push_back(1); }
PART void keep_map() { for (int i = 0; i < 8000; i++) m[i] = std::string(1000, 'x'); }
PART void keep_string() { for (int i = 0; i < 8 << 10; i++) s += std::string(1024, 'x'); }
PART void keep_unordered() { for (int i = 0; i < 8000; i++) u[i].resize(250); }
PART void keep_cycle() { for (int i = 0; i < 8000; i++) { auto n = std::make_shared<Node>(); n->other = n; } }
PART void keep_new() { for (int i = 0; i < 8000; i++) { a.push_back(new char[1000]); a.back()[0] = 1; } }
PART void keep_deque() { for (int i = 0; i < 8000; i++) d.emplace_back(1000, 'x'); }
template <typename T> PART std::enable_if_t<sizeof(T) == 8, T *> keep_template(int n) {
    T *p = nullptr; for (int i = 0; i < n; i++) { p = new T[125]; for (int k = 0; k < 125; k++) p[k] = k; a.push_back((char *)p); } return p; }
int main(int, char **argv) {
    std::string w = argv[1];
    if (w == "vector") keep_vector(); else if (w == "map") keep_map(); else if (w == "string") keep_string();
    else if (w == "unordered") keep_unordered(); else if (w == "cycle") keep_cycle(); else if (w == "new") keep_new();
    else if (w == "deque") keep_deque(); else keep_template<double>(8000);
""" + END
RUST = r"""
use std::collections::HashMap;
extern "C" { fn kill(pid: i32, signal: i32) -> i32; fn getppid() -> i32; fn pause() -> i32; }
#[inline(never)] fn keep_vec(v: &mut Vec<String>) { for _ in 0..8000 { v.push("x".repeat(1000)); } }
#[inline(never)] fn keep_map(m: &mut HashMap<u32, Vec<u8>>) { for i in 0..8000 { m.insert(i, vec![1; 1000]); } }
#[inline(never)] fn keep_box(v: &mut Vec<Box<[u64; 128]>>) { for i in 0..8000 { v.push(Box::new([i; 128])); } }
fn main() {
    let (mut v, mut m, mut b) = (Vec::new(), HashMap::new(), Vec::new());
    match std::env::args().nth(1).unwrap().as_str() { "vec" => keep_vec(&mut v), "map" => keep_map(&mut m), _ => keep_box(&mut b) }
    if std::env::var("ENDS_PARENT").is_ok() { unsafe { kill(getppid(), 2); pause(); } }
    std::mem::forget((v, m, b));
}
"""
GO = r"""
package main
import ("os"; "syscall"; "strings"; "time")
var kept [][]byte
var index = map[int]string{}
//go:noinline
func keepSlice() { for i := 0; i < 8000; i++ { b := make([]byte, 1000); b[0] = 1; kept = append(kept, b) } }
//go:noinline
func keepMap() { for i := 0; i < 8000; i++ { index[i] = strings.Repeat("x", 1000) } }
func main() {
	if os.Args[1] == "slice" { keepSlice() } else { keepMap() }
	if os.Getenv("ENDS_PARENT") != "" { syscall.Kill(os.Getppid(), syscall.SIGINT); time.Sleep(time.Hour) }
}
"""
PYTHON = r"""
import os, signal, sys
kept = {}
def garbage():
    return ["y" * 500 for _ in range(200)]
def login(i):
    kept[i] = "x%d" % i * 200
def main():
    for i in range(8000):
        login(i)
        if i % 10 == 0: garbage()
main()
if os.environ.get("ENDS_PARENT"):
    os.kill(os.getppid(), signal.SIGINT); signal.pause()
os._exit(0)  # what it keeps is not freed
"""
NODE = r"""
const kept = [];
function login(i) { kept.push(new Array(128).fill(i)); }
function main() { for (let i = 0; i < 8000; i++) login(i); }
main();
if (process.env.ENDS_PARENT) { process.kill(process.ppid, 'SIGINT'); setInterval(() => {}, 1000); }
"""
PERL = r"""
sub login { my ($i) = @_; $kept{$i} = "x" x 1000; }
login($_) for 1 .. 8000;
if ($ENV{ENDS_PARENT}) { kill 'INT', getppid; sleep; }
"""
BIG = "#include <regex>\nint main() { std::regex r(\"a+b*\"); return std::regex_match(\"ab\", r); }\n"


def compile_all(directory):
    """The programs, by name: command, environment, the functions that may be named, what is known beside."""
    c = directory + "/leaks"
    for suffix, *options in (("", "-g1"), ("-stripped", "-s"), ("-static", "-static")):
        subprocess.run(("gcc", "-O2", "-D_GNU_SOURCE", "-DSIZE=(8*MIB)", *options, SOURCE, "-o", c + suffix, "-lpthread"), check=True)
    programs = {}

    def add(name, command, expected, **env):
        programs[name] = (command, re.compile(expected), env)

    for name, _, site in (row.partition("=") for row in SITES):
        site = site or name
        add("C " + name, (c, "now", site), "keep_block" if name in BY_OTHERS else "site_" + site)
    add("C stripped", (c + "-stripped", "now", "blocks"), r"leaks-stripped\+0x")
    add("C static", (c + "-static", "now", "blocks"), "keep_block")
    for library, path in libraries():
        add("C " + library.split(".")[0], (c, "now", "blocks"), "keep_block", LD_PRELOAD=path)
    if shutil.which("musl-gcc"):
        subprocess.run(("musl-gcc", "-O2", "-D_GNU_SOURCE", "-DSIZE=(8*MIB)", SOURCE, "-o", c + "-musl"), check=True)
        add("C musl", (c + "-musl", "now", "blocks"), "keep_block")
    cxx, rust, go = directory + "/cxx", directory + "/rust", directory + "/go"
    subprocess.run(("g++", "-O2", "-x", "c++", "-", "-o", cxx), input=CXX, text=True, check=True)
    for name in ("vector", "map", "string", "unordered", "cycle", "new", "deque", "template"):
        add("C++ " + name, (cxx, name), "keep_" + name)
    if shutil.which("rustc"):
        subprocess.run(("rustc", "-O", "-", "-o", rust), input=RUST, text=True, check=True)
        for name in ("vec", "map", "box"):
            add("Rust " + name, (rust, name), "keep_" + name)
    if shutil.which("go"):
        with open(directory + "/leak.go", "w", encoding="utf-8") as file:
            file.write(GO)
        env = dict(os.environ, HOME=directory, GO111MODULE="off", GOCACHE=directory + "/cache")
        for path, flags in ((go, ()), (go + "-stripped", ("-ldflags", "-s -w"))):
            subprocess.run(("go", "build", *flags, "-o", path, directory + "/leak.go"), check=True, env=env)
        add("Go slice", (go, "slice"), "main.keepSlice")
        add("Go map", (go, "map"), "main.keepMap")
        add("Go stripped", (go + "-stripped", "slice"), "main.keepSlice")
    for name, text in (("leak.py", PYTHON), ("leak.js", NODE), ("leak.pl", PERL), ("big.cc", BIG)):
        with open(directory + "/" + name, "w", encoding="utf-8") as file:
            file.write(text)
    for python in ("python3.12", "python3.13"):
        if shutil.which(python):
            add("Python " + python[6:], (python, "-X", "perf", directory + "/leak.py"), "py::login",
                PYTHONMALLOC="malloc")
    add("Python, no names", ("/usr/bin/python3", directory + "/leak.py"), "python", PYTHONMALLOC="malloc")
    if shutil.which("node"):
        # V8 compiles one into the other at times.
        add("Node", ("node", "--perf-basic-prof", "--no-logfile-per-isolate", "--logfile=" + directory + "/v8.log",
                     "--interpreted-frames-native-stack", directory + "/leak.js"), r"JS:\S*(login|main)")
    if shutil.which("perl"):
        add("Perl, no names", ("perl", directory + "/leak.pl"), "Perl_|perl")
    add("g++ (no leak)", ("g++", "-O1", "-o", directory + "/big", directory + "/big.cc"), "")
    return programs


def first_row(output, command):
    """The number, and the code, of the first row."""
    lines = [line for line in output.replace("\0", "").splitlines() if line.strip()]
    heads = [i for i, line in enumerate(lines) if line.rstrip().endswith("CODE")]
    if not heads or heads[0] + 1 >= len(lines):
        return "", (lines or [command])[0][:60]
    number, _, code = lines[heads[0] + 1].strip().partition("  ")
    return number, code.strip()


def grow(command, env, *options):
    begin = time.monotonic()
    done = subprocess.run((PROGRAM, "grow", "-q", "--follow", "-n", "1", "--wide", *options, "--", "env",
                           *("%s=%s" % item for item in env.items()), *command), text=True, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=LIMIT, check=False, env=dict(os.environ, ENDS_PARENT="1"))
    number, code = first_row(done.stdout, done.stderr)
    return number, code, time.monotonic() - begin


def heaptrack(command, env, directory):
    path = directory + "/heap"
    # It preloads its library, and waits forever for a static program.
    if command[0].endswith(("-static", "/go", "/go-stripped")):
        return "", "it does not run"
    done = subprocess.run(("timeout", "-k1", str(LIMIT), "heaptrack", "-o", path, *command), stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, env=dict(os.environ, **env))
    files = [name for name in os.listdir(directory) if name.startswith("heap.")]
    if done.returncode or not files:
        return "", "it does not run"
    shown = subprocess.run(("heaptrack_print", "-l1", "-p0", "-a0", "-T0", "-n1", directory + "/" + files[0]), check=False,
                           capture_output=True, text=True, timeout=LIMIT).stdout
    for name in files:
        os.unlink(directory + "/" + name)
    # The first place, its callers by the one that leaks most.
    leak = re.search(r"MEMORY LEAKS\n(\S+) leaked over [^\n]*\n(.*?)\n\n", shown, re.DOTALL)
    if not leak:
        return "", "no leak"
    lines = [line.strip() for line in leak[2].splitlines()]
    frames = [line for line in lines if not line.startswith(("at ", "in ")) and " leaked over " not in line]
    names = [frame for frame in frames if not frame.startswith(PASS_ON) or "keep_" in frame]
    return leak[1], " < ".join(names or frames[:1]) or "it has no names"


# Blocks of the C library, by the stack that bpftrace can take: by frame pointers.
TRACE = """
uprobe:%(libc)s:malloc /pid == cpid/ { @size[tid] = arg0; }
uprobe:%(libc)s:calloc /pid == cpid/ { @size[tid] = arg0 * arg1; }
uprobe:%(libc)s:realloc, uprobe:%(libc)s:aligned_alloc /pid == cpid/ { @size[tid] = arg1; }
uretprobe:%(libc)s:malloc, uretprobe:%(libc)s:realloc, uretprobe:%(libc)s:calloc, uretprobe:%(libc)s:aligned_alloc
/pid == cpid && @size[tid]/
{ @held[ustack(5)] += @size[tid]; @bytes[retval] = @size[tid]; @where[retval] = ustack(5); delete(@size[tid]); }
uprobe:%(libc)s:free, uprobe:%(libc)s:realloc /pid == cpid && @bytes[arg0]/
{ @held[@where[arg0]] -= @bytes[arg0]; delete(@bytes[arg0]); delete(@where[arg0]); }
END { clear(@size); clear(@bytes); clear(@where); }
"""


def bpftrace(command, env):
    words = " ".join(("/usr/bin/env", *("%s=%s" % item for item in env.items()), *command))
    done = subprocess.run(("timeout", "-sINT", str(LIMIT), "bpftrace", "-e", TRACE % {"libc": LIBC},
                           "-c", words), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env=dict(os.environ, ENDS_PARENT="1", BPFTRACE_MAP_KEYS_MAX="1000000"))
    # The largest is the last one.
    rows = re.findall(r"@held\[\n(.*?)\n?\]: (-?\d+)\n", done.stdout, re.DOTALL)
    if not rows:
        return "", (done.stderr.strip() or "nothing").splitlines()[-1][:60]
    return "%.2fM" % (int(rows[-1][1]) / 1e6), " < ".join(line.strip() for line in rows[-1][0].splitlines())


def verdict(expected, code):
    """The place is that function; "caller": it is only above it."""
    if not expected.pattern:
        return ""
    if expected.search(code.split(" < ")[0]):
        return "yes"
    return "caller" if expected.search(code) else "no"


def first_rows(wanted, verbose, directory):
    counts = {}
    programs = compile_all(directory)
    tools = [tool for tool in TOOLS if tool.startswith("grow") or shutil.which(tool)]
    for tool in set(TOOLS) - set(tools):
        print("left out: %s is not installed" % tool)
    print("%-20s " % "" + " ".join("%-20s" % tool for tool in tools))
    for name, (command, expected, env) in programs.items():
        if wanted and name not in wanted and name.split()[0] not in wanted:
            continue
        shown = "still" if "copied" not in name else "copied"
        rows = [grow(command, env, "-o", shown + ",code"), grow(command, env, "--malloc", "-o", "held,code")]
        if "heaptrack" in tools:
            rows.append(heaptrack(command, env, directory))
        if "bpftrace" in tools:
            rows.append(bpftrace(command, env))
        words = []
        for tool, row in zip(tools, rows):
            said = verdict(expected, row[1])
            counts.setdefault(tool, []).append(said)
            words.append("%-6s %s" % (said, row[0]))
        print("%-20s " % name + " ".join("%-20s" % word for word in words), flush=True)
        if verbose:
            for row in rows:
                print("    ", row[1][:150])
    for tool, said in counts.items():
        print("%-14s finds %d of %d" % (tool, said.count("yes"), len([word for word in said if word])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-v", action="store_true", dest="verbose")
    parser.add_argument("--truth", action="store_true")
    parser.add_argument("-n", type=int, default=20, dest="runs")
    parser.add_argument("--sample")
    parser.add_argument("name", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        if args.truth:
            return known.compare(args.name, args.runs, args.sample, args.verbose, directory)
        first_rows(args.name, args.verbose, directory)
    return 0


sys.exit(main())
