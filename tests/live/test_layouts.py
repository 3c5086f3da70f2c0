#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""BPF objects are relocated by copies of this kernel's types that differ as those of coming kernels may: what an object
reads must follow the types, not numbers of our own (src/doc/kernels.md, "What changes in the kernel")."""
# needs: bpf
import ctypes
import os
import re
import struct
import sys
import tempfile

import paths  # noqa: F401
from outcome import exit_code, result, run_checks

TYPES = "/sys/kernel/btf/vmlinux"
OBJECTS = os.path.join(os.environ.get("O", "build"), "bpf")
ARRAY, STRUCT, UNION, ENUM = 3, 4, 5, 6
# Bytes behind a type of each kind, and for each of its members (include/uapi/linux/btf.h).
BEHIND = {1: (4, 0), 3: (12, 0), 4: (0, 12), 5: (0, 12), 6: (0, 8), 13: (0, 8), 14: (4, 0), 15: (0, 12), 17: (4, 0),
          19: (0, 12)}


class Types:
    """A copy of the kernel's types that can be changed."""

    def __init__(self, data):
        (self.header,) = struct.unpack_from("<I", data, 4)
        type_at, type_len, text_at, text_len = struct.unpack_from("<IIII", data, 8)
        self.head = data[: self.header]
        self.body = bytearray(data[self.header + type_at :][:type_len])
        self.text = bytearray(data[self.header + text_at :][:text_len])
        self.places, at = [None], 0
        while at < len(self.body):
            self.places.append(at)
            fixed, each = BEHIND.get(self.kind(at), (0, 0))
            at += 12 + fixed + each * (self.word(at + 4) & 0xFFFF)

    def word(self, at):
        return struct.unpack_from("<I", self.body, at)[0]

    def kind(self, at):
        return self.word(at + 4) >> 24 & 31

    def name(self, at):
        begin = self.word(at)
        return self.text[begin : self.text.index(0, begin)].decode()

    def find(self, kind, name):
        (at,) = [p for p in self.places[1:] if self.kind(p) == kind and self.name(p) == name]
        return at

    def members(self, at):
        """The places of the members of a struct or of the values of an enum."""
        return [at + 12 + i * BEHIND[self.kind(at)][1] for i in range(self.word(at + 4) & 0xFFFF)]

    def member(self, at, name):
        """The place of the member with that name, also in members without one."""
        for place in self.members(at):
            if self.name(place) == name:
                return place
            if not self.name(place) and self.kind(at) != ENUM:
                inner = self.member(self.places[self.word(place + 4)], name)
                if inner is not None:
                    return inner
        return None

    def bits_to(self, at, name):
        """The offset of that member, also in members without a name; None: there is none."""
        for place in self.members(at):
            bits = self.word(place + 8) & (0xFFFFFF if self.word(at + 4) >> 31 else 0xFFFFFFFF)
            if self.name(place) == name:
                return bits
            inner = self.places[self.word(place + 4)]
            if not self.name(place) and self.kind(inner) in (STRUCT, UNION):
                within = self.bits_to(inner, name)
                if within is not None:
                    return bits + within
        return None

    def add_text(self, text):
        self.text += text.encode() + b"\0"
        return len(self.text) - len(text) - 1

    def add_type(self, *words):
        self.places.append(len(self.body))
        self.body += struct.pack("<%dI" % len(words), *words)
        return len(self.places) - 1

    def write(self, path):
        head = bytearray(self.head)
        struct.pack_into("<IIII", head, 8, 0, len(self.body), len(self.body), len(self.text))
        with open(path, "wb") as f:
            f.write(head + self.body + self.text)


class Options(ctypes.Structure):
    """struct bpf_object_open_opts, up to btf_custom_path."""
    _fields_ = [("size", ctypes.c_size_t), ("object_name", ctypes.c_char_p), ("flags", ctypes.c_uint8 * 8),
                ("pin_root_path", ctypes.c_char_p), ("version", ctypes.c_uint32), ("kconfig", ctypes.c_char_p),
                ("btf_custom_path", ctypes.c_char_p)]


def libbpf():
    lib = ctypes.CDLL("libbpf.so.1")
    for name in ("bpf_object__open_file", "bpf_object__next_program", "bpf_program__insns", "bpf_object__next_map",
                 "bpf_object__find_map_by_name"):
        getattr(lib, name).restype = ctypes.c_void_p
    lib.bpf_program__insn_cnt.restype = ctypes.c_size_t
    lib.libbpf_set_print(None)
    return lib


