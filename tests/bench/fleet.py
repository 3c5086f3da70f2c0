#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fleet.py: what a fleet of exporters costs one Prometheus. 60 programs change their memory; FRAMES times it is
recorded, and `serve --replay` makes a text of each recording. One small server gives these texts on many ports of
loopback, each port another text each time, because 100 serves would need 200 processes. A real Prometheus scrapes
them, FLEET_SCRAPES times (300) every FLEET_INTERVAL_MS (1000): an interval shorter than 15 s gives the samples of a longer
time. Prints its memory, CPU and bytes on disk, and what 10,000 hosts need; asserts nothing.
Root, for BPF. FLEET_RULES=1: with the shipped rules."""

import asyncio
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE + "/../support", HERE + "/../metrics"]
import prometheus  # noqa: E402
from outcome import PROGRAM, see_own_processes_only  # noqa: E402
from serving import Serve  # noqa: E402

SCRAPES = int(os.environ.get("FLEET_SCRAPES", "300"))
INTERVAL_MS = int(os.environ.get("FLEET_INTERVAL_MS", "1000"))
HOSTS = (25, 100)
PROGRAMS, FRAMES, GROUPS = 60, 40, 50
# Of the computed fleet.
FLEET, EVERY = 10000, 15


def tell(name, value, unit):
    print("  %-58s %12.3f %s" % (name, value, unit), flush=True)


# ---- recorded data ----

# A program has other memory after each line that it reads: half of them change between two scrapes.
PROGRAM_TEXT = """
import mmap, random, sys
chance, memory = random.Random(sys.argv[1]), mmap.mmap(-1, 4 << 20, mmap.MAP_PRIVATE)
for line in sys.stdin:
    if chance.random() < 0.5:
        memory.madvise(mmap.MADV_DONTNEED)
        for page in range(chance.randrange(1, 1024)):
            memory[page * 4096] = 1
    print(flush=True)
