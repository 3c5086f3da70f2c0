#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The page of -F html in headless Chromium: its content, clicks and keys, and what it must not do.

Pages come from $B/pages. Prints how long 5,000 processes take to appear, and asserts no time. With
SCREENSHOTS=DIRECTORY it saves pictures there.
"""
# needs: chromium

import os
import subprocess
import sys
import tempfile

import paths  # noqa: F401
import browser
import check_html
from outcome import O, exit_code, read, result, run_checks, same

PAGES = ("large", "ordinary", "census", "others", "total", "bare", "empty", "hostile", "levels", "recorded", "many",
         "wrong")
PROGRAMS = os.environ.get("B", O + "/obj")


class Session:
    """A browser that opens one page after another."""

    def __init__(self, directory):
        self.directory, self.browser = directory, browser.Browser()
        self.text, self.texts, self.picture = self.browser.text, self.browser.texts, self.browser.picture

    def open(self, name, width=1280, dark=False, scripts=True):
        self.browser.screen(width, dark=dark, scripts=scripts)
        self.browser.open(os.path.join(self.directory, name + ".html"))

    def check_silent(self, name):
        """Checks that the console is empty and that only the page was requested."""
        same(name + ": the console is empty", self.browser.console, [])
        others = [url for url in self.browser.requests if not url.startswith("file:///")]
        same(name + ": nothing is fetched", others, [])
        same(name + ": except the page", len(self.browser.requests), 1)

    def column(self, number):
        """The visible cells of a column, counted from 1."""
        return self.texts("#table tbody tr:not(.space) > :nth-child(%d)" % number)

    def under(self, head, foot=False):
        """The visible cells below a heading; `foot`: the last of the sums below it."""
        at = [text.split()[0] for text in self.texts("#table thead th")].index(head)
        return self.texts("#table tfoot tr:last-child > *")[at] if foot else self.column(at + 1)

    def choose_column(self, head):
        self.browser.evaluate("[...document.querySelectorAll('#columns label')]"
                              ".find(e => e.textContent === %r).click()" % head)
        self.browser.settle()

    def map_spot(self, across, down):
        """A position on the map: a share of its width, pixels from its top."""
        x, y, w, h = self.browser.place("#map")
        return x - w / 2 + across * w, y - h / 2 + down


def check_large(s):
    s.open("large")
    for entry in ("zmem-shown", "first-contentful-paint"):
        took = s.browser.wait("performance.getEntriesByName(%r)[0]?.startTime" % entry)
        print("5,000 processes: %s after %.0f ms" % (entry, took))
    s.picture("large")
    same("large: the sum", s.texts("#table tfoot th")[0], "sum of 5,000")
    rows = s.browser.evaluate("document.querySelectorAll('#table tbody tr').length")
    result(10 < rows < 120, "large: only visible rows are elements", rows)
    s.browser.evaluate("document.querySelector('#scroller').scrollTop = 1e9")
    s.browser.settle()
    same("large: the last row can be scrolled to", s.browser.evaluate(
        "Math.max(...[...document.querySelectorAll('#table tbody tr[aria-rowindex]')]"
        ".map(e => Number(e.getAttribute('aria-rowindex'))))"), 5001)
    same("large: missing values are last", s.under("PSS")[-1], "–")
    result("denied" in s.browser.evaluate(
        "[...document.querySelectorAll('#table tbody .absent')].pop().title"),
        "large: and says why", "")
    s.browser.click("#table [data-key=pss]")
    same("large: smallest first", s.texts("[aria-sort=ascending]"), ["PSS ↑"])
    result("–" not in s.under("PSS"), "large: missing values are not first", s.under("PSS")[:5])
    s.browser.evaluate("document.querySelector('#scroller').scrollTop = 1e9")
    s.browser.settle()
    same("large: missing values are at the end", s.under("PSS")[-11:].count("–"), 10)
    s.browser.click("#picker summary")
    for head in ("FREED", "HUGETLB"):
        s.choose_column(head)
    s.browser.key("Escape")
    result("–" not in s.under("FREED"), "large: FREED of processes", s.under("FREED")[:5])
    same("large: two FREED have no sum", s.under("FREED", foot=True), "–")
    same("large: huge pages of one process are the sum", s.under("HUGETLB", foot=True), "1.00 MiB")
    s.browser.choose("#group", "user")
    same("large: nor has a group", set(s.under("FREED")), {"–"})
    s.check_silent("large")


def check_head(s):
    s.open("ordinary")
    same("head: the title", s.browser.evaluate("document.title"), "box · zmem-bpf")
    result("<title>box · zmem-bpf</title>" in read(os.path.join(s.directory, "ordinary.html")), "head: the title without scripts")
    s.browser.call("Emulation.setTimezoneOverride", timezoneId="Asia/Kolkata")
    s.open("ordinary")
    result(s.text("#about").endswith(" · 2026-01-01 05:29:59+05:30"), "head: the reader's time", s.text("#about"))
    same("head: and UTC", s.browser.evaluate("document.querySelector('#about').title"), "UTC: 2025-12-31 23:59:59Z")
    s.browser.call("Emulation.setTimezoneOverride", timezoneId="America/St_Johns")
    s.open("ordinary")
    result(s.text("#about").endswith(" · 2025-12-31 20:29:59-03:30"), "head: west of UTC", s.text("#about"))
    s.browser.call("Emulation.setTimezoneOverride", timezoneId="UTC")
    s.open("ordinary")
    result(s.text("#about").endswith(" · 2025-12-31 23:59:59Z"), "head: in UTC", s.text("#about"))
    same("head: pressure", s.text("#pressure"), "Memory pressure: some 1.23 %, full 0.45 %")
    s.open("bare")
    same("head: no pressure where it is not known", s.text("#pressure"), "")
    s.open("large")
    seen = s.browser.evaluate("""[...document.querySelectorAll('#table tbody tr:not(.space)')]
        .filter(e => e.getBoundingClientRect().bottom <= innerHeight).length""")
    result(seen >= 10, "head: processes are seen without scrolling", seen)
    tops = s.browser.evaluate("['page', 'machine', 'table', 'map'].map(id =>"
                              " document.getElementById(id).getBoundingClientRect().top)")
    same("head: the machine comes first, the table and the map below", tops, sorted(tops))
    bottom = s.browser.evaluate("document.querySelector('#map').getBoundingClientRect().top")
    s.browser.click_at(*s.map_spot(0.02, 40))
    y = s.browser.evaluate("document.querySelector('#map').getBoundingClientRect().top + scrollY")
    same("head: the map stays in its place when the table has fewer rows", y, bottom)


CARDS = """[...document.querySelectorAll('#finding-list li')].filter(e => e.getClientRects().length)
    .map(e => [...e.querySelectorAll('b, .level, p + p, code:not([hidden])')].map(part => part.innerText))"""
# Of the texts of cards and of colored numbers: the contrast with what is behind them (WCAG 2.2, relative luminance).
CONTRAST = """(() => {
    const part = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const light = color => color.match(/[\\d.]+/g).slice(0, 3).map(Number).map(part)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = e => /, 0\\)$/.test(getComputedStyle(e).backgroundColor) ? behind(e.parentElement) : getComputedStyle(e).backgroundColor;

    return Math.min(...[...document.querySelectorAll('#findings b, #findings p, #findings code, #findings button, #pressure, .badge, .gauge-head span')]
        .filter(e => e.getClientRects().length).map(e => {
            const [a, b] = [light(getComputedStyle(e).color), light(behind(e))];

            return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        })); })()"""


def check_findings(s):
    s.open("ordinary")
    same("findings: none: no room", s.browser.evaluate(
        "[document.querySelector('#findings').getBoundingClientRect().height, document.querySelector('#machine').getBoundingClientRect().top -"
        " document.querySelector('header').getBoundingClientRect().bottom < 17]"), [0, True])
    same("findings: none: no text", s.text("#findings"), "")
    s.open("levels")
    cards = s.browser.evaluate(CARDS)
    same("findings: one of each level", [card[:2] + card[3:] for card in cards], [
        ["AT ITS LIMIT", "critical", "zmem-bpf cgroups"], ["SWAPPING", "warning", "zmem-bpf top -s swap_pss"],
        ["LOCKED", "hint", "zmem-bpf -s locked"]])
    texts = s.browser.evaluate("JSON.parse(document.querySelector('#data').textContent).findings.map(f => f.text)")
    same("findings: their sentences", ["%s: %s" % (card[0], card[2]) for card in cards], texts)
    result("web.service (300M)" in cards[0][2] and "27.3M a second" in cards[0][2] and "88.00 %" in cards[0][2], "findings: the sentence has the values", cards)
    same("findings: how many", s.text("#finding-count"), "1 critical, 1 warning, 1 hint")
    same("findings: three are shown without a button", s.browser.evaluate("document.querySelector('#finding-more').hidden"), True)
    above = s.browser.evaluate("document.querySelector('#findings').getBoundingClientRect().bottom <="
                               " document.querySelector('#machine').getBoundingClientRect().top")
    same("findings: above the machine", above, True)
    x, y, _, _ = s.browser.place("#finding-list code")
    s.browser.click_at(x, y)
    same("findings: a click selects the command", s.browser.evaluate("getSelection().toString()"), "zmem-bpf cgroups")
    s.check_silent("levels")
    s.open("recorded")
    same("findings: a recording has no commands", s.browser.evaluate(CARDS), [card[:3] for card in cards])
    same("findings: nor its text", ["<code>zmem-bpf" in read(os.path.join(s.directory, name + ".html")) for name in ("levels", "recorded")],
         [True, False])


def check_many(s):
    s.open("many", 420)
    cards = s.browser.evaluate(CARDS)
    same("many: the worst three", [card[:2] for card in cards],
         [["RAM NEARLY FULL", "critical"], ["COMMIT LIMIT", "critical"], ["SWAP NEARLY FULL", "critical"]])
    same("many: the button", [s.text("#finding-more"), s.browser.evaluate("document.querySelector('#finding-more').ariaExpanded")],
         ["4 more", "false"])
    same("many: how many", s.text("#finding-count"), "4 critical, 2 warnings, 1 hint")
    s.browser.evaluate("document.querySelector('#finding-more').focus()")
    s.browser.key("Enter")
    same("many: all of them", [card[1] for card in s.browser.evaluate(CARDS)], ["critical"] * 4 + ["warning"] * 2 + ["hint"])
    same("many: the other button", [s.text("#finding-more"), s.browser.evaluate("document.querySelector('#finding-more').ariaExpanded"),
                                    s.browser.evaluate("document.activeElement.id")], ["Fewer", "true", "finding-more"])
    s.picture("findings-many")
    s.browser.click("#finding-more")
    same("many: three again", [len(s.browser.evaluate(CARDS)), s.text("#finding-more")], [3, "4 more"])
    s.check_silent("many")


def check_colors(s):
    """A title has the color of its level; of numbers, red is at its limit and yellow changes now. All can be read."""
    for dark in (False, True):
        for width in (420, 1280):
            for name in ("levels", "many", "wrong"):
                s.open(name, width, dark)
                s.browser.evaluate("document.querySelector('#finding-more').click()")
                what = "%s at %d, %s" % (name, width, "dark" if dark else "light")
                contrast = s.browser.evaluate(CONTRAST)
                result(contrast >= 4.5, what + ": contrast", contrast)
                same(what + ": fits", s.browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), True)
                over = s.browser.evaluate("[...document.querySelectorAll('#findings *')].filter(e => e.getClientRects().length &&"
                                          " (e.getBoundingClientRect().right > innerWidth || e.scrollWidth > e.clientWidth + 1 && e.clientWidth)).length")
                same(what + ": nothing overflows", over, 0)
                s.picture("findings-%s-%d%s" % (name, width, "-dark" if dark else ""))
        s.open("many", dark=dark)
        s.browser.click("#finding-more")
        color = "(e => e && getComputedStyle(e).color)(document.querySelector(%r))"
        red, yellow, plain, soft = (s.browser.evaluate(color % selector) for selector in (
            "#findings .critical b", "#findings .warning b", "#findings .hint b", "#about"))
        (r, g, b), (y, z, w) = ([int(part) for part in text[4:-1].split(",")] for text in (red, yellow))
        result(r > 1.4 * max(g, b), "red is red", red)
        result(y > 1.2 * w and z > 1.2 * w and g < z, "yellow is yellow", yellow)
        same("a hint is plain", plain, s.browser.evaluate(color % "body"))
        same("at its limit: RAM, swap; it changes now: pressure", [s.browser.evaluate(color % selector) for selector in (
            "#machine .gauge .gauge-head span + span", "#machine .gauge + .gauge .gauge-head span + span", "#pressure")],
             [red, red, yellow])
        s.open("levels", dark=dark)
        same("swap that is read: yellow; RAM: neither", [s.browser.evaluate(color % selector) for selector in (
            "#machine .gauge .gauge-head span + span", "#machine .gauge + .gauge .gauge-head span + span")], [soft, yellow])
        s.browser.evaluate("document.querySelector('#cgroups').open = true")
        same("a cgroup at its limit: red", s.browser.evaluate(color % "#cgroup-list li span:last-of-type"), red)


def check_wrong(s):
    s.open("wrong")
    s.browser.click("#finding-more")
    said = [card[2:] for card in s.browser.evaluate(CARDS)]
    for text, run in (("script><img src=x", "cgroups"), ("</li><script>: 300M of ", "-s swap_ram"), ("<b>", "maps 4000 --by-file")):
        result(any(text in card[0] and card[1] == "zmem-bpf " + run for card in said), "hostile findings: %s is text" % text, said)
    same("hostile findings: no elements", s.browser.evaluate("document.querySelectorAll('#findings :not(p, ul, li, b, span, code, button)').length"), 0)
    same("hostile findings: nothing turns the direction", [c for card in said for text in card for c in text if c in "\u202e\u0000"], [])
    s.check_silent("hostile findings")
    s.open("levels")
    nodes = s.browser.call("Accessibility.getFullAXTree")["nodes"]
    named = {(n["role"]["value"], n.get("name", {}).get("value")) for n in nodes if not n.get("ignored")}
    result(("list", "Findings") in named, "findings: a list with a name", named)
    result("status" in {role for role, _ in named}, "findings: their number is read aloud", named)


def check_sorting(s):
    s.open("ordinary")
    same("sort: the order of the document", s.texts("[aria-sort=descending]"), [])
    s.browser.click("#table [data-key=rss]")
    same("sort: largest first", s.texts("[aria-sort=descending]"), ["RSS ↓"])
    same("sort: rows", s.column(1), ["firefox", "vfork-child", "postgres", "systemd"])
    s.browser.click("#table [data-key=rss]")
    same("sort: a second click reverses", s.column(1), ["systemd", "postgres", "firefox", "vfork-child"])
    s.browser.evaluate("document.querySelector('#table [data-key=name]').focus()")
    s.browser.key("Enter")
    same("sort: by keyboard", s.column(1), ["firefox", "postgres", "systemd", "vfork-child"])
    same("sort: focus stays", s.browser.evaluate("document.activeElement.dataset.key"), "name")
    s.browser.click("#table [data-key=pss]")
    same("sort: missing values are last", s.under("PSS")[-1], "–")
    s.browser.click("#table [data-key=pss]")
    same("sort: missing values are last in both orders", s.under("PSS")[-1], "–")
    same("a shared address space counts once", s.under("RSS", foot=True), "1.38 GiB")
    same("a value that only some processes have", s.under("PSS", foot=True), "≥ 1.02 GiB")


def check_groups(s):
    s.open("ordinary")
    s.browser.choose("#group", "user")
    same("group: users", s.column(1), ["alice", "4294967294", "root"])
    same("group: processes", s.column(2), ["2", "1", "1"])
    same("group: counted once", s.under("PSS"), ["975 MiB", "72.0 MiB", "–"])
    s.browser.click("#table [data-key=procs]")
    s.browser.click("#table [data-key=procs]")
    same("group: sorted by their number", s.column(2), ["1", "1", "2"])
    s.browser.choose("#group", "container")
    same("group: processes without one form a group", s.column(1), ["–", "0123456789ab"])
    s.browser.choose("#group", "")
    same("group: switched off", s.column(1)[0], "firefox")


def check_columns(s):
    s.open("ordinary")
    heads = s.texts("#table thead th")
    same("columns: the initial ones", heads, ["NAME", "PID", "USER", "PSS", "%RAM", "USS", "SWAP_PSS", "RSS"])
    s.browser.click("#picker summary")
    s.choose_column("CGROUP")
    same("columns: one added", s.texts("#table thead th")[-1], "CGROUP")
    same("columns: its text", s.under("CGROUP")[1], "/system.slice/docker-0123456789ab.scope")
    s.choose_column("CGROUP")
    s.choose_column("CONTAINER")
    s.browser.key("Escape")
    same("columns: Escape closes", s.browser.evaluate("document.querySelector('#picker').open"), False)
    s.browser.click("#table [data-key=container]")
    for arrow in "↑↓":
        same("columns: sorted " + arrow, s.texts("[aria-sort]"), ["CONTAINER " + arrow])
        same("columns: missing values are last " + arrow, s.under("CONTAINER"),
             ["0123456789ab", "–", "–", "–"])
        s.browser.click("#table [data-key=container]")


def check_search(s):
    s.open("ordinary")
    s.browser.write("#query", "FIRE")
    same("search: sum", s.text("#found"), "1 frame: 1.10 GiB, 94.0 %")
    same("search: rows", s.column(1), ["firefox"])
    same("search: sum of rows", s.texts("#table tfoot th"), ["sum of 1"])
    s.picture("search")
    s.browser.write("#query", "no such")
    same("search: nothing", [s.text("#found"), s.column(1)], ["no frame matches", []])
    s.browser.write("#query", "")
    same("search: all again", [s.text("#found"), len(s.column(1))], ["", 4])
    s.browser.write("#query", "419")
    same("search: a pid", s.column(1), ["postgres"])


def check_zoom(s):
    s.open("ordinary")
    same("map: the description of the top", s.text("#detail"),
         "all: 1.17 GiB, 4 processes (anon 698 MiB, file 175 MiB, shmem 175 MiB, swap 150 MiB)")
    s.browser.move(*s.map_spot(0.3, 40))
    same("map: pointed at", s.text("#detail"), "alice: 1.10 GiB, 94.0 % of all, 2 processes "
         "(anon 650 MiB, file 163 MiB, shmem 163 MiB, swap 150 MiB)")
    same("map: the tip shows it, too", s.text("#tip"), s.text("#detail"))
    s.browser.click_at(*s.map_spot(0.99, 40))
    same("zoom: a frame and its only child are one step", s.texts("#crumbs li"),
         ["all", "4294967294 › docker-0123456789ab.scope › 4194304 postgres"])
    same("zoom: rows", s.column(1), ["postgres"])
    s.browser.evaluate("document.activeElement.blur()")
    s.browser.key("Escape")
    same("zoom: Escape", s.texts("#crumbs li"), ["all"])
    s.browser.click_at(*s.map_spot(0.3, 40))
    same("zoom: a frame with two processes", [s.texts("#crumbs li"), s.column(1)],
         [["all", "alice"], ["firefox", "vfork-child"]])
    s.browser.click_at(*s.map_spot(0.5, 70))
    same("zoom: deeper", s.texts("#crumbs li"), ["all", "alice", "session-3.scope › 812 firefox"])
    same("zoom: deeper: rows", s.column(1), ["firefox"])
    for level in ("user", "program"):
        s.browser.click("#levels [data-key=%s]" % level)
    same("zoom: another level goes", s.texts("#crumbs li"), ["all"])
    for level in ("user", "program"):
        s.browser.click("#levels [data-key=%s]" % level)
    same("zoom: and comes back with the level", s.texts("#crumbs li"), ["all", "alice", "session-3.scope › 812 firefox"])
    s.browser.click("#crumbs li:first-child button")
    same("zoom: crumb", [s.texts("#crumbs li"), len(s.column(1))], [["all"], 4])
    s.browser.click_at(*s.map_spot(0.1, 94))
    same("zoom: a kind is seen in its process", s.texts("#crumbs li")[-1], "session-3.scope › 812 firefox")
    s.browser.click_at(*s.map_spot(0.5, 13))
    same("zoom: a frame above", s.texts("#crumbs li"), ["all"])
    s.browser.evaluate("document.querySelector('#map').focus()")
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        s.browser.key(key)
    same("zoom: by keyboard", s.texts("#crumbs li"), ["all", "alice", "session-3.scope › 812 firefox"])
    s.browser.click("#kinds [data-key=swap]")
    same("zoom: stays when a kind goes", s.texts("#crumbs li"), ["all", "alice", "session-3.scope › 812 firefox"])
    s.browser.click("#crumbs li:first-child button")
    s.check_silent("zoom")


def check_choices(s):
    s.open("ordinary")
    s.browser.click("#views [data-key=treemap]")
    same("treemap", s.browser.evaluate("document.querySelector('#views [aria-pressed=true]').innerText"),
         "Treemap")
    s.picture("treemap")
    s.browser.click_at(*s.map_spot(0.3, 200))
    result(len(s.texts("#crumbs li")) > 2, "treemap: a click zooms", s.texts("#crumbs li"))
    s.browser.click("#crumbs li:first-child button")
    s.browser.click("#levels [data-key=user]")
    s.browser.click("#levels [data-key=container]")
    same("levels: chosen", s.texts("#levels [aria-pressed=true]"),
         ["container", "unit", "program", "process", "kind"])
    s.browser.click("#views [data-key=icicle]")
    s.browser.move(*s.map_spot(0.1, 40))
    same("levels: the first is the container", s.text("#detail").split(":")[0], "(no container)")
    s.browser.click("#kinds [data-key=anon]")
    s.browser.move(1, 1)
    same("kinds: without anon", s.text("#detail"),
         "all: 499 MiB, 4 processes (file 175 MiB, shmem 175 MiB, swap 150 MiB)")
    for key in ("file", "shmem", "swap"):
        s.browser.click("#kinds [data-key=%s]" % key)
    result("Nothing to draw" in s.text("#detail"), "kinds: none", s.text("#detail"))
    s.check_silent("choices")


def walk(s):
    """What the line below the map of RAM says of the frames from the first one below the top to the last, by keys."""
    said = []
    s.browser.evaluate("document.querySelector('#ram-map').focus()")
    s.browser.key("ArrowDown")
    while s.text("#ram-detail") not in said[-1:]:
        said.append(s.text("#ram-detail"))
        s.browser.key("ArrowRight")
    return said


def check_places(s):
    for width in (400, 700, 900, 1280):
        s.open("census", width)
        same("ram: %d pixels: each part fits its place" % width, s.browser.evaluate(
            "[...document.querySelectorAll('#machine .legend li')].filter(li => li.scrollWidth > li.clientWidth + 1).length"), 0)


def check_ram(s):
    s.open("census")
    same("ram: the map is closed at first", s.browser.evaluate("document.querySelector('#ram').open"), False)
    s.browser.click("#ram summary")
    same("ram: what is counted", s.text("#ram-title"), "Map of RAM by page frame, and what the processes’ sums leave over")
    same("ram: the root", s.text("#ram-detail"), "RAM: 16.0 GiB")
    parts = ["free: 8.00 GiB, 50.0 % of RAM", "anonymous: 4.00 GiB, 25.0 % of RAM",
             "cache: 3.00 GiB, 18.8 % of RAM: of files and block devices, mapped or not",
             "kernel: 1.00 GiB, 6.3 % of RAM: slab, page tables, drivers and others"]
    for layout in ("icicle", "treemap"):
        s.browser.click("#ram-views [data-key=%s]" % layout)
        same("ram: the parts of the bar, " + layout, walk(s), parts)
    same("ram: the bar, and what holds most of each part", s.texts("#machine .gauge:first-child li"),
         ["free8.00 GiB50.0 %", "anonymous memory4.00 GiB25.0 %firefox 650 MiB, postgres 48.0 MiB, systemd 6.00 MiB",
          "page cache3.00 GiB18.8 %not mapped 2.00 GiB, mapped 1.00 GiB", "drivers/unnamed600 MiB3.7 %unnamed kernel pages 600 MiB",
          "kernel424 MiB2.6 %slab 424 MiB"])
    same("ram: the sums", s.text("#machine .gauge:first-child .gauge-head"), "RAM 16.0 GiB\n7.00 GiB used, 6.00 GiB can be freed, 3.00 GiB free")
    s.browser.key("Enter")
    same("ram: zoom by keyboard", s.texts("#ram-crumbs li"), ["RAM", "kernel"])
    same("ram: classes", walk(s), ["kernel › unnamed kernel: 600 MiB, 58.6 % of kernel, 3.7 % of all",
                                   "kernel › slab: 424 MiB, 41.4 % of kernel, 2.6 % of all"])
    s.browser.key("Enter")
    same("ram: caches, which are less than their class", walk(s),
         ["kernel › slab › dentry: 200 MiB, 47.2 % of slab, 1.2 % of all",
          "kernel › slab › <b>�twisted: 100 MiB, 23.6 % of slab, 0.6 % of all"])
    s.browser.key("Escape")
    s.browser.key("ArrowDown")
    s.browser.key("Enter")
    same("ram: parts that overlap have no place", [s.texts("#ram-crumbs li")[-1], walk(s)],
         ["unnamed kernel", ["kernel › unnamed kernel: 600 MiB, 58.6 % of kernel, 3.7 % of all"]])
    s.browser.click("#ram-crumbs li:nth-child(1) button")
    s.browser.click("#ram-views [data-key=icicle]")
    x, y, w, h = s.browser.place("#ram-map")
    s.browser.click_at(x + 0.1 * w, y - h / 2 + 40)
    same("ram: a click zooms", s.texts("#ram-crumbs li"), ["RAM", "anonymous"])
    s.browser.move(x, y - h / 2 + 40)
    same("ram: the tip", s.text("#tip"), parts[1])
    same("ram: the other map stays", s.texts("#crumbs li"), ["all"])
    s.browser.click_at(*s.map_spot(0.3, 40))
    same("ram: and is zoomed by itself", [s.texts("#crumbs li"), s.texts("#ram-crumbs li")], [["all", "alice"], ["RAM", "anonymous"]])
    s.browser.evaluate("document.querySelector('#ram-map').focus()")
    for _ in range(2):
        s.browser.key("Escape")
        same("ram: Escape counts for the map that has the focus", [s.texts("#crumbs li"), s.texts("#ram-crumbs li")],
             [["all", "alice"], ["RAM"]])
    lines = dict(zip(s.texts("#ram-list span:nth-child(1)"), s.texts("#ram-list span:nth-child(2)")))
    same("ram: the list", [lines.get(name) for name in ("free", "slab", "vmalloc", "net rings")], ["8.00 GiB", "424 MiB", "–", None])
    same("ram: why a class was not measured", s.browser.evaluate("document.querySelector('#ram-list .absent').parentNode.title"),
         "the kernel does not tell")
    s.check_silent("ram")
    s.open("ordinary")
    s.browser.click("#ram summary")
    same("ram: by counters", s.text("#ram-title").split(",")[0], "Map of RAM by counters")
    same("ram: parts of the bar by counters", [text.split(",")[0] for text in walk(s)],
         ["cache: 6.07 GiB", "anonymous: 4.00 GiB", "free: 3.00 GiB", "kernel: 1.28 GiB", "not accounted for: 1.03 GiB",
          "hugetlb: 512 MiB", "shared memory: 128 MiB"])
    s.open("bare")
    same("ram: not measured", s.browser.evaluate("document.querySelector('#ram').hidden"), True)


def check_others(s):
    s.open("others")
    same("others: one line", s.texts("#table tfoot th"), ["2 more", "sum of 4"])
    s.browser.click_at(*s.map_spot(0.1, 40))
    s.open("total")
    same("total: only the sum", [s.column(1), s.texts("#table tfoot th")], [[], ["4 more", "sum of 4"]])
    result("1.17 GiB" in s.text("#detail"), "total: the map is not empty", s.text("#detail"))
    s.open("bare")
    same("nothing measured: rows", s.under("PSS"), ["–", "–"])
    result("Nothing to draw" in s.text("#detail"), "nothing measured: the map has a message", "")
    s.check_silent("bare")
    s.open("empty")
    same("empty: rows", [s.column(1), s.texts("#table tfoot th")], [[], ["sum of 0"]])
    s.check_silent("empty")


def check_hostile(s):
    s.open("hostile")
    same("hostile: the title is text", s.browser.evaluate("document.title"),
         "</title><script>��x · zmem-bpf")
    names = s.column(1)
    for name in ("</script><script>document.title='broken'</script>", "<!--<script>",
                 "--><img src=x onerror=document.title='broken'>", "bidi�gpj.exe�x",
                 "tab␉here␍␈", "__proto__", "<script>&amp;</script>"):
        result(name in names, "hostile: %s is text" % name, names)
    for selector, count in (("img, iframe, object, embed, base, form", 0), ("script", 2)):
        same("hostile: elements " + selector, s.browser.evaluate(
            "document.querySelectorAll(%r).length" % selector), count)
    for key in ("name", "unit"):
        s.browser.choose("#group", key)
    s.browser.click("#views [data-key=treemap]")
    s.browser.write("#query", "<script>")
    s.browser.click_at(*s.map_spot(0.5, 100))
    s.picture("hostile")
    # Check that the policy is enforced.
    s.check_silent("hostile")
    s.browser.evaluate("document.body.append(Object.assign(document.createElement('script'),"
                       " {textContent: 'document.title = \"broken\"'}))")
    result(s.browser.evaluate("document.title") != "broken", "the policy refuses other scripts",
           "it ran")


def check_widths(s):
    for width in (360, 1280):
        for dark in (False, True):
            for name in ("ordinary", "large", "hostile", "census"):
                s.open(name, width, dark)
                s.browser.evaluate("document.querySelector('#ram').open = true")
                s.browser.settle()
                what = "%s at %d, %s" % (name, width, "dark" if dark else "light")
                wide = s.browser.evaluate("document.documentElement.scrollWidth")
                result(wide <= width, what + ": fits", "%d wide" % wide)
                over = s.browser.evaluate("""[...document.querySelectorAll(
                    'h1, h2, p, button, .card, .legend li, canvas, input')].filter(e =>
                    !e.closest('.scroller, .menu') && e.getClientRects().length &&
                    e.getBoundingClientRect().right > innerWidth).length""")
                same(what + ": nothing overflows", over, 0)
                ink, ground = s.browser.evaluate("""['color', 'backgroundColor'].map(key =>
                    Number(getComputedStyle(document.body)[key].match(/\\d+/)[0]))""")
                result(ink > ground if dark else ink < ground, what + ": colours", (ink, ground))
                s.check_silent(what)
                s.picture("%s-%d%s" % (name, width, "-dark" if dark else ""))


def check_names(s):
    """Accessible names, as Chromium computes them."""
    s.open("ordinary")
    nodes = s.browser.call("Accessibility.getFullAXTree")["nodes"]
    unnamed = [n["role"]["value"] for n in nodes if not n.get("ignored") and
               n["role"]["value"] in ("button", "searchbox", "textbox", "combobox", "checkbox",
                                      "application", "table", "img", "region", "navigation") and
               not n.get("name", {}).get("value")]
    same("every control has a name", unnamed, [])


def check_noscript(s):
    s.open("hostile", scripts=False)
    shown = s.browser.call("DOMSnapshot.captureSnapshot", computedStyles=[])["strings"]
    text = " ".join(shown)
    result("need JavaScript" in text, "without scripts: a message", text)
    result("23 processes hold" in text and "1.28 MiB" in text, "without scripts: the total", text)
    s.picture("noscript")
    s.open("wrong", scripts=False)
    text = " ".join(s.browser.call("DOMSnapshot.captureSnapshot", computedStyles=[])["strings"])
    for said in ("MAPPINGS: <b>", "ZRAM NEARLY FULL: </li><script>: 300M of ", "LOCKED: 5.00G", "zmem-bpf maps 4000 --by-file"):
        result(said in text, "without scripts: %s" % said, text)


with tempfile.TemporaryDirectory() as directory:
    said = subprocess.run([PROGRAMS + "/pages", directory], stdout=subprocess.PIPE, text=True)
    print(said.stdout.strip())
    same("the pages are written", said.returncode, 0)
    for name in PAGES:
        with open(os.path.join(directory, name + ".html"), encoding="utf-8", newline="") as file:
            same(name + ": a page without active content", check_html.wrong_with(file.read()), [])
    s = Session(directory)
    try:
        run_checks((check_large, check_head, check_findings, check_many, check_colors, check_wrong, check_sorting, check_groups, check_columns, check_search,
                    check_zoom, check_choices, check_places, check_ram, check_others, check_hostile, check_widths,
                    check_names, check_noscript), s)
    finally:
        s.browser.close()
sys.exit(exit_code())
