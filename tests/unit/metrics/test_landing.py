"""What each micro-batch adds to the counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from connectors.errors import BridgeError, Transient
from connectors.landing_zone.errors import (
    FencedError,
    ForeignLedgerError,
    LedgerBehindError,
    LedgerCorruptError,
    SequenceConflictError,
    ZoneOwnedError,
)
from connectors.landing_zone.ledger.state import Dropped, Relation, RenamedColumns
from streaming.driver.batch import BatchReport
from streaming.driver.stages import BatchFigures, Stage, Stages
from streaming.metrics.build import COMMIT_VARIABLE, UNKNOWN, commit_of, this_build
from streaming.metrics.declared import durations, files, process, records, tables
from streaming.metrics.landing import SOURCE_LAG_KEPT_MS, LandingFeed
from streaming.metrics.metric import Metric
from streaming.metrics.tallies import Labels, Tallies
from streaming.monitoring.alerts.lag import LAG
from streaming.plan import PartitionResult, TableResult
from streaming.task.results import Results
from tests.unit.landing_zone.ledger_builders import NOON_MS
from tests.unit.metrics.worlds import file, ledger, parked, table


class Fed:
    """A feed, and what it has counted."""

    def __init__(self) -> None:
        self.tallies = Tallies()
        self.registry = CollectorRegistry()
        self.now_ms = NOON_MS
        self.feed = LandingFeed(self.tallies, self.registry, now_ms=lambda: self.now_ms)

    def counted(self, metric: Metric) -> dict[Labels, float]:
        return self.tallies.of(metric)

    def sum(self, metric: Metric, **labels: str) -> float | None:
        return self.registry.get_sample_value(f"{metric.name}_sum", labels)


def report(**more: Any) -> BatchReport:
    return BatchReport(**{"version": 9, "offsets": 7, "files": {"public.orders": file()}, "seconds": 0.5, **more})


class TestFeed:
    def test_files_and_rows_by_table_and_marker(self) -> None:
        fed = Fed()
        fed.feed.on_batch(report(), None)
        fed.feed.on_batch(report(files={"public.orders": file(sequence=4, rows={"2": 1})}), None)
        assert fed.counted(files.ROWS_LANDED) == {
            ("public.orders", "4"): 2,
            ("public.orders", "none"): 5,
            ("public.orders", "2"): 1,
        }
        assert fed.counted(files.FILES_LANDED) == {("public.orders",): 2}
        assert fed.counted(files.BYTES_LANDED) == {("public.orders",): 2_000}
        assert fed.sum(files.FILE_ROWS) == 8
        assert fed.sum(files.FILE_BYTES) == 2_000
        assert fed.sum(durations.BATCH_SECONDS) == 1.0
        assert fed.feed.times.of("public.orders") == {3: NOON_MS, 4: NOON_MS}

    def test_a_range_that_was_landed_already_is_a_success_and_nothing_else(self) -> None:
        fed = Fed()
        fed.feed.on_batch(BatchReport(version=None), None)
        assert fed.feed.last_success_ms == NOON_MS
        assert fed.sum(durations.BATCH_SECONDS) == 0

    def test_a_catch_up_counts_files_but_is_no_batch_of_the_stream(self) -> None:
        fed = Fed()
        fed.feed.on_batch(report(table="public.orders"), None)
        assert fed.counted(files.FILES_LANDED) == {("public.orders",): 1}
        assert fed.sum(durations.BATCH_SECONDS) == 0

    def test_what_the_sources_catalog_has_shown_is_no_batch_either(self) -> None:
        fed = Fed()
        fed.feed.on_batch(report(offsets=0, files={}), None)
        assert fed.sum(durations.BATCH_SECONDS) == 0

    def test_counters_by_reason(self) -> None:
        fed = Fed()
        counters = {
            "records": 9,
            "skipped.tombstone": 3,
            "dead_letters.not_json": 2,
            "dead_letters.unavailable_value": 1,
            "unavailable.earlier_row": 4,
            "schema_changes.column_added": 1,
            "position_resets": 1,
        }
        fed.feed.on_batch(report(figures=BatchFigures(counters=counters)), None)
        assert fed.counted(records.RECORDS_SKIPPED) == {("tombstone",): 3}
        assert fed.counted(records.DEAD_LETTERS) == {("not_json",): 2, ("unavailable_value",): 1}
        assert fed.counted(records.DECODE_FAILURES) == {("not_json",): 2}
        assert fed.counted(records.UNAVAILABLE_VALUES) == {("earlier_row",): 4}
        assert fed.counted(tables.SCHEMA_CHANGES) == {("column_added", "followed"): 1}
        assert fed.counted(records.POSITION_RESETS) == {(): 1}

    def test_records_events_and_their_age(self) -> None:
        fed = Fed()
        partitions = (
            PartitionResult("orders", 0, 9, ops={"create": 7}, oldest_ms=NOON_MS - 8_000, newest_ms=NOON_MS - 1_000),
            PartitionResult("users", 0, 0),
        )
        state = ledger(table(source_ms=NOON_MS - 1_400))
        figures = BatchFigures({Stage.PLAN: 0.25}, {}, partitions, {"decode": 0.5})
        fed.feed.on_batch(report(figures=figures), state)
        assert fed.counted(records.RECORDS_READ) == {("orders",): 9, ("users",): 0}
        assert fed.counted(records.EVENTS_CONSUMED) == {("orders", "create"): 7}
        assert fed.sum(durations.RECORD_TO_FILE_SECONDS) == 8
        assert fed.sum(durations.STAGE_SECONDS, stage="plan") == 0.25
        assert fed.sum(durations.STEP_SECONDS, step="decode") == 0.5
        assert fed.feed.source_seconds() == {"public.orders": 0.4}

    def test_the_lag_at_the_source_is_told_of_tables_that_have_landed_a_moment_ago(self) -> None:
        fed = Fed()
        partitions = (PartitionResult("orders", 0, 1, oldest_ms=NOON_MS, newest_ms=NOON_MS),)
        late = report(figures=BatchFigures(partitions=partitions))
        fed.feed.on_batch(late, ledger(table(source_ms=NOON_MS - 2_400_000)))
        fed.now_ms += SOURCE_LAG_KEPT_MS
        assert fed.feed.source_seconds() == {"public.orders": 2_400}
        fed.now_ms += 1
        assert fed.feed.source_seconds() == {}

    def test_an_alert_on_the_lag_at_the_source_waits_for_longer_than_one_late_change_is_told(self) -> None:
        [alert] = [alert for alert in LAG if alert.name == "BridgeSourceLag"]
        assert re.fullmatch(r"[0-9]+m", alert.wait)
        assert int(alert.wait[:-1]) * 60_000 > SOURCE_LAG_KEPT_MS

    def test_parks_are_counted_however_they_came_about_but_not_those_from_before_the_start(self) -> None:
        fed = Fed()
        before = ledger(table("users", stop=parked()))
        fed.feed.on_state(before)
        fed.feed.on_state(
            ledger(
                table("users", stop=parked()),
                table("orders", stop=parked("zone:sequence_conflict")),
                table("carts", stop=parked("type_changed")),
            )
        )
        fed.feed.on_state(ledger(table("users")))
        fed.feed.on_state(before)
        assert fed.counted(tables.PARKS) == {
            ("zone:sequence_conflict",): 1,
            ("type_changed",): 1,
            ("truncate",): 1,
        }
        assert fed.counted(process.LEDGER_CONFLICTS) == {("sequence_conflict",): 1}
        assert fed.counted(tables.SCHEMA_CHANGES) == {("type_changed", "parked"): 1}

    def test_renamed_tables_and_columns_are_counted_once_whoever_has_told(self) -> None:
        fed = Fed()
        gone = Dropped(0, "0" * 32, 1, renamed="shop.b")
        before = ledger(table("users", relation=Relation("7", 1, "public.clients")))
        after = ledger(
            table("users", relation=Relation("7", 1, "public.clients")),
            table("carts", relation=Relation("7", 2, "public.baskets")),
            table("orders", dropped=gone),
            table("back", dropped=msgspec.structs.replace(gone, back=True)),
            table("lines", renamed_columns=RenamedColumns(0, "0" * 32, {"a": "b", "c": "d"})),
        )
        for state in (before, after, after):
            fed.feed.on_state(state)
        assert fed.counted(tables.SCHEMA_CHANGES) == {
            ("table_renamed", "followed"): 2,
            ("column_renamed", "followed"): 2,
        }

    def test_failures_by_kind_and_a_fence_as_a_conflict(self) -> None:
        fed = Fed()
        fed.feed.on_failure(Transient("no answer", remedy="wait"))
        fed.feed.on_error(FencedError("another driver", remedy="leave it"))
        assert fed.counted(process.RETRIED_FAILURES) == {("Transient",): 1}
        assert fed.counted(process.LEDGER_CONFLICTS) == {("fenced",): 1}

    @pytest.mark.parametrize(
        ("kind", "reason"),
        [
            (FencedError, "fenced"),
            (ForeignLedgerError, "foreign_ledger"),
            (LedgerBehindError, "ledger_behind"),
            (LedgerCorruptError, "ledger_corrupt"),
            (SequenceConflictError, "sequence_conflict"),
            (ZoneOwnedError, "zone_owned"),
        ],
    )
    def test_every_disagreement_of_ledger_and_zone_is_a_conflict(self, kind: type[BridgeError], reason: str) -> None:
        fed = Fed()
        fed.feed.on_error(kind("they disagree", remedy="look"))
        assert fed.counted(process.LEDGER_CONFLICTS) == {(reason,): 1}


class TestStages:
    def ticks(self) -> Iterator[float]:
        yield from (0.0, 1.0, 5.0, 7.5)

    def test_a_stage_that_is_entered_again_adds_up_and_one_that_fails_counts(self) -> None:
        ticks = self.ticks()
        stages = Stages(clock=lambda: next(ticks))
        with stages.measured(Stage.PLAN):
            pass
        with pytest.raises(ValueError, match="boom"), stages.measured(Stage.PLAN):
            raise ValueError("boom")
        assert stages.seconds == {Stage.PLAN: 3.5}

    def test_figures_add_what_tables_count_to_the_ledger_s_counters(self) -> None:
        orders = TableResult("public.orders", table(), figures={"unavailable.null": 2}, seconds={"order": 0.25})
        results = Results((orders,), (PartitionResult("t", 0, 3, seconds={"order": 0.5, "read": 1.0}),))
        figures = BatchFigures.of(Stages(), {"records": 3}, results)
        counters = {"records": 3, "unavailable.null": 2}
        assert figures == BatchFigures({}, counters, results.partitions, {"order": 0.75, "read": 1.0})
        assert BatchFigures.beside({}, results) == BatchFigures({}, {"unavailable.null": 2}, ())


class TestBuild:
    def test_the_commit_is_that_of_the_working_tree(self, tmp_path: Path) -> None:
        assert commit_of(tmp_path) == UNKNOWN
        git = tmp_path / ".git"
        (git / "refs/heads").mkdir(parents=True)
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        assert commit_of(tmp_path) == UNKNOWN
        (git / "packed-refs").write_text("# pack-refs\nabc123 refs/heads/main\n")
        assert commit_of(tmp_path) == "abc123"
        (git / "refs/heads/main").write_text("def456\n")
        assert commit_of(tmp_path) == "def456"
        (git / "HEAD").write_text("789abc\n")
        assert commit_of(tmp_path) == "789abc"

    def test_an_image_names_its_commit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(COMMIT_VARIABLE, "0123456789abcdef")
        build = this_build()
        assert build.commit == "0123456789ab"
        assert build.spark.startswith("4.")
