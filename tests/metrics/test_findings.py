#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The findings of src/model/finding.def: each is in a rule of src/dist/prometheus, in the schemas and in the manual, and
zmem_finding says the same as the key "findings" of JSON."""

import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../support")
from outcome import O, PROGRAM, exit_code, result  # noqa: E402

ROOT = os.path.realpath(HERE + "/../..")
EDIT = os.path.realpath(os.environ.get("B", O + "/obj")) + "/edit_recording"
GUEST = HERE + "/../fixtures/recordings/guest-6.12.zmem"
LEVELS = {"C": "critical", "W": "warning", "H": "hint"}
# Keys without an alert on zmem_finding, and why.
NO_RULE = {
    "grows": "ZmemGroupGrows names the group, and ZmemRamFills tells when RAM is full",
    "thp_partly": "a hint",
    "locked": "a hint",
}


def text_of(name):
    with open(ROOT + "/" + name, encoding="utf-8") as file:
        return file.read()


def table():
    """{key: levels}"""
    rows = re.findall(r'ZMEM_FINDING\(\s*\w+, "(\w+)", ([CWH |]+),', text_of("src/model/finding.def"))
    return {key: {LEVELS[c] for c in levels.split(" | ")} for key, levels in rows}


def alerts():
    """{name: expression}"""
    blocks = re.split(r"\n\s*- (?=alert|record)", text_of("src/dist/prometheus/zmem-bpf.rules.yml"))
    return {block.split("\n")[0][len("alert: "):]: block[block.index("expr:"):re.search(r"\n\s*(?:for|labels):", block).start()]
            for block in blocks if block.startswith("alert: ")}


def matches(matchers, labels):
    """Whether a selector has the series with these labels."""
    for name, how, value in re.findall(r'(\w+)(=~|!~|!=|=)"([^"]*)"', matchers):
        same = labels[name] == value if how in ("=", "!=") else re.fullmatch(value, labels[name]) is not None
        if same != (how in ("=", "=~")):
            return False
    return True


def check_rules(keys):
    rules = {name: re.findall(r"zmem_finding\{([^}]*)\}", expr) for name, expr in alerts().items() if "zmem_finding" in expr}
    result(len(rules) > 1, "rules have zmem_finding", rules)
    covered = {}
    for key, levels in keys.items():
        for level in sorted(levels):
            found = [name for name, selectors in rules.items() if any(matches(s, {"key": key, "level": level}) for s in selectors)]
            covered.setdefault(key, []).extend(found)
            result(len(found) <= 1 and not (found and level == "hint"), "%s, %s: no alert twice, and none of a hint" % (key, level), found)
            result(found or level == "hint" or key in NO_RULE, "%s, %s: has an alert" % (key, level))
    alone = {key for key, found in covered.items() if not found}
    result(alone == set(NO_RULE), "keys without an alert have a reason", alone ^ set(NO_RULE))
    named = set(re.findall(r"Zmem\w+", " ".join(NO_RULE.values())))
    result(named <= set(alerts()), "alerts that say it otherwise exist", named - set(alerts()))


def check_texts(keys):
    with open(O + "/schema/zmem.system.schema.json", encoding="utf-8") as file:
        schema = json.load(file)["definitions"]["finding"]["properties"]
    result(schema["key"]["enum"] == list(keys), "the schema has the keys in their order", schema["key"])
    page = text_of(os.path.relpath(O + "/man/zmem-bpf-findings.7", ROOT))
    result(re.findall(r"^\.It Key\n\.Li (\w+)", page, re.M) == list(keys), "the manual page has the keys in their order")


def run(*args):
    return subprocess.run([PROGRAM, "-q", *args], capture_output=True, check=True).stdout.decode()


def metric_of(text):
    """{(key, level): subjects}"""
    return {(key, level): int(value)
            for key, level, value in re.findall(r'^zmem_finding\{key="(\w+)",level="(\w+)"\} (\d+)$', text, re.M)}


def check_levels(name, found, keys):
    """A key that was measured has a sample for each of its levels."""
    wrong = [key for key in keys if {l for k, l in found if k == key} not in (set(), keys[key])]
    result(found and not wrong and {k for k, _ in found} <= set(keys), name + ": each level of what was measured", wrong or found)


def check_recording(keys, *changes):
    name = " ".join(changes) or "as it is"
    with tempfile.TemporaryDirectory() as directory:
        path = directory + "/changed.zmem"
        subprocess.run([EDIT, "edit", GUEST, path, *changes], check=True)
        found = metric_of(run("--replay", path, "-F", "openmetrics"))
        plain = metric_of(run("--replay", path, "-F", "prometheus", "-g", "user"))
        document = run("--replay", path, "-v", "-J")
        system = run("system", "--replay", path, "-J")
    check_levels(name, found, keys)
    result(found == plain, name + ": both formats and all groups have the same", set(found.items()) ^ set(plain.items()))
    want = {}
    for item in json.loads(document)["findings"]:
        want[item["key"], item["level"]] = want.get((item["key"], item["level"]), 0) + 1
    got = {which: count for which, count in found.items() if count}
    result(got == want, name + ": as many as JSON has", (got, want))
    for what, text in (("zmem.snapshot", document), ("zmem.system", system)):
        valid = subprocess.run([HERE + "/../support/validate_json.py"], input=text.encode(), capture_output=True)
        result(valid.returncode == 0, "%s: %s is valid" % (name, what), valid.stderr.decode())
    return got


def main():
    keys = table()
    result(len(keys) > 20, "the table is read", keys)
    check_rules(keys)
    check_texts(keys)
    result(check_recording(keys) == {}, "a healthy machine has none")
    # The machine has 966 MiB of RAM; the limit of mappings is 65,530.
    for available, level in ((60 << 20, None), (40 << 20, "warning"), (1 << 20, "warning")):
        got = check_recording(keys, "available=%d" % available)
        result(got == ({("ram_full", level): 1} if level else {}), "%d MiB available" % (available >> 20), got)
    for maps, level in ((52423, None), (52424, "warning"), (62252, "warning"), (62253, "critical")):
        got = check_recording(keys, "maps=%d" % maps)
        result(got == ({("maps_limit", level): 1} if level else {}), "%d mappings" % maps, got)
    # This machine, whatever it has.
    check_levels("here", metric_of(run("-F", "openmetrics")), keys)
    return exit_code()


sys.exit(main())
