# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""BTF, the types of a kernel or of a BPF object (include/uapi/linux/btf.h): what an object reads of the kernel by its
CO-RE relocations, and copies of a kernel's BTF in which a name is another one."""

import struct

INT, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, FUNC_PROTO, VAR, DATASEC, DECL_TAG, ENUM64 = 1, 3, 4, 5, 6, 7, 8, 13, 14, 15, 17, 19
MODIFIERS = (TYPEDEF, 9, 10, 11, 18)  # volatile, const, restrict, type_tag
BEHIND = {INT: 4, ARRAY: 12, VAR: 4, DECL_TAG: 4}
EACH = {STRUCT: 12, UNION: 12, ENUM: 8, FUNC_PROTO: 8, DATASEC: 12, ENUM64: 12}
# Kinds of relocations that name a type and not a member or a value (enum bpf_core_relo_kind).
TYPE_ID_LOCAL, TYPE_KINDS, VALUE_KINDS = 6, (7, 8, 9, 12), (10, 11)


def elf_sections(data):
    """{name: bytes} of an ELF file of 64 bits."""
    (offset,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    raw = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
    text = data[raw[names][4] :]
    return {text[s[0] : text.index(b"\0", s[0])].decode(): data[s[4] : s[4] + s[5]] for s in raw if s[1] != 8}


class Btf:
    def __init__(self, data):
        self.data = data
        magic, _, _, self.header, types, length, strings, self.string_length = struct.unpack_from("<HBBIIIII", data)
        assert magic == 0xEB9F
        self.strings = self.header + strings
        self.at = [0]  # of each type
        self.by_name = {}
        at = self.header + types
        end = at + length
        while at < end:
            name, info = struct.unpack_from("<II", data, at)
            kind = info >> 24 & 31
            if name:
                self.by_name.setdefault(self.string(name), []).append(len(self.at))
            self.at.append(at)
            at += 12 + BEHIND.get(kind, 0) + EACH.get(kind, 0) * (info & 0xFFFF)

    def string(self, offset):
        begin = self.strings + offset
        return self.data[begin : self.data.index(b"\0", begin)].decode()

    def head(self, number):
        """Kind, name, and the size or the type that it refers to."""
        if not number:
            return 0, "", 0
        name, info, value = struct.unpack_from("<III", self.data, self.at[number])
        return info >> 24 & 31, self.string(name), value

    def items(self, number):
        """(place of the name, name, type or value) of each member or value."""
        kind = self.head(number)[0]
        count = struct.unpack_from("<I", self.data, self.at[number] + 4)[0] & 0xFFFF
        for at in range(self.at[number] + 12, self.at[number] + 12 + EACH[kind] * count, EACH[kind]):
            name, value = struct.unpack_from("<II", self.data, at)
            yield at, self.string(name), value

    def plain(self, number):
        """The type without modifiers, and the last name on the way to it."""
        named = ""
        while True:
            kind, name, value = self.head(number)
            named = name or named
            if kind not in MODIFIERS:
                return number, named
            number = value

    def element(self, number):
        """The type of the elements if it is an array."""
        number, _ = self.plain(number)
        while self.head(number)[0] == ARRAY:
            number, _ = self.plain(struct.unpack_from("<I", self.data, self.at[number] + 12)[0])
        return number

    def members_named(self, number, name):
        """(place of the name, type) of the members of that name, also in anonymous members."""
        for at, member, value in self.items(number):
            if member == name:
                yield at, value
            elif not member:
                inner = self.plain(value)[0]
                if self.head(inner)[0] in (STRUCT, UNION):
                    yield from self.members_named(inner, name)

    def structs(self, name):
        """The structs, unions and enums of that name, also behind a typedef."""
        for number in self.by_name.get(name, ()):
            number, _ = self.plain(number)
            if self.head(number)[0] in (STRUCT, UNION, ENUM, ENUM64):
                yield number

    def offset_in(self, number, name):
        """The bytes in front of the member of that name, also in anonymous members; -1: there is none."""
        for at, member, value in self.items(number):
            bytes_before = (struct.unpack_from("<I", self.data, at + 8)[0] & 0xFFFFFF) // 8
            if member == name:
                return bytes_before
            inner = self.plain(value)[0]
            found = -1
            if not member and self.head(inner)[0] in (STRUCT, UNION):
                found = self.offset_in(inner, name)
            if found >= 0:
                return bytes_before + found
        return -1

    def offset(self, owner, name):
        """The bytes in front of a member, or the value of an enumerator; -1: there is none."""
        for number in self.structs(owner):
            if self.head(number)[0] == ENUM:
                found = [value for _, item, value in self.items(number) if item == name]
                return found[0] if found else -1
            return self.offset_in(number, name)
        return -1

    # ---- what an object reads ----

    def relocations(self, extra):
        """The relocations of an object's section .BTF.ext: (kind, type, access string)."""
        header, offset, length = struct.unpack_from("<4xI16xII", extra)
        at, end = header + offset + 4, header + offset + length
        (size,) = struct.unpack_from("<I", extra, at - 4)
        while at < end:
            (count,) = struct.unpack_from("<4xI", extra, at)
            at += 8
            for _ in range(count):
                _, number, access, kind = struct.unpack_from("<IIII", extra, at)
                yield kind, number, self.string(access)
                at += size

    def wanted(self, extra):
        """The names that an object asks the kernel for, as tuples: ("mm_struct",), ("mm_struct", "mm_mt"), and
        ("dentry", "d_u", "d_alias") for a member of a type without a name."""
        found = set()
        for kind, number, access in self.relocations(extra):
            if kind == TYPE_ID_LOCAL:
                continue
            inner, name = self.plain(number)
            path = (name.split("___")[0],)
            found.add(path)
            if kind in TYPE_KINDS:
                continue
            steps = [int(step) for step in access.split(":")]
            if kind in VALUE_KINDS:
                found.add(path + (list(self.items(inner))[steps[0]][1].split("___")[0],))
                continue
            for step in steps[1:]:
                inner, named = self.plain(inner)
                if self.head(inner)[0] == ARRAY:
                    inner = struct.unpack_from("<I", self.data, self.at[inner] + 12)[0]
                    continue
                if named:
                    path = (named.split("___")[0],)
                    found.add(path)
                _, member, inner = list(self.items(inner))[step]
                if member:
                    path += (member,)
                    found.add(path)
        return found

    # ---- copies ----

    def places(self, path):
        """Where the names are that `path` (see wanted()) stands for."""
        owners = set(self.structs(path[0]))
        if len(path) == 1:
            return [self.at[n] for n in self.by_name.get(path[0], ()) if self.head(n)[0] not in (INT, VAR, 12)]
        for name in path[1:-1]:
            owners = {self.element(value) for n in owners for _, value in self.members_named(n, name)}
        places = []
        for n in owners:
            kind = self.head(n)[0]
            if kind in (ENUM, ENUM64):
                places += [at for at, name, _ in self.items(n) if name == path[-1]]
            elif kind in (STRUCT, UNION):
                places += [at for at, _ in self.members_named(n, path[-1])]
        return places

    def without(self, path):
        """A copy in which nothing has that name. None: nothing had it."""
        places = self.places(path)
        return self.renamed(places, "not_" + path[-1]) if places else None

    def renamed(self, places, name):
        copy = bytearray(self.data)
        for at in places:
            struct.pack_into("<I", copy, at, self.string_length)
        added = name.encode() + b"\0"
        struct.pack_into("<I", copy, 20, self.string_length + len(added))
        return copy[: self.strings + self.string_length] + added


def wanted_by(path):
    """What the BPF object at `path` asks the kernel for."""
    with open(path, "rb") as file:
        sections = elf_sections(file.read())
    return Btf(sections[".BTF"]).wanted(sections[".BTF.ext"])
