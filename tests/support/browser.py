"""A headless Chromium, driven over its debugging protocol, for tests that look at pages as a person does."""

import base64
import itertools
import json
import re
import subprocess
import tempfile
from pathlib import Path

from websockets.sync.client import connect

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-port=0",
)  # fmt: skip
PATIENCE_S = 120  # against hangs only


class Browser:
    """One tab. `console` has what the page complained about, `asked` the addresses it loaded."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            ["chromium", *FLAGS, f"--user-data-dir={self.profile.name}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        lines = iter(self.process.stderr.readline, "")
        address = next(m[1] for line in lines if (m := re.search(r"listening on (ws://\S+)", line)))
        self.socket = connect(address, max_size=None, open_timeout=PATIENCE_S)
        self.numbers, self.session = itertools.count(1), None
        self.console, self.asked, self.loaded = [], [], 0
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        self.process.stderr.close()
        self.profile.cleanup()

    def call(self, method, **params):
        """Send a command and return its result; events on the way are kept."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        self.socket.send(json.dumps(message | ({"sessionId": self.session} if self.session else {})))
        while True:
            found = self._next()
            if found.get("id") == number:
                assert "error" not in found, found
                return found["result"]

    def _next(self):
        found = json.loads(self.socket.recv(PATIENCE_S))
        params = found.get("params", {})
        match found.get("method"):
            case "Runtime.consoleAPICalled" if params["type"] in {"error", "warning", "assert"}:
                self.console.append(" ".join(str(one.get("value", "")) for one in params["args"]))
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                self.console.append(details.get("exception", {}).get("description", details["text"]))
            case "Log.entryAdded" if params["entry"]["level"] in {"error", "warning"}:
                self.console.append(params["entry"]["text"])
            case "Network.requestWillBeSent":
                self.asked.append(params["request"]["url"])
            case "Page.loadEventFired":
                self.loaded += 1
        return found

    def open(self, path, fragment="", size=(1280, 900), *, dark=False):
        """Load a page from the disk and wait until it and its scripts have run."""
        width, height = size
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        address = Path(path).resolve().as_uri() + (f"#{fragment}" if fragment else "")
        for url in ("about:blank", address):  # from the same page, a new fragment alone would load nothing
            self.loaded = 0
            self.call("Page.navigate", url=url)
            while not self.loaded:
                self._next()
        self.run("Promise.resolve(window.ready)")

    def run(self, script):
        """Return the value of an expression in the page, awaited."""
        done = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def texts(self, selector):
        """Return the visible texts of the elements that a selector finds and a person sees."""
        return self.run(
            f"[...document.querySelectorAll({json.dumps(selector)})].filter((e) => e.getClientRects().length)"
            ".map((e) => e.innerText.trim())"
        )

    def click(self, selector):
        """Click the first element that a selector finds."""
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def choose(self, selector, value):
        """Put a value into a field, as a person who types or picks it."""
        self.run(
            f"(() => {{ const field = document.querySelector({json.dumps(selector)});"
            f"field.value = {json.dumps(value)};"
            "for (const kind of ['input', 'change'])"
            "field.dispatchEvent(new Event(kind, {bubbles: true})); })()"
        )

    def address(self):
        """Return the fragment of the page's address."""
        return self.run("decodeURIComponent(location.hash)")

    def overflow(self):
        """Return how many pixels the page can be scrolled sideways."""
        return self.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def screenshot(self, path, *, whole=True):
        """Save a picture of the page."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole, **self._clip(whole))
        Path(path).write_bytes(base64.b64decode(shot["data"]))

    def _clip(self, whole):
        if not whole:
            return {}
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {
            "clip": {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 8000), "scale": 1}
        }
