#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Is the standard input safe to show on a terminal?

    printable.py [--color]

Valid UTF-8; no control character but newline, no character that turns the direction of text or cannot
be seen. With --color, bold, dim, reverse, the colours of bars and their end are allowed. Says what is wrong; exit code 1 then.
"""

import re
import sys
import unicodedata

# Default_Ignorable_Code_Point, as far as no category says it.
IGNORABLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
SGR = re.compile("\x1b\\[(?:[0127]|3[12346])m")


def is_hidden(char):
    return (unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
            or IGNORABLE.match(char) is not None)


def main():
    try:
        text = sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        print(error)
        return 1
    if not text:
        print("there is nothing")
        return 1
    if "--color" in sys.argv[1:]:
        text = SGR.sub("", text)
    bad = sorted({char for char in text
                  if char != "\n" and is_hidden(char)})
    if bad:
        print("it holds " + " ".join("U+%04X" % ord(char) for char in bad))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
