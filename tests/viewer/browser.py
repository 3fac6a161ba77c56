"""A headless Chromium that is told what to do by its DevTools protocol, over websockets."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PROGRAM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
OPTIONS = [
    *("--headless", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--disable-background-timer-throttling", "--disable-renderer-backgrounding"),
    *("--no-first-run", "--disable-extensions", "--disable-background-networking"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
PATIENCE = 240.0  # s; without a graphics card the first picture of a page takes long


class Browser:
    """A browser whose pages are told what to do."""

    def __init__(self, folder: Path, size: tuple[int, int] = (800, 500)):
        folder.mkdir(parents=True, exist_ok=True)
        wide, high = size
        more = [f"--user-data-dir={folder}", f"--window-size={wide},{high}"]
        self._process = subprocess.Popen(
            [PROGRAM, *OPTIONS, *more, "--remote-debugging-port=0", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        file = folder / "DevToolsActivePort"
        try:
            text = until(lambda: file.exists() and file.read_text(), PATIENCE, "it starts")
        except BaseException:
            self.close()
            raise
        self._address = f"http://127.0.0.1:{text.split()[0]}/json"

    def new_page(self) -> Page:
        """Another page, empty."""
        request = urllib.request.Request(f"{self._address}/new?about:blank", method="PUT")
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return Page(json.load(answer)["webSocketDebuggerUrl"])

    def close(self) -> None:
        """End the browser."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_) -> None:
        self.close()


class Page:
    """A page. What it asks for and complains of is in lists."""

    def __init__(self, address: str):
        from websockets.sync.client import connect

        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._numbers = itertools.count(1)
        self._socket = connect(address, max_size=None, ping_interval=None)
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.ask(f"{domain}.enable")

    def close(self) -> None:
        """Close the page, as a person closes a tab."""
        with contextlib.suppress(Exception):
            self.ask("Page.close")
        with contextlib.suppress(Exception):
            self._socket.close()

    def ask(self, method: str, **values) -> dict:
        """Send a command and return its answer; events on the way are kept."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": values}))
        while True:
            told = json.loads(self._socket.recv(timeout=PATIENCE))
            if told.get("id") == number:
                assert "error" not in told, f"{method}: {told.get('error')}"
                return told["result"]
            self._keep(told.get("method"), told.get("params", {}))

    def _keep(self, event: str | None, told: dict) -> None:
        if event == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif event == "Network.webSocketCreated":
            self.requests.append(told["url"])
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(told["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled" and told["type"] in ("error", "assert"):
            self.complaints.append(json.dumps(told["args"]))
        elif event == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.complaints.append(json.dumps(told["entry"]))

    def open(self, url: str) -> None:
        """Go to a page."""
        self.to_front()
        self.ask("Page.navigate", url=url)

    def to_front(self) -> None:
        """Look at this page: pages behind others draw nothing, and some wait with all else."""
        self.ask("Page.bringToFront")

    def evaluate(self, expression: str):
        """The value of a JavaScript expression on the page."""
        told = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def wait_for(self, expression: str, seconds: float = PATIENCE) -> None:
        """Wait until an expression is true; until then it may fail."""
        tried = f"(() => {{ try {{ return !!({expression}); }} catch {{ return false; }} }})()"
        until(lambda: self.evaluate(tried), seconds, expression)

    def picture(self, path: Path) -> Path:
        """Save what is seen as a PNG."""
        told = self.ask("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(told["data"]))
        return path

    def point(self, expression: str, share: float) -> None:
        """Press the mouse on an element, at a share of its width from the left."""
        self.wait_for(expression)
        x, y = self.evaluate(f"""(() => {{
          const e = {expression};
          e.scrollIntoView({{ block: 'center' }});
          const r = e.getBoundingClientRect();
          return [r.left + {share} * r.width, r.top + r.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def click(self, expression: str) -> None:
        """Click on an element, as its own code sees it."""
        self.wait_for(expression)
        self.evaluate(f"({expression}).click()")


def until(ask, seconds: float, what: str):
    """Wait until a function's answer is true, and return it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = ask()
        if answer:
            return answer
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds:g} s: {what}")
