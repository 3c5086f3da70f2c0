#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""grow and names: of functions without symbols, of assembler, of Go and of musl; and such that are made to cost time
or memory: the report comes, its helpers stay small, what was too much is counted, and other names are there."""
# needs: bpf ptrace

import contextlib
import json
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import threading
import time

import paths  # noqa: F401
from growing import LIMIT, MIB, Lab, directory_for_all, functions, named, run_live, stack_of_4_mib, write
from outcome import O, PROGRAM, read, result, wait_until

TREE_MAX = 400 * MIB  # of the program and its helpers; without a bound gigabytes


def doubling(levels):
    """f(A, B<A, A>, B<B<A, A>, B<A, A>>, …): each type is twice as long as the one before."""
    name = "_Z1f1A1BIS_S_E"
    for i in range(1, levels):
        last = "S%s_" % base36(i)
        name += "S0_I%s%sE" % (last, last)
    return name


def base36(n):
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return digits[n] if n < 36 else base36(n // 36) + digits[n % 36]


class Watched:
    """The largest sum of resident memory of a process and its children while the block runs."""

    def __init__(self, grow):
        self.pid, self.largest, self.stop, self.children = grow.child.pid, 0, False, set()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.stop:
            try:
                children = [int(pid) for pid in read("/proc/%d/task/%d/children" % (self.pid, self.pid)).split()]
            except OSError:
                return
            self.children.update(children)
            pids = [self.pid] + children
            self.largest = max(self.largest, sum(self.anon(pid) for pid in pids))
            time.sleep(0.005)

    @staticmethod
    def anon(pid):
        try:
            with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as file:
                return sum(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon"))
        except OSError:
            return 0

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop = True
        self.thread.join()


def is_helper(pid):
    with contextlib.suppress(OSError), open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
        name, state = file.read().split("(", 1)[1].rsplit(") ", 1)
        return name.startswith("zmem-bpf") and state[0] != "Z"
    return False


def grown(lab, what):
    """The document; its making stays small."""
    grow = lab.count("--sample", "1")
    with Watched(grow) as watched:
        lab.go()
        document = grow.report()
    # Those that were too slow were killed.
    result(watched.children and wait_until(lambda: not any(map(is_helper, watched.children)), 10),
           what + ": no helper is left", watched.children)
    result(watched.largest < TREE_MAX, what + ": its memory is bounded", "%d MiB" % (watched.largest // MIB))
    return document


def renamed_lab(directory, old, new):
    """growlab, with another name for one of its functions."""
    path = directory + "/lab"
    subprocess.run(["objcopy", "--redefine-sym", "%s=%s" % (old, new), O + "/growlab", path], check=True)
    return path


def check_symbols():
    with directory_for_all() as directory:
        for levels, known in ((3, True), (24, False), (40, False)):
            what = "a name of C++ with %d levels" % levels
            with Lab(renamed_lab(directory, "site_mmap", doubling(levels)), "mmap") as lab:
                document = grown(lab, what)
            names = functions(stack_of_4_mib(document))
            result(names[0] == ("f" if known else doubling(levels)), what + ": " + ("demangled" if known else "as it is"),
                   names[0][:60])
            result(names[1:3] == ["run_site", "main"], what + ": its callers have names", names[1:3])
            limited = document["accounted"]["names_left_out"]["limit"]
            result((limited == 0) == known, what + ": it is counted", limited)


def check_perf_map():
    with Lab(O + "/jitlab", "frame", "anon") as lab:
        path, address = "/tmp/perf-%d.map" % lab.pid, int(lab.words[2], 16)
        write(path, "%x 20 %s\n" % (address, doubling(40)))
        try:
            document = grown(lab, "the same in a perf map")
            names = functions(stack_of_4_mib(document))
            result(names[1] == doubling(40) and names[3] == "main", "the same in a perf map: as it is", names[1][:60])
        finally:
            os.unlink(path)


def section_header(name, kind, offset, size, link=0, entry=0):
    return struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, link, 0, 8, entry)


def check_sections():
    """The symbols of a program are a hole of 3 GiB; they are 300,000 at one address."""
    with directory_for_all() as directory:
        path = directory + "/lab"
        shutil.copy(O + "/growlab", path)
        subprocess.run(["strip", "-s", path], check=True)
        with open(path, "r+b") as file:
            header = file.read(64)
            end = file.seek(0, os.SEEK_END)
            # Two sections: symbols in a hole, and their names.
            table = section_header(0, 0, 0, 0) + section_header(0, 2, 1 << 30, 3 << 30, 2, 24) + \
                section_header(0, 3, end, 64)
            file.write(bytes(64) + table)
            file.seek(0)
            file.write(header[:40] + struct.pack("<Q", end + 64) + header[48:58] + struct.pack("<HHH", 64, 3, 0))
            file.truncate(4 << 30)
        with Lab(path, "mmap") as lab:
            document = grown(lab, "symbols of 3 GiB")
            result(document["accounted"]["stacks_bytes"] >= 4 * MIB, "symbols of 3 GiB: a report",
                   document["accounted"]["stacks_bytes"])
        source = directory + "/aliases.s"
        common = "x" * 200
        with open(source, "w", encoding="ascii") as file:
            file.write(".text\n.globl many\n")
            for i in range(300000):
                file.write(".type %s%d,@function\n.set %s%d,many\n.size %s%d,8\n" % ((common, i) * 3))
            file.write("many: ret\n.skip 7\n.size many,8\n.type many,@function\n.section .note.GNU-stack\n")
        lab_source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support/growlab.c")
        subprocess.run(["gcc", "-D_GNU_SOURCE", "-O2", "-o", path, lab_source, source, "-lpthread"], check=True)
        with Lab(path, "mmap") as lab:
            document = grown(lab, "300,000 names of an address")
            names = functions(stack_of_4_mib(document))[:3]
            result(names == ["site_mmap", "run_site", "main"], "300,000 names of an address: others have theirs", names)


SUPPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support")


def unwinding_starts(path):
    """Where functions begin, as readelf has it."""
    text = subprocess.run(["readelf", "--debug-dump=frames", path], check=True, capture_output=True, text=True).stdout
    return {int(start, 16) for start in re.findall(r"FDE .*pc=([0-9a-f]+)\.\.", text)}


def check_no_symbols():
    """A function without a name is one frame, whatever its addresses: where it begins."""
    with directory_for_all() as directory:
        path = directory + "/lab"
        subprocess.run(["strip", "-s", "-o", path, O + "/growlab"], check=True)
        with Lab(path, "mmap") as lab:
            document = lab.grown()
        frames = [(f["function"], f["offset"]) for s in document["stacks"] for f in s["frames"] if f["module"] == "lab"]
        result(frames and all(name is None for name, _ in frames), "no symbols: no names", frames[:5])
        result({offset for _, offset in frames} <= unwinding_starts(path), "no symbols: functions where they begin",
               [hex(offset) for _, offset in frames])
        symbols = subprocess.run(["nm", O + "/growlab"], check=True, capture_output=True, text=True).stdout
        starts = {int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" main")}
        result(starts <= {offset for _, offset in frames}, "no symbols: main is one of them", (starts, frames[:5]))


ASSEMBLER = """
        .text
        .globl fill_pages, after, sized
        .type fill_pages, @function
