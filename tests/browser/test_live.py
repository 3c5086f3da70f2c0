#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The live page of serve in headless Chromium: it refreshes, draws the last hour, sends requests only to
its own server, and is safe with hostile names. With SCREENSHOTS=DIRECTORY it saves pictures there."""
# needs: chromium

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import paths  # noqa: F401
import browser
import oom
from outcome import exit_code, need, result, run_checks, same, wait_until
from serving import Serve

HOSTILE = b"<img src=x onerror=alert(1)>\xe2\x80\xae\xff\n\"&"


READER = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
while True:
    os.lseek(fd, 0, 0)
    while os.read(fd, 1 << 20):
        pass
    print(flush=True)
"""


class Page:
    def __init__(self, serve):
        self.serve, self.browser = serve, browser.Browser()
        self.picture = self.browser.picture

    def open(self, width=1280, dark=False, scripts=True):
        self.browser.screen(width, dark=dark, scripts=scripts)
        self.browser.open("http://127.0.0.1:%d/" % self.serve.port)

    def is_(self, expression):
        return self.browser.evaluate(expression.replace("byId(", "document.getElementById("))

    def wait(self, expression):
        try:
            return self.browser.wait(expression.replace("byId(", "document.getElementById("))
        except EOFError as error:
            state = [self.is_(text) for text in ("document.getElementById('live-state')?.textContent", "document.hidden",
                                                 "document.getElementById('picker')?.open", "document.readyState")]
            raise EOFError("%s: %r, console %r" % (error, state, self.browser.console)) from None

    def refresh(self):
        """Refreshes now, as a new choice of the interval does."""
        self.is_("byId('live-every').dispatchEvent(new Event('change'))")

    def refreshes(self):
        return self.is_("performance.getEntriesByName('zmem-refreshed').length")


def check_refreshing(page):
    b = page.browser
    page.open()
    page.wait("performance.getEntriesByName('zmem-refreshed').length > 0")
    about = page.is_("byId('about').textContent")
    result(page.is_("byId('host').textContent") == os.uname().nodename, "the page shows this host", about)
    same("the title has this host", page.is_("document.title"), os.uname().nodename + " · zmem-bpf")
    if os.path.exists("/proc/pressure/memory"):
        result(re.fullmatch(r"Memory pressure: some \d+\.\d\d %, full \d+\.\d\d %", page.is_("byId('pressure').textContent")),
               "the page shows memory pressure", page.is_("byId('pressure').textContent"))
    tops = page.is_("['machine', 'table', 'history', 'map'].map(id => byId(id).getBoundingClientRect().top)")
    same("the machine comes first, the table, the history and the map below", tops, sorted(tops))
    details = page.is_("byId('ram').innerText")
    result(details.startswith("Map of RAM by page frame"), "RAM is shown by page frame", details)
    shares = page.is_("[...document.querySelectorAll('#machine .gauge')[0].querySelectorAll('li span:last-of-type')].map(e =>"
                      " parseFloat(e.textContent))")
    result(abs(sum(shares) - 100) < 1, "the parts of the bar are all of RAM", shares)
    same("the page shows that it is live", page.is_("byId('live-state').textContent"), "live")
    page.is_("(() => { const e = byId('live-every'); e.value = '2'; e.dispatchEvent(new Event('change')); })()")
    b.write("#query", "zmem")
    page.wait("performance.getEntriesByName('zmem-refreshed').length > 2")
    result(page.is_("byId('about').textContent") != about, "the time advances", about)
    same("typed text stays", page.is_("byId('query').value"), "zmem")
    b.write("#query", "")
    own = {"http://127.0.0.1:%d/%s" % (page.serve.port, path) for path in ("", "page.json", "history.json")}
    asked = {url for url in b.requests if not url.startswith("data:")}
    same("requests only to its own server", asked, own)
    same("the console is empty", b.console, [])


