#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How many bytes each part of the static program has, as a table, largest first: tests/bench/size.py [PROGRAM].

It reads the map of the linker (PROGRAM.map, which the build writes) and the size of the stripped file. Strings that
several parts share count for the first part."""

import collections
import os
import re
import subprocess
import sys
import tempfile

LIBRARIES = {"libc": "libc", "libgcc": "libc", "libgcc_eh": "libc", "libncursesw": "ncurses", "libtinfo": "ncurses", "libz": "zlib"}
# Not in the file, or not when it is stripped.
ABSENT = (".debug", ".comment", ".eh_frame", ".note", ".bss", ".tbss", "__libc_freeres_ptrs", "/DISCARD/")
PLAIN = ("task_pss_light_bytes", "task_counters_light_bytes")


def sections(path):
    """Archive or file, and section and size, of each piece that the linker took."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().partition("\nLinker script and memory map\n")[2].splitlines()
    output = name = ""
    for line in lines:
        if re.match(r"[^\s]", line):
            output = line.split()[0]
        # A long name is alone on its line.
        found = re.fullmatch(r" (\S+)?\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (\S+)", line)
        if found and not output.startswith(ABSENT):
            yield found[3], found[1] or name, int(found[2], 16)
        name = line.strip() if re.fullmatch(r" \S+", line) else ""


def part(origin, section):
    archive = re.search(r"([^/]+)\.a\(", origin)
    if section.endswith("_bytes"):
        if "page_parts" in origin:
            return "pages, packed"
        plain = section.endswith(PLAIN)
        return "BPF programs, " + ("as an ordinary run loads them" if plain else "packed")
    if not archive:
        return "src/static.c, start"
    if "/obj-static/" in "/" + origin:
        return "src/" + archive[1][3:]
    return LIBRARIES.get(archive[1], archive[1])


def stripped(program):
    with tempfile.NamedTemporaryFile() as copy:
        subprocess.run(("strip", "-R", ".eh_frame", "-o", copy.name, program), check=True)
        return os.path.getsize(copy.name)


def main(program):
    sizes = collections.Counter()
    for origin, section, size in sections(program + ".map"):
        sizes[part(origin, section)] += size
    whole = stripped(program)
    sizes["headers, relocations, gaps"] = whole - sum(sizes.values())
    print("| part | bytes | % |\n|---|---|---|")
    for name, size in sizes.most_common() + [("the file, stripped", whole)]:
        print("| %s | %s | %.1f |" % (name, format(size, ","), 100 * size / whole))


main(sys.argv[1] if len(sys.argv) > 1 else "build/zmem-bpf-static")