fill_pages:
        mov $1024, %ecx
.Lagain:
        movb $1, (%rdi)
inside: add $4096, %rdi
        dec %ecx
        jnz .Lagain
        ret
        .type sized, @function
sized:
        nop
        .size sized, 1
        mov $1024, %ecx
1:      movb $1, (%rdi)
        add $4096, %rdi
        dec %ecx
        jnz 1b
        ret
        .section .note.GNU-stack
"""

CALLS_ASSEMBLER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
extern char fill_pages[], sized[];
int main(int argc, char **argv) {
    char *at = aligned_alloc(4096, 4 << 20);
    void (*volatile fill)(char *) = (void (*)(char *))(argc > 1 ? sized + 1 : fill_pages);
    printf("READY %d\n", getpid());
    fflush(stdout);
    getchar();
    fill(at);
    puts("DONE");
    fflush(stdout);
    while (getchar() != EOF)
        ;
}
"""


def check_assembler():
    """A symbol without a size names what is behind it, marked; one with a size does not."""
    if platform.machine() != "x86_64":
        return
    with directory_for_all() as directory:
        for name, text in (("code.s", ASSEMBLER), ("lab.c", CALLS_ASSEMBLER)):
            with open("%s/%s" % (directory, name), "w", encoding="ascii") as file:
                file.write(text)
        path = directory + "/lab"
        subprocess.run(["gcc", "-O2", "-o", path, directory + "/lab.c", directory + "/code.s"], check=True)
        with Lab(path) as lab:
            names = functions(stack_of_4_mib(lab.grown()))
        result(names[:1] == ["fill_pages~"], "assembler without a size: its symbol, marked", names)
        with Lab(path, "sized") as lab:
            names = functions(stack_of_4_mib(lab.grown()))
        result(names[:1] == [None], "behind the end of a symbol: no name", names)


