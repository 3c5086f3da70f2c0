#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""promtool and both parsers of the Prometheus client read -F openmetrics and prometheus. The values equal
those of JSON."""
# needs: python-prometheus_client

import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import prometheus  # noqa: E402
import golden  # noqa: E402
from outcome import O, PROGRAM, exit_code, need, result  # noqa: E402
from prometheus_client import parser as plain_parser  # noqa: E402
from prometheus_client.openmetrics import parser as open_parser  # noqa: E402

TESTS = HERE + "/.."
EDIT = os.path.realpath(os.environ.get("B", O + "/obj")) + "/edit_recording"
GUEST = TESTS + "/fixtures/recordings/guest-6.12.zmem"
SWAP = TESTS + "/fixtures/recordings/swap-6.12.zmem"
COUNTERS = {"zmem_group_memory_proportional_bytes": "pss_bytes",
            "zmem_group_memory_unique_bytes": "uss_bytes",
            "zmem_group_swap_bytes": "swap_bytes",
            "zmem_group_swap_proportional_bytes": "swap_pss_bytes",
            "zmem_group_swap_ram_bytes": "swap_ram_bytes",
            "zmem_group_memory_current_bytes": "mem_current_bytes",
            "zmem_group_memory_limit_bytes": "mem_limit_bytes",
            "zmem_group_memory_nearest_limit_bytes": "nearest_limit_bytes",
            "zmem_group_memory_left_bytes": "mem_left_bytes",
            "zmem_group_memory_high_bytes": "mem_high_bytes",
            "zmem_group_memory_working_set_bytes": "mem_working_set_bytes",
            "zmem_group_memory_swap_bytes": "mem_swap_bytes",
            "zmem_group_memory_swap_limit_bytes": "mem_swap_limit_bytes",
            "zmem_group_memory_zswap_bytes": "mem_zswap_bytes",
            "zmem_group_memory_kernel_bytes": "mem_kernel_bytes",
            "zmem_group_memory_sockets_bytes": "mem_sock_bytes",
            "zmem_group_processes": "procs",
            "zmem_group_proportional_missing_processes": "pss_missing_processes"}
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
MACHINE = ("memory_total", "memory_available", "swap_total", "swap_free", "swap_unattributed",
           "zswap_pool", "zswap_stored")


def run(*args):
    return subprocess.run([PROGRAM, "-q", *args], capture_output=True, check=True).stdout.decode()


def samples(text, is_open):
    """The samples that the client reads, as {(name, labels): value}."""
    read = open_parser if is_open else plain_parser
    series = [line.rsplit(" ", 1)[0] for line in text.split("\n") if line and line[0] != "#"]
    if len(series) != len(set(series)):
        raise ValueError("a series twice")
    found = {}
    for family in read.text_string_to_metric_families(text):
        for s in family.samples:
            found[s.name, tuple(sorted(s.labels.items()))] = s.value
    return found


def units(text):
    return {f.name: f.unit for f in open_parser.text_string_to_metric_families(text)}


def read(name, text, is_open):
    try:
        found = samples(text, is_open)
        result(len(found) > 10, name, "%d samples" % len(found))
        return found
    except Exception as error:
        result(False, name, error)
        return {}


def lint(promtool, name, text):
    got = subprocess.run([promtool, "check", "metrics"], input=text.encode(), capture_output=True)
    said = (got.stdout + got.stderr).decode()
    result(got.returncode == 0 and not said, name, said)


def check_texts(promtool, name, plain, open_text):
    """Both texts have the same samples, except the duration of the collection."""
    if promtool:
        lint(promtool, name + ": promtool accepts the text", plain)
    a = read(name + ": the client reads Prometheus text", plain, False)
    b = read(name + ": the client reads OpenMetrics", open_text, True)
    a.pop(("zmem_collect_duration_seconds", ()), None)
    b.pop(("zmem_collect_duration_seconds", ()), None)
    result(a == b, name + ": both texts have the same samples", sorted(set(a.items()) ^ set(b.items()))[:4])
    wrong = {f: u for f, u in units(open_text).items()
             if u != next((w for w in ("bytes", "seconds", "ratio") if f.endswith("_" + w)), "")}
    result(not wrong, name + ": units", wrong)
    return b


def label_of(group):
    """The label of a name in JSON."""
    if not group:
        return "none"
    group = "".join("\ufffd" if c != "\n" and (unicodedata.category(c) in ("Cc", "Zl", "Zp") or c in BIDI) else c
                    for c in group)
    return group + "_" if re.fullmatch("(other|none)_*", group) else group


def want_of(document):
    """The samples of groups and of the machine that follow from JSON."""
    want = {}
    for group in document["groups"]:
        label = ("group", label_of(group["group"]))
        for metric, key in COUNTERS.items():
            if group.get(key) is not None:
                want[metric, (label,)] = group[key]
        for kind in ("anon", "file", "shmem"):
            if group["rss_%s_bytes" % kind] is not None:
                want["zmem_group_memory_resident_bytes", (label, ("memtype", kind))] = group["rss_%s_bytes" % kind]
    for key in MACHINE:
        if document["system"][key + "_bytes"] is not None:
            want["zmem_%s_bytes" % key, ()] = document["system"][key + "_bytes"]
    system = document["system"]
    for way in ("in", "out"):
        if system["swapped_%s_bytes" % way] is not None:
            want["zmem_swap_%s_bytes_total" % way, ()] = system["swapped_%s_bytes" % way]
    for kind in ("some", "full"):
        if system["psi_%s_total_us" % kind] is not None:
            want["zmem_memory_pressure_%s_seconds_total" % kind, ()] = system["psi_%s_total_us" % kind] / 1e6
    if system["oom_kills"] is not None:
        want["zmem_kernel_oom_kills_total", ()] = system["oom_kills"]
    for device in document["system"]["zram"]:
        for key in ("stored", "compressed", "used"):
            want["zmem_zram_%s_bytes" % key, (("device", device["name"]),)] = device[key + "_bytes"]
    ram = document["system"]["ram"]
    if ram:
        want["zmem_ram_time_seconds", ()] = ram["time_ms"] / 1000
        want["zmem_deleted_cgroups", ()] = ram["deleted_cgroups"]
        want["zmem_deleted_cgroup_bytes", ()] = ram["deleted_cgroup_bytes"]
        for row in ram["classes"]:
            if row["bytes"] is not None:
                want["zmem_ram_bytes", (("class", row["class"]),)] = row["bytes"]
    return want


def check_recording(promtool, key, *options, recording=GUEST):
    name = " ".join((os.path.basename(recording), "by", key) + options)
    args = ("--replay", recording, "-g", key) + options
    found = check_texts(promtool, name, run("-F", "prometheus", *args), run("-F", "openmetrics", *args))
    want = want_of(json.loads(run("-F", "json", *args)))
    names = {metric for metric, _ in want}
    got = {k: v for k, v in found.items()
           if k[0].startswith("zmem_group_") or k[0] in names or "zram" in k[0]}
    result(want and got == want, name + ": equals JSON", sorted(set(got.items()) ^ set(want.items()))[:4])


def main():
    promtool = need("prometheus", "promtool") and prometheus.find("promtool")
    for plain in sorted(glob.glob(TESTS + "/golden/prometheus_*.txt")):
        texts = (golden.read(path).decode() for path in (plain, plain.replace("/prometheus_", "/openmetrics_")))
        check_texts(promtool, "golden " + re.findall("_(.*).txt", plain)[0], *texts)
    for key in ("name", "user", "unit", "container", "cgroup"):
        check_recording(promtool, key)
    # It has PSI and traffic of swap.
    check_recording(promtool, "name", recording=SWAP)
    with tempfile.TemporaryDirectory() as directory:
        no_pss = directory + "/no-pss.zmem"
        subprocess.run([EDIT, "edit", GUEST, no_pss, "pss=none"], check=True)
        check_recording(promtool, "name", recording=no_pss)
    check_recording(promtool, "name", "-f", "mkmem")
    for key in ("name", "user", "unit", "container", "cgroup"):
        text = run("-F", "prometheus", "-g", key)
        if promtool:
            lint(promtool, "this machine by %s: promtool accepts the text" % key, text)
        read("this machine by %s: the client reads OpenMetrics" % key, run("-F", "openmetrics", "-g", key), True)
    # The checks find errors.
    for name, text in (("twice", "# TYPE a gauge\na 1\na 1\n# EOF\n"), ("no end", "# TYPE a gauge\na 1\n"),
                       ("unit", "# TYPE a gauge\n# UNIT a bytes\na 1\n# EOF\n")):
        try:
            samples(text, True)
            result(False, "an error is found: " + name)
        except ValueError:
            result(True, "an error is found: " + name)
    return exit_code()


sys.exit(main())
