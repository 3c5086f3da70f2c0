# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A headless Chromium and one page in it, driven over the DevTools protocol.

The protocol goes through a pipe (--remote-debugging-pipe: file descriptors 3 and 4, each message a
JSON text and a NUL), so it needs no port and no WebSocket. Records the messages on the console and
the network requests of the page.
"""

import base64
import decimal
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from outcome import wait_until

SCREENSHOTS = os.environ.get("SCREENSHOTS")
PATIENCE = 60
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe")
KEYS = {"Escape": 27, "Enter": 13, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37,
        "ArrowRight": 39, "Tab": 9}


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    return None


def size_text(size):
    """Bytes from 1 KiB on, as the page has them."""
    for unit in ("KiB", "MiB", "GiB"):
        size /= 1024
        if size < 1023.5:
            break
    digits = 0 if unit == "KiB" and size == int(size) else 2 if size < 9.995 else 1 if size < 99.95 else 0
    # A half is rounded up: Number.prototype.toFixed() in ECMA-262.
    rounded = decimal.Decimal(size).quantize(decimal.Decimal(1).scaleb(-digits), decimal.ROUND_HALF_UP)
    return "%s %s" % (rounded, unit)


def span_text(us):
    """A span of time below two minutes, as sentences have it (format_span() of write/format.c)."""
    value, unit = (us, "us") if us < 999.5 else (us / 1e3, "ms") if us < 999500 else (us / 1e6, "s")
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    text = "%.*f" % (digits, value)
    return "%s %s" % (text.rstrip("0").rstrip(".") if digits else text, unit)


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp()
        to_read, self.writer = os.pipe()
        self.reader, to_write = os.pipe()
        # The inherited ends must not be numbered 3 or 4 before bash moves them there; dash takes one digit.
        ends = [os.dup(fd) if fd < 10 else fd for fd in (to_read, to_write)]

        self.process = subprocess.Popen(
            ["bash", "-c", 'exec "$@" 3<&%d 4>&%d' % tuple(ends), "bash", find_chromium(), *FLAGS,
             "--user-data-dir=" + self.profile, "about:blank"],
            pass_fds=ends, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        for fd in {to_read, to_write, *ends}:
            os.close(fd)
        self.buffer, self.number, self.session = b"", 0, None
        self.forget()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (OSError, EOFError):
            pass
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.reader)
        os.close(self.writer)
        shutil.rmtree(self.profile, ignore_errors=True)

    def forget(self):
        """Drops the recorded console messages and requests."""
        self.console, self.requests, self.loaded = [], [], False

    def receive(self):
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            if not select.select([self.reader], [], [], max(0, end - time.monotonic()))[0]:
                raise EOFError("the browser does not answer")
            data = os.read(self.reader, 1 << 20)
            if not data:
                raise EOFError("the browser is gone")
            self.buffer += data
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def note(self, event):
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.console.append(str([a.get("value", a.get("description"))
                                     for a in params["args"]]))
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.console.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded":
            self.console.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.writer, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            self.note(answer)

    def screen(self, width, height=900, dark=False, scripts=True):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.scripts = scripts

    def open(self, place):
        """A file, or a URL."""
        self.forget()
        self.call("Page.navigate", url=place if "://" in place else "file://" + os.path.abspath(place))
        end = time.monotonic() + PATIENCE
        while not self.loaded:
            if time.monotonic() > end:
                raise EOFError("the page does not load")
            self.note(self.receive())
        self.settle()

    def settle(self):
        """Waits for two frames, so that changes are drawn."""
        if not self.scripts:
            return
        self.call("Runtime.evaluate", awaitPromise=True, expression="new Promise(done => "
                  "requestAnimationFrame(() => requestAnimationFrame(done)))")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description"))
        return answer["result"].get("value")

    def wait(self, expression):
        """Waits until an expression is true, and returns its value."""
        value = wait_until(lambda: self.evaluate(expression), PATIENCE)
        if not value:
            raise EOFError("never: " + expression)
        return value

    def text(self, selector):
        return self.evaluate("document.querySelector(%s)?.innerText" % json.dumps(selector))

    def texts(self, selector):
        return self.evaluate("[...document.querySelectorAll(%s)].map(e => e.textContent)" % json.dumps(selector))

    def choose(self, selector, value):
        """Sets a field as if by hand."""
        self.evaluate("(() => { const e = document.querySelector(%s); e.value = %s; for (const name of ['input', 'change'])"
                      " e.dispatchEvent(new Event(name)); })()" % (json.dumps(selector), json.dumps(value)))
        self.settle()

    def place(self, selector):
        """Scrolls an element into sight and returns its middle and size."""
        return self.evaluate("""(() => { const e = document.querySelector(%s);
            e.scrollIntoView({block: 'center', inline: 'nearest'});
            const r = e.getBoundingClientRect();
            return [r.x + r.width / 2, r.y + r.height / 2, r.width, r.height]; })()"""
                             % json.dumps(selector))

    def click_at(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, clickCount=1,
                      button="none" if kind == "mouseMoved" else "left")
        self.settle()

    def click(self, selector):
        x, y, _, _ = self.place(selector)
        self.click_at(x, y)

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.settle()

    def key(self, key):
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=KEYS[key])
            if kind == "rawKeyDown" and key == "Enter":
                self.call("Input.dispatchKeyEvent", type="char", text="\r")
        self.settle()

    def write(self, selector, text):
        """Replaces the text of a field."""
        self.evaluate("(() => { const e = document.querySelector(%s); e.focus(); e.select(); })()"
                      % json.dumps(selector))
        if text:
            self.call("Input.insertText", text=text)
        else:
            self.evaluate("document.execCommand('delete')")
        self.settle()

    def picture(self, name):
        if SCREENSHOTS:
            self.screenshot(os.path.join(SCREENSHOTS, name + ".png"))

    def screenshot(self, path, whole=True):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(data["data"]))
