#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes the pictures of README.md from the real program: top.svg, page.png and incidents.png in src/doc (make pictures, as root).

It starts a browser and some Python servers, of which one leaks and one swaps, records them, and shows the recording in top and in the
page. Then it records a program that grows until the OOM killer ends it, and shows the page of incidents."""

import html
import os
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "browser")]

import oom  # noqa: E402
import swap  # noqa: E402
from browser import Browser  # noqa: E402
from outcome import PROGRAM  # noqa: E402
from terminal import Tmux  # noqa: E402

DOC = os.path.join(HERE, "..", "..", "src", "doc")
COLUMNS, ROWS = 100, 34
SNAPSHOTS, SHOWN = 14, 8  # at the first ones the recorder itself still grows
# A server: a parent that loads data, and workers that share it by fork and take some memory each.
SERVER = """import mmap, os, sys, time
shared = bytearray(os.urandom(4096)) * (int(sys.argv[1]) << 8)
for i in range(int(sys.argv[2])):
    if not os.fork():
        own = bytearray(b"x") * ((int(sys.argv[3]) + 7 * i) << 20)
        os.write(1, b".")
        time.sleep(600)  # a process: it holds its memory
os.write(1, b".")
time.sleep(600)  # a process: it holds its memory
"""
# Takes more, some KiB a second, again and again.
GROWS = """import sys, time
held = []
while True:
    held.append(bytearray(b"x") * (int(sys.argv[1]) << 10))
    time.sleep(0.4)  # time itself: it grows in steps
