#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""flamegraph.py fold COMM <PERF_SCRIPT >FOLDED: the stacks of `perf script -F comm,ip,sym,dso` that belong
to COMM, equal ones added up: root;…;leaf COUNT. Of the kernel NAME_[k], of a BPF program bpf:NAME.
flamegraph.py svg TITLE <FOLDED >SVG: a picture of those, roots on top, a file by itself without scripts."""

import re
import sys
from collections import Counter
from xml.sax.saxutils import escape

# ---- stacks ----

# As the kernel names them: with the tag of the program (bpf_get_prog_name(), kernel/bpf/core.c), in
# which calibration data may differ from run to run.
BPF = re.compile(r"bpf_prog_[0-9a-f]{16}_(.*)")


def frame_of(line):
    """Of "ADDRESS SYMBOL (OBJECT)"."""
    text, _, where = line.strip().partition(" (")
    address, _, name = text.partition(" ")
    where = where.removesuffix(")")
    program = BPF.fullmatch(name)
    if program:
        return "bpf:" + clean(program[1])
    if name == "[unknown]" and where.startswith("/"):
        name = "[%s]" % where.rpartition("/")[2]
    # The upper half of the address space is the kernel's, also for a BPF program that perf did not see loaded.
    return clean(name) + ("_[k]" if len(address) == 16 and address[0] in "89abcdef" else "")


def clean(name):
    """Replaces the separators of frames and lines."""
    return re.sub(r"[;\s]", "_", name)


def known(frames):
    """Removes unknown frames: a library without frame pointers may give a hundred."""
    return [f for i, f in enumerate(frames) if i == 0 or f != frames[i - 1] or not f.startswith("[")]


def fold(lines, comm):
    """Blocks: a line with the name, then one for each frame, the leaf first; an empty line ends a block."""
    stacks, name, frames = Counter(), None, []
    for line in lines:
        if not line.strip():
            if name == comm and frames:
                stacks[";".join([clean(comm)] + known(frames[::-1]))] += 1
            name, frames = None, []
        elif name is None:
            name = line.strip()
        else:
            frames.append(frame_of(line))
    return stacks


# ---- the picture ----

WIDTH, ROW, TOP, EDGE = 1400, 17, 58, 10
FONT, CHARACTER = 11, 6.65  # px, of a monospaced font
LEAST = 0.4  # px; what is narrower is left out
KINDS = {"user": ("our program and its libraries", 36), "kernel": ("kernel", 212), "bpf": ("our BPF programs", 140)}


class Frame:
    def __init__(self, name):
        self.name = name
        self.count = 0
        self.children = {}

    def add(self, names, count):
        self.count += count
        if names:
            child = self.children.setdefault(names[0], Frame(names[0]))
            child.add(names[1:], count)

    def kind(self):
        if self.name.startswith("bpf:"):
            return "bpf"
        return "kernel" if self.name.endswith("_[k]") else "user"


def tree_of(folded):
    root = Frame("all")
    for line in folded:
        stack, _, count = line.rstrip("\n").rpartition(" ")
        if stack:
            root.add(stack.split(";"), int(count))
    return next(iter(root.children.values())) if len(root.children) == 1 else root


def lay(frame, x, depth, scale):
    """(frame, x, depth, width) of the visible frames, the largest children first."""
    width = frame.count * scale
    if width < LEAST:
        return
    yield frame, x, depth, width
    for child in sorted(frame.children.values(), key=lambda c: (-c.count, c.name)):
        yield from lay(child, x, depth + 1, scale)
        x += child.count * scale


def printable(text):
    """Removes characters that XML cannot represent."""
    return re.sub(r"[^\t -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\x7f-\x9f]", "\ufffd", text)


def text_of(name):
    return escape(printable(name))


def box(frame, x, depth, width, whole):
    hue = KINDS[frame.kind()][1]
    light = 68 + sum(frame.name.encode("utf-8", "replace")) % 5 * 3
    y = TOP + depth * ROW
    room = int((width - 6) / CHARACTER)
    label = frame.name if len(frame.name) <= room else frame.name[:room - 1] + "…" if room > 2 else ""
    parts = ['<g><title>%s: %d samples, %.1f %%</title>' % (text_of(frame.name), frame.count,
                                                           100 * frame.count / whole),
             '<rect x="%.2f" y="%d" width="%.2f" height="%d" fill="hsl(%d,70%%,%d%%)"/>' % (
                 x, y, max(width - 0.5, 0.3), ROW - 1, hue, light)]
    if label:
        parts.append('<text x="%.2f" y="%d">%s</text>' % (x + 3, y + 12, text_of(label)))
    return "".join(parts) + "</g>"


def shares(boxes, whole):
    """The self time of each kind, for the legend."""
    own = Counter()
    for frame, _, _, _ in boxes:
        own[frame.kind()] += frame.count - sum(child.count for child in frame.children.values())
    return {kind: 100 * own[kind] / whole for kind in KINDS}


def every(frame):
    yield frame, 0, 0, 0
    for child in frame.children.values():
        yield from every(child)


def svg(root, title):
    whole = max(root.count, 1)
    boxes = list(lay(root, EDGE, 0, (WIDTH - 2 * EDGE) / whole))
    height = TOP + (max((depth for _, _, depth, _ in boxes), default=0) + 1) * ROW + EDGE
    yield ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="monospace" '
           'font-size="%d">' % (WIDTH, height, WIDTH, height, FONT))
    yield "<style>g:hover rect{stroke:#000;stroke-width:1}text{pointer-events:none}</style>"
    yield '<rect width="100%" height="100%" fill="#fff"/>'
    yield '<text x="%d" y="20" font-size="15">%s</text>' % (EDGE, text_of(title))
    x = EDGE
    for kind, share in shares(every(root), whole).items():
        words, hue = KINDS[kind]
        words = "%s: %.0f %%" % (words, share)
        yield '<rect x="%d" y="32" width="12" height="12" fill="hsl(%d,70%%,74%%)"/>' % (x, hue)
        yield '<text x="%d" y="42">%s</text>' % (x + 17, words)
        x += 40 + int(len(words) * CHARACTER)
    for frame, left, depth, width in boxes:
        yield box(frame, left, depth, width, whole)
    yield "</svg>"


def main():
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    # Stacks of the verifier are deep, and lay() recurses for each frame.
    sys.setrecursionlimit(10000)
    if len(sys.argv) == 3 and sys.argv[1] == "fold":
        for stack, count in sorted(fold([*sys.stdin, "\n"], sys.argv[2]).items()):
            print(stack, count)
    elif len(sys.argv) == 3 and sys.argv[1] == "svg":
        for line in svg(tree_of(sys.stdin), sys.argv[2]):
            print(line)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