def check_musl():
    """Code of musl has no tables for unwinding: what it allocates has its callers all the same."""
    if not shutil.which("musl-gcc"):
        print("# no musl is here: its programs are not checked")
        return
    with directory_for_all() as directory:
        for what, flags in (("shared", ()), ("static", ("-static",))):
            path = directory + "/lab"
            subprocess.run(["musl-gcc", "-D_GNU_SOURCE", "-O2", *flags, "-o", path, SUPPORT + "/growlab.c"], check=True)
            for site in ("mmap", "malloc_small", "realloc", "calloc"):
                with Lab(path, site) as lab:
                    document = lab.grown()
                there = sum(s["net_bytes"] for s in document["stacks"]
                            if [n for n in functions(s) if n in ("site_" + site, "run_site", "main")] ==
                            ["site_" + site, "run_site", "main"])
                result(there >= 4 * MIB, "musl, %s: %s and its callers" % (what, site),
                       (there, [functions(s) for s in document["stacks"][:3]]))
                place = {f["function"] for s in document["stacks"] if s["net_bytes"] > 2 * MIB
                         for f in [next((f for f in s["frames"] if not f["allocator"]), {"function": None})]}
                result(place == {"site_" + site}, "musl, %s: %s is the place" % (what, site), place)


KEEPS = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define PART __attribute__((noinline, noclone))
#define END __asm__ volatile("")
static void *kept[100000];
static size_t count;
static char text[1000];
static PART void keep_strdup(void) { for (int i = 0; i < 9000; i++) kept[count++] = strdup(text); END; }
static PART void keep_strndup(void) { for (int i = 0; i < 4000; i++) kept[count++] = strndup(text, 990); END; }
static PART void keep_asprintf(void) {
    for (int i = 0; i < 4000; i++) if (asprintf((char **)&kept[count++], "%s", text) < 0) abort(); END; }
static PART void keep_getline(void) {
    FILE *f = tmpfile();
    for (int i = 0; i < 4000; i++) fprintf(f, "%s\n", text);
    rewind(f);
    for (int i = 0; i < 4000; i++) { size_t room = 0; if (getline((char **)&kept[count++], &room, f) < 0) abort(); }
    END; }
static PART void keep_memstream(void) {
    size_t size; FILE *f = open_memstream((char **)&kept[count++], &size);
    for (int i = 0; i < 4000; i++) fprintf(f, "%s", text);
    fclose(f); END; }
static PART void keep_realloc(void) {
    char *p = NULL;
    for (size_t size = 65536; size <= 4 << 20; size += 65536) memset((p = realloc(p, size)) + size - 65536, 1, 65536);
    kept[count++] = p; END; }
