#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""insert.py PAGE NAME <TEXT: puts TEXT into a Markdown page, between the comments <!-- NAME --> and <!-- end NAME -->."""

import os
import sys


def replaced(page, name, text):
    """The page with the new text. LookupError: it has no such comments."""
    begin, end = "<!-- %s -->\n" % name, "<!-- end %s -->\n" % name
    head, found, rest = page.partition(begin)
    old, closed, tail = rest.partition(end)
    if not found or not closed:
        raise LookupError("no %r" % (begin if not found else end))
    return head + begin + text.rstrip("\n") + "\n" + end + tail


def main():
    path, name = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        page = file.read()
    try:
        page = replaced(page, name, sys.stdin.read())
    except LookupError as error:
        sys.exit("%s: %s" % (path, error))
    aside = path + ".new"
    with open(aside, "w", encoding="utf-8") as file:
        file.write(page)
    os.replace(aside, path)


if __name__ == "__main__":
    main()
