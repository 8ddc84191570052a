"""The figures that a batch carries for metrics, from the job's own functions over real events."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.debezium.schema import RowSchema
from streaming.demo.workload import Record
from streaming.driver.stages import Stage
from streaming.plan import TableOptions
from streaming.policies import OnUnavailable
from tests.support.records import Table
from tests.unit.debezium.builders import PLACEHOLDER
from tests.unit.streaming.events import MISSING, SCHEMA, Event, land, row, rows
from tests.unit.streaming.test_batches import Batches

ORDERS = Table("shop.orders")


def test_a_batch_tells_its_records_its_events_its_stages_and_its_counters(tmp_path: Path) -> None:
    batches = Batches(tmp_path)
    report = batches.job.receive(
        ORDERS.create({"id": 1}, 1),
        ORDERS.update({"id": 1}, 2),
        ORDERS.create({"id": 2}, 3),
        Record("shop.orders", 0, b'{"id": 9}', None, ()),
        Record("shop.orders", 0, b'{"id": 9}', b"{", ()),
    )
    figures = report.figures
    assert figures.stages.keys() == {Stage.PLAN, Stage.LAND, Stage.COMMIT, Stage.PUBLISH}
    assert sum(figures.stages.values()) <= report.seconds
    [partition] = figures.partitions
    assert (partition.topic, partition.records, partition.ops) == ("shop.orders", 5, {"create": 2, "update": 1})
    assert partition.oldest_ms <= partition.newest_ms
    assert figures.counters["skipped.tombstone"] == 1
    assert sum(count for name, count in figures.counters.items() if name.startswith("dead_letters.")) == 1


def test_a_topic_that_has_to_merge_is_timed_as_such(tmp_path: Path) -> None:
    batches = Batches(tmp_path)
    report = batches.job.receive(ORDERS.at(0).create({"id": 1}, 1), ORDERS.at(1).create({"id": 2}, 2))
    assert Stage.MERGE in report.figures.stages


def test_columns_that_come_go_and_come_back_are_counted(tmp_path: Path) -> None:
    narrow = RowSchema(SCHEMA.fields[:2], key=("id",))
    wide = {"id": 1, "name": "a", "doc": "b"}
    batch = [
        rows(
            [Event("c", {field.name: wide[field.name] for field in schema.fields})], schema=schema, first_offset=offset
        )
        for offset, schema in enumerate((narrow, SCHEMA, narrow, SCHEMA))
    ]
    assert land(tmp_path, *batch).figures == {
        "schema_changes.column_added": 1,
        "schema_changes.column_back": 1,
        "schema_changes.column_gone": 1,
    }


def test_values_that_were_not_sent_are_counted_by_what_took_their_place(tmp_path: Path) -> None:
    events = [Event("c", row(1)), Event("u", row(1, doc=MISSING)), Event("u", row(2, doc=MISSING))]
    result = land(tmp_path, events, options=TableOptions(on_unavailable=OnUnavailable.NULL))
    assert result.figures == {"unavailable.earlier_row": 1, "unavailable.null": 1}


@pytest.mark.parametrize("partitions", [1, 2], ids=["one partition", "partitions that merge"])
def test_values_of_the_row_before_are_counted_too(partitions: int, tmp_path: Path) -> None:
    batches = Batches(tmp_path)
    sent = [
        ORDERS.at(key % partitions).update({"id": key, "name": PLACEHOLDER}, 10 + key, before={"id": key, "name": name})
        for key, name in enumerate(("a", "b", "c"))
    ]
    report = batches.job.receive(*sent)
    assert (Stage.MERGE in report.figures.stages) is (partitions > 1)
    assert report.figures.counters["unavailable.before"] == 3
    assert [row["name"] for row in batches.job.rows("public.orders")] == ["a", "b", "c"]
