#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Recordings taken apart and changed, with the right checksums (include/zmem/recording.h).

recording.py list FILE                      a line a reading: frame chapter key errno length
recording.py edit FILE OUT [CHANGE...]      KEY=TEXT sets all of a key, KEY+=TEXT adds one at the end of
                                            each chapter that has the key, KEY- takes all of it away;
                                            escapes as in Python
"""
import struct
import sys
import zlib

CHAPTER = "<4sI16sII"


def parse(data):
    """The header, and chapters [frame, name, [[key, error, data]]]."""
    chapters, at = [], 32
    while data[at:at + 4] == b"CHAP":
        _, frame, name, count, length = struct.unpack_from(CHAPTER, data, at)
        at += 36
        end, readings = at + length, []
        while at < end:
            size, key_size, error = struct.unpack_from("<IHH", data, at)
            at += 8
            key = data[at:at + key_size]
            at += key_size + 1
            readings.append([key.decode(), error, data[at:at + size]])
            at += size + 1
        assert len(readings) == count
        chapters.append([frame, name.rstrip(b"\0").decode(), readings])
    return data[:32], chapters


def build(header, chapters):
    out = header
    for frame, name, readings in chapters:
        body = b"".join(struct.pack("<IHH", len(data), len(key), error) + key.encode() + b"\0" + data + b"\0"
                        for key, error, data in readings)
        head = struct.pack(CHAPTER, b"CHAP", frame, name.encode(), len(readings), len(body))
        out += head + struct.pack("<I", zlib.crc32(head + body)) + body
    end = b"END\n" + struct.pack("<I", len(chapters))
    return out + end + struct.pack("<I", zlib.crc32(end))


def unescape(text):
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape").encode("latin-1")


def change(readings, what):
    """Applies one change to the readings of a chapter. Returns how many it met."""
    if what.endswith("-") and "=" not in what:
        met = sum(r[0] == what[:-1] for r in readings)
        readings[:] = [r for r in readings if r[0] != what[:-1]]
        return met
    key, text = what.split("=", 1)
    add, key = key.endswith("+"), key.rstrip("+")
    met = [r for r in readings if r[0] == key]
    for reading in met:
        if not add:
            reading[1:] = [0, unescape(text)]
    if add and met:
        readings.append([key, 0, unescape(text)])
    return len(met)


def main():
    with open(sys.argv[2], "rb") as file:
        header, chapters = parse(file.read())
    if sys.argv[1] == "list":
        for frame, name, readings in chapters:
            for key, error, data in readings:
                print(frame, name, key, error, len(data))
        return
    for what in sys.argv[4:]:
        if not sum(change(readings, what) for _, _, readings in chapters):
            sys.exit(f"{what}: there is no such reading")
    with open(sys.argv[3], "wb") as file:
        file.write(build(header, chapters))


if __name__ == "__main__":
    main()