"""
# Has so many MiB in swap, and reads some of them again and again.
SWAPS = """import ctypes, mmap, os, sys, time
memory = mmap.mmap(-1, int(sys.argv[1]) << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
line = os.urandom(1024)
for at in range(0, len(memory), 4096):
    memory[at:at + 1024] = line
    memory[at:at + 8] = at.to_bytes(8, "little")
while True:
    memory.madvise(21)  # MADV_PAGEOUT
    os.write(1, b".")
    for at in range(0, len(memory) // 8, 4096):
        memory[at]
        if at % (1 << 18) == 0:
            time.sleep(0.02)  # time itself: it swaps all the time
"""
NAMED = ("unshare", "--uts", "sh", "-c", 'hostname server; exec "$@"', "sh")
# Name, user, MiB that are shared, workers, MiB of the first of them.
SERVERS = (("api.py", "www-data", 96, 5, 24), ("worker.py", "daemon", 48, 3, 60), ("cache.py", "nobody", 310, 0, 0),
           ("mailer.py", "mail", 12, 2, 5))
ILL = (("report.py", "www-data", GROWS, 900), ("index.py", "daemon", SWAPS, 400))
COLOURS = ("#1d1f21", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d0d0d0",
           "#7a7f87", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#ffffff")
WIDTH, HEIGHT = 8.4, 17


class Servers:
    """`ill`: one of them leaks, and one swaps."""

    def __init__(self, ill=False):
        self.directory = tempfile.TemporaryDirectory()
        os.chmod(self.directory.name, 0o755)
        self.running = []
        for name, user, *sizes in SERVERS:
            path = os.path.join(self.directory.name, name)
            with open(path, "w", encoding="ascii") as file:
                file.write(SERVER)
            child = subprocess.Popen(("/usr/bin/python3", path) + tuple(map(str, sizes)), stdout=subprocess.PIPE,
                                     start_new_session=True, user=user)
            self.running.append(child)
            for _ in range(sizes[1] + 1):
                child.stdout.read(1)
        for name, user, code, size in ILL if ill else ():
            path = os.path.join(self.directory.name, name)
            with open(path, "w", encoding="ascii") as file:
                file.write(code)
            self.running.append(subprocess.Popen(("/usr/bin/python3", path, str(size)), stdout=subprocess.DEVNULL,
                                                 start_new_session=True, user=user))

    def close(self):
        for child in self.running:
            os.killpg(child.pid, 9)
            child.wait()
        self.directory.cleanup()


def colour(number):
    if number < 16:
        return COLOURS[number]
    if number > 231:
        return "#%02x%02x%02x" % ((8 + 10 * (number - 232),) * 3)
    levels = (0, 95, 135, 175, 215, 255)
    number -= 16
    return "#%02x%02x%02x" % (levels[number // 36], levels[number // 6 % 6], levels[number % 6])


class Style:
    """What the escape sequences of a terminal have said so far."""

    def __init__(self):
        self.clear()

    def clear(self):
        self.text = self.back = None
        self.bold = self.reverse = self.dim = False

    def read(self, codes):
        numbers = [int(code or 0) for code in codes.split(";")]
        while numbers:
            number = numbers.pop(0)
            if number == 0:
                self.clear()
            elif number in (1, 2, 7):
                setattr(self, {1: "bold", 2: "dim", 7: "reverse"}[number], True)
            elif number in (22, 27):
                self.bold, self.dim, self.reverse = (False, False, self.reverse) if number == 22 else \
                    (self.bold, self.dim, False)
            elif number in (38, 48) and numbers[:1] == [5]:
                setattr(self, "text" if number == 38 else "back", colour(numbers[1]))
                del numbers[:2]
            elif number in (39, 49):
                setattr(self, "text" if number == 39 else "back", None)
            elif 30 <= number < 38 or 90 <= number < 98:
                self.text = colour(number % 10 + (8 if number >= 90 else 0))
            elif 40 <= number < 48 or 100 <= number < 108:
                self.back = colour(number % 10 + (8 if number >= 100 else 0))

    def colours(self):
        text, back = self.text or COLOURS[7], self.back
        return (back or COLOURS[0], text) if self.reverse else (text, back)


def svg(screen):
    """A terminal's screen, with its escape sequences, as a picture."""
    lines = screen.rstrip("\n").split("\n")
    width, height = round(COLUMNS * WIDTH + 20), len(lines) * HEIGHT + 20
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">' % (width, height, width, height),
             "<!-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause -->",
             '<rect width="100%%" height="100%%" rx="6" fill="%s"/>' % COLOURS[0],
             '<g font-family="ui-monospace,Menlo,Consolas,\'DejaVu Sans Mono\',monospace" font-size="14">']
    style = Style()
    for row, line in enumerate(lines):
        column, top = 0, 10 + row * HEIGHT
        for piece in re.split("(\x1b\\[[0-9;]*m)", line):
            if piece.startswith("\x1b["):
                style.read(piece[2:-1])
                continue
            if not piece:
                continue
            text, back = style.colours()
            left, wide = 10 + column * WIDTH, len(piece) * WIDTH
            column += len(piece)
            if back:
                parts.append('<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>' % (left, top, wide, HEIGHT, back))
            if piece.strip():
                parts.append('<text x="%.1f" y="%d" textLength="%.1f" fill="%s"%s%s>%s</text>'
                             % (left, top + 13, wide, text, ' font-weight="bold"' if style.bold else "",
                                ' opacity=".7"' if style.dim else "", html.escape(piece.replace(" ", "\N{NO-BREAK SPACE}"))))
    return "\n".join(parts + ["</g>", "</svg>", ""])


def record(path):
    """The servers and a browser, on a host by the name of server, for so long that growth is known."""
    with swap.zram("lzo", "2G"), swap.delay_accounting(1):
        browser, servers = Browser(), Servers(True)
        try:
            browser.screen(900, 850)
            browser.open(os.path.join(DOC, "..", "..", "README.md"))
            time.sleep(5)  # time itself: what is to swap is in swap
            subprocess.run(NAMED + (PROGRAM, "record", path, "-c", str(SNAPSHOTS), "-i", "2"), check=True)
        finally:
            servers.close()
            browser.close()


def record_kill(directory, kept):
    """A recording of the servers and of report.py, which may use 128 MiB."""
    servers = Servers()
    with oom.Group("reports", "128M") as group:
        recorder = subprocess.Popen(NAMED + (PROGRAM, "record", "--keep", "1h", kept, "-i", "0.5", "-q"))
        try:
            time.sleep(4)  # time itself: the picture has some snapshots before the kill
            path = os.path.join(directory, "report.py")
            with open(path, "w", encoding="ascii") as file:
                file.write(GROWS)
            subprocess.run(("sh", "-c", "echo $$ >%s/cgroup.procs; exec /usr/bin/python3 %s 4096" % (group.path, path)), check=False,
                           timeout=60)
            time.sleep(4)  # time itself: and after it
        finally:
            recorder.terminate()
            recorder.wait()
            servers.close()


def picture_of_top(recording):
    with Tmux((PROGRAM, "top", "--replay", recording), columns=COLUMNS, rows=ROWS, TERM="xterm-256color") as top:
        top.until(lambda screen: "chromium" in screen)
        # The last ones are shown one after the other: it knows then what grew.
        for key in "," * (SHOWN - 1) + "." * (SHOWN - 1):
            top.keys(key)
        top.until(lambda screen: "snapshot %d of %d" % (SNAPSHOTS, SNAPSHOTS) in screen)
        top.keys("S")
        top.keys("Down")
        time.sleep(0.5)  # time itself: the next frame
        screen = top.tmux("capture-pane", "-e", "-p")
    with open(os.path.join(DOC, "top.svg"), "w", encoding="utf-8") as file:
        file.write(svg(screen))


def picture_of_page(page, name, *command):
    subprocess.run((PROGRAM,) + command + ("-F", "html", "--output", page), check=True)
    with Browser() as browser:
        browser.screen(900, 850)
        browser.open(page)
        browser.settle()
        browser.screenshot(os.path.join(DOC, name), whole=False)


def main():
    with tempfile.TemporaryDirectory() as directory:
        recording = os.path.join(directory, "recording")
        record(recording)
        picture_of_top(recording)
        picture_of_page(os.path.join(directory, "memory.html"), "page.png", "-n", "9", "--replay", recording)
        kept = os.path.join(directory, "kept")
        record_kill(directory, kept)
        picture_of_page(os.path.join(directory, "incidents.html"), "incidents.png", "incidents", kept)


main()
