#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The page of files -F html in headless Chromium, beside -J: rows, sums, groups, search, the map. One file has a hostile
name. With SCREENSHOTS=DIRECTORY it saves pictures there."""
# needs: chromium counters

import json
import os
import subprocess
import sys
import tempfile

import paths  # noqa: F401
import browser
import check_html
from outcome import PROGRAM, exit_code, read, run_checks, same

SIZE = 24 << 20


class Page:
    def __init__(self, path):
        self.path, self.browser = path, browser.Browser()
        self.text, self.texts, self.picture = self.browser.text, self.browser.texts, self.browser.picture
        data = read(path).split('<script type="application/json" id="data">')[1].split("</script>")[0]
        self.doc = json.loads(data)

    def open(self, width=1280, dark=False, scripts=True):
        self.browser.screen(width, dark=dark, scripts=scripts)
        self.browser.open(self.path)

    def rows(self):
        """The visible rows: {first cell: the other cells}."""
        return {cells[0]: cells[1:] for cells in self.browser.evaluate(
            "[...document.querySelectorAll('#table tbody tr:not(.space)')].map(r => [...r.children].map(e => e.textContent))")}


def check_rows(page):
    """The table has the rows of the document, the hostile name is text, and nothing is fetched."""
    page.open()
    page.picture("files")
    count = len(page.doc["files"])
    total = page.doc["totals"]["files"]
    same("the count", page.text("#table-count"), "{:,} files".format(count) if count == total else
         "{:,} of {:,} files".format(count, total))
    same("the count of the head", page.text("#summary").startswith("{:,} files of ".format(total)), True)
    unlisted = page.doc["collection"]["not_listed"]
    same("the badge", page.text("#badge"), "not listed, if any: " + ", ".join(unlisted) if unlisted else "✓ complete")
    same("the sum is that of all files", page.texts("#table tfoot th")[-1], "sum of {:,}".format(total))
    same("what is left out", len(page.texts("#table tfoot th")), 1 + (count < total))
    same("the first row", page.texts("#table tbody tr:not(.space) th")[0][:5], "/dev/" if page.doc["files"][0]["path"].startswith("/dev/")
         else page.doc["files"][0]["path"][:5])
    page.browser.choose("#query", "zmem_</script>")
    rows = page.rows()
    name = [text for text in rows if "zmem_</script><b>" in text]
    same("the hostile file: one row", len(rows) == 1 and len(name), 1)
    if name:
        same("its name cannot steer the text", any(ord(c) < 32 or c in "\x7f\u202e" for c in name[0]), False)
        same("its sizes", rows[name[0]][:5], ["24.0 MiB", "0", "24.0 MiB", "tmpfs", "tmpfs"])
    same("the console is empty", page.browser.console, [])
    same("nothing is fetched", [url for url in page.browser.requests if not url.startswith("file:///")], [])


def check_groups(page):
    """Groups have the sums of their files."""
    page.open()
    for key, field in (("kind", "kind"), ("fs", "fs")):
        page.browser.choose("#group", key)
        want = {}
        for file in page.doc["files"]:
            want[file[field]] = want.get(file[field], 0) + 1
        got = {name: int(cells[0].replace(",", "")) for name, cells in page.rows().items()}
        same("groups of one %s: the numbers of files" % key, got, want)
    page.browser.choose("#group", "mount")
    same("groups of mount points", page.rows().get("/dev/shm", ["0", ""])[1] != "", True)
    page.picture("files-groups")
    page.browser.choose("#group", "")
    same("without groups", len(page.texts("#table thead th")) > 6, True)


def check_map(page):
    """A click on the map shows only the files of that directory; Escape leads back."""
    page.open()
    all_files = page.text("#table-count")
    x, y, width, height = page.browser.place("#map")
    page.browser.click_at(x - width / 2 + 5, y - height / 2 + 40)
    page.browser.settle()
    crumbs = page.texts("#crumbs button")
    same("a click: the first mount point", len(crumbs), 2)
    counted = page.text("#table-count")
    same("the table has its files", counted != all_files and crumbs[-1] in counted, True)
    page.picture("files-zoomed")
    page.browser.key("Escape")
    page.browser.settle()
    same("Escape: all files", page.text("#table-count"), all_files)
    page.browser.evaluate("document.querySelector('[data-key=treemap]').click()")
    page.browser.settle()
    page.picture("files-treemap")
    same("the treemap is pressed", page.browser.evaluate("document.querySelector('[data-key=treemap]').getAttribute('aria-pressed')"), "true")


def check_looks(page):
    """Narrow and dark: nothing is wider than the page. Without scripts: the sums."""
    for width in (1280, 800, 400):
        for dark in (False, True):
            page.open(width, dark)
            page.picture("files-%d-%s" % (width, "dark" if dark else "light"))
            same("%d pixels, %s: no wider than the window" % (width, "dark" if dark else "light"),
                 page.browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), True)
    page.open(scripts=False)
    page.picture("files-no-script")
    page.open()


with tempfile.TemporaryDirectory() as directory:
    path = os.path.join(directory, "files.html")
    above = b"/dev/shm/zmem_<"  # a name has no slash
    os.makedirs(above, exist_ok=True)
    hostile = above + b"/script><b>\xff\x1b[31m\xe2\x80\xae"
    try:
        with open(hostile, "wb") as file:
            file.write(b"x" * SIZE)
        said = subprocess.run((PROGRAM, "files", "-F", "html", "--output", path), check=False, stderr=subprocess.PIPE)
        same("the page is written", said.returncode, 0)
    finally:
        os.unlink(hostile)
        os.rmdir(above)
    same("a page without active content", check_html.wrong_with(read(path)), [])
    page = Page(path)
    try:
        run_checks((check_rows, check_groups, check_map, check_looks), page)
    finally:
        page.browser.close()
sys.exit(exit_code())
