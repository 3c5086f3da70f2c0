#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes data as a part of the program, in C, for base/unpack.h.

pack.py OUT NAME=FILE[@[BASE]]...: each file as a struct packed of that name. It stays as it is, or with "@" it is
compressed, with a BASE that is named before it as what it may refer to: most data of one kind has most bytes in common.
"""
import ctypes
import sys

LEVEL = 22  # of zstd: it is compressed once

zstd = ctypes.CDLL("libzstd.so.1")  # which libzstd-dev has
zstd.ZSTD_createCCtx.restype = ctypes.c_void_p
zstd.ZSTD_compressBound.restype = zstd.ZSTD_compress_usingDict.restype = ctypes.c_size_t
context = ctypes.c_void_p(zstd.ZSTD_createCCtx())


def compress(data, base):
    room = zstd.ZSTD_compressBound(ctypes.c_size_t(len(data)))
    out = ctypes.create_string_buffer(room)
    size = zstd.ZSTD_compress_usingDict(context, out, ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)),
                                        base, ctypes.c_size_t(len(base)), LEVEL)
    if zstd.ZSTD_isError(ctypes.c_size_t(size)):
        raise SystemExit("pack.py: zstd failed")
    return out.raw[:size]


def main(path, items):
    contents = {}
    with open(path, "w") as out:
        for item in items:
            name, _, rest = item.partition("=")
            file, packed, base = rest.partition("@")
            with open(file, "rb") as f:
                data = contents[name] = f.read()
            if packed:
                data = compress(data, contents[base] if base else b"")
            # Aligned as the instructions of BPF are.
            print(f"static const unsigned char {name}_bytes[] __attribute__((aligned({1 if packed else 8}))) = {{\n"
                  f"{','.join(map(str, data))}\n}};\n"
                  f"const struct packed {name} = {{{name}_bytes, sizeof({name}_bytes), "
                  f"{f'&{base}' if base else 'NULL'}, {'false' if packed else 'true'}}};", file=out)


main(sys.argv[1], sys.argv[2:])
