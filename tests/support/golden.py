# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Golden files as a whole: one that begins with "like NAME" has what makes it of that one (golden.h)."""

import os
import re


def read(path):
    with open(path, "rb") as file:
        head, *changes = (data := file.read()).splitlines(True) or [b""]
    if not head.startswith(b"like "):
        return data
    base = read(os.path.join(os.path.dirname(path), head[5:-1].decode()))
    lines = [[], *([line] for line in base.splitlines(True))]
    for change in changes:
        number, how, text = re.fullmatch(rb"(\d+)([-+=])(.*\n)", change).groups()
        if how == b"+":
            lines[int(number)].append(text)
        else:
            lines[int(number)] = [text] if how == b"=" else []
    return b"".join(b"".join(line) for line in lines)
