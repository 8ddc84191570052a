"""A bridge under test: its settings, its runs, and what it has made of the landing zone."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from connectors.errors import BridgeError
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.replay import ReplayedTable, open_zone, replay
from connectors.landing_zone.storage.local import LocalStorage
from streaming.driver.batch import BatchReport
from streaming.driver.query import StopSignal
from streaming.listener import Listener
from streaming.service import run_bridge
from streaming.settings import BridgeSettings, settings_of
from tests.support.class_archive import USE_ARCHIVE, USE_BROKER_ARCHIVE
from tests.unit.streaming.settings_builder import settings_text

TABLE = "public.orders"
# A test's Java lives for seconds: compiling the same code a second time, better, costs more than it brings.
QUICK_JAVA = "-XX:TieredStopAtLevel=1"
_PUBLISHED_SECONDS = 20
QUICK_BROKER = (QUICK_JAVA, *USE_BROKER_ARCHIVE)
"""For the JVM of an embedded broker."""
QUICK_START = {"spark.driver.extraJavaOptions": f"{QUICK_JAVA} {USE_ARCHIVE}"}
"""For Spark's driver."""
QUICK_EXECUTORS = {"spark.executor.extraJavaOptions": QUICK_START["spark.driver.extraJavaOptions"]}
"""Beside it, for executors that start from the same jars."""


class Bridge:
    """One bridge in a folder of its own.

    Args:
        changes: of the smallest settings, as in :func:`tests.unit.streaming.settings_builder.settings_text`.
    """

    def __init__(self, folder: Path, spark: SparkSession | None, **changes: Any) -> None:
        self.folder = folder
        self.zone = folder / "zone"
        self._spark = spark
        self.changes = {
            "landing_zone__url": f"file://{self.zone}",
            "spark__master": "local[2]",
            "spark__conf": QUICK_START,
            "retry__attempts": 0,
            **changes,
        }

    @property
    def settings(self) -> BridgeSettings:
        return settings_of(self.text, "bridge.yaml")

    @property
    def text(self) -> str:
        return settings_text(**self.changes)

    def write_settings(self, **changes: Any) -> Path:
        """The settings as a file for the command line."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "bridge.yaml"
        path.write_text(settings_text(**(self.changes | changes)))
        return path

    def run(self, **changes: Any) -> list[BatchReport]:
        """Drain the topics, with some settings changed from now on; returns what each micro-batch did."""
        self.changes |= changes
        return self.run_until(StopSignal(), once=True)

    def run_until(
        self,
        stop: StopSignal,
        *,
        once: bool = False,
        on_batch: Callable[[BatchReport], None] | None = None,
        on_serve: Callable[[str], None] = lambda url: None,
        on_error: Callable[[Exception], None] = lambda error: None,
    ) -> list[BatchReport]:
        """Run until the stop signal; ``on_batch`` is told of each micro-batch at once, the others as a Listener's."""
        reports: list[BatchReport] = []
        failures: list[BridgeError] = []

        def landed(report: BatchReport) -> None:
            reports.append(report)
            if on_batch is not None:
                on_batch(report)

        listener = Listener(
            on_start=lambda waiting: None,
            on_batch=landed,
            on_failure=lambda error, pause: failures.append(error),
            on_serve=on_serve,
            on_error=on_error,
        )
        run_bridge(self.settings, listener, stop, once=once, spark=self._spark)
        assert failures == []
        return reports

    @property
    def ledger(self) -> LedgerState:
        """What the ledger says now."""
        return Ledger.open(LocalStorage(self.folder / "zone-state"), now_ms=lambda: 0).state

    def replayed(self, table: str = TABLE) -> ReplayedTable:
        """What the mirrored table contains; of a bridge that runs, with whatever it has committed."""
        self._await_published(table)
        replayed = replay(open_zone(LocalStorage(self.zone)).table(table))
        assert replayed.stopped is None
        return replayed

    def rows(self, table: str = TABLE, by: str | None = "id") -> list[dict[str, Any]]:
        """What the mirrored table contains; in the order of a column, or for None as landed."""
        content: list[dict[str, Any]] = self.replayed(table).table.to_pylist()
        return content if by is None else sorted(content, key=lambda row: row[by])

    def tables(self) -> list[str]:
        return [table.name for table in open_zone(LocalStorage(self.zone)).tables()]

    def _await_published(self, table: str) -> None:
        """Return once the table's newest file can be seen: it is committed first, and renamed a moment later."""
        deadline = time.monotonic() + _PUBLISHED_SECONDS
        try:
            pending = self.ledger.pending.get(table)
        except BridgeError:
            return  # A test of damage: there is no ledger that could say so.
        while pending is not None and not (self.zone / pending.target).exists() and time.monotonic() < deadline:
            time.sleep(0.05)

    def metadata(self, folder: str = "public.schema/orders") -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.zone / folder / "_metadata.json").read_text())
        return content

    def files(self) -> dict[str, bytes]:
        """Everything that the mirrored database reads, by path: the tables' files and their metadata."""
        return {
            str(path.relative_to(self.zone)): path.read_bytes()
            for path in sorted(self.zone.rglob("*"))
            if path.is_file() and path.relative_to(self.zone).parts[0][0] != "_"
        }
