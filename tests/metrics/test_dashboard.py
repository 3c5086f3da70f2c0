#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The dashboard of src/dist/grafana. A real Prometheus on loopback answers each of its queries. It scrapes a
machine with all values (a golden text), one without values, this one, and one with values that end meanwhile.
A value that was not measured has no sample: a gap, never 0."""

import glob
import json
import math
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import prometheus  # noqa: E402
import golden as golden_files  # noqa: E402
from outcome import PROGRAM, exit_code, need, result  # noqa: E402

ROOT = HERE + "/../.."
DASHBOARD = ROOT + "/src/dist/grafana/zmem-bpf.json"
PLAIN = "text/plain; version=0.0.4; charset=utf-8"
OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"
# Counts since the start; the dashboard shows zmem_collect_missing_processes.
UNUSED = {"zmem_ram_time_seconds", "zmem_collect_errors_total",
          # 0 unless somebody makes cgroups deeper than 64 levels, or tens of thousands.
          "zmem_collect_cgroups_left_out",
          # Values of serve itself, for the rules of src/dist/prometheus.
          "zmem_collections_total", "zmem_collect_failures_total", "zmem_groups_tracked", "zmem_groups_error_bytes",
          "zmem_http_requests_total", "zmem_http_connections", "zmem_oom_kills_watched",
          # Kills without a group: for a rule, which compares it with zmem_oom_kills_total.
          "zmem_kernel_oom_kills_total"}
NEGATIVE = ("residual",)


def golden(name):
    return golden_files.read("%s/tests/golden/%s.txt" % (ROOT, name)).decode()


def live():
    got = subprocess.run([PROGRAM, "-q", "-F", "openmetrics", "-g", "unit", "--pss", "none"], capture_output=True, check=True)
    return OPEN, got.stdout.decode()


def metrics_of(text):
    return set(re.findall(r"^(zmem_\w+)", text, re.M))


def panels_of(dashboard):
    for panel in dashboard["panels"]:
        yield panel
        yield from panel.get("panels", [])


def queries_of(dashboard):
    """(panel, target)"""
    return [(p, t) for p in panels_of(dashboard) for t in p.get("targets", [])]


def fill(expression, host=".+", group=".+"):
    return expression.replace("$host", host).replace("$group", group).replace("$top", "10").replace("$__range", "60s")


def chosen(group):
    """A chosen value as Grafana writes it into a quoted regular expression."""
    return "(%s)" % re.sub(r"[$^*{}\[\]'+?.()|]", r"\\\\\g<0>", group.replace("\\", "\\" * 4))


# ---- without Prometheus ----

def overlaps(a, b):
    a, b = a["gridPos"], b["gridPos"]
    return (a["x"] < b["x"] + b["w"] and b["x"] < a["x"] + a["w"] and
            a["y"] < b["y"] + b["h"] and b["y"] < a["y"] + a["h"])


def check_form(dashboard):
    panels, queries = list(panels_of(dashboard)), queries_of(dashboard)
    ids = [p["id"] for p in panels]
    result(len(set(ids)) == len(ids), "ids of panels are unique")
    wrong = [p["title"] for i, p in enumerate(panels) for q in panels[:i] if overlaps(p, q)]
    result(not wrong, "panels do not overlap", wrong)
    wrong = [p["title"] for p in panels if p["gridPos"]["x"] + p["gridPos"]["w"] > 24]
    result(not wrong, "no panel is wider than the page", wrong)
    wrong = [t["expr"] for p, t in queries if t["datasource"]["uid"] != "${datasource}"]
    result(not wrong, "the data source is a variable", wrong)
    wrong = [t["expr"] for p, t in queries if len(re.findall("zmem_", t["expr"])) != len(re.findall(r'instance=~"\$host"', t["expr"]))]
    result(not wrong, "each metric is limited to the chosen hosts", wrong)
    names = [v["name"] for v in dashboard["templating"]["list"]]
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(dashboard))) - {"__all", "__range"}
    result(used <= set(names), "all used variables are defined", used - set(names))


def check_gaps(dashboard):
    """No query and no panel turns a missing value into a number."""
    text = json.dumps(dashboard)
    wrong = re.findall(r"vector\(|\bor\b on|\) or |absent|scalar\(|\"connected\"|\"null as zero\"|\"spanNulls\": true", text)
    result(not wrong, "no missing value becomes 0", wrong)
    series = [p for p in panels_of(dashboard) if p["type"] == "timeseries"]
    result(len(series) > 10 and all(p["fieldConfig"]["defaults"]["custom"]["spanNulls"] is False for p in series),
           "series are not drawn over gaps")
    shown = [p for p in panels_of(dashboard) if p["type"] != "row"]
    wrong = [p["title"] for p in shown if p["fieldConfig"]["defaults"].get("noValue") not in ("not measured", "-")]
    result(not wrong, "panels without a value say so", wrong)


def check_names(dashboard):
    known = set()
    for path in glob.glob(ROOT + "/tests/golden/prometheus_*.txt"):
        known |= metrics_of(golden(os.path.basename(path)[:-4]))
    used = set(re.findall(r"zmem_\w+", " ".join(t["expr"] for _, t in queries_of(dashboard))))
    result(used <= known, "all metrics of the dashboard exist", used - known)
    result(known - used == UNUSED, "the dashboard shows all metrics but some", (known - used) ^ UNUSED)
    with open(ROOT + "/src/man/zmem-bpf-serve.8", encoding="utf-8") as file:
        documented = set(re.findall(r"\bzmem_\w+", file.read()))
    result(known == documented, "zmem-bpf-serve(8) has the same metrics", known ^ documented)


# ---- with Prometheus ----

def bad_value(panel, target, value):
    unit = panel["fieldConfig"]["defaults"]["unit"]
    negative = any(word in target["expr"] for word in NEGATIVE)
    if not math.isfinite(value) or (value < 0 and not negative):
        return True
    return abs(value) > {"bytes": 2 ** 45, "Bps": 2 ** 40, "percentunit": 1.1, "short": 1e6, "none": 1e5, "s": 1e9}[unit]


def ask(server, panel, target, expression):
    """Queries a point and, if the panel draws lines, a line. Returns the points and what is wrong."""
    points = server.now(expression)
    wrong = [v for _, v in points if bad_value(panel, target, v)]
    # Each line has the labels of its legend.
    called = re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])
    wrong += [word for word in called for labels, _ in points if word not in labels]
    if not target["instant"]:
        lines = server.series(expression, 5)
        wrong += [v for _, line in lines for _, v in line if bad_value(panel, target, v)]
        if points and not lines:
            wrong.append("no line")
    return points, wrong


def check_queries(server, dashboard, host, text):
    """A query has points if the text has all its metrics, and none otherwise."""
    there, answered = metrics_of(text), 0
    for panel, target in queries_of(dashboard):
        name = "%s: %s, %s" % (host, panel["title"], target["refId"])
        try:
            points, wrong = ask(server, panel, target, fill(target["expr"], host))
        except ValueError as error:
            result(False, name, error)
            continue
        missing = set(re.findall(r"zmem_\w+", target["expr"])) - there
        answered += bool(points)
        # A ratio to 0 has no point; this machine may have one. Without partly mapped huge pages, and without hugetlb
        # pages, their columns are 0, else they are read on request: another test may have made the first one.
        either = host == "here" and re.search("> 0|thp_rest|hugetlb_prop", target["expr"])
        result((bool(points) == (not missing) or either) and not wrong, name,
               "%d points, wrong %s, not measured %s: %s" % (len(points), wrong[:3], missing, target["expr"]))
    return answered


def values_of(text, metric):
    """{group: value}, parsed from the text."""
    found = {}
    for labels, value in re.findall(r"^%s\{(.*)\} (\S+)$" % metric, text, re.M):
        group = re.search(r'group="((?:[^"\\]|\\.)*)"', labels).group(1)
        group = re.sub(r"\\(.)", lambda m: "\n" if m.group(1) == "n" else m.group(1), group)
        found[group] = found.get(group, 0) + float(value)
    return found


def target_of(dashboard, title):
    return next(t for p, t in queries_of(dashboard) if p["title"] == title)["expr"]


def check_values(server, dashboard, host, text):
    """The lines of panels equal the values of the text."""
    for title, metric in (("PSS by group", "zmem_group_memory_proportional_bytes"),
                          ("USS by group", "zmem_group_memory_unique_bytes"),
                          ("Freed by group", "zmem_group_freed_bytes"),
                          ("Memory of GPUs", "zmem_group_gpu_bytes"),
                          ("Swap by group", "zmem_group_swap_proportional_bytes"),
                          ("Processes by group", "zmem_group_processes"),
                          ("memory.current and the limit", "zmem_group_memory_current_bytes"),
                          ("Processes without PSS by group", "zmem_group_proportional_missing_processes")):
        got = {labels["group"]: v for labels, v in server.now(fill(target_of(dashboard, title), host))}
        want = values_of(text, metric)
        result(want and got == want, "%s: %s equals the text" % (host, title), (got, want))
    # One group with special characters of regular expressions.
    group = "docker-0123456789ab.scope"
    got = server.now(fill(target_of(dashboard, "PSS by group"), host, chosen(group)))
    result([labels["group"] for labels, _ in got] == [group], host + ": one group", got)


def check_variables(server, dashboard, text):
    lists = {v["name"]: v for v in dashboard["templating"]["list"]}
    metric, label = re.match(r"label_values\((\w+), (\w+)\)", lists["host"]["definition"]).groups()
    got = server.get("label/%s/values" % label, **{"match[]": metric})
    result(set(got) >= {"everything", "nothing", "here"}, "variable host", got)
    selector, label = re.match(r"label_values\((\w+\{.*\}), (\w+)\)", lists["group"]["definition"]).groups()
    got = server.get("label/%s/values" % label, **{"match[]": fill(selector, "everything")})
    result(set(got) == set(values_of(text, "zmem_group_processes")), "variable group", got)


def check_gap(server, dashboard, switch):
    """Lines of values that are no longer measured end; they do not fall to 0."""
    expression = fill(target_of(dashboard, "PSS by group"), "changing")
    before = server.wait_for(expression, bool)
    switch()
    after = server.wait_for(expression, lambda a: a == [])
    result(before and after == [], "lost values: no points at once", (before, after))
    lines = server.series(expression, 60)
    # A group that shares its memory with another one has 0 all the time.
    result(lines and all(v > 0 or not any(v for _, v in line) for _, line in lines for _, v in line) and
           any(v > 0 for _, line in lines for _, v in line), "lost values: their line ends above 0", lines)
    alive = server.now('up{instance="changing"}')
    result(len(alive) == 1 and alive[0][1] == 1, "lost values: the machine is still up", alive)


def check_server(program, dashboard):
    # As serve has them: the values of a machine, then its own.
    everything = golden("openmetrics_controller").replace("# EOF\n", "") + golden("openmetrics_serve")
    nothing = golden("prometheus_unmeasured")
    changing = [everything]
    here = live()
    exporter = prometheus.Exporter({"everything": lambda: (OPEN, everything), "nothing": lambda: (PLAIN, nothing),
                                    "here": live, "changing": lambda: (OPEN, changing[0])})
    server = prometheus.Prometheus(program, prometheus.of_pages(exporter))
    try:
        up = server.wait_for("count_over_time(up[1m]) >= 3 and up == 1", lambda a: len(a) == 4)
        result(up and len(up) == 4, "Prometheus scrapes both texts", up)
        check_variables(server, dashboard, everything)
        for host, text in (("everything", everything), ("nothing", nothing), ("here", here[1])):
            answered = check_queries(server, dashboard, host, text)
            if host == "everything":
                result(answered == len(queries_of(dashboard)), "a machine with all values: all queries answer", answered)
        check_values(server, dashboard, "everything", everything)
        check_gap(server, dashboard, lambda: changing.__setitem__(0, golden("openmetrics_unmeasured")))
    finally:
        log = server.stop()
        exporter.stop()
    wrong = [line for line in log.splitlines() if "Error on ingesting" in line or "append failed" in line]
    result(not wrong, "Prometheus ingests without errors", wrong)


def main():
    with open(DASHBOARD, encoding="utf-8") as file:
        dashboard = json.load(file)
    check_form(dashboard)
    check_gaps(dashboard)
    check_names(dashboard)
    if need("prometheus", "queries"):
        check_server(prometheus.find("prometheus"), dashboard)
    return exit_code()


sys.exit(main())
