"""A headless Chromium, driven over its debugging pipe: no driver, no port, no package beside the browser itself."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from functools import cache
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",  # root, as in a container, has none
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--remote-debugging-pipe",
)
SECONDS = 60.0


@cache
def browser_program() -> str | None:
    """A Chromium that is there; as root on Debian it is installed, and that is said; SETUP_SYSTEM=0 turns that off."""
    found = _found()
    if found is None and _may_install():
        print("Installing chromium, which the tests of the report's page need (SETUP_SYSTEM=0 turns this off).")
        quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "stdout": subprocess.DEVNULL}
        for words in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
            subprocess.run(["apt-get", "-qq", *words], check=False, timeout=600, **quiet)  # type: ignore[call-overload]
        found = _found()
    return found


def _found() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name)) is not None), None)


def _may_install() -> bool:
    asked = os.environ.get("SETUP_SYSTEM", "1") != "0"
    return asked and os.geteuid() == 0 and Path("/etc/debian_version").exists() and shutil.which("apt-get") is not None


class Browser:
    """One browser with one page.  `problems` holds what the page wrote to the console or failed to load."""

    def __init__(self, program: str, folder: Path) -> None:
        to_read, self.to_browser = os.pipe()
        self.from_browser, to_write = os.pipe()
        words = [program, *FLAGS, f"--user-data-dir={folder}"]
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "browser", *words],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self.held = b""
        self.number = 0
        self.session = ""
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{part}.enable")

    def close(self) -> None:
        """Ends the browser that this object began."""
        self.process.terminate()
        self.process.wait(timeout=SECONDS)
        os.close(self.to_browser)
        os.close(self.from_browser)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A call of the DevTools protocol, and its answer."""
        self.number += 1
        call: dict[str, Any] = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            call["sessionId"] = self.session
        data = json.dumps(call).encode() + b"\0"
        while data:
            data = data[os.write(self.to_browser, data) :]
        while True:
            message = self._message()
            if message.get("id") == self.number:
                assert "error" not in message, f"{method}: {message['error']}"
                answer: dict[str, Any] = message["result"]
                return answer
            self.events.append(message)

    def _message(self) -> dict[str, Any]:
        end = time.monotonic() + SECONDS
        while b"\0" not in self.held:
            ready, _, _ = select.select([self.from_browser], [], [], max(0.0, end - time.monotonic()))
            read = os.read(self.from_browser, 1 << 16) if ready else b""
            assert read, "the browser does not answer"
            self.held += read
        first, _, self.held = self.held.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        return message

    def open(self, page: Path, width: int = 1280, height: int = 900, scheme: str = "light", media: str = "") -> None:
        """Loads a page at a size, in light or dark, on a screen or on paper."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", media=media, features=features)
        self.events.clear()
        self.ask("Page.navigate", url=page.resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._message())

    def run(self, script: str) -> Any:
        """What a script gives, as plain data."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press_tab(self) -> None:
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)

    def picture(self, whole: bool = False) -> bytes:
        """What is to be seen, as PNG."""
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(shot["data"])

    def pdf(self) -> bytes:
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True)["data"])

    @property
    def problems(self) -> list[str]:
        """Errors and warnings of the console, exceptions, and loads that failed."""
        bad = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Network.loadingFailed")
        return [json.dumps(event["params"]) for event in self.events if event.get("method") in bad]

    @property
    def requests(self) -> list[str]:
        """The addresses of everything that was loaded."""
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]
