#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Removes the line information of a BPF object, in place: the text of each line of its source, which only logs of the
verifier show, is a third of it. "bpftool gen object" then leaves the texts out. The layout of .BTF.ext is struct
btf_ext_header of libbpf."""
import struct
import sys

LINE_INFO_LEN = 20  # in the header, behind its magic number, its length and func_info


def main(path):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    sections, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)

    def section(i):
        name, _, _, _, offset, _ = struct.unpack_from("<IIQQQQ", data, sections + i * size)
        return name, offset
    texts = section(names)[1]
    for i in range(count):
        name, offset = section(i)
        if data[texts + name:].startswith(b".BTF.ext\0"):
            struct.pack_into("<I", data, offset + LINE_INFO_LEN, 0)
            with open(path, "wb") as file:
                file.write(data)
            return
    raise SystemExit(path + ": it has no .BTF.ext")


main(sys.argv[1])