static PART void keep_calloc(void) { for (int i = 0; i < 4000; i++) kept[count++] = calloc(10, 100); END; }
static PART void keep_aligned(void) {
    for (int i = 0; i < 1000; i++) if (posix_memalign(&kept[count++], 64, 4000)) abort(); END; }
static PART void *keep_in_thread(void *room) {
    for (int i = 0; i < 4000; i++) ((void **)room)[i] = memset(malloc(1000), 1, 1000);
    return room; }
static PART void in_thread(void) {
    pthread_t thread; pthread_create(&thread, NULL, keep_in_thread, kept + count); pthread_join(thread, NULL);
    count += 4000; END; }
static PART void free_large(void) {
    void *block[400];
    for (int i = 0; i < 10; i++) free(memset(malloc(40 << 20), 1, 1 << 20));
    for (int i = 0; i < 400; i++) block[i] = memset(malloc(20000), 1, 20000);
    for (int i = 399; i >= 0; i--) free(block[i]);
    END; }
int main(void) {
    memset(text, 'x', sizeof(text) - 1);
    usleep(500000); /* time itself: probes are set */
    free_large(); in_thread(); keep_strdup(); keep_strndup(); keep_asprintf(); keep_getline(); keep_memstream();
    keep_realloc(); keep_calloc(); keep_aligned();
    return 0; }
"""


def of_command(directory, *command):
    """What grow prints of a command."""
    path = directory + "/report"
    subprocess.run([PROGRAM, "grow", "--output", path, *command], check=True, capture_output=True, timeout=LIMIT)
    text = read(path)
    os.unlink(path)
    return text


def check_static_c_library():
    """Functions of a C library in a program pass memory on, as those of a shared one do."""
    with directory_for_all() as directory:
        lab = directory + "/lab"
        write(lab + ".c", KEEPS)
        keeps = set(re.findall(r"PART void \*?(keep_\w+)", KEEPS))
        for compiler in ("gcc", "musl-gcc"):
            if not shutil.which(compiler):
                print("# no %s is here: its programs are not checked" % compiler)
                continue
            subprocess.run([compiler, "-O2", "-static", "-o", lab, lab + ".c", "-lpthread"], check=True)
            for args in ((), ("--malloc", "--sample", "1")):
                what = " ".join((compiler, "-static,", "--malloc" if args else "pages"))
                document = named(json.loads(of_command(directory, "-J", *args, "--", lab)))
                places = {}
                for stack in document["stacks"]:
                    place = next((f["function"] for f in stack["frames"] if not f["allocator"]), None)
                    places[place] = places.get(place, 0) + (stack["held_bytes"] if args else stack["net_bytes"])
                large = {place for place, size in places.items() if size > MIB}
                result(large == keeps, what + ": the places are functions of the program", places)
                first = of_command(directory, "-n", "1", *args, "--", lab).splitlines()[1]
                result(" keep_strdup < main" in first, what + ": the first row is the largest leak", first)


WRAPS = r"""
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define PART __attribute__((noinline, noclone))
#define END __asm__ volatile("")
static void *volatile kept;
static PART void *own_alloc(size_t size) { void *p = malloc(size); if (!p) abort(); END; return p; }
static PART void *own_zalloc(size_t size) { void *p = memset(own_alloc(size), 0, size); END; return p; }
static PART void remember(size_t size) { void **p = malloc(size); memset(p, 1, size); *p = kept; kept = p; END; }
static PART void make_session(void) { void **p = own_zalloc(1000); *p = kept; kept = p; END; }
#define WORK(n) static PART void work_##n(void) { \
    for (int i = 0; i < 500 + n; i++) { void **p = n % 2 ? own_alloc(900) : own_zalloc(900); *p = kept; kept = p; } END; }
