#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The page of grow -F html in headless Chromium, of a program with known growth: its table, at each width, and what it says of
its exactness. With
SCREENSHOTS=DIRECTORY it saves pictures there."""
# needs: chromium bpf

import os
import re
import subprocess
import sys
import tempfile

from paths import HERE
import browser
import check_html
from outcome import O, PROGRAM, exit_code, read, run_checks, same

GAP = 8  # pixels between the texts of two cells, at least
# The texts that come closer to the one before them in their row; a cell that is cut ends where its text is.
CLOSE = """[...document.querySelectorAll('#table tr')].flatMap(row => {
    const ends = [...row.children].map(cell => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getBoundingClientRect();
    });
    return ends.slice(1).map((r, i) => [row.children[i + 1].textContent, r.left - ends[i].right])
        .filter(([text, gap]) => text !== '' && gap < %d);
})""" % GAP


def check_table(b, path):
    """The columns are apart, whatever the width; the page is no wider than the window."""
    for width in (1280, 800, 400):
        b.screen(width)
        b.open(path)
        b.picture("growth-%d" % width)
        same("%d pixels: the headings" % width, b.texts("#table thead th"), ["STILL", "GROWTH", "ADDED", "KIND", "CODE"])
        same("%d pixels: the function has a row" % width,
             any(re.match(r"fault \(growlab\.c:\d+\)", text) for text in b.texts("#table tbody td.text")), True)
        same("%d pixels: the columns are apart" % width, b.evaluate(CLOSE), [])
        same("%d pixels: no wider than the window" % width, b.evaluate("document.documentElement.scrollWidth <= innerWidth"),
             True)
    whole = b.text("#detail")
    same("the map has all stacks", bool(re.match(r"all stacks: [0-9.]+ MiB, 100.0 % of all \(anon [0-9.]+ MiB, file ", whole)), True)
    b.click("#orders button:last-child")
    same("from the allocation: the same bytes", b.text("#detail"), whole)
    same("the measures", b.texts("#measures button"), ["growth", "added"])
    same("the console is empty", b.console, [])
    same("nothing is fetched", [url for url in b.requests if not url.startswith("file:///")], [])


def check_exactness(b, directory):
    """Estimates are never called exact, and the map has the total of the table."""
    for sample, badge in ("1", "exact"), ("16K", r"sampled, ± [0-9.]+ [KM]iB"), ("", "exact"):
        path, name = os.path.join(directory, "malloc%s.html" % sample), "--malloc --sample %s" % sample if sample else "no --malloc"
        write_page(path, *(("--malloc", "--sample", sample) if sample else ("--sample", "1")),
                   program=(O + "/malloclab", "churn", "leak_small"))
        b.open(path)
        sampled = badge != "exact"
        same(name + ": the badge", bool(re.fullmatch(badge, b.text("#badge"))) or b.text("#badge"), True)
        same(name + ": the summary", "held is estimated: one sample in " in b.text("#summary"), sampled)
        same(name + ": the headings", b.texts("#table thead th"),
             ["HELD", *(("LEAST", "MOST") if sampled else ()), "ALLOCATED", "GROWTH", "CODE"] if sample
             else ["STILL", "GROWTH", "ADDED", "KIND", "CODE"])
        total = b.texts("#table tfoot td")
        if sample:
            same(name + ": the map has the total", b.text("#detail").split(",")[0], "all stacks: " + total[0])
        same(name + ": the total", total[-1].startswith("total, ") and
             re.fullmatch(r"\d+\.\d+ MiB" if sampled else r"1[01]\.\d MiB", total[0 if sample else 1]) is not None, True)
        same(name + ": the console is empty", b.console, [])


def write_page(path, *args, program):
    said = subprocess.run((PROGRAM, "grow", "-q", *args, "-F", "html", "--output", path, "--", *program), check=False,
                          input=b"go\n", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    same("the page is written", said.returncode, 0)


with tempfile.TemporaryDirectory() as directory:
    path, lab = os.path.join(directory, "growth.html"), os.path.join(directory, "growlab")
    subprocess.run(("gcc", "-D_GNU_SOURCE", "-O2", "-g", "-o", lab, HERE + "/../support/growlab.c", "-lpthread"), check=True)
    write_page(path, "-o", "+line", program=(lab, "fault", "4"))
    same("a page without active content", check_html.wrong_with(read(path)), [])
    with browser.Browser() as b:
        run_checks((check_table,), b, path)
        run_checks((check_exactness,), b, directory)
sys.exit(exit_code())
