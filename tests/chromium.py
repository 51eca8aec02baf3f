"""A headless Chromium driven through its debugging pipe: no driver program, no network port."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-sync",
    "--disable-extensions",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
_PATIENCE = 60.0


class Chromium:
    """One tab; `with Chromium() as tab: tab.open(path, width=390)`."""

    def __enter__(self) -> Chromium:
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        command = f'exec "$0" "$@" 3<&{to_read} 4>&{to_write}'
        self._process = subprocess.Popen(
            ["bash", "-c", command, str(PROGRAM), *_FLAGS, f"--user-data-dir={self._profile}", "about:blank"],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._buffer, self._count, self._session = b"", 0, ""
        self.events: list[Mapping[str, Any]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.send(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._write)
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)

    def open(self, page: Path | str, *, width: int, height: int = 900, dark: bool = False) -> None:
        """Load a file or an address at a width in CSS pixels and wait until it stands."""
        phone = width < 600
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", media="", features=features)
        self.events.clear()
        self.send("Page.navigate", url=page if isinstance(page, str) else page.resolve().as_uri())
        self._wait_for("Page.loadEventFired")

    def evaluate(self, script: str) -> Any:
        """The JSON value of a JavaScript expression in the page."""
        found = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key: str, *, control: bool = False) -> None:
        """Press a key as a person would: a character, or a name such as `Enter`."""
        codes = {"Enter": 13, "Escape": 27, "Tab": 9}
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 and not control else "")
        common = {
            "key": key,
            "modifiers": 2 if control else 0,
            "windowsVirtualKeyCode": codes.get(key) or ord(key.upper()),
        }
        self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def write(self, text: str) -> None:
        """Type a text where the focus is, in place of what is selected."""
        self.send("Input.insertText", text=text)

    def wait_until(self, script: str, seconds: float = 15.0) -> None:
        """Wait until a JavaScript expression holds."""
        end = time.monotonic() + seconds
        while not self.evaluate(script):
            assert time.monotonic() < end, f"never came true: {script}"
            time.sleep(0.02)

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """A picture of the page."""
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def print(self, path: Path) -> None:
        """The page as PDF."""
        path.write_bytes(base64.b64decode(self.send("Page.printToPDF", printBackground=True)["data"]))

    @property
    def requests(self) -> list[str]:
        """Every address the page asked for since it was opened."""
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def send(self, method: str, **params: object) -> Any:
        """Call a method of the debugging protocol and return its result."""
        number = self._call(method, **params)
        while True:
            found = self._next()
            if found.get("id") == number:
                assert "error" not in found, found
                return found["result"]

    def _call(self, method: str, **params: object) -> int:
        self._count += 1
        message: dict[str, object] = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        return self._count

    def _wait_for(self, method: str) -> None:
        end = time.monotonic() + _PATIENCE
        while not any(event["method"] == method for event in self.events):
            assert time.monotonic() < end, f"{method} did not come"
            self._next()

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._read, 1 << 16)
            assert part, "Chromium ended"
            self._buffer += part
        line, self._buffer = self._buffer.split(b"\0", 1)
        found: dict[str, Any] = json.loads(line)
        if "method" in found:
            self.events.append(found)
        if found.get("method") == "Page.javascriptDialogOpening":
            # Nobody sits here to answer; a page that asks before it is left would wait for ever.
            self._call("Page.handleJavaScriptDialog", accept=True)
        return found