WORK(0) WORK(1) WORK(2) WORK(3) WORK(4) WORK(5) WORK(6) WORK(7) WORK(8) WORK(9)
WORK(10) WORK(11) WORK(12) WORK(13) WORK(14) WORK(15) WORK(16) WORK(17) WORK(18) WORK(19)
#define HANDLER(name, n) static PART void name(void) { \
    for (int i = 0; i < 700 + n; i++) make_session(); for (int i = 0; i < 1000; i++) remember(900); END; }
HANDLER(on_get, 1) HANDLER(on_post, 2) HANDLER(on_put, 3)
int main(void) {
    work_0(); work_1(); work_2(); work_3(); work_4(); work_5(); work_6(); work_7(); work_8(); work_9();
    work_10(); work_11(); work_12(); work_13(); work_14(); work_15(); work_16(); work_17(); work_18(); work_19();
    on_get(); on_post(); on_put();
    usleep(300000); /* time itself: on a busy machine its mappings are read late */
    return 0; }
"""


def check_wrappers():
    """A program's own wrapper of malloc, and one of that, are found; functions that keep memory are places."""
    with directory_for_all() as directory:
        lab = directory + "/lab"
        write(lab + ".c", WRAPS)
        subprocess.run(["gcc", "-O2", "-g", "-o", lab, lab + ".c"], check=True)
        for args in ((), ("-o", "+line"), ("--malloc", "--sample", "1")):
            document = json.loads(of_command(directory, "-J", "--sample", "1", *args, "--", lab))
            marked = {f["function"] for f in document["frames"] if f["allocator"] and f["module"] == "lab"}
            result(marked == {"own_alloc", "own_zalloc"}, "wrappers %s: they are found" % " ".join(args), marked)
            first = of_command(directory, "-n", "2", *args, "--", lab).splitlines()[1:3]
            result(" remember < " in first[0] and " make_session < " in first[1],
                   "wrappers %s: what keeps memory is a place" % " ".join(args), first)


PLUGIN = """
__attribute__((noinline)) void NAME(char *at, unsigned long size) {
    for (unsigned long i = 0; i < size; i += 4096)
        at[i] = 1;
    __asm__ volatile("");
}
void run_it(char *at, unsigned long size) {
    NAME(at, size);
    __asm__ volatile("");
}
"""


def check_replaced():
    """A library at the address of one that was unmapped has its own names and lines."""
    with directory_for_all() as directory:
        with open(directory + "/plugin.c", "w", encoding="ascii") as file:
            file.write(PLUGIN)
        paths = ["%s/%s.so" % (directory, name) for name in ("leak_a", "leak_b")]
        for name, path in zip(("leak_a", "leak_b"), paths):
            subprocess.run(["gcc", "-O2", "-g", "-fPIC", "-shared", "-DNAME=" + name, "-o", path, directory + "/plugin.c"],
                           check=True)
        subprocess.run(["gcc", "-O2", "-o", directory + "/lab", SUPPORT + "/pluglab.c"], check=True)
        for args in ((), ("--stack", "fp")):
            with Lab(directory + "/lab", *paths) as lab:
                grow = lab.count("-o", "+line", *args)
                lab.go()
                time.sleep(0.3)  # time itself: the mappings are read when there is time
                where = lab.go().strip()
                document = grow.report()
            got = {}
            for stack in document["stacks"]:
                for frame in stack["frames"][:1]:
                    name = frame["function"], frame["module"], frame.get("line")
                    got[name] = got.get(name, 0) + stack["net_bytes"] // MIB
            got = {name: mib for name, mib in got.items() if mib > 1}
            result(where == "SAME" and got == {(name, name + ".so", 4): 4 for name in ("leak_a", "leak_b")},
                   "%s: two libraries at one address, each has its names" % (" ".join(args) or "by tables"), (where, got))


if __name__ == "__main__":
    sys.exit(run_live(check_no_symbols, check_assembler, check_musl,
                      check_static_c_library, check_wrappers, check_replaced, check_symbols, check_perf_map,
                      check_sections))
