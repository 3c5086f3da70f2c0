#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The page of incidents in headless Chromium, of two real OOM kills in a small memory cgroup: charts with the kills, a click
on a moment, a kill, the slider. With SCREENSHOTS=DIRECTORY it saves pictures there."""
# needs: chromium bpf cgroups

import json
import os
import subprocess
import sys
import tempfile

import paths  # noqa: F401
import browser
import oom
from outcome import PROGRAM, exit_code, result, run_checks, same

SCREENSHOTS = os.environ.get("SCREENSHOTS")
KILLS = 2
NAME = "eats-%d" % os.getpid()  # no other program has it
FILE = "/dev/shm/zmem-<b>-%d" % os.getpid()


def snapshots(directory):
    """The snapshots of the recording by their time: its totals, and the names of its processes by pid."""
    said = subprocess.run((PROGRAM, "watch", "--replay", directory, "-F", "ndjson", "-q"), stdout=subprocess.PIPE, check=True)
    found, names = {}, {}
    for line in said.stdout.splitlines():
        row = json.loads(line)
        if row["type"] == "process":
            names[row["pid"]] = row["comm"]
        elif row["type"] == "snapshot":
            found[row["timestamp_ms"]] = row["totals"], names
            names = {}
    return found


def text_of(directory, *args):
    """The lines of the text, as on a terminal of any width."""
    return subprocess.run((PROGRAM, "incidents", directory, *args), stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()


class Page:
    def __init__(self, path, directory):
        self.path, self.browser, self.snapshots, self.directory = path, browser.Browser(), snapshots(directory), directory

    def open(self, width=1280, dark=False):
        self.browser.screen(width, dark=dark, scripts=True)
        self.browser.open(self.path)
        self.browser.settle()

    def is_(self, expression):
        return self.browser.evaluate(expression)

    def rows(self):
        return self.is_("[...document.querySelectorAll('#table tbody tr:not(.space) > :first-child')].map(e => e.textContent)")

    def check_moment(self, name):
        """The map and the table are of the chosen moment, and show all of it. Returns the pids of victims: a pid can be
        used again by another program."""
        totals, names = self.snapshots[self.is_("JSON.parse(document.querySelector('#recording').textContent)"
                                               ".moments.find(m => m.timestamp_ms === Number(document.querySelector('#moment').value)).timestamp_ms")]
        bare = totals["pss_bytes"] is None
        keys = ("rss_anon", "rss_file", "rss_shmem", "swap") if bare else ("pss_anon", "pss_file", "pss_shmem", "swap_pss")
        kinds = ((key.split("_")[-1].replace("pss", "swap"), totals[key + "_bytes"]) for key in keys)
        shown = "%d processes (%s)" % (len(names), ", ".join("%s %s" % (kind, browser.size_text(size)) for kind, size in kinds if size))
        detail = self.is_("document.querySelector('#detail').textContent")
        result(detail.endswith(shown), name + ": the map is of that moment", "%r, not %r" % (detail, shown))
        same(name + ": the table is of that moment", self.is_("document.querySelector('#table tfoot th').textContent"),
             "sum of %d" % len(names))
        found = self.is_("JSON.parse(document.querySelector('#recording').textContent)"
                         ".moments.find(m => m.timestamp_ms === Number(document.querySelector('#moment').value)).findings.map(f => f.text.split(': ')[0])")
        same(name + ": what was wrong then, without commands", self.is_(
            "[...document.querySelectorAll('#finding-list li')].map(e => e.querySelector('b').textContent).concat("
            "[...document.querySelectorAll('#finding-list code')].filter(e => e.getClientRects().length).map(e => e.textContent))"), found)
        return {pid for pid, comm in names.items() if comm == NAME}

    def note(self):
        return self.is_("document.querySelector('#past-state').textContent")


def check_events(page, pids):
    page.open()
    same("the console is empty", page.browser.console, [])
    texts = page.is_("[...document.querySelectorAll('#events button')].map(e => e.textContent)")
    # The page and the text are made of the same lines.
    listed = text_of(page.directory)
    result(len(texts) == KILLS and all(str(pid) in text and NAME in text for pid, text in zip(reversed(pids), texts)),
           "the kills, newest first", texts)
    same("the list is that of the text", [page.is_("document.querySelector('#events-heading').textContent.trimEnd()"), *texts],
         listed[:KILLS + 1])
    same("the events come first", page.is_("document.querySelector('header ~ *').textContent.trim().split('\\n')[0]"), "Events")
    same("a mark for each kill in each chart", page.is_("[...document.querySelectorAll('#past svg')]"
         ".map(e => e.querySelectorAll('.kill').length).every(n => n === %d)" % KILLS), True)
    same("the newest kill is chosen", page.is_("[...document.querySelectorAll('#events button')]"
         ".map(e => e.getAttribute('aria-pressed'))"), ["true"] + ["false"] * (KILLS - 1))
    result(NAME in page.rows(), "the victim is in the table", page.rows())
    result("without PSS" in page.note(), "without PSS", page.note())
    result(pids[-1] in page.check_moment("the newest kill"), "the newest kill: its victim")
    same("the map has something", page.is_("document.querySelector('#map').getBoundingClientRect().height > 20"), True)
    title = page.is_("document.querySelector('#past .near title').textContent")
    result(str(pids[0]) in title and NAME in title, "a mark says what was killed", title)
    lines = "[...document.querySelector('#event').children].map(e => e.textContent)"
    shown = page.is_(lines)
    same("the newest kill: the lines of the text", shown, text_of(page.directory, "--at", "event:1"))
    # Of a kill without its line in the kernel's log, which has 10 in 5 s, files are those of the machine.
    files = page.is_("JSON.parse(document.querySelector('#recording').textContent).incidents.events.at(-1).files")
    result(any(f["name"] == FILE and f["resident_bytes"] == 8 << 20 for f in files), "files of shared memory", files)
    result("limit reached: memcg" not in shown[1] or any(line.startswith("  files: %s 8.00 MiB" % FILE) for line in shown),
           "files of shared memory: in words", shown)
    page.is_("document.querySelectorAll('#events button')[1].click()")
    page.browser.settle()
    same("another kill: chosen", page.is_("document.querySelectorAll('#events button')[1].getAttribute('aria-pressed')"), "true")
    result(NAME in page.rows(), "another kill: its victim", page.rows())
    result(pids[0] in page.check_moment("another kill"), "another kill: its pid")
    same("another kill: the lines of the text", page.is_(lines), text_of(page.directory, "--at", "event:2"))
    same("another kill: has the focus", page.is_("document.activeElement.textContent"), texts[1])


def check_moments(page, pids):
    page.open()
    x, y, w, _ = page.browser.place("#past svg")
    before = page.note()
    page.browser.click_at(x - w / 2 + 0.5, y)
    page.browser.settle()
    result(page.note() != before and "without PSS" not in page.note(), "a click shows that moment", page.note())
    same("a click: no kill is chosen", page.is_("document.querySelectorAll('#events [aria-pressed=true]').length"), 0)
    result(NAME not in page.rows() and len(page.rows()) > 2, "a click: the processes of that moment", page.rows())
    result(not page.check_moment("a click"), "a click: no victim yet")
    moments = page.is_("JSON.parse(document.querySelector('#recording').textContent).moments")
    times = [m["timestamp_ms"] for m in moments]
    chosen = times.index(int(page.is_("document.querySelector('#moment').value")))
    # Others may be nearer to the first one than a pixel.
    far, span = (moments[at]["timestamp_ms"] - moments[0]["timestamp_ms"] for at in (chosen, -1))
    result(far * w <= 2 * span, "a click: the first snapshot", (chosen, far, span))
    result(moments[chosen]["totals"]["pss_bytes"] > 0, "a click: it has PSS", moments[chosen]["totals"])
    first = page.note()
    page.is_("(() => { const e = document.querySelector('#moment'); e.value = e.max; e.dispatchEvent(new Event('input')); })()")
    page.browser.settle()
    result(page.note() != first, "the slider shows the last snapshot", page.note())
    page.is_("document.querySelector('#moment').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft'}))")
    page.browser.settle()
    same("a key: the snapshot before", int(page.is_("document.querySelector('#moment').value")), times[-2])
    page.is_("document.querySelector('#moment').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}))")
    page.browser.settle()
    middle = (times[0] + times[-1]) // 2
    page.is_("(() => { const e = document.querySelector('#moment'); e.value = %d; e.dispatchEvent(new Event('input')); })()" % middle)
    page.browser.settle()
    same("the slider goes by time", int(page.is_("document.querySelector('#moment').value")),
         min(times, key=lambda t: abs(t - middle)))
    page.is_("(() => { const e = document.querySelector('#moment'); e.value = e.max; e.dispatchEvent(new Event('input')); })()")
    page.browser.settle()
    left = page.check_moment("the slider")
    result(not left, "the slider: the victims have ended", (left, [m["timestamp_ms"] for m in moments[-4:]]))
    kill = page.is_("Number(document.querySelector('#past .kill').getAttribute('d').slice(1).split(' ')[0]) / 1000")
    x, y, w, _ = page.browser.place("#past svg")
    page.browser.click_at(x - w / 2 + kill * w, y)
    page.browser.settle()
    same("a click on the mark of a kill chooses it", page.is_("document.querySelectorAll('#events [aria-pressed=true]').length"), 1)
    result(pids[0] in page.check_moment("a click on the mark of a kill"), "a click on the mark of a kill: its victim")
    same("nothing is fetched", [url for url in page.browser.requests if not url.startswith("file:///")], [])


def check_widths(page, _pids):
    for width, dark in ((1280, False), (1280, True), (400, False)):
        page.open(width, dark)
        over = page.is_("[...document.querySelectorAll('h1, h2, p, button, .card, .legend li, svg, canvas, input')].filter(e =>"
                        " !e.closest('.scroller, .menu, .events') && e.getClientRects().length &&"
                        " e.getBoundingClientRect().right > innerWidth).length")
        same("%d%s: nothing overflows" % (width, " dark" if dark else ""), over, 0)
        if SCREENSHOTS:
            page.browser.screenshot(os.path.join(SCREENSHOTS, "incidents-%d%s.png" % (width, "-dark" if dark else "")))
    nodes = page.browser.call("Accessibility.getFullAXTree")["nodes"]
    unnamed = [n["role"]["value"] for n in nodes if not n.get("ignored") and
               n["role"]["value"] in ("button", "slider", "combobox", "application", "table", "img") and
               not n.get("name", {}).get("value")]
    same("every control has a name", unnamed, [])


def spoil(kept, other):
    """A copy in which no snapshot can be read; its events are whole."""
    with open(kept, "rb") as file:
        data = bytearray(file.read())
    at = int.from_bytes(data[12:16], "little")
    while data[at:at + 4] == b"PART":
        if data[at + 4] in (1, 2):
            data[at + 40] ^= 255
        at += 32 + int.from_bytes(data[at + 8:at + 12], "little")
    with open(other, "wb") as file:
        file.write(data)


def check_bare(page, pids):
    page.open()
    same("no snapshot: the console is empty", page.browser.console, [])
    same("no snapshot: it says so", page.note(), "no snapshot is readable")
    texts = page.is_("[...document.querySelectorAll('#events button')].map(e => e.textContent)")
    result([pid for pid in reversed(pids) if any(str(pid) in text for text in texts)] == list(reversed(pids)),
           "no snapshot: the kills", texts)
    same("no snapshot: no slider", page.is_("document.querySelector('#moment').getClientRects().length"), 0)
    page.is_("document.querySelectorAll('#events button')[1].click()")
    same("no snapshot: a kill is chosen", page.is_("document.querySelectorAll('#events button')[1].getAttribute('aria-pressed')"), "true")


with tempfile.TemporaryDirectory() as directory, oom.Group("zmem-page") as group:
    kept, path = directory + "/kept.zmem", directory + "/page.html"
    subprocess.run(("sh", "-c", 'echo $$ >"$1/cgroup.procs"; exec head -c 8M /dev/zero >"$0"', FILE, group.path), check=True)
    try:
        pids = oom.record(kept, group, oom.eater(directory, NAME), KILLS)
    finally:
        os.unlink(FILE)
    said = subprocess.run((PROGRAM, "incidents", kept, "-F", "html", "--output", path), check=False)
    same("the page is written", said.returncode, 0)
    page = Page(path, kept)
    spoil(kept, directory + "/bare.zmem")
    subprocess.run((PROGRAM, "incidents", directory + "/bare.zmem", "-F", "html", "--output", directory + "/bare.html", "-q"),
                   check=False)
    try:
        run_checks((check_events, check_moments, check_widths), page, pids)
        page.path = directory + "/bare.html"
        page.browser.forget()
        run_checks((check_bare,), page, pids)
    finally:
        page.browser.close()
sys.exit(exit_code())