def check_pause(page):
    b = page.browser
    b.click("#live-pause")
    before = page.refreshes()
    page.is_("""(() => {
        window.realFetch = window.fetch;
        window.asked = 0;
        window.fetch = (...what) => { window.asked++; return window.realFetch(...what); };
        setTimeout(() => window.later = true, 3000); })()""")  # it refreshes every 2 seconds
    result(page.is_("byId('live-state').textContent").startswith("paused at "), "the page shows that it is paused")
    same("the button is pressed", page.is_("byId('live-pause').getAttribute('aria-pressed')"), "true")
    page.wait("window.later")
    same("a paused page sends no requests", page.is_("window.asked"), 0)
    page.is_("window.fetch = window.realFetch")
    b.click("#live-pause")
    page.wait("performance.getEntriesByName('zmem-refreshed').length > %d" % before)
    same("the page is live again", page.is_("byId('live-state').textContent"), "live")


def check_history(page):
    b = page.browser
    page.wait("document.querySelectorAll('#history .chart').length >= 3")
    titles = page.is_("[...document.querySelectorAll('#history .chart b')].map(e => e.textContent)")
    result({"RAM used", "PSS of all processes", "Largest groups (PSS and swap)"} <= set(titles), "three charts", titles)
    # A fetch that returns an hour of points, because no test can wait for them.
    page.is_("""(() => {
        const points = [], GiB = 2 ** 30, end = Date.now(), ask = window.fetch;
        window.realFetch = ask;
        for (let i = 0; i < 240; i++)
            points.push({time_ms: end - (239 - i) * 15000, ram_used_bytes: i === 100 ? null : GiB * (1 + i / 240),
                ram_available_bytes: GiB, swap_used_bytes: null, pss_bytes: GiB / 2,
                groups: [{name: 'a', bytes: GiB / 2}, ...(i > 120 ? [{name: '<b>', bytes: i * 1e6}] : [])]});
        window.fetch = (path, how) => path === 'history.json' ?
            Promise.resolve(new Response(JSON.stringify({step_s: 15, points}))) : ask(path, how); })()""")
    page.refresh()
    page.wait("document.querySelectorAll('#history .area').length === 2")
    b.settle()
    path = page.is_("document.querySelector('#history .line').getAttribute('d')")
    same("a line with a gap for missing values", (path.count("M"), path.count("L")), (2, 237))
    result(page.is_("document.querySelectorAll('#history .area').length") == 2, "areas of the groups")
    same("names are text", page.is_("document.querySelectorAll('#history b:not(.gauge-head b)').length"), 0)
    result("min 1.00 GiB, max 2.00 GiB" in page.is_("byId('history').innerText"), "the text of a chart",
           page.is_("byId('history').innerText")[:300])
    bad = page.is_("[...document.querySelectorAll('#history path')].filter(e => /NaN|Infinity|undefined/.test(e.getAttribute('d'))).length")
    same("every value is numeric", bad, 0)
    same("a chart begins an hour ago", page.is_("document.querySelector('#history .span').innerText").split("\n")[0], "an hour ago")
    page.picture("live")
    for width in (390, 1280):
        b.screen(width, dark=width == 390)
        b.settle()
        wide = page.is_("document.documentElement.scrollWidth > innerWidth")
        same("nothing overflows at %d" % width, wide, False)
    page.picture("live-dark")
    page.is_("window.fetch = window.realFetch")
    same("the console is empty", b.console, [])


