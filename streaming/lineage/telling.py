"""Lineage events of one run, from its first look at the ledger to its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from connectors.landing_zone.ledger.state import LedgerState
from streaming.driver.batch import BatchReport
from streaming.lineage.client import open_client
from streaming.lineage.names import dataset_names
from streaming.lineage.sender import Sender
from streaming.lineage.windows import OpenWindow, Window
from streaming.listener import Listener, all_of
from streaming.metrics.build import this_build
from streaming.settings import BridgeSettings

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunState


@dataclass(frozen=True)
class Told:
    """An event to be made and sent.

    Attributes:
        at: when the window ended.
        error: what ended the run.
    """

    state: RunState
    window: Window
    at: datetime
    error: BaseException | None = None


class Telling:
    """What a listener hears, told in windows; every call is a few assignments.

    Args:
        sender: takes the events.
        seconds: that a window lasts.
        clock: monotonic, seconds; now: the time of an event.
    """

    def __init__(
        self,
        sender: Sender[Told],
        seconds: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        from openlineage.client.event_v2 import RunState

        self._states = RunState
        self._sender = sender
        self._seconds = seconds
        self._clock = clock
        self._now = now
        self._lock = threading.Lock()
        self._window = OpenWindow()
        self._began: float | None = None

    @property
    def listener(self) -> Listener:
        """What tells it of the run."""
        return Listener(on_state=self._on_state, on_batch=self._on_batch)

    def start(self) -> None:
        """The run begins."""
        self._sender.put(Told(self._states.START, Window(), self._now()))

    def end(self, error: BaseException | None = None) -> None:
        """The run is over: by itself or by a signal, by an error, or at once by a second signal."""
        with self._lock:
            *parts, last = self._window.close().parts()
        at = self._now()
        for part in parts:
            self._sender.put(Told(self._states.RUNNING, part, at))
        self._sender.put_last(Told(self._end_state(error), last, at, error))

    def _end_state(self, error: BaseException | None) -> RunState:
        if error is None:
            return self._states.COMPLETE
        return self._states.FAIL if isinstance(error, Exception) else self._states.ABORT

    def _on_state(self, state: LedgerState) -> None:
        with self._lock:
            self._window.know(state)

    def _on_batch(self, report: BatchReport) -> None:
        with self._lock:
            self._window.add(report)
            now = self._clock()
            if self._began is None:
                self._began = now
            if now - self._began < self._seconds:
                return
            self._began = now
            window = self._window.close()
        at = self._now()
        for part in window.parts():
            self._sender.put(Told(self._states.RUNNING, part, at))


@contextmanager
def lineage_told(settings: BridgeSettings, listener: Listener, *, once: bool) -> Iterator[Listener]:
    """The listener together with what sends lineage events, where the settings ask for them; ends with the block.

    Raises:
        SettingsError: the client is not installed or cannot be made; nothing has run then.
    """
    if not settings.lineage.on:
        yield listener
        return
    client = open_client(settings.lineage)
    from openlineage.client.uuid import generate_new_uuid

    from streaming.lineage.events import RunIdentity, run_event

    seconds = settings.lineage.interval.total_seconds()
    identity = RunIdentity(
        run=str(generate_new_uuid()),
        namespace=settings.lineage.namespace,
        name=settings.name,
        names=dataset_names(settings),
        state=settings.state_url,
        seconds=int(seconds),
        build=this_build(),
        drains=once,
    )

    def send(told: Told) -> None:
        client.emit(run_event(identity, told.state, told.window, told.at, told.error))

    sender = Sender(send)
    telling = Telling(sender, seconds)
    telling.start()
    try:
        yield all_of(telling.listener, listener)
    except BaseException as error:
        telling.end(error)
        raise
    else:
        telling.end()
    finally:
        patience = settings.lineage.timeout.total_seconds()
        if sender.close(patience):
            client.close(patience)
