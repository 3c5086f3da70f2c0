#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""grow -o +line: lines of sources, from the debugging information of several compilers and of
separate files; and what a hostile program can make of it."""
# needs: bpf ptrace users

import os
import shutil
import subprocess
import sys
import time

import paths  # noqa: F401
from growing import KIB, MIB, NOBODY, Lab, directory_for_all, fewer_capabilities, run_live
from outcome import result, write

SOURCE = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support/linelab.c"))
SLACK = 256 * KIB


def line_of(marker):
    with open(SOURCE, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if "/* %s */" % marker in line)


EXPECTED = {line_of("FIRST"): 4, line_of("SECOND"): 2}
TOUCHED = 703  # in inlined.h


def build(directory, *flags, compiler="gcc", name="lab"):
    path = directory + "/" + name
    subprocess.run((compiler, "-D_GNU_SOURCE", "-O2", "-g", *flags, "-o", path, SOURCE), check=True,
                   capture_output=True, cwd=directory)
    return path


def places(document):
    """MiB of each line that the function remember has; None: without a line."""
    sums = {}
    for stack in document["stacks"]:
        for frame in stack["frames"]:
            if frame["function"] == "remember":
                key = frame.get("line"), os.path.basename(frame.get("source", ""))
                sums[key] = sums.get(key, 0) + stack["gross_bytes"]
    return {line: round(bytes_ / MIB) for (line, source), bytes_ in sums.items()
            if bytes_ > SLACK and source in ("", "linelab.c")}


def expect(expected, what, path, *args, uid=None):
    with Lab(path, uid=uid) as one:
        begin = time.monotonic()
        document = one.grown("-o", "+line", *args)
        took = time.monotonic() - begin
    got = places(document)
    result(got == expected, what, (got, [s["frames"][:3] for s in document["stacks"][:3]]))
    result(took < 20, what + ": it ends at once", took)
    return document


def check_compilers():
    """The line is one of the function, not of what was compiled into it."""
    with directory_for_all() as directory:
        for what, compiler, flags in (("DWARF 5", "gcc", ("-gdwarf-5",)),
                                      ("DWARF 4", "gcc", ("-gdwarf-4",)),
                                      ("compressed sections", "gcc", ("-gz",)),
                                      ("sections compressed as before", "gcc", ("-gz=zlib-gnu",)),
                                      ("clang", "clang", ()),
                                      ("clang, DWARF 4, no list of addresses", "clang", ("-gdwarf-4",)),
                                      ("clang, at any address", "clang", ("-no-pie",))):
            document = expect(EXPECTED, what, build(directory, *flags, compiler=compiler))
            result(document["accounted"]["lines_left_out"] == 0, what + ": nothing is left out",
                   document["accounted"])
        lab = build(directory, "-g0")
        document = expect({None: 6}, "no debugging information: no line", lab)
        result(not any("source" in f for s in document["stacks"] for f in s["frames"] if f["module"] == "lab"),
               "no debugging information: no key", document["stacks"][:1])
        with Lab(build(directory)) as one:
            document = one.grown()
        result(places(document) == {None: 6}, "without -o +line: no line", places(document))
        expect(EXPECTED, "by frame pointers", build(directory, "-fno-omit-frame-pointer"), "--stack", "fp")


def inner_frames(document):
    """Of stacks with 1 MiB: the frames of the program, without numbers of lines that the tests do not know."""
    return {tuple((f["function"], f.get("line"), os.path.basename(f.get("source", "")), f.get("inlined", False), f["offset"] != 0)
                  for f in s["frames"] if f["module"] == "lab")[:2]
            for s in document["stacks"] if s["gross_bytes"] > MIB}


def check_inlined():
    """A function that was compiled into another one is a frame, with its line."""
    with directory_for_all() as directory:
        expected = {(("touch", TOUCHED, "inlined.h", True, False), ("remember", line, "linelab.c", False, True))
                    for line in EXPECTED}
        for what, compiler, flags in (("DWARF 5", "gcc", ("-gdwarf-5",)), ("DWARF 4", "gcc", ("-gdwarf-4",)),
                                      ("clang", "clang", ())):
            with Lab(build(directory, *flags, compiler=compiler)) as one:
                document = one.grown("-o", "+line")
            result(inner_frames(document) == expected, "compiled in, %s: two frames" % what, inner_frames(document))
        with Lab(build(directory)) as one:
            document = one.grown()
        got = {f["function"] for s in document["stacks"] if s["gross_bytes"] > MIB for f in s["frames"]}
        result("touch" not in got and not any("inlined" in f for s in document["stacks"] for f in s["frames"]),
               "without -o +line: none", got)


CXX = """
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
template <class T> struct Store {
    T *volatile at;
    inline __attribute__((always_inline)) void put(size_t i) { at[i] = 1; } /* LINE 7 */
    inline __attribute__((always_inline)) void fill() {
        for (size_t i = 0; i < 4 << 20; i += 4096)
            put(i); /* LINE 10 */
    }
};
static Store<char> store;
__attribute__((noinline)) void serve() {
    store.fill(); /* LINE 15 */
    asm volatile("");
}
int main() {
    store.at = static_cast<char *>(aligned_alloc(4096, 4 << 20));
    printf("READY %d\\n", getpid());
    fflush(stdout);
    getchar();
    serve();
    puts("DONE");
    fflush(stdout);
    while (getchar() != EOF)
        ;
}
"""


def check_nested_inlined():
    """Functions that were compiled into each other, with names of C++."""
    with directory_for_all() as directory:
        write(directory + "/lab.cc", CXX)
        subprocess.run(("g++", "-O2", "-g", "-o", directory + "/lab", directory + "/lab.cc"), check=True)
        with Lab(directory + "/lab") as one:
            document = one.grown("-o", "+line")
        got = [(f["function"], f.get("line"), f.get("inlined", False))
               for f in max(document["stacks"], key=lambda s: s["gross_bytes"])["frames"]][:3]
        result(got == [("Store<char>::put", 7, True), ("Store<char>::fill", 10, True), ("serve", 15, False)],
               "three functions in one: each has its line", got)


def check_left_out():
    """Functions that the linker left out have lines at addresses of others: none of these is shown."""
    with directory_for_all() as directory:
        with open(directory + "/left_out.h", "w", encoding="ascii") as file:
            file.write("extern volatile int sink;\nvolatile int sink;\nvoid left_out(void);\nvoid left_out(void)\n{\n" +
                       "\tsink++;\n" * 3000 + "}\n")
        flags = ("-DLEFT_OUT=\"left_out.h\"", "-I" + directory, "-ffunction-sections", "-Wl,--gc-sections")
        for what, more in (("DWARF 5", ()), ("DWARF 4", ("-gdwarf-4",)), ("at any address", ("-no-pie",))):
            document = expect(EXPECTED, "functions left out, " + what, build(directory, *flags, *more))
            sources = {os.path.basename(f["source"]) for s in document["stacks"] for f in s["frames"]
                       if f["module"] == "lab" and "source" in f}
            result("left_out.h" not in sources, "%s: no line of these" % what, sources)
        # A line of the function itself, not of a call.
        with Lab(build(directory, *flags, "-Dalways_inline=noinline")) as one:
            document = one.grown("-o", "+line")
        lines = {(f["function"], f.get("line"), os.path.basename(f.get("source", ""))) for s in document["stacks"]
                 for f in s["frames"] if f["module"] == "lab" and s["gross_bytes"] > MIB}
        result(lines == {(name, None, "") for name in ("touch", "remember", "main", "_start")},
               "where a line may be one of these, none is known", lines)


def check_nested():
    """A function of GNU C inside of another one; it calls what was compiled into it."""
    with directory_for_all() as directory:
        lab = build(directory, "-DNESTED")
        with Lab(lab) as one:
            document = one.grown("-o", "+line")
        lines = {f["line"] for s in document["stacks"] if s["gross_bytes"] > MIB for f in s["frames"]
                 if (f["function"] or "").startswith("nested") and "line" in f}
        result(lines == {line_of("NESTED")}, "a nested function", lines)


def check_separate():
    """Debugging information beside the program, with symbols in the program or without."""
    with directory_for_all() as directory:
        for what, strip in (("symbols", "-g"), ("no symbols", "-s")):
            lab = build(directory)
            subprocess.run(("objcopy", "--only-keep-debug", lab, lab + ".debug"), check=True)
            subprocess.run(("strip", strip, lab), check=True)
            subprocess.run(("objcopy", "--add-gnu-debuglink=" + lab + ".debug", lab), check=True)
            expect(EXPECTED, "a separate file, and a program that has " + what, lab, uid=NOBODY)
            os.chmod(lab + ".debug", 0o600)
            document = expect({None: 6} if strip == "-g" else {}, "one of root alone, %s: no line" % what, lab, uid=NOBODY)
            result(document["accounted"]["lines_left_out"] == 0, "that is no fault of the file",
                   document["accounted"])
            os.unlink(lab + ".debug")


def check_further():
    """Debugging information names further files. They are not opened, whatever they are."""
    with directory_for_all() as directory:
        lab = build(directory, "-gsplit-dwarf")
        further = next(name for name in os.listdir(directory) if name.endswith(".dwo"))
        os.unlink(directory + "/" + further)
        os.mkfifo(directory + "/" + further, 0o666)
        # Without it, lines are those of the function that was compiled into this one.
        with Lab(lab, uid=NOBODY) as one:
            document = one.grown("-o", "+line")
        lines = {os.path.basename(f["source"]) for s in document["stacks"] if s["gross_bytes"] > MIB
                 for f in s["frames"] if f["function"] == "remember" and "source" in f}
        result(lines == {"inlined.h"} and document["accounted"]["lines_left_out"] == 0,
               "split debugging information, its file is a FIFO: not opened", (lines, document["accounted"]))
        lab, common = build(directory), directory + "/common"
        subprocess.run(("dwz", "-m", common, lab, build(directory, name="other")), check=True)
        expect(EXPECTED, "a common file of programs", lab, uid=NOBODY)
        os.unlink(common)
        os.mkfifo(common, 0o666)
        document = expect(EXPECTED, "a common file that is a FIFO: not opened", lab, uid=NOBODY)
        result(document["accounted"]["lines_left_out"] == 0, "and no line is left out", document["accounted"])


def damage(path, section, change):
    """Writes into a section of a program."""
    text = subprocess.run(("readelf", "-SW", path), check=True, capture_output=True, text=True).stdout
    fields = next(line for line in text.splitlines() if " %s " % section in line).split("]", 1)[1].split()
    offset, size = int(fields[3], 16), int(fields[4], 16)
    with open(path, "r+b") as file:
        file.seek(offset)
        data = bytearray(file.read(size))
        change(data)
        file.seek(offset)
        file.write(data)


def check_hostile():
    """Debugging information may be anything: functions keep their names, and the numbers stay."""
    def noise(data):
        for i in range(0, len(data), 7):
            data[i] = (data[i] * 31 + i) & 0xff

    def ones(data):
        data[4:] = b"\xff" * (len(data) - 4)

    with directory_for_all() as directory:
        good = build(directory)
        for section in (".debug_line", ".debug_info", ".debug_abbrev", ".debug_rnglists"):
            for what, change in (("noise", noise), ("ones", ones)):
                lab = shutil.copy(good, directory + "/bad")
                damage(lab, section, change)
                with Lab(lab, uid=NOBODY) as one:
                    document = one.grown("-o", "+line")
                grown = sum(s["gross_bytes"] for s in document["stacks"]
                            if any(f["function"] == "remember" for f in s["frames"]))
                result(0 <= grown - 6 * MIB <= SLACK, "%s of %s: the function has its growth" % (what, section), grown)
        # Root that may not become another user reads what everybody may read, and no other file.
        with fewer_capabilities(directory):
            expect(EXPECTED, "by root that may not become another user", good, uid=NOBODY)


sys.exit(run_live(check_compilers, check_inlined, check_nested_inlined, check_left_out, check_nested, check_separate, check_further, check_hostile))