def check_short_history(page):
    """The axis begins at the first point, also if there is only one."""
    page.is_("""(() => {
        window.realFetch = window.fetch;
        window.count = 1;
        window.fetch = (path, how) => path === 'history.json' ? Promise.resolve(new Response(JSON.stringify({step_s: 15,
            points: [...Array(window.count)].map((_, i) => ({time_ms: Date.now() - (window.count - 1 - i) * 15000,
                ram_used_bytes: 2 ** 30, ram_available_bytes: 2 ** 30, swap_used_bytes: null, pss_bytes: 2 ** 29,
                groups: [{name: 'a', bytes: 2 ** 28}]}))}))) : window.realFetch(path, how); })()""")
    for count, text in ((1, ""), (3, "30 seconds ago"), (21, "5 minutes ago")):
        page.is_("window.count = %d" % count)
        before = page.refreshes()
        page.refresh()
        page.wait("performance.getEntriesByName('zmem-refreshed').length > %d" % before)
        page.browser.settle()
        same("%d points: the axis" % count, page.is_("document.querySelector('#history .span span').textContent"), text)
        for what in ("line", "area"):
            path = page.is_("document.querySelector('#history .%s').getAttribute('d')" % what)
            xs = [float(x) for x in re.findall(r"[ML](\S+) ", path)]
            same("%d points: the %s spans the chart" % (count, what), (min(xs), max(xs)), (0, 1000))
        top = page.is_("document.querySelector('#history .span span:nth-child(2)').textContent")
        same("%d points: the top is near the largest value" % count, top, "top: 1.10 GiB")
    page.is_("window.fetch = window.realFetch")


def check_kills(page):
    """A real OOM kill is marked on the charts, and named."""
    if not need("bpf cgroups", "kills"):
        return
    name = "<b>eats%d&" % (os.getpid() % 100000)  # no other program has it
    with tempfile.TemporaryDirectory() as directory, oom.Group("zmem-live", "8M") as group:
        page.open()
        page.wait("performance.getEntriesByName('zmem-refreshed').length > 0")
        # A fetch that leaves out the kills of other tests.
        page.is_("""(() => {
            window.realFetch = window.fetch;
            window.fetch = async (path, how) => {
                const answer = await window.realFetch(path, how);
                if (path !== 'history.json')
                    return answer;
                const past = await answer.json();
                past.events = past.events.filter(e => e.victim && e.victim.comm === '%s');
                return new Response(JSON.stringify(past));
            }; })()""" % name)
        before = page.refreshes()
        page.refresh()
        page.wait("performance.getEntriesByName('zmem-refreshed').length > %d && document.querySelectorAll('#history svg').length > 2" % before)
        same("no kill: no mark", page.is_("document.querySelectorAll('#history .kill').length"), 0)
        same("no kill: a sentence", page.is_("byId('kills-note').textContent"), "No OOM kill in this time.")
        pids = [group.kill("'%s'" % oom.eater(directory, name)) for _ in range(2)]
        wait_until(lambda: set(pids) <= {
            e["victim"]["pid"] for e in json.loads(page.serve.get("/history.json").text)["events"]})
        page.refresh()
        page.wait("document.querySelectorAll('#history .kill').length > 0")
        marks = page.is_("[...document.querySelectorAll('#history svg')].map(e => e.querySelectorAll('.kill').length)")
        same("each chart has a mark for each kill", marks, [2] * len(marks))
        titles = page.is_("[...document.querySelector('#history svg').querySelectorAll('.near title')].map(e => e.textContent)")
        result(all(any("%s, PID %d, held 7." % (name, pid) in title for title in titles) for pid in pids),
               "a mark says what was killed", titles)
        x, y, w, _ = page.browser.place("#history svg")
        mark = page.is_("Number(document.querySelector('#history .kill').getAttribute('d').slice(1).split(' ')[0]) / 1000")
        under = page.is_("document.elementFromPoint(%f, %f).querySelector('title')?.textContent" % (x - w / 2 + mark * w - 3, y))
        result("PID" in (under or ""), "it is under a pointer near the mark", under)
        lines = page.is_("[...document.querySelectorAll('#kills li')].map(e => e.textContent)")
        result(len(lines) == 2 and all("%s, PID %d, held 7." % (name, pid) in line for pid, line in zip(reversed(pids), lines)),
               "a list of kills, newest first", lines)
        same("names of victims are text", page.is_("document.querySelectorAll('#kills b').length"), 0)
        card = page.wait("[...document.querySelectorAll('#finding-list li')].map(e => e.innerText).find(text => text.startsWith('OOM KILLS'))")
        # Others may be killed beside.
        result(re.search(r"\n([2-9]|\d\d+) processes were killed .*, the last one at \d\d:\d\d: ", card) is not None,
               "a card of the kills", card)
        same("kills: the console is empty", page.browser.console, [])
        page.is_("window.fetch = window.realFetch")
        page.picture("live-kills")


