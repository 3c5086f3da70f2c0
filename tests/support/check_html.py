# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that a page of -F html has the values of JSON for the same snapshot, and runs only its own scripts.

The page is read by Python's HTML parser, not by us.
"""

import base64
import hashlib
import html.parser
import json
import re

PAGE_MAX = 64 * 1024
# Keys of JSON without a column: lists, and what tables show only if it is asked for.
NO_COLUMN = ("nodes", "gpu_parts", "app")
RUNS = ("on", "src", "href", "action", "style", "srcdoc")


class Page(html.parser.HTMLParser):
    """The parts of a page: texts of elements by name or id, and active attributes."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.texts, self.active, self.policy, self.open = {}, [], "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policy = attrs["content"]
        self.active += ["%s %s=%r" % (tag, k, v) for k, v in attrs.items()
                        if k.startswith(RUNS) and (tag, k, v) != ("link", "href", "data:,")]
        if tag in ("script", "style", "noscript", "title"):
            self.open.append(attrs.get("id", tag))
            self.texts.setdefault(self.open[-1], []).append("")

    def handle_endtag(self, tag):
        if tag in ("script", "style", "noscript", "title"):
            self.open = self.open[:-1]

    def handle_data(self, data):
        for name in self.open[-1:]:
            self.texts[name][-1] += data


def same(what, got, want):
    return [] if got == want else ["%s: %.200r, not %.200r" % (what, got, want)]


def check_page(text):
    """Returns the errors, and the document."""
    page = Page(text)
    found = ["it could do something: " + what for what in page.active]
    for name in ("script", "style", "noscript", "title", "data"):
        found += same("elements " + name, len(page.texts.get(name, ())), 1)
    policy = dict(part.split(None, 1) for part in page.policy.split("; "))
    for name in ("script", "style"):
        digest = hashlib.sha256(page.texts[name][0].encode()).digest()
        found += same("policy of " + name, policy.get(name + "-src"),
                      "'sha256-%s'" % base64.b64encode(digest).decode())
    found += same("policy", policy.get("default-src"), "'none'")
    data = page.texts["data"][0]
    found += same("markup in the data", [c for c in "<>&" if c in data], [])
    page_alone = re.sub("<noscript>.*?</noscript>", "", text.replace(data, ""), flags=re.S)
    if len(page_alone.encode()) > PAGE_MAX:
        found.append("the page without its data has more than %d bytes" % PAGE_MAX)
    return found, json.loads(data)


def column(document, entry):
    """The values of a column in the form of JSON."""
    values = entry["values"]
    values = values if isinstance(values, list) else [values] * document["rows"]
    if entry["kind"] == "text":
        values = [None if v is None else document["strings"][v] for v in values]
    return values


def check_rows(document, want):
    found = same("rows", document["rows"], len(want["processes"]))
    keys = {}
    for entry in document["columns"]:
        if entry["kind"] == "percent":
            continue
        key = {"bytes": entry["key"] + "_bytes", "time": "start_time_ms"}.get(entry["kind"], entry["key"])
        key = {"mem_wait": "mem_wait_us"}.get(key, key)
        keys[key] = column(document, entry)
    for i, process in enumerate(want["processes"]):
        for key, value in process.items():
            if isinstance(value, bool):
                value = "true" if value else "false"
            # Command lines only on request; their rest and hex only in JSON.
            if not key.endswith("_hex") and not key.startswith("cmdline") and key not in NO_COLUMN:
                found += same("%s of row %d" % (key, i), keys.get(key, ["not there"])[i], value)
    return found


def check_document(document, want):
    found = []
    for key in ("tool", "timestamp", "timestamp_ms", "host", "source", "collection", "system",
                "totals"):
        found += same(key, document[key], want[key])
    # Hints are only in the page.
    found += same("findings", [f for f in document["findings"] if f["level"] != "hint"],
                  [f for f in want["findings"] if f["level"] != "hint"])
    found += check_rows(document, want)
    counted = document["counted"]
    if not isinstance(counted, list):
        counted = [counted] * document["rows"]
    others = document["others"] or {}
    for entry in document["columns"]:
        total = want["totals"].get(entry["key"] + "_bytes")
        if entry["kind"] == "bytes" and total is not None:
            shown = sum(v or 0 for v, c in zip(column(document, entry), counted) if c)
            found += same("sum of " + entry["key"],
                          shown + (others.get(entry["key"] + "_bytes") or 0), total)
    return found


def wrong_with(text, want=None):
    """With a page, and with what it says if it should say the same as that document of JSON."""
    try:
        found, document = check_page(text)
        return found + (check_document(document, want) if want else [])
    except (ValueError, KeyError, IndexError) as error:
        return [repr(error)]
