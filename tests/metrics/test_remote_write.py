#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Many machines: a Prometheus of a region and a Prometheus agent, with the shipped configurations, scrape serve and
send by remote write to a third Prometheus. It has the right series of each, no gap after it stood still, and the
end of the series when serve ends."""
# needs: prometheus

import os
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import prometheus  # noqa: E402
from outcome import exit_code, result  # noqa: E402
from serving import Serve  # noqa: E402

REGION, AGENT = '{region="north"}', '{machine="machine-1"}'
STILL = 4


def check_region(receiver):
    top = receiver.wait_for("instance_group:zmem_pss_swap_top:bytes" + REGION, lambda a: len(a) > 2)
    groups = {labels.get("group") for labels, _ in top}
    result(2 < len(top) <= 10 and "other" not in groups, "region: at most ten groups arrive", top)
    whole = receiver.wait_for("instance:zmem_pss_swap:bytes" + REGION, lambda a: a)
    result(whole and whole[0][1] > 0 and {"instance", "job"} <= set(whole[0][0]), "region: the sum of a machine arrives", whole)
    up = receiver.wait_for("up" + REGION, lambda a: [v for _, v in a] == [1])
    result([v for _, v in up] == [1], "region: whether a machine answers", up)
    count = receiver.now('count({region="north"})')
    result(count and count[0][1] < 60, "region: some series a machine", count)
    print("# %d series of the machine of the region" % (count[0][1] if count else 0))
    groups = receiver.now('{__name__=~"zmem_group_.*", region="north"}')
    result(groups == [], "region: the series of all groups stay there", groups[:2])


def check_agent(receiver, serve):
    procs = receiver.wait_for("sum(zmem_group_processes%s)" % AGENT, lambda a: a and a[0][1] > 5)
    result(procs and procs[0][1] > 5, "agent: all groups arrive", procs)
    served = {line.split("{")[0].split(" ")[0] for line in serve.get("/metrics").text.split("\n") if line and line[0] != "#"}
    there = receiver.wait_for(AGENT, lambda a: served <= {labels["__name__"] for labels, _ in a}, 15)
    names = {labels["__name__"] for labels, _ in there}
    result(served <= names, "agent: every metric arrives", served - names)


def check_still(receiver, region):
    """While the receiver stands still, the senders keep what they scrape. There is a sample of `up` even of a scrape
    that a busy machine did not answer in a second."""
    began = time.time()
    receiver.process.send_signal(signal.SIGSTOP)
    time.sleep(STILL)  # time itself: the receiver stands still for so long
    resumed = time.time()
    receiver.process.send_signal(signal.SIGCONT)
    for who, series in (("agent", "up" + AGENT), ("region", "up" + REGION)):
        receiver.wait_for("timestamp(%s) > %f" % (series, resumed), lambda a: a)
        times = sample_times(receiver, series)
        result(any(began < t < resumed for t in times), "%s: samples of the time in which the receiver stood still" % who, times)
    here, there = sample_times(region, "up"), sample_times(receiver, "up" + REGION)
    result([t for t in here if t < resumed] == [t for t in there if t < resumed], "region: no sample is lost", (here, there))


def sample_times(server, series):
    """Of the samples themselves: a range selector does not fill gaps."""
    return [t for s in server.get("query", query=series + "[1m]")["result"] for t, _ in s["values"]]


def check_end(receiver, serve):
    serve.stop()
    for who, series in (("agent", "zmem_group_processes" + AGENT), ("region", "zmem_memory_total_bytes" + REGION)):
        result(receiver.wait_for(series, lambda a: not a) == [], "%s: series end with serve" % who)
    down = receiver.wait_for("up", lambda a: [v for _, v in a] == [0, 0])
    result([v for _, v in down] == [0, 0], "both: the machine is down", down)


def main():
    program = prometheus.find("prometheus")
    with Serve("-i", "0.1", "-n", "20") as serve:
        receiver = prometheus.Prometheus(program, "global: {}\n", "--web.enable-remote-write-receiver")
        region = prometheus.Prometheus(program, prometheus.shipped("prometheus-region.yml", serve.port, receiver.port),
                                       "--storage.tsdb.retention.time=1d")
        agent = prometheus.Prometheus(
            program, prometheus.shipped("prometheus-agent.yml", serve.port, receiver.port).replace("  evaluation_interval: 1s\n", ""),
            "--enable-feature=agent", agent=True)
        try:
            check_agent(receiver, serve)
            check_region(receiver)
            check_still(receiver, region)
            check_end(receiver, serve)
        finally:
            logs = [p.stop() for p in (agent, region, receiver)]
        for who, log in zip(("agent", "region"), logs):
            bad = [line for line in log.split("\n") if "level=error" in line]
            result(not bad, "%s: logs no error" % who, bad)
    return exit_code()


sys.exit(main())
