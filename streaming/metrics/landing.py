"""What each micro-batch adds to the counts: one call per batch, a few additions per file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Histogram

from connectors.errors import BridgeError
from connectors.landing_zone.errors import (
    FencedError,
    ForeignLedgerError,
    LedgerBehindError,
    LedgerCorruptError,
    SequenceConflictError,
    ZoneOwnedError,
)
from connectors.landing_zone.ledger.state import LandedFile, LedgerState, Parked
from streaming.driver.batch import BatchReport
from streaming.driver.resuming import ZONE_REASON
from streaming.driver.stages import Stage
from streaming.metrics.catalogue import METRICS
from streaming.metrics.declared import durations, files, process, records, tables
from streaming.metrics.metric import Kind, Metric
from streaming.metrics.mirrored import PublishTimes
from streaming.metrics.tallies import Tallies
from streaming.renamed import renamed_columns, renamed_to
from streaming.task.bad_records import LEFT_OUT_LATE

UNMARKED = "none"
"""The label ``marker`` of rows without one."""

CHANGES_THAT_PARK = frozenset({"type_changed", "key_changed", "missing_key", "dropped", "recreated", "column_replaced"})
"""Reasons of tables that stand still because of a change of their columns, their key, or the table itself."""

SOURCE_LAG_KEPT_MS = 9 * 60_000
"""How long a table's lag at the source is told after it has landed; shorter than an alert waits."""

TABLE_RENAMED, COLUMN_RENAMED = "table_renamed", "column_renamed"
FOLLOWED, PARKED = "followed", "parked"
_CONFLICTS = (
    FencedError,
    ForeignLedgerError,
    SequenceConflictError,
    LedgerBehindError,
    LedgerCorruptError,
    ZoneOwnedError,
)


