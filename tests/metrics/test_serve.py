#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""zmem-bpf serve and its rules: promtool tests the rules, and a real Prometheus with the shipped
configuration scrapes serve on loopback. Prints how many series and bytes a host has."""
# needs: prometheus

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import prometheus  # noqa: E402
from outcome import PROGRAM, exit_code, result, wait_until  # noqa: E402
from serving import Serve  # noqa: E402

try:
    from prometheus_client import parser as plain_parser
    from prometheus_client.openmetrics import parser as open_parser
except ImportError:
    plain_parser = None

DIST = prometheus.DIST


def check_rules(promtool):
    check = ("check", "config", "--lint=all", "--lint-fatal")
    for what, args in (("the configuration", (*check, DIST + "/prometheus.yml")),
                       ("the configuration of a region", (*check, DIST + "/prometheus-region.yml")),
                       ("the configuration of an agent", (*check, "--agent", DIST + "/prometheus-agent.yml")),
                       ("the rules", ("check", "rules", "--lint=all", "--lint-fatal", DIST + "/zmem-bpf.rules.yml")),
                       ("the rules' tests", ("test", "rules", HERE + "/rules_test.yml"))):
        run = subprocess.run([promtool, *args], capture_output=True)
        result(run.returncode == 0, what, (run.stdout + run.stderr).decode())
    check_collector(promtool)
    check_kubernetes(promtool)
    with open(DIST + "/zmem-bpf.rules.yml") as file, open(HERE + "/rules_test.yml") as tests:
        alerts, tested = set(re.findall(r"alert: (\w+)", file.read())), set(re.findall(r"alertname: (\w+)", tests.read()))
    result(alerts == tested, "each alert has a test", alerts ^ tested)


def check_collector(promtool):
    """The collector's configuration: what it scrapes is Prometheus's own, and its pipeline names what there is."""
    with open(DIST + "/otel-collector.yml") as file:
        text = file.read()
    inner = re.search(r"\n    config:\n((?:      .*\n)+)", text)[1]
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        file.write(textwrap.dedent(inner))
        file.flush()
        run = subprocess.run([promtool, "check", "config", "--lint=all", "--lint-fatal", file.name], capture_output=True)
    result(run.returncode == 0, "the scrapes of the collector", (run.stdout + run.stderr).decode())
    for part in ("receivers", "exporters"):
        there = re.search(r"(?m)^%s:\n((?:  .*\n)+)" % part, text)[1]
        names = re.findall(r"(?m)^  (\w+):", there)
        result(re.findall(r"      %s: \[(.*)\]" % part, text) == [", ".join(names)], "the %s of the collector" % part, names)


def check_kubernetes(promtool):
    """The configuration that the manifest has as a comment."""
    with open(DIST + "/../kubernetes/zmem-bpf.yaml") as file:
        lines = re.search(r"(?m)^#scrape_configs:\n(?:#.*\n)+", file.read())[0]
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        # The promtool of Debian does not know how Kubernetes is asked.
        lines = re.sub(r"kubernetes_sd_configs: .*", "static_configs: [{targets: [localhost:19647]}]", lines)
        file.write(lines.replace("\n#", "\n").lstrip("#").replace("/etc/zmem-bpf/token", os.devnull))
        file.flush()
        run = subprocess.run([promtool, "check", "config", "--lint=all", "--lint-fatal", file.name], capture_output=True)
    result(run.returncode == 0, "the scrapes of the manifest", (run.stdout + run.stderr).decode())


def check_texts(promtool, serve):
    serve.get("/healthz")
    plain = serve.get("/metrics").text
    opened = serve.get("/metrics", Accept="application/openmetrics-text; version=1.0.0").text
    run = subprocess.run([promtool, "check", "metrics"], input=plain.encode(), capture_output=True)
    result(run.returncode == 0 and not run.stderr, "promtool accepts the text", run.stderr)
    for text, read in ((plain, plain_parser), (opened, open_parser)):
        if not read:
            continue
        names = {s.name for f in read.text_string_to_metric_families(text) for s in f.samples}
        result({"zmem_group_processes", "zmem_http_requests_total", "process_cpu_seconds_total",
                "zmem_groups_error_bytes", "zmem_collect_errors_total"} <= names, "the Prometheus client reads the text", names)
    # Metrics of the rules exist; some depend on the machine.
    optional = {"up", "zmem_group_memory_limit_bytes", "zmem_group_memory_nearest_limit_bytes", "zmem_group_memory_left_bytes", "zmem_group_memory_working_set_bytes",
                "zmem_group_memory_charged_bytes", "zmem_group_memory_kernel_bytes", "zmem_group_swap_proportional_bytes", "zmem_swap_unattributed_bytes",
                "zmem_group_memory_pressure_some_ratio", "zmem_group_high_hits_total", "zmem_group_memory_high_bytes", "zmem_group_limit_hits_total",
                "zmem_group_refaults_total", "zmem_group_memory_current_bytes", "zmem_memory_pressure_some_seconds_total", "zmem_memory_pressure_full_seconds_total"}
    with open(DIST + "/zmem-bpf.rules.yml") as file:
        used = set(re.findall(r"(?<![:\w])(?:zmem|process)_[a-z_]+(?![:\w])", re.sub(r"(?m)(summary|record|name):.*", "", file.read())))
    there = {line.split("{")[0].split(" ")[0] for line in plain.split("\n") if line and line[0] != "#"}
    result(used - optional <= there, "the rules use existing metrics", used - optional - there)


def check_scrape(program, serve):
    server = prometheus.Prometheus(program, prometheus.shipped("prometheus.yml", serve.port))
    try:
        up = server.wait_for('up{job="zmem-bpf"}', lambda a: a and a[0][1] == 1)
        result(up and up[0][1] == 1, "Prometheus scrapes serve", up)
        named = server.wait_for("instance_group:zmem_pss_swap:bytes", lambda a: len(a) > 2)
        result(named and len(named) > 2, "the rules record groups", named)
        total = server.now("sum(zmem_group_processes)")
        result(total and total[0][1] > 5, "all processes are in groups", total)
        errors = server.wait_for("zmem_collections_total", lambda a: a and a[0][1] > 3)
        result(errors and errors[0][1] > 3, "each scrape is a collection", errors)
        series = server.now('scrape_samples_scraped{job="zmem-bpf"}')
        post = server.now('scrape_samples_post_metric_relabeling{job="zmem-bpf"}')
        result(series and series == [(series[0][0], post[0][1])], "no sample is dropped", (series, post))
        rules = server.get("rules")["groups"]
        bad = [(r["name"], r.get("lastError")) for g in rules for r in g["rules"] if r["health"] != "ok"]
        result(len(rules) == 1 and not bad, "every rule is evaluated", bad)
        # The series of a program end with the program.
        path = tempfile.mkdtemp() + "/zmem-short-lived"
        shutil.copy("/bin/sleep", path)
        victim = subprocess.Popen([path, "1000"])
        expression = 'zmem_group_processes{group="zmem-short-lived"}'
        came = server.wait_for(expression, lambda a: len(a) == 1)
        victim.kill()
        victim.wait()
        shutil.rmtree(os.path.dirname(path))
        gone = server.wait_for(expression, lambda a: not a)
        result(came and gone == [], "a series begins and ends with its program", (came, gone))
    finally:
        log = server.stop()
    bad = [line for line in log.split("\n") if ("level=error" in line or "level=warn" in line) and "SIGTERM" not in line]
    result(not bad, "Prometheus logs no error or warning", bad)


def print_cost():
    """Prints the series and bytes of 50 groups of a host, which runs 60 programs of different names."""
    directory = tempfile.mkdtemp()
    programs = []
    for i in range(60):
        path = "%s/service-%02d.bin" % (directory, i)
        shutil.copy("/bin/sleep", path)
        programs.append(subprocess.Popen([path, "1000"]))
    wait_until(lambda: all(os.path.basename(os.readlink("/proc/%d/exe" % p.pid)).startswith("service-") for p in programs))
    try:
        with Serve("-n", "50", "-g", "name") as serve:
            text = serve.get("/metrics", Accept="application/openmetrics-text").text
            groups = sum(line.startswith("zmem_group_processes{") for line in text.split("\n"))
            series = sum(1 for line in text.split("\n") if line and line[0] != "#")
            result(groups == 51, "fifty groups and \"other\"", groups)
            print("# %d groups: %d series, %d bytes a scrape" % (groups, series, len(text)))
            print("# 10,000 hosts every 15 s: %.1f million series, %.0f thousand samples and %.1f MB a second" %
                  (series / 100, series * 10000 / 15 / 1000, len(text) * 10000 / 15 / 1e6))
    finally:
        for p in programs:
            p.kill()
            p.wait()
        shutil.rmtree(directory)


def main():
    promtool, program = prometheus.find("promtool"), prometheus.find("prometheus")
    check_rules(promtool)
    with Serve("-i", "0.1") as serve:
        check_texts(promtool, serve)
        check_scrape(program, serve)
        result(serve.stop(signal.SIGTERM) == 0, "SIGTERM: exit code 0")
    print_cost()
    return exit_code()


sys.exit(main())
