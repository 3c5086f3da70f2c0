#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""top under valgrind, with a recording and live: keys open every screen, and each must appear. There is no
invalid access and no lost memory, also inside ncurses, which sanitizers do not see. Memory that ncurses keeps
until the end (still reachable) is allowed. tests/run valgrind starts it."""
# needs: tmux

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from outcome import MKMEM, PROGRAM, exit_code, mkmem_pids, need, result, run_checks  # noqa: E402
from terminal import Tmux  # noqa: E402

GUEST = HERE + "/../fixtures/recordings/guest-6.12.zmem"
ERROR = 99
END = "? help"

# Keys, and what then appears on the screen. The last line of a list has END.
EVERYWHERE = (
    (("S",), ("by swap_pss,pss", END)), (("r",), ("by swap_pss,pss reversed",)), (("r", "N"), ("by pid",)),
    (("s", "Down", "Down"), ("Sort",)), (("Escape", "M"), ("by pss", END)), ((">", "<"), ("by pss",)),
    (("g",), ("grouped by name",)), (("Enter",), ("by pss  name ", END)), (("Escape",), ("grouped by name", END)),
    (("i",), ("Esc back",)), (("Escape",), ("grouped by name", END)),
    (("g",) * 6, ("grouped by cgroup",)), (("g", "t"), ("  tree ", END)),
    (("Down", "Enter"), ("mappings", "Esc back")), (("q", "t"), ("by pss  every", END)),
    (("/", "m", "k"), ("search: mk",)), (("Enter", "/", "Enter"), (END,)),
    (("f", "("), ("has no )",)), (("Escape", "f", "mkmem", "Enter"), ("filter mkmem", END)),
    (("Escape", "f", "no such name", "Enter"), ("no rows", END)), (("Escape",), ("mkmem", END)),
    (("u", "no-such-user", "Enter"), ("there is no such user",)),
    (("o", "Down", "Enter"), ("Columns", "[x] ppid")), (("+", "-", "Enter"), ("[ ] ppid",)), (("q",), (END,)),
    (("c",), ("CMDLINE", END)), (("c", "b"), ("RSS", END)), (("b", "Right"), (END,)), (("Left", "j", "F"), ("following",)),
    (("Escape", "?"), ("Keys",)), (("Down", "PgDn", "End"), ("Ctrl-L",)), (("q",), (END,)),
    (("d", "700x", "Enter"), ("not a number",)), (("d", "0.3", "Enter"), ("every 0.3 s",)),
    (("-", "+", "+"), ("every 1.0 s",)), (("x",), ("changes per second",)), (("x",), ("changes since",)),
    (("n",), ("only",)), (("n", "x", "C-l"), ("by pss  every", END)), (("p",), ("paused",)),
    (("p", "G", "k", "PgUp", "Home"), ("mkmem", END)),
)
LIVE = (
    (("Enter",), ("[heap]", "mappings of")), (("m", "Down", "PgDn", "b"), ("Esc back",)),
    (("p", "p", "q"), (END,)),
)
RECORDED = ((("Enter",), ("recordings do not contain them",)), (("q", ",", "."), ("paused", "snapshot 1 of 1")))


class Session:
    def __init__(self, name, *args):
        self.name = name
        self.log = tempfile.NamedTemporaryFile("r")
        self.tmux = Tmux(("valgrind", "-q", "--log-file=" + self.log.name, "--error-exitcode=%d" % ERROR,
                          "--leak-check=full", "--show-leak-kinds=definite,possible",
                          "--suppressions=%s/valgrind.supp" % HERE, PROGRAM, "top") + args, columns=130, rows=30)

    def see(self, what, *signs):
        screen = self.tmux.until(lambda screen: all(sign in screen for sign in signs))
        result(all(sign in screen for sign in signs), "%s: %s" % (self.name, what), screen)

    def go(self, steps):
        for keys, signs in steps:
            for key in keys:
                self.tmux.keys(key)
            self.see("keys " + " ".join(keys), *signs)

    def resize(self):
        """Resizes every screen, also to sizes in which nothing fits."""
        for key, back in (("Enter", "q"), ("?", "q"), ("o", "q"), ("s", "q"), ("/", "Escape"), ("g", "g"), ("t", "t")):
            self.tmux.keys(key)
            for size in ((1, 1), (3, 2), (200, 1), (1, 50), (250, 60), (130, 30)):
                self.tmux.resize(*size)
            self.tmux.keys(back)
        self.see("other sizes", "mkmem", END)

    def end(self):
        self.tmux.keys("q")
        screen = self.tmux.until(lambda screen: "exit code" in screen)
        # Lines that begin with -- are of system calls and bpf() commands that valgrind does not know.
        said = [line for line in self.log.read().splitlines() if not line.startswith("--")]
        result("exit code 0" in screen, self.name + ": exit code 0", screen)
        result(not said, self.name + ": no error, no lost memory", said)

    def close(self):
        self.tmux.close()
        self.log.close()


def run(name, args, steps):
    session = Session(name, *args)
    try:
        session.see("starts", "mkmem", END)
        session.go(EVERYWHERE + steps)
        session.resize()
        session.end()
    finally:
        session.close()


def check_recorded():
    run("recorded", ("--replay", GUEST), RECORDED)


def check_live():
    if not need("bpf", "live"):
        return
    with subprocess.Popen((MKMEM, "anon", "names", "threads", "clone_vm", "zombie"), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as child:
        pids = mkmem_pids(child).values()
        try:
            run("live", ("-i", "0.5", "-p", ",".join(str(pid) for pid in pids)), LIVE)
            run("from /proc", ("-i", "0.5", "--source", "proc", "-p", ",".join(str(pid) for pid in pids)), LIVE)
        finally:
            child.stdin.close()


run_checks((check_recorded, check_live))
sys.exit(exit_code())
