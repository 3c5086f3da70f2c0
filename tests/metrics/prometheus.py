# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A Prometheus for tests. Installing Debian's package would start a service. If Prometheus is missing, the
package is only unpacked, in the cache of what tests download."""

import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../support")

DIST = os.path.realpath(HERE + "/../../src/dist/prometheus")
# Ignores proxies of the environment: all requests stay on this machine.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def find(program):
    """The path of the program, which is there (support/needs)."""
    path = shutil.which(program)
    if not path:
        got = subprocess.run((HERE + "/../support/unpacked", "prometheus"), capture_output=True, text=True)
        path = got.stdout.strip() + "/usr/bin/" + program
    return path


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Exporter:
    """Serves pages. `pages` has a function for each name, which returns a content type and a text."""

    def __init__(self, pages):
        self.pages = pages
        exporter = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                kind, text = exporter.pages[self.path.lstrip("/")]()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def of_pages(exporter):
    """The configuration that scrapes the pages of an exporter every second, each as an instance of that name."""
    return json.dumps({"global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
                       "scrape_configs": [{"job_name": "zmem", "static_configs": [
                           {"targets": ["127.0.0.1:%d" % exporter.port],
                            "labels": {"instance": name, "__metrics_path__": "/" + name}}
                           for name in exporter.pages]}]})  # JSON is YAML


def shipped(name, port, receiver=9090):
    """A configuration of src/dist/prometheus, with these ports and intervals of a second."""
    with open(DIST + "/" + name) as file:
        text = file.read().replace("19647", str(port)).replace("127.0.0.1:9090", "127.0.0.1:%d" % receiver)
    text = re.sub("scrape_interval: 15s(\n  evaluation_interval: 15s)?", "scrape_interval: 1s\n  evaluation_interval: 1s", text)
    text = re.sub("(- url: .*)", "\\1\n    queue_config: {batch_send_deadline: 500ms}", text)
    return text.replace("scrape_timeout: 10s", "scrape_timeout: 1s")


class Prometheus:
    """A Prometheus with a configuration, beside which the shipped rules are."""

    def __init__(self, program, config, *options, agent=False):
        self.directory = tempfile.mkdtemp(prefix="zmem-prometheus.")
        self.port = free_port()
        for rules in glob.glob(DIST + "/*.rules.yml"):
            shutil.copy(rules, self.directory)
        with open(self.directory + "/config.yml", "w") as file:
            file.write(config)
        self.log = open(self.directory + "/log", "w+")
        self.process = subprocess.Popen(
            [program, "--config.file=" + self.directory + "/config.yml",
             "--storage.%s.path=%s/data" % ("agent" if agent else "tsdb", self.directory),
             "--web.listen-address=127.0.0.1:%d" % self.port, *options],
            stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, cwd=self.directory)

    def get(self, path, **values):
        url = "http://127.0.0.1:%d/api/v1/%s?%s" % (self.port, path, urllib.parse.urlencode(values))
        try:
            with DIRECT.open(url, timeout=10) as answer:
                document = json.load(answer)
        except urllib.error.HTTPError as error:
            raise ValueError("%s: %s" % (values, error.read().decode()[:300])) from error
        return document["data"]

    def now(self, expression):
        """A list of (labels, value)."""
        return [(r["metric"], float(r["value"][1])) for r in self.get("query", query=expression)["result"]]

    def series(self, expression, seconds):
        """A list of (labels, [(time, value)]), a point a second."""
        end = time.time()
        data = self.get("query_range", query=expression, start=end - seconds, end=end, step=1)
        return [(r["metric"], [(float(t), float(v)) for t, v in r["values"]]) for r in data["result"]]

    def wait_for(self, expression, holds, seconds=30):
        """Queries until holds(answer). Returns the last answer."""
        end, answer = time.monotonic() + seconds, None
        while time.monotonic() < end and self.process.poll() is None:
            try:
                answer = self.now(expression)
                if holds(answer):
                    break
            except (OSError, ValueError):
                pass
            time.sleep(0.2)
        return answer

    def stop(self):
        """Stops Prometheus. Returns its log."""
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.seek(0)
        log = self.log.read()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)
        return log
