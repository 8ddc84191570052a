"""Histories: every change is a row of its own, with its origin."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from connectors.debezium.schema import RowSchema
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.schema import PinnedSchema
from streaming.plan import TableOptions
from streaming.policies import MetadataColumn, OnTruncate, OnUnavailable, TableMode
from tests.unit.streaming.events import MARKER, MISSING, SCHEMA, Event, land, landed, plan, row, rows
from tests.unit.streaming.shaped import only, stop_of, with_images

HISTORY = TableOptions(mode=TableMode.HISTORY)


class TestHistory:
    def test_every_change_is_a_row_with_its_origin(self, tmp_path: Path) -> None:
        events = [
            Event("c", row(1), lsn=5),
            Event("u", row(1, "b"), lsn=6),
            Event("d", row(1, "b"), lsn=7),
            Event("t", lsn=8),
        ]
        result = land(tmp_path, events, options=HISTORY)
        lines = landed(tmp_path, result)
        assert list(lines[0]) == [
            "id",
            "name",
            "doc",
            "_cdc_op",
            "_cdc_source_ts",
            "_cdc_position",
            "_cdc_kafka_topic",
            "_cdc_kafka_partition",
            "_cdc_kafka_offset",
            "_cdc_deleted",
            MARKER,
        ]
        assert [(line["id"], line["name"], line["_cdc_op"], line["_cdc_deleted"], line[MARKER]) for line in lines] == [
            (1, "a", "c", False, 0),
            (1, "b", "u", False, 0),
            (1, "b", "d", True, 0),
            (None, None, "t", False, 0),
        ]
        assert [line["_cdc_kafka_offset"] for line in lines] == [0, 1, 2, 3]
        assert [line["_cdc_position"][-16:] for line in lines] == [f"{lsn:016x}" for lsn in (5, 6, 7, 8)]

    def test_the_table_has_no_key(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("c", row(1))], options=HISTORY)
        assert (result.state.keys, result.state.history, result.state.status) == ((), True, TableStatus.STREAMING)
        schema = msgspec.json.decode(result.schemas[result.state.schema], type=PinnedSchema)
        assert schema.key_columns == ()

    def test_the_first_snapshot_lands_without_markers(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("r", row(1)), Event("r", row(2))], options=HISTORY)
        assert result.file is not None
        assert result.file.rows == {"": 2}

    def test_a_key_change_is_the_old_row_and_the_new_one(self, tmp_path: Path) -> None:
        moved = with_images(rows([Event("u", row(2, "b"), old_key={"id": 1})]), id=[1], name=["a"], doc=["d"])
        result = land(tmp_path, moved, options=HISTORY)
        assert only(tmp_path, result, "id", "name", "_cdc_op", "_cdc_deleted", "_cdc_kafka_offset", MARKER) == [
            (1, "a", "u", True, 0, 0),
            (2, "b", "u", False, 0, 0),
        ]

    def test_rules_about_keys_and_snapshots_do_not_apply(self, tmp_path: Path) -> None:
        keyless = RowSchema(SCHEMA.fields, key=())
        other = RowSchema(SCHEMA.fields, key=("name",))
        batches = [
            rows([Event("c", row(1)), Event("d", {"id": None})]),
            rows([Event("u", row(1)), Event("d", row(1))], schema=keyless, first_offset=2),
            rows([Event("u", row(1, None))], schema=other, first_offset=4),
            rows([Event("r", row(1), run="run-2")], first_offset=5),
        ]
        result = land(tmp_path, *batches, options=replace(HISTORY, on_truncate=OnTruncate.PARK))
        assert only(tmp_path, result, "_cdc_op") == [("c",), ("d",), ("u",), ("d",), ("u",), ("r",)]
        assert result.state.parked is None

    def test_a_value_that_was_not_sent_comes_from_an_earlier_row_of_the_key(self, tmp_path: Path) -> None:
        batches = [[Event("c", row(1)), Event("c", row(2, doc="e"))], [Event("u", row(1, "b", MISSING))]]
        result = land(tmp_path, *batches, options=HISTORY)
        assert only(tmp_path, result, "id", "doc") == [(1, "d"), (2, "e"), (1, "d")]

    def test_without_a_key_a_value_that_was_not_sent_parks(self, tmp_path: Path) -> None:
        keyless = RowSchema(SCHEMA.fields, key=())
        events = rows([Event("c", row(1)), Event("u", row(1, "b", MISSING))], schema=keyless)
        result = land(tmp_path, events, options=HISTORY)
        assert stop_of(result)[0] == "unavailable_value"
        assert only(tmp_path, result, "_cdc_op") == [("c",)]
        filled = land(tmp_path, events, options=replace(HISTORY, on_unavailable=OnUnavailable.NULL))
        assert only(tmp_path, filled, "doc") == [("d",), (None,)]

    def test_further_metadata_columns_follow_its_own(self, tmp_path: Path) -> None:
        options = replace(HISTORY, metadata_columns=(MetadataColumn.SOURCE_TABLE, MetadataColumn.OP))
        (line,) = landed(tmp_path, land(tmp_path, [Event("c", row(1))], options=options))
        assert list(line)[-3:] == ["_cdc_deleted", "_cdc_source_table", MARKER]
        assert line["_cdc_source_table"] == "orders"

    @pytest.mark.parametrize(("before", "now"), [("mirror", "history"), ("history", "mirror")])
    def test_a_table_with_files_keeps_its_mode(self, tmp_path: Path, before: str, now: str) -> None:
        modes = {"mirror": TableOptions(), "history": HISTORY}
        known = land(tmp_path, [Event("c", row(1))], options=modes[before])
        later = plan(tmp_path, options=modes[now])
        later = replace(later, tables={known.table: known.state}, schemas=known.schemas)
        result = land(tmp_path, rows([Event("c", row(2))], first_offset=1), state=known.state, batch_plan=later)
        assert result.file is None
        restart = " --restart" if before == "history" else ""
        assert stop_of(result) == (
            "mode_changed",
            f"the settings ask for mode {now}, but the table's 1 files were made in mode {before}",
            f"set the table's mode back to {before} and `cdc-bridge resume CONFIG TABLE`; or "
            f"`cdc-bridge resync CONFIG TABLE{restart}`, which begins the table anew",
            1,
        )
