"""SIGTERM and SIGINT ask a run to finish its batch in hand; a second one ends the process at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopOnSignals:
    """Sets a stop when the process is asked to end.

    Args:
        stop: asks the job to stop; called on a thread of its own, since a handler interrupts code that may hold the
            very lock that it needs.
        asked: told the signal's name, to say that the batch in hand is being finished.
        end: ends the process at once with an exit code.
    """

    def __init__(
        self, stop: Callable[[], None], asked: Callable[[str], None], end: Callable[[int], None] = os._exit
    ) -> None:
        self._stop = stop
        self._asked = asked
        self._end = end
        self.received = False

    def install(self) -> None:
        """Take both signals over; once more after Spark has started, since its context takes SIGINT for itself."""
        for number in SIGNALS:
            signal.signal(number, self._receive)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.received:
            self._end(128 + number)
            return
        self.received = True
        threading.Thread(target=self._report, args=(number,), name="stop", daemon=True).start()

    def _report(self, number: int) -> None:
        self._stop()
        self._asked(signal.Signals(number).name)


@contextmanager
def installed(signals: StopOnSignals) -> Iterator[StopOnSignals]:
    """Signals taken over within, and as they were afterwards."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    signals.install()
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
