#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""old_verifier.py [-v] OBJECT [ROUND]: applies two rules of older kernels (kernel/bpf/verifier.c) to a BPF object.
Prints the bytes of stack of the deepest chain of calls, and the chain, as check_max_stack_depth() counts them. Until
Linux 6.8 it rounds each frame up to ROUND = 32 bytes, then to 16 if programs are compiled by the JIT. It accepts 512.
Exits with 1, and says where, if a loop is entered in the middle such that an instruction that is no jump leads back:
check_cfg() refuses that until about Linux 6.7. -v prints the stack of all functions."""
import struct
import sys

CALL, LOAD_64 = 0x85, 0x18
STORE, STORE_IMM, LOAD = 3, 2, 1
MOVE, ADD_IMM = 0xBF, 0x07
JUMP, EXIT = 0x05, 0x95
FRAME = 10


class Elf:
    """The sections, symbols and relocations of an ELF file of 64 bits."""

    def __init__(self, data):
        (offset,) = struct.unpack_from("<Q", data, 40)
        size, count, names = struct.unpack_from("<HHH", data, 58)
        raw = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
        self.body = [b"" if s[1] == 8 else data[s[4] : s[4] + s[5]] for s in raw]
        self.code = [i for i, s in enumerate(raw) if s[1] == 1 and s[2] & 4 and s[5]]
        (table,) = [i for i, s in enumerate(raw) if s[1] == 2]
        text = self.body[raw[table][6]]
        self.symbols = []
        for at in range(0, len(self.body[table]), 24):
            name, info, _, section, value, length = struct.unpack_from("<IBBHQQ", self.body[table], at)
            self.symbols.append((text[name : text.index(b"\0", name)].decode(), info & 15, section, value, length))
        self.relocations = {}
        for i, s in enumerate(raw):
            if s[1] == 9:
                for at in range(0, len(self.body[i]), 16):
                    place, info = struct.unpack_from("<QQ", self.body[i], at)
                    self.relocations[s[7], place] = self.symbols[info >> 32]


def functions(elf):
    """By (section, offset): name, bytes of its own frame, and the set of functions that it names."""
    found = {}
    for name, kind, section, value, length in elf.symbols:
        if kind != 2 or section not in elf.code:
            continue
        body, deepest, calls, copies, at = elf.body[section], 0, set(), set(), value
        while at < value + length:
            op, registers, offset, number = struct.unpack_from("<BBhi", body, at)
            dst, src = registers & 15, registers >> 4
            target = elf.relocations.get((section, at))
            if op == CALL and src == 1:
                if target and target[2] in elf.code:
                    base = target[3] if target[1] != 3 else (number + 1) * 8
                    calls.add((target[2], base))
                elif not target:
                    calls.add((section, at + 8 + number * 8))
            elif op == LOAD_64:
                if target and target[2] in elf.code:
                    calls.add((target[2], target[3] + number))
                at += 8
            elif op == MOVE and src == FRAME:
                copies.add(dst)
            elif op == ADD_IMM and dst in copies:
                deepest = max(deepest, -number)
                copies.discard(dst)
            elif op & 7 in (STORE, STORE_IMM) and dst == FRAME or op & 7 == LOAD and src == FRAME:
                deepest = max(deepest, -offset)
            at += 8
        found[section, value] = (name, deepest, calls)
    return found


def falls_back(elf, key):
    """The instruction of the function, if there is one, that leads back into a loop and is no jump."""
    section, value = key
    length = next(s[4] for s in elf.symbols if s[1] == 2 and s[2:4] == key)
    body = elf.body[section][value : value + length]
    active, done = set(), set()

    def leads_to(at):
        op, _, offset, _ = struct.unpack_from("<BBhi", body, at * 8)
        jumps = op & 7 in (5, 6)
        if op == EXIT:
            return
        if op == JUMP:
            yield at + 1 + offset, True
            return
        after = at + (2 if op == LOAD_64 else 1)
        if jumps and op != CALL:
            yield after, True
            yield at + 1 + offset, True
        else:
            yield after, False

    path = [(0, leads_to(0))]
    active.add(0)
    while path:
        at, rest = path[-1]
        for target, jumped in rest:
            if target in active and not jumped:
                return at
            if target not in active and target not in done:
                active.add(target)
                path.append((target, leads_to(target)))
                break
        else:
            path.pop()
            active.discard(at)
            done.add(at)
    return None


def deepest_chain(found, key, step):
    name, own, calls = found[key]
    own = (max(own, 1) + step - 1) // step * step
    below = max((deepest_chain(found, c, step) for c in calls), default=(0, []))
    return own + below[0], [f"{name} {own}"] + below[1]


def main():
    arguments = [a for a in sys.argv[1:] if a != "-v"]
    step = int(arguments[1]) if len(arguments) > 1 else 32
    with open(arguments[0], "rb") as file:
        elf = Elf(file.read())
    found = functions(elf)
    if "-v" in sys.argv:
        for key in found:
            print(*found[key][:2], *deepest_chain(found, key, step), sep="\t")
    called = set().union(*(f[2] for f in found.values()))
    total, chain = max(deepest_chain(found, key, step) for key in found if key not in called)
    print(total, ", ".join(chain))
    bad = [f"{found[key][0]}: instruction {at} leads back" for key in found if (at := falls_back(elf, key)) is not None]
    if bad:
        sys.exit("\n".join(bad))


if __name__ == "__main__":
    main()
