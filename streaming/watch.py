"""Looking at something now and then, on a thread of its own beside the job, which does not depend on it."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod

_log = logging.getLogger(__name__)

UNCLAIMED_SECONDS = 1.0
"""The longest wait for the zone to be claimed, before which there is nothing to look for."""


class Watch(ABC):
    """Looks every so often until it is stopped; it ends with the process in any case.

    Args:
        subject: what is looked at, for people.
        interval: seconds between the end of one look and the next.
    """

    def __init__(self, subject: str, interval: float) -> None:
        self._subject = subject
        self._interval = interval
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"{subject.lower()}-watch", daemon=True)

    @abstractmethod
    def look_once(self) -> float:
        """Look, unless the zone is not claimed yet; returns how many seconds to wait until the next look."""

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more; a look under way is not waited for."""
        self._stop.set()

    @property
    def until_claimed(self) -> float:
        """Seconds to wait while the zone is not claimed."""
        return min(UNCLAIMED_SECONDS, self._interval)

    def on_unforeseen(self) -> None:
        """Called when a look has failed in a way that is not foreseen, which is logged already."""
        return

    def _run(self) -> None:
        pause = 0.0
        while not self._stop.wait(pause):
            try:
                pause = self.look_once()
            except Exception:
                # Whatever it is, it concerns what is told only: the job does not depend on this thread.
                _log.exception("looking at %s failed in a way that is not foreseen", self._subject)
                self.on_unforeseen()
                pause = self._interval
