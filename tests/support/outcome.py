# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""For tests in Python: the programs they run, and how they tell what came of it."""

import os

O = os.path.realpath(os.environ.get("O", "build"))
PROGRAM = os.path.realpath(os.environ.get("PROGRAM", O + "/zmem-bpf"))
MKMEM = O + "/mkmem"
PRELOAD = O + "/preload.so"
failures = []


def result(good, name, why=""):
    if good:
        print("ok", name)
    else:
        failures.append(name)
        print("not ok %s: %s" % (name, ascii(str(why))[:600]))


def exit_code():
    return 1 if failures else 0
