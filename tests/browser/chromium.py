"""A headless Chromium that looks at pages of this machine: what it makes of one, and how one looks."""

from __future__ import annotations

import enum
import html
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS = 120
NAMES = ("chromium", "chromium-browser", "google-chrome")


class Scheme(enum.Enum):
    """The colours that the reader's system prefers, as Chromium counts them."""

    DARK = 0
    LIGHT = 1


class Chromium:
    """Runs once per question, with a profile of its own.

    Args:
        profile: an empty folder.

    Raises:
        FileNotFoundError: no browser; ``tests/browser/install.sh`` installs one.
    """

    def __init__(self, profile: Path) -> None:
        found = next((path for name in NAMES if (path := shutil.which(name))), None)
        if found is None:
            raise FileNotFoundError(f"none of {', '.join(NAMES)} is installed; run tests/browser/install.sh")
        self._command = (found, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}")

    def _run(self, *arguments: str) -> str:
        done = subprocess.run([*self._command, *arguments], capture_output=True, text=True, timeout=SECONDS, check=True)
        return done.stdout

    def screenshot(self, url: str, file: Path, *, width: int, height: int, scheme: Scheme) -> None:
        """Write what the reader sees as a PNG file; sizes in CSS pixels.

        A headless window is at least 500 pixels wide: a phone's page is looked at in a frame.
        """
        self._run(
            _preferring(scheme), f"--window-size={width},{height}", f"--screenshot={file}", "--hide-scrollbars", url
        )

    def text_of(self, url: str, element: str, *, scheme: Scheme) -> str:
        """The text of the element with this id once the page's scripts have run.

        Raises:
            LookupError: they have not made it.
        """
        page = self._run(
            _preferring(scheme), "--window-size=1600,1200", "--virtual-time-budget=10000", "--dump-dom", url
        )
        match = re.search(rf'<pre id="{re.escape(element)}">(.*?)</pre>', page, re.DOTALL)
        if match is None:
            raise LookupError(f"{url} has no element {element}: {page[-500:]}")
        return html.unescape(match[1])

    @contextmanager
    def open_at(self, url: str) -> Iterator[None]:
        """A window that shows the page while the block runs."""
        with subprocess.Popen(
            [*self._command, "--remote-debugging-port=0", url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                yield
            finally:
                process.terminate()


def _preferring(scheme: Scheme) -> str:
    return f"--blink-settings=preferredColorScheme={scheme.value}"
