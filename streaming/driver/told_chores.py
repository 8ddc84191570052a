"""The work between two micro-batches, and what listeners are told of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from connectors.landing_zone.ledger.log import Ledger
from streaming.health.state import Work
from streaming.listener import Listener


class Chores(Protocol):
    """What the driver does between micro-batches; see :mod:`streaming.lifecycle.chores`."""

    def run(self) -> None:
        """Do a little of what is to be done."""

    def idle(self) -> bool:
        """Whether the last call found nothing that can be done now."""
        ...


class ToldChores:
    """Chores that say when they begin, how long they took, and what the ledger knows after them.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(
        self, chores: Chores, ledger: Ledger, listener: Listener, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._chores = chores
        self._ledger = ledger
        self._listener = listener
        self._clock = clock

    def run(self) -> None:
        """As :meth:`Chores.run`; also after a failure the driver is said to wait."""
        began, version = self._clock(), self._ledger.state.version
        self._listener.on_work(Work.CHORES)
        try:
            self._chores.run()
            if not self._chores.idle():
                self._listener.on_chores(self._clock() - began)
        finally:
            if self._ledger.state.version != version:
                self._listener.on_state(self._ledger.state)
            self._listener.on_work(Work.WAITING)

    def idle(self) -> bool:
        """As :meth:`Chores.idle`."""
        return self._chores.idle()
