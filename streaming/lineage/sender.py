"""Sends on a thread of its own what others hand in, and never lets them wait: what finds no room is counted as lost."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from connectors.told import told
from streaming.wording import count_text

_log = logging.getLogger(__name__)
_Event = TypeVar("_Event")

ROOM = 50
"""Events that may wait; what they are made of is small, their text is made when they are sent."""


class Sender(Generic[_Event]):
    """Hands events to ``send``, one after the other.

    Args:
        send: may be slow, hang or fail; called on the sender's thread only.
        room: events that may wait for it.
    """

    def __init__(self, send: Callable[[_Event], None], *, room: int = ROOM) -> None:
        self._send = send
        self._waiting: queue.Queue[_Event | None] = queue.Queue(room)
        self._lock = threading.Lock()
        self._lost = 0
        self._failing = False
        # A daemon: a server that hangs must not keep the process alive.
        self._thread = threading.Thread(target=self._work, name="lineage", daemon=True)
        self._thread.start()

    @property
    def lost(self) -> int:
        """Events that found no room, or that could not be sent."""
        with self._lock:
            return self._lost

    def put(self, event: _Event) -> None:
        """Have an event sent; returns at once."""
        try:
            self._waiting.put_nowait(event)
        except queue.Full:
            self._lose(1)

    def put_last(self, event: _Event) -> None:
        """Have the last event sent: where there is no room for it, older ones make way."""
        while True:
            try:
                self._waiting.put_nowait(event)
            except queue.Full:
                self._make_way()
            else:
                return

    def close(self, seconds: float) -> bool:
        """Wait at most so long until everything is sent; returns whether it was, and says how much was lost."""
        while True:
            try:
                self._waiting.put_nowait(None)
                break
            except queue.Full:
                self._make_way()
        self._thread.join(seconds)
        ended = not self._thread.is_alive()
        if not ended:
            # What is being sent counts too; nobody waits for it any more.
            self._lose(1 + sum(event is not None for event in list(self._waiting.queue)))
        if self.lost:
            _log.warning("%s not sent in this run", _were(self.lost), extra={"facts": {"lineage_lost": self.lost}})
        return ended

    def _make_way(self) -> None:
        try:
            self._waiting.get_nowait()
        except queue.Empty:
            return
        self._lose(1)

    def _work(self) -> None:
        while (event := self._waiting.get()) is not None:
            try:
                self._send(event)
            except Exception as error:
                self._failed(error)
            else:
                self._passed()

    def _failed(self, error: Exception) -> None:
        self._lose(1)
        if not self._failing:
            self._failing = True
            _log.warning("a lineage event could not be sent, the job goes on without: %s", told(error))

    def _passed(self) -> None:
        if self._failing:
            self._failing = False
            _log.info("lineage events are taken again; %s lost so far", _were(self.lost))

    def _lose(self, count: int) -> None:
        with self._lock:
            self._lost += count


def _were(count: int) -> str:
    return f"{count_text(count, 'lineage event')} {'was' if count == 1 else 'were'}"