def members(path):
    """struct zmem_members (include/zmem/members.h), as src/load/kernel_members.c finds them in these types."""
    types, value = Types(open(path, "rb").read()), bytes(2048)
    with open("include/zmem/members.h", encoding="utf-8") as f:
        text = f.read()
    wanted = re.findall(r"\tM\((\w+), (\w+)\)", text)
    places = {of: types.find(STRUCT, of) for of in {of for of, _ in wanted}}
    for of, name in wanted:
        bits = types.bits_to(places[of], name)
        value += struct.pack("<I", 0 if bits is None else bits // 8 + 1)
    for of, name in re.findall(r"ZMEM_ENUMERATORS\(M\)\s+M\((\w+), (\w+)\)", text):
        value += struct.pack("<I", types.word(types.member(types.find(ENUM, of), name) + 4) + 1)
    return value


def load(lib, name, path):
    """Loads an object with these types. Returns an error, 0 for none, and the instructions of its programs."""
    options = Options(size=ctypes.sizeof(Options), btf_custom_path=path.encode())
    file = os.path.join(OBJECTS, name + ".bpf.o").encode()
    opened = ctypes.c_void_p(lib.bpf_object__open_file(file, ctypes.byref(options)))
    found = lib.bpf_object__find_map_by_name(opened, b".rodata.members")
    value = members(path) if found else b""
    error = found and lib.bpf_map__set_initial_value(ctypes.c_void_p(found), value, ctypes.c_size_t(len(value)))
    error = error or lib.bpf_object__load(opened)
    code, program = b"", None
    while True:
        program = lib.bpf_object__next_program(opened, ctypes.c_void_p(program))
        if not program:
            break
        at = lib.bpf_program__insns(ctypes.c_void_p(program))
        code += ctypes.string_at(at, 8 * lib.bpf_program__insn_cnt(ctypes.c_void_p(program))) if at else b""
    lib.bpf_object__close(opened)
    return error, code


def constants(code, number):
    """How many instructions load or compare with this number."""
    found = struct.iter_unpack("<BBhi", code)
    return sum(1 for op, _, _, value in found if value == number and op in (0x18, 0xB7, 0x15, 0x55, 0x25, 0xB5))


def check_enum(lib, name, same, path):
    """Types of nodes of the maple tree: maple_copy came to the enum in 7.1, others may come."""
    types = Types(open(TYPES, "rb").read())
    place = types.member(types.find(ENUM, "maple_type"), "maple_arange_64")
    old, new = types.word(place + 4), 13
    struct.pack_into("<I", types.body, place + 4, new)
    types.write(path)
    error, code = load(lib, name, path)
    changed = [(a, b) for a, b in zip(struct.iter_unpack("<Q", same), struct.iter_unpack("<Q", code)) if a != b]
    result(error == 0 and len(code) == len(same) and changed and
           constants(code, new) - constants(same, new) == len(changed) == constants(same, old) - constants(code, old),
           "%s: the type of a node is that of the kernel" % name, (error, changed))


def check_flags(lib, name, path):
    """Only the bitmap is left of vm_flags."""
    types = Types(open(TYPES, "rb").read())
    vma = types.find(STRUCT, "vm_area_struct")
    place = types.member(vma, "vm_flags")
    if types.member(vma, "flags") is None:
        number = types.word(types.member(vma, "vm_start") + 4)
        array = types.add_type(0, ARRAY << 24, 0, number, number, 1)
        bitmap = types.add_type(0, STRUCT << 24 | 1, 8, types.add_text("__vma_flags"), array, 0)
        struct.pack_into("<II", types.body, place, types.add_text("flags"), bitmap)
    else:
        struct.pack_into("<I", types.body, place, types.add_text("vm_flags_of_before"))
    types.write(path)
    error, _ = load(lib, name, path)
    result(error == 0, "%s: flags of a VMA that are a bitmap" % name, error)


def check_all():
    lib = libbpf()
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "types")
        for name in ("task_pss", "task_pss_memos", "task_pss_probe", "swap"):
            error, same = load(lib, name, TYPES)
            result(error == 0, "%s: loads" % name, error)
            check_enum(lib, name, same, path)
            check_flags(lib, name, path)
        check_flags(lib, "holders", path)


if __name__ == "__main__":
    run_checks((check_all,))
    sys.exit(exit_code())