class LandingFeed:
    """Counts what a run does; see :class:`streaming.listener.Listener` for what calls it.

    Args:
        registry: gets the histograms.
        now_ms: wall clock, milliseconds since 1970.

    Attributes:
        times: when files were published.
        last_success_ms: when a micro-batch last ended well; 0 before.
    """

    def __init__(self, tallies: Tallies, registry: CollectorRegistry, *, now_ms: Callable[[], int]) -> None:
        self._tallies = tallies
        self._now_ms = now_ms
        self._histograms = {metric: _histogram(metric, registry) for metric in METRICS if metric.kind is Kind.HISTOGRAM}
        self._parked: frozenset[str] | None = None
        self._renamed: frozenset[tuple[str, str, str]] = frozenset()
        self.times = PublishTimes()
        self._source_lags: dict[str, tuple[float, int]] = {}
        self.last_success_ms = 0

    def on_state(self, state: LedgerState) -> None:
        """Count what stands still or has been renamed since the last call; the first call only takes note."""
        parked = {name: table.parked for name, table in state.tables.items() if table.parked is not None}
        renamed = _renamed(state)
        if self._parked is not None:
            for name in parked.keys() - self._parked:
                self._count_stop(parked[name])
            for _, old, _ in renamed - self._renamed:
                kind = COLUMN_RENAMED if old else TABLE_RENAMED
                self._tallies.add(tables.SCHEMA_CHANGES, 1, kind, FOLLOWED)
        self._parked, self._renamed = frozenset(parked), renamed

    def on_batch(self, report: BatchReport, state: LedgerState | None) -> None:
        """Count a micro-batch or a chunk of a catch-up; ``state`` is the ledger's after it."""
        now_ms = self._now_ms()
        self.last_success_ms = now_ms
        if report.version is None:
            return
        for table, file in report.files.items():
            self._count_file(table, file, now_ms)
        self._count_counters(report.figures.counters)
        if report.table or not report.carried:
            return
        self._histograms[durations.BATCH_SECONDS].observe(report.seconds)
        for stage, seconds in report.figures.stages.items():
            self.on_stage(stage, seconds)
        for step, seconds in report.figures.steps.items():
            self._histograms[durations.STEP_SECONDS].labels(step).observe(seconds)
        self._count_partitions(report, now_ms)
        if state is not None:
            self._note_source_lag(report, state, now_ms)

    def source_seconds(self) -> dict[str, float]:
        """Per table that has just landed: seconds between its newest change at the source and its record in Kafka.

        Of a table at rest nothing is known: how late its last change came says nothing of the connector by now.
        """
        earliest = self._now_ms() - SOURCE_LAG_KEPT_MS
        return {table: seconds for table, (seconds, at_ms) in self._source_lags.copy().items() if at_ms >= earliest}

    def on_stage(self, stage: Stage, seconds: float) -> None:
        """Count the time of one stage."""
        self._histograms[durations.STAGE_SECONDS].labels(stage.value).observe(seconds)

    def on_storage(self, storage: str, method: str, seconds: float) -> None:
        """Count the time of one call to a storage; safe from several threads."""
        self._histograms[durations.STORAGE_SECONDS].labels(storage, method).observe(seconds)

    def on_failure(self, error: BridgeError) -> None:
        """Count a failure that is met with another attempt."""
        self._tallies.add(process.RETRIED_FAILURES, 1, type(error).__name__)
        self.on_error(error)

    def on_error(self, error: BridgeError) -> None:
        """Count the error that ended an attempt, if it is a conflict about the ledger."""
        if isinstance(error, _CONFLICTS):
            self._tallies.add(process.LEDGER_CONFLICTS, 1, _code(error))

    def _count_file(self, table: str, file: LandedFile, now_ms: int) -> None:
        for marker, count in file.rows.items():
            self._tallies.add(files.ROWS_LANDED, count, table, marker or UNMARKED)
        self._tallies.add(files.FILES_LANDED, 1, table)
        self._tallies.add(files.BYTES_LANDED, file.bytes, table)
        self._histograms[files.FILE_ROWS].observe(sum(file.rows.values()))
        self._histograms[files.FILE_BYTES].observe(file.bytes)
        self.times.add(table, file.sequence, now_ms)

    def _count_stop(self, stop: Parked) -> None:
        self._tallies.add(tables.PARKS, 1, stop.reason)
        if stop.reason.startswith(ZONE_REASON):
            self._tallies.add(process.LEDGER_CONFLICTS, 1, stop.reason.removeprefix(ZONE_REASON))
        if stop.reason in CHANGES_THAT_PARK:
            self._tallies.add(tables.SCHEMA_CHANGES, 1, stop.reason, PARKED)

    def _count_counters(self, counters: Mapping[str, int]) -> None:
        for name, count in counters.items():
            kind, _, rest = name.partition(".")
            match kind:
                case "skipped":
                    self._tallies.add(records.RECORDS_SKIPPED, count, rest)
                case "dead_letters":
                    self._tallies.add(records.DEAD_LETTERS, count, rest)
                    if rest not in LEFT_OUT_LATE:
                        self._tallies.add(records.DECODE_FAILURES, count, rest)
                case "unavailable":
                    self._tallies.add(records.UNAVAILABLE_VALUES, count, rest)
                case "schema_changes":
                    self._tallies.add(tables.SCHEMA_CHANGES, count, rest, FOLLOWED)
                case "position_resets":
                    self._tallies.add(records.POSITION_RESETS, count)
                case _:
                    pass

    def _count_partitions(self, report: BatchReport, now_ms: int) -> None:
        oldest = 0
        for partition in report.figures.partitions:
            self._tallies.add(records.RECORDS_READ, partition.records, partition.topic)
            for op, count in partition.ops.items():
                self._tallies.add(records.EVENTS_CONSUMED, count, partition.topic, op)
            if partition.oldest_ms:
                oldest = min(oldest or partition.oldest_ms, partition.oldest_ms)
        if oldest:
            self._histograms[durations.RECORD_TO_FILE_SECONDS].observe(max(0, now_ms - oldest) / 1000)

    def _note_source_lag(self, report: BatchReport, state: LedgerState, now_ms: int) -> None:
        newest = {(each.topic, each.partition): each.newest_ms for each in report.figures.partitions}
        for name, file in report.files.items():
            table = state.tables.get(name)
            came = max(
                (newest.get((topic, partition), 0) for topic, spans in file.ranges.items() for partition in spans),
                default=0,
            )
            if table is not None and table.source_ms and came:
                self._source_lags[name] = max(0, came - table.source_ms) / 1000, now_ms


def _histogram(metric: Metric, registry: CollectorRegistry) -> Histogram:
    return Histogram(metric.name, metric.help, metric.labels, buckets=metric.buckets, registry=registry)


def _renamed(state: LedgerState) -> frozenset[tuple[str, str, str]]:
    """Tables, and columns of tables, with the name that each has by now: table, column (empty for none), new name."""
    tables = {(name, "", renamed_to(table)) for name, table in state.tables.items() if renamed_to(table)}
    columns = {(name, *pair) for name, table in state.tables.items() for pair in renamed_columns(table).items()}
    return frozenset(tables | columns)


def _code(error: BridgeError) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__.removesuffix("Error")).lower()
