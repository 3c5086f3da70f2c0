#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Changes in top: forward and back in a recording, and with other filters."""
# needs: tmux

import re
import subprocess
import sys
import tempfile

import paths  # noqa: F401
from outcome import PROGRAM, exit_code, result
from terminal import Tmux

GROWER = """
import time
kept = []
while True:
    kept.append(b"x" * 100000)
    time.sleep(0.02)
"""


def check_changes():
    """Changes are relative to the frame before, also after a step back. The total has changes only if it covered
    the same processes then."""
    with tempfile.TemporaryDirectory() as directory:
        recording = directory + "/recording"
        with subprocess.Popen((sys.executable, "-Sc", GROWER)) as child:
            subprocess.run((PROGRAM, "record", recording, "-q", "-c", "3", "-i", "0.4", "-p", str(child.pid)), check=True)
            child.kill()

        def changed(line):
            return re.search(r" [+-]\d", " ".join(line))

        # With this interval, frames change only by keys.
        with Tmux((PROGRAM, "top", "--replay", recording, "-i", "1000", "-p", str(child.pid)), columns=120) as tmux:

            def find_rows(*signs):
                seen = [None]

                def settled(screen):
                    # Twice the same: not a screen of which a part is drawn.
                    seen.append(screen)
                    return seen[-1] == seen[-2] and all(sign in screen for sign in signs + ("? help",))

                screen = tmux.until(settled)
                return [line.split() for line in screen.splitlines()
                        if re.search(r" (1 row|no rows)$|^ *%d " % child.pid, line)]

            find_rows("paused", "snapshot 3 of 3")
            tmux.keys("[")
            find_rows("snapshot 1 of 3")
            tmux.keys("x", ".")
            there = find_rows("snapshot 2 of 3", "changes per second")
            result(len(there) == 2 and all(map(changed, there)), "changes of a row and of the total",
                   there)
            tmux.keys(".")
            find_rows("snapshot 3 of 3")
            tmux.keys(",")
            back = find_rows("snapshot 2 of 3")
            result(back == there, "a step back: the changes of that frame", (there, back))
            tmux.keys("f", "python", "Enter")
            found = find_rows("filter python", "1 row")
            result(len(found) == 2 and found[0] == there[0] and not changed(found[1]),
                   "another filter: the total has no changes", found)
            tmux.keys("Escape", ",")
            first = find_rows("snapshot 1 of 3", "1 row")
            result(len(first) == 2 and not any(map(changed, first)), "the first frame: no changes", first)
            tmux.keys("q")
        with Tmux((PROGRAM, "top", "--replay", recording, "-i", "1000", "--delta", "start", "--min", "1K", "-p",
                   str(child.pid)), columns=120) as tmux:
            tmux.keys(".")
            found = find_rows("snapshot 2 of 3")
            result(len(found) == 2 and changed(found[0]) and not changed(found[1]),
                   "--min: the total has no changes", found)


if __name__ == "__main__":
    check_changes()
    sys.exit(exit_code())