def check_findings(page):
    """A cgroup that reads back what the kernel takes from it gets a card, which is gone when its process is."""
    if not need("cgroups", "findings"):
        return
    # Not in RAM: what the kernel takes must be read again.
    with tempfile.NamedTemporaryFile(dir="/var/tmp") as file, oom.Group("zz-page", "60M") as group:
        for _ in range(100):
            file.write(os.urandom(1 << 20))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        own = "[...document.querySelectorAll('#finding-list li')].find(e => e.textContent.includes('%s'))" % os.path.basename(group.path)
        page.open()
        page.is_("(() => { const e = byId('live-every'); e.value = '2'; e.dispatchEvent(new Event('change')); })()")
        page.wait("performance.getEntriesByName('zmem-refreshed').length > 0")
        same("findings: no card of an empty cgroup", page.is_("%s === undefined" % own), True)
        join = 'echo $$ >%s/cgroup.procs; exec "$@"' % group.path
        reader = subprocess.Popen(("sh", "-c", join, "sh", sys.executable, "-c", READER, file.name), stdout=subprocess.PIPE)
        try:
            for _ in range(3):
                reader.stdout.readline()
            before = page.refreshes()
            page.wait("%s !== undefined" % own)
            # One of them may have been under way.
            result(page.refreshes() - before <= 3, "findings: a card within two refreshes", page.refreshes() - before)
            text = page.is_("%s.innerText" % own)
            result(text.startswith("AT ITS LIMIT") and "(60.0M): it reads back " in text and "zmem-bpf cgroups" in text, "findings: at its limit", text)
            result("critical" in page.is_("byId('finding-count').textContent"), "findings: how many", page.is_("byId('finding-count').textContent"))
            page.is_("(() => { window.kept = %s.querySelector('code'); getSelection().selectAllChildren(window.kept); })()" % own)
            before = page.refreshes()
            page.wait("performance.getEntriesByName('zmem-refreshed').length > %d && %s.innerText !== %s" % (before, own, json.dumps(text)))
            same("findings: what is selected stays", page.is_("[window.kept.isConnected, getSelection().toString()]"), [True, "zmem-bpf cgroups"])
            page.picture("live-findings")
        finally:
            reader.kill()
            reader.wait()
            reader.stdout.close()
        page.wait("%s === undefined" % own)
        same("findings: the console is empty", page.browser.console, [])


def check_unwatched(page):
    """Without its program the page says why there are no kills."""
    with Serve("--source", "proc") as serve:
        other = Page(serve)
        try:
            other.open()
            other.wait("document.querySelector('#kills-note').textContent !== ''")
            same("not watched: a sentence", other.is_("byId('kills-note').textContent"),
                 "OOM kills are not shown: with --source proc no BPF program is loaded")
            result(other.is_("byId('ram-title').textContent").startswith("Map of RAM by counters"), "not watched: RAM by counters",
                   other.is_("byId('ram-title').textContent"))
        finally:
            other.browser.close()


def check_hostile(page):
    directory = tempfile.mkdtemp()
    path = os.fsencode(directory) + b"/" + HOSTILE.replace(b"/", b"_")
    shutil.copy("/bin/sleep", path)
    process = subprocess.Popen([path, b"1000"])
    try:
        page.open()
        page.browser.write("#query", "onerror")
        page.wait("byId('table').textContent.includes('onerror')")
        page.wait("performance.getEntriesByName('zmem-refreshed').length > 0")
        same("names do not become markup", page.is_("document.querySelectorAll('img').length"), 0)
        same("a hostile name: the console is empty", page.browser.console, [])
        json.loads(page.serve.get("/history.json").text)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(directory)