"""


def make_texts(directory):
    """The answers of serve for FRAMES recordings of these programs."""
    programs, one = [], shutil.copy(os.path.realpath("/usr/bin/python3"), directory + "/python")
    for number in range(PROGRAMS):
        name = "%s/service-%02d" % (directory, number)
        os.link(one, name)
        programs.append(subprocess.Popen([name, "-sSc", PROGRAM_TEXT, str(number)], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, bufsize=0, env={"PYTHONHOME": "/usr"}))
    texts = []
    for frame in range(FRAMES):
        for program in programs:
            program.stdin.write(b"\n")
        for program in programs:
            program.stdout.readline()
        path = "%s/%d.zmem" % (directory, frame)
        subprocess.run([PROGRAM, "-q", "record", path, "-c", "1"], check=True, capture_output=True)
        with Serve("--replay", path, "-g", "name", "-n", str(GROUPS)) as serve:
            texts.append(serve.get("/metrics", Accept="application/openmetrics-text; version=1.0.0").body)
    for program in programs:
        program.stdin.close()
        program.wait()
    return texts


# ---- exporters ----

HEAD = (b"HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"
        b"Content-Length: %d\r\n\r\n")


async def serve_texts(texts, count):
    """Listens on `count` ports and prints them. Ends with its standard input."""
    texts = [HEAD % len(text) + text for text in texts]

    def exporter(number):
        turn = number

        async def handle(reader, writer):
            nonlocal turn
            try:
                while await reader.readuntil(b"\r\n\r\n"):
                    turn += 1
                    writer.write(texts[turn % len(texts)])
                    await writer.drain()
            except (asyncio.IncompleteReadError, ConnectionError):
                writer.close()
        return handle

    servers = [await asyncio.start_server(exporter(7 * n), "127.0.0.1", 0) for n in range(count)]
    print(*(s.sockets[0].getsockname()[1] for s in servers), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)


class Exporters:
    def __init__(self, directory, count):
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--exporters", directory, str(count)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ports = self.process.stdout.readline().split()

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


# ---- Prometheus ----

class Scraper(prometheus.Prometheus):
    """A Prometheus with many targets, at the given interval."""

    def __init__(self, program, ports):
        every = "%dms" % INTERVAL_MS
        config = {"global": {"scrape_interval": every, "scrape_timeout": every, "evaluation_interval": every},
                  "rule_files": ["*.rules.yml"] if os.environ.get("FLEET_RULES") else [],
                  "scrape_configs": [{"job_name": "zmem-bpf", "static_configs": [
                      {"targets": ["127.0.0.1:" + port for port in ports]}]}]}
        super().__init__(program, json.dumps(config), "--web.enable-admin-api")

    def own(self):
        """Its own metrics, summed over labels."""
        with prometheus.DIRECT.open("http://127.0.0.1:%d/metrics" % self.port, timeout=30) as answer:
            lines = answer.read().decode().split("\n")
        values = {}
        for line in lines:
            if line and line[0] != "#":
                name = line.split("{")[0].split(" ")[0]
                values[name] = values.get(name, 0) + float(line.split(" ")[-1])
        return values

    def block(self):
        """Writes all samples as a block. Returns the bytes of its chunks and of its index."""
        request = urllib.request.Request("http://127.0.0.1:%d/api/v1/admin/tsdb/snapshot" % self.port, method="POST")
        with prometheus.DIRECT.open(request, timeout=120) as answer:
            name = json.load(answer)["data"]["name"]
        where = self.directory + "/data/snapshots/" + name
        return (sum(os.path.getsize(p) for p in glob.glob(where + "/*/chunks/*")),
                sum(os.path.getsize(p) for p in glob.glob(where + "/*/index")))

    def peak(self):
        with open("/proc/%d/status" % self.process.pid) as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))


SAMPLES = "prometheus_tsdb_head_samples_appended_total"


def scrape(program, directory, hosts):
    """One Prometheus and these hosts, for SCRAPES scrapes. Returns its values."""
    exporters = Exporters(directory, hosts)
    server = Scraper(program, exporters.ports)
    try:
        server.wait_for("count(up == 1)", lambda a: a and a[0][1] == hosts)
        time.sleep(5)  # time itself: the first scrapes are not measured
        first, began = server.own(), time.monotonic()
        while time.monotonic() - began < SCRAPES * INTERVAL_MS / 1000:
            time.sleep(1)  # time itself: what is measured
        last, seconds = server.own(), time.monotonic() - began
        found = {"series": last["prometheus_tsdb_head_series"],
                 "samples": last[SAMPLES], "rate": (last[SAMPLES] - first[SAMPLES]) / seconds,
                 "cpu": last["process_cpu_seconds_total"] - first["process_cpu_seconds_total"],
                 "resident": last["process_resident_memory_bytes"], "peak": server.peak(),
                 "wal": sum(map(os.path.getsize, glob.glob(server.directory + "/data/wal/0*"))),
                 "rules": sorted(((r["evaluationTime"], r["name"]) for g in server.get("rules")["groups"] for r in g["rules"]),
                                 reverse=True),
                 "missed": [v for _, v in server.now("sum(1 - avg_over_time(up[1h]))")]}
        found["cpu_per_sample"] = found["cpu"] / (last[SAMPLES] - first[SAMPLES])
        found["chunks"], found["index"] = server.block()
        return found
    finally:
        server.stop()
        exporters.stop()


def print_one(hosts, f):
    print("fleet: %d exporters, a scrape every %g s, %d scrapes" % (hosts, INTERVAL_MS / 1000, SCRAPES))
    tell("%d hosts: series" % hosts, f["series"], "")
    tell("%d hosts: samples a second" % hosts, f["rate"], "/s")
    tell("%d hosts: scrapes that failed" % hosts, f["missed"][0] * SCRAPES, "")
    tell("%d hosts: CPU of Prometheus for a sample" % hosts, 1e6 * f["cpu_per_sample"], "us")
    tell("%d hosts: resident memory" % hosts, f["resident"] / 2 ** 20, "MiB")
    tell("%d hosts: its peak" % hosts, f["peak"] / 2 ** 20, "MiB")
    tell("%d hosts: write-ahead log for a sample" % hosts, f["wal"] / f["samples"], "bytes")
    tell("%d hosts: chunks of a block for a sample" % hosts, f["chunks"] / f["samples"], "bytes")
    tell("%d hosts: index of a block for a series" % hosts, f["index"] / f["series"], "bytes")
    if f["rules"]:
        tell("%d hosts: an evaluation of the rules" % hosts, 1000 * sum(seconds for seconds, _ in f["rules"]), "ms")
        for seconds, name in f["rules"][:3]:
            tell("%d hosts: of which %s" % (hosts, name), 1000 * seconds, "ms")


def print_fleet(few, many):
    """What FLEET hosts need of one Prometheus, or of several together."""
    series = FLEET * many["series"] / HOSTS[-1]
    of_series = (many["peak"] - few["peak"]) / (many["series"] - few["series"])
    base = many["peak"] - of_series * many["series"]
    rate = FLEET * many["rate"] * INTERVAL_MS / 1000 / HOSTS[-1] / EVERY
    block = many["chunks"] / many["samples"]
    index = many["index"] / many["series"] / (7200 / EVERY)  # blocks of two hours; later ones are larger
    print("fleet: %d hosts every %d s, computed from these values" % (FLEET, EVERY))
    tell("series", series / 1e6, "million")
    tell("samples a second", rate / 1000, "thousand")
    tell("peak memory for a series", of_series, "bytes")
    tell("peak memory", (base + of_series * series) / 2 ** 30, "GiB")
    tell("CPU, without rules and queries" if not many["rules"] else "CPU with rules", rate * many["cpu_per_sample"], "CPUs")
    tell("blocks of a day", rate * 86400 * (block + index) / 1e9, "GB")
    tell("write-ahead log of three hours", rate * 3 * 3600 * many["wal"] / many["samples"] / 1e9, "GB")


def main():
    if sys.argv[1:2] == ["--exporters"]:
        texts = []
        for path in sorted(glob.glob(sys.argv[2] + "/*.txt")):
            with open(path, "rb") as file:
                texts.append(file.read())
        asyncio.run(serve_texts(texts, int(sys.argv[3])))
    see_own_processes_only()
    program = prometheus.find("prometheus")
    if not program:
        print("fleet: Prometheus is not available", file=sys.stderr)
        return 1
    directory = tempfile.mkdtemp(prefix="zmem-fleet.")
    try:
        texts = make_texts(directory)
        for number, text in enumerate(texts):
            with open("%s/%02d.txt" % (directory, number), "wb") as file:
                file.write(text)
        lines = [sum(1 for line in text.split(b"\n") if line and line[:1] != b"#") for text in texts]
        print("fleet: %d programs, %d recordings" % (PROGRAMS, FRAMES))
        tell("samples of a scrape", sum(lines) / len(lines), "")
        tell("bytes of a scrape", sum(map(len, texts)) / len(texts), "")
        found = []
        for hosts in HOSTS:
            found.append(scrape(program, directory, hosts))
            print_one(hosts, found[-1])
        print_fleet(*found)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return 0


sys.exit(main())
