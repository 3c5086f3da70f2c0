#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Takes the bytes out of a light skeleton of bpftool, so that they can be packed.

light.py NAME SKELETON HEADER BYTES writes the data of the loader and then its instructions to BYTES. It writes
SKELETON without them to HEADER, where NAME__load() takes them as an argument.
"""
import re
import sys

ESCAPE = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|([0-7]{1,3})|(\n)|(.))")


def unescape(match):
    hexadecimal, octal, newline, other = match.groups()
    if hexadecimal:
        return bytes([int(hexadecimal, 16)])
    if octal:
        return bytes([int(octal, 8)])
    return b"" if newline else other.translate(bytes.maketrans(b"nrt", b"\n\r\t"))


def main(name, skeleton, header, bytes_file):
    with open(skeleton, "rb") as f:
        text = f.read()
    found = []

    def take(match):
        found.append(ESCAPE.sub(unescape, match.group(2)))
        return match.group(1) + (b"bytes" if len(found) == 1 else b"bytes + %d" % len(found[0])) + b";"

    # They are in an assignment, or since bpftool 7.2 in an array; the code uses its size.
    literal = rb'"((?:[^"\\]|\\.|\\\n)*)";'
    text = re.sub(rb"(opts\.(?:data|insns) = )\(void \*\)" + literal, take, text)
    text = re.sub(rb"static const char (opts_(?:data|insn)\[\])[^=]*= " + literal,
                  lambda m: b"const char *const " + take(m).replace(b"[]", b" = "), text)
    if len(found) != 2:
        raise SystemExit(f"light.py: {skeleton}: not a light skeleton as bpftool writes them")
    for array, data in zip((b"opts_data", b"opts_insn"), found):
        text = text.replace(b"sizeof(%s) - 1" % array, b"%d" % len(data))
    own = name.encode()
    text = text.replace(b"%s__load(struct %s *skel)" % (own, own), b"%s__load(struct %s *skel, const char *bytes)" % (own, own))
    # This function calls NAME__load() without the bytes.
    text = re.sub(rb"static inline struct %s \*\n%s__open_and_load\(void\)\n\{.*?\n\}\n" % (own, own), b"", text, flags=re.S)
    with open(bytes_file, "wb") as f:
        f.write(b"".join(found))
    with open(header, "wb") as f:
        f.write(text)


main(*sys.argv[1:])