def check_files(page):
    """The page of files: it refreshes, and what was chosen stays. Each page leads to the other."""
    b = page.browser
    same("without --files: no link to files", page.is_("byId('pages').hidden"), True)
    path = "/dev/shm/zmem_live_<img src=x>"
    with Serve("--files") as serve:
        other = Page(serve)
        b = other.browser
        try:
            other.open()
            other.wait("performance.getEntriesByName('zmem-refreshed').length > 0")
            b.click('#pages [href=files]')
            other.wait("document.title !== '' && byId('table-title')?.textContent === 'Files'")
            other.wait("performance.getEntriesByName('zmem-refreshed').length > 0")
            same("the address of the page of files", other.is_("location.pathname"), "/files")
            same("the page of files is live", other.is_("byId('live-state').textContent"), "live")
            b.write("#query", "zmem_live")
            other.is_("(() => { const e = byId('live-every'); e.value = '2'; e.dispatchEvent(new Event('change')); })()")
            with open(path, "wb") as file:
                file.write(b"x" * (32 << 20))
            other.wait("byId('table').textContent.includes('zmem_live')")
            same("a new file comes with a refresh, as text", other.is_("document.querySelectorAll('img').length"), 0)
            same("what was searched stays", other.is_("byId('query').value"), "zmem_live")
            result("32.0 MiB" in other.is_("document.querySelector('#table tbody').innerText"), "its size",
                   other.is_("document.querySelector('#table tbody').innerText"))
            other.picture("live-files")
            os.unlink(path)
            other.wait("!byId('table').textContent.includes('zmem_live')")
            for width in (390, 1280):
                b.screen(width, dark=width == 390)
                b.settle()
                same("files: nothing overflows at %d" % width, other.is_("document.documentElement.scrollWidth > innerWidth"), False)
            other.picture("live-files-all")
            b.click("#live-pause")
            result(other.is_("byId('live-state').textContent").startswith("paused at 20"), "files: the page shows that it is paused")
            asked = {url.split("/")[3] for url in b.requests if not url.startswith("data:")}
            same("files: requests only to its own server", asked, {"", "page.json", "history.json", "files", "files.json"})
            same("files: the console is empty", b.console, [])
            b.click('#pages a')
            other.wait("byId('table-title')?.textContent === 'Processes'")
        finally:
            b.close()
            if os.path.exists(path):
                os.unlink(path)


def check_end(page):
    """The page reports a server that is gone, and notices when it is back."""
    os.kill(page.serve.http_pid(), signal.SIGSTOP)
    page.browser.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    os.kill(page.serve.http_pid(), signal.SIGCONT)
    page.refresh()
    text = page.wait("/not up to date/.test(byId('live-state').textContent) && byId('live-state').textContent")
    result("not up to date since 20" in text, "a server that is gone is reported", text)
    result(page.is_("byId('page').hidden") is False, "the last values stay")
    page.browser.call("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    page.refresh()
    page.wait("byId('live-state').textContent === 'live'")
    result(True, "the return of the server is noticed")


def check_plain(page):
    page.open(scripts=False)
    text = page.is_("document.body.innerText")
    result("PSS" in text and "GiB" in text and "asks this server alone" in text, "without scripts the page shows the total")


with Serve("-i", "0.1") as serving:
    shown = Page(serving)
    try:
        run_checks((check_refreshing, check_pause, check_history, check_short_history, check_kills, check_findings, check_unwatched,
                    check_hostile, check_files, check_end, check_plain), shown)
    finally:
        shown.browser.close()
sys.exit(exit_code())
