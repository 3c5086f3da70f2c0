#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The page of peak -F html in headless Chromium: its curve and its tables, with the keyboard and for a screen reader, at
each width. With SCREENSHOTS=DIRECTORY it saves pictures there."""
# needs: chromium counters

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

import paths  # noqa: F401
import browser
import check_html
from browser import size_text, span_text
from outcome import O, PROGRAM, exit_code, read, run_checks, same

# What is wider than the window, and cannot be scrolled.
WIDE = """[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth && !e.closest('.wide'))
    .map(e => e.outerHTML.slice(0, 80))"""


def names(b, role):
    """What a screen reader says of the elements with this role."""
    nodes = b.call("Accessibility.getFullAXTree")["nodes"]
    return [node["name"]["value"] for node in nodes if node.get("role", {}).get("value") == role]


def check_page(b, path):
    text = read(path)
    page = check_html.Page(text)
    digest = base64.b64encode(hashlib.sha256(page.texts["style"][0].encode()).digest()).decode()
    same("a page without active content", [page.active, page.texts.get("script")], [[], None])
    same("its policy allows its style alone", re.findall(r"[\w-]+-src [^;]*", page.policy),
         ["default-src 'none'", "style-src 'sha256-%s'" % digest, "img-src data:"])
    document = json.loads(page.texts["data"][0])
    peak = document["peak"]
    for width in (1280, 800, 400):
        b.screen(width, dark=width == 800, scripts=False)
        b.open(path)
        b.picture("peak-%d" % width)
        same("%d pixels: no wider than the window" % width, [b.evaluate(WIDE), b.evaluate("document.documentElement.scrollWidth")],
             [[], width])
    when = "%s, %s after the start" % (size_text(peak["rss_bytes"]), span_text(peak["offset_us"]))
    same("the curve has a name", names(b, "image"), ["RSS of all processes over time, the peak: " + when])
    same("and a line under it", b.texts(".ends span")[1], "the peak, dashed: " + when)
    same("one title", b.texts("h1"), [" ".join(document["command"])])
    same("the lines", [line.split("  ")[0] for line in b.text("pre").splitlines() if line[0] != " "], ["peak RSS", "PSS", "time"])
    same("the columns have names", names(b, "columnheader"), b.texts("section > .wide th"))
    same("those that held memory have rows", b.texts("section > .wide td:last-child"),
         [process["name"] for process in peak["processes"]])
    same("with what they held", b.texts("section > .wide td:first-child"),
         [size_text(process["rss_bytes"]) for process in peak["processes"]])


def check_keyboard(b, _):
    b.key("Tab")
    same("the keyboard comes to the table", b.evaluate("document.activeElement.ariaLabel"), "Processes")
    b.key("ArrowRight")
    same("and scrolls it", b.wait("document.activeElement.scrollLeft > 0"), True)
    b.key("Tab")
    same("then to the others", b.text(":focus"), "19 that held nothing then")
    b.key("Enter")
    same("which open", b.evaluate("[...document.querySelectorAll('details td:last-child')].filter(e => e.offsetHeight).length"), 19)
    same("the console is empty", b.console, [])
    same("nothing is fetched", [url for url in b.requests if not url.startswith("file:///")], [])


with tempfile.TemporaryDirectory() as directory:
    path = os.path.join(directory, "peak.html")
    said = subprocess.run((PROGRAM, "peak", "--source", "bpf", "-F", "html", "--output", path, "--", O + "/peaklab", "short"),
                          check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    same("the page is written", said.returncode, 0)
    with browser.Browser() as b:
        run_checks((check_page, check_keyboard), b, path)
sys.exit(exit_code())
