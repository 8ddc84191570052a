"""The bridge's job on a thread of its own, what is sent to it, and what is done to it at a chosen moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any

from pyspark.sql import SparkSession

from connectors.errors import BridgeError
from connectors.landing_zone.ledger.state import LedgerState
from streaming.driver.query import StopSignal
from streaming.listener import Listener
from streaming.service import run_bridge
from tests.rig.server import until
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster
from tests.support.records import Row, Table

SECONDS = 180
MANY = 4_000


class RunningJob:
    """The bridge's job on a thread of its own; a context manager."""

    def __init__(self, bridge: Bridge, spark: SparkSession, **changes: Any) -> None:
        bridge.changes |= changes
        self.stop = StopSignal()
        self.failures: list[BridgeError] = []
        self._bridge = bridge
        self._spark = spark
        self._told = threading.Condition()
        self._state: LedgerState | None = None
        self._pool = ThreadPoolExecutor(1)
        self._run: Future[None] | None = None

    def __enter__(self) -> RunningJob:
        listener = Listener(on_state=self._on_state, on_failure=lambda error, pause: self.failures.append(error))
        settings = self._bridge.settings
        self._run = self._pool.submit(run_bridge, settings, listener, self.stop, once=False, spark=self._spark)
        self._run.add_done_callback(lambda _: self._notify())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop.set()
        self._pool.shutdown()

    def started(self) -> None:
        """Wait until it has claimed the zone."""
        with self._told:
            assert self._told.wait_for(lambda: self._ended() or self._state is not None, SECONDS)

    def landed(self, topic: str, partitions: dict[int, int]) -> None:
        """Wait until the ledger is at these offsets of a topic."""
        with self._told:
            assert self._told.wait_for(lambda: self._ended() or self._offsets(topic) == partitions, SECONDS)
        if self._offsets(topic) != partitions:
            self.result()

    def landed_unless(self, seen: threading.Event, topic: str, offset: int) -> None:
        """Wait until the ledger is at this offset of a topic's first partition, or something else is seen."""
        until(
            lambda: seen.is_set() or self._ended() or self._offsets(topic).get(0) == offset,
            f"offset {offset} has landed",
            seconds=SECONDS,
        )
        if self._ended() and not seen.is_set():
            self.result()

    def stays_below(self, topic: str, offset: int, seconds: float = 1.0) -> bool:
        """Whether the ledger does not come to this offset of a topic's first partition within so many seconds."""
        with self._told:
            return not self._told.wait_for(lambda: self._offsets(topic).get(0, 0) >= offset, seconds)

    def failed(self) -> BridgeError:
        """Wait for the first failure that it tries again after."""
        until(lambda: self._ended() or bool(self.failures), "an attempt has failed", seconds=SECONDS)
        if not self.failures:
            self.result()
        return self.failures[0]

    def result(self) -> None:
        """Wait for the end of the job; raises what ended it."""
        assert self._run is not None
        self._run.result(SECONDS)

    def _offsets(self, topic: str) -> dict[int, int]:
        known = None if self._state is None else self._state.topics.get(topic)
        return {} if known is None else known.partitions

    def _ended(self) -> bool:
        return self._run is not None and self._run.done()

    def _on_state(self, state: LedgerState) -> None:
        self._state = state
        self._notify()

    def _notify(self) -> None:
        with self._told:
            self._told.notify_all()


class WhenWritten:
    """Does something as soon as such a file is seen."""

    def __init__(self, folder: Path, pattern: str, action: Callable[[], None]) -> None:
        self._seen, self._done = threading.Event(), threading.Event()
        threading.Thread(target=self._wait, args=(folder, pattern, action), daemon=True).start()

    def _wait(self, folder: Path, pattern: str, action: Callable[[], None]) -> None:
        while not any(folder.glob(pattern)):
            self._seen.wait(0.001)
        self._seen.set()
        action()
        self._done.set()

    def send_until_done(self, job: RunningJob, cluster: Cluster, table: Table, first: int) -> int:
        """Send the records of many keys, from this one on, and more where they have landed and no file was seen.

        A file may be there for a shorter time than a busy machine lets anyone look.

        Returns:
            the first key that was not sent.
        """
        last = first
        while not self._seen.is_set():
            send(cluster, table, *range(last, last + MANY))
            last += MANY
            job.landed_unless(self._seen, table.topic, last - 2)
        assert self._done.wait(SECONDS)
        return last


def rows(*keys: int) -> list[Row]:
    return [{"id": key, "name": f"n{key}"} for key in keys]


def send(cluster: Cluster, table: Table, *keys: int) -> None:
    cluster.send(*(table.create(row, lsn=key + 1) for key, row in zip(keys, rows(*keys), strict=True)))
