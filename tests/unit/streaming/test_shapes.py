"""What the table options make of events: kept deletes, histories, disguised, cast and computed columns, last states."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from connectors.debezium.events import SnapshotKind
from connectors.debezium.schema import ConnectType, Field, RowSchema
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.schema import PinnedSchema
from streaming.plan import TableOptions, TableResult
from streaming.policies import (
    Compaction,
    FileFormat,
    Markers,
    MetadataColumn,
    OnCastFailure,
    OnMissingKey,
    OnTruncate,
    OnUnavailable,
    TableMode,
)
from streaming.rows import OrderedRows
from streaming.shaping.secrecy import Secrecy
from tests.unit.streaming.events import MISSING, SCHEMA, Event, land, landed, new_table, plan, rows

MARKER = "__rowMarker__"
SALT, KEY = "a salt of sixteen or more", "a key of sixteen or more"
SECRECY = Secrecy(SALT, KEY, "5a17", "0c11")
HISTORY = TableOptions(mode=TableMode.HISTORY)
SOFT = TableOptions(soft_delete="_deleted")
LAST_STATES = TableOptions(compaction=Compaction.LAST_STATE)


def row(key: int, name: object = "a", doc: object = "d") -> dict[str, Any]:
    return {"id": key, "name": name, "doc": doc}


def with_images(events: OrderedRows, **old: list[Any]) -> OrderedRows:
    """The events as they come where before images are asked for: old keys are whole rows."""
    columns = {name: pa.array(old[name], events.rows.schema.field(name).type) for name in events.rows.schema.names}
    return replace(events, old_keys=pa.RecordBatch.from_pydict(columns))


def only(zone: Path, result: TableResult, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(line.get(name) for name in names) for line in landed(zone, result)]


def digest(value: str) -> str:
    return hashlib.sha256((SALT + value).encode()).hexdigest()


def stop_of(result: TableResult) -> tuple[str, str, str, int]:
    """Reason, message, remedy and offset of the event that parked the table."""
    assert result.state.parked is not None
    assert result.state.status is TableStatus.PARKED
    parked = result.state.parked
    return parked.reason, parked.message, parked.remedy, parked.offset


class TestSoftDelete:
    def test_a_delete_is_an_upsert_of_the_row_before_that_says_so(self, tmp_path: Path) -> None:
        events = [Event("c", row(1)), Event("u", row(1, "b")), Event("d", row(1, "b")), Event("d", {"id": 2})]
        result = land(tmp_path, events, options=SOFT)
        assert landed(tmp_path, result) == [
            row(1) | {"_deleted": False, MARKER: 4},
            row(1, "b") | {"_deleted": False, MARKER: 1},
            row(1, "b") | {"_deleted": True, MARKER: 4},
            row(2, None, None) | {"_deleted": True, MARKER: 4},
        ]

    def test_a_row_that_comes_back_is_not_deleted_any_more(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("d", row(1)), Event("c", row(1, "new"))], options=SOFT)
        assert only(tmp_path, result, "name", "_deleted", MARKER) == [("a", True, 4), ("new", False, 4)]

    def test_a_key_change_keeps_the_old_row_as_deleted(self, tmp_path: Path) -> None:
        moved = Event("u", row(2, "b"), old_key={"id": 1})
        partial = land(tmp_path, [moved], options=SOFT)
        assert landed(tmp_path, partial) == [
            row(1, None, None) | {"_deleted": True, MARKER: 4},
            row(2, "b") | {"_deleted": False, MARKER: 4},
        ]
        full = land(tmp_path, with_images(rows([moved]), id=[1], name=["a"], doc=["d"]), options=SOFT)
        assert landed(tmp_path, full)[0] == row(1) | {"_deleted": True, MARKER: 4}

    def test_natural_markers_never_insert_where_a_deleted_row_may_be(self, tmp_path: Path) -> None:
        events = [Event("c", row(key), lsn=key) for key in (1, 2)]
        result = land(tmp_path, events, options=SOFT, markers=Markers.NATURAL)
        assert only(tmp_path, result, MARKER) == [(4,), (4,)]

    def test_rows_of_the_loading_snapshot_are_not_deleted(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("r", row(1))], options=SOFT)
        assert landed(tmp_path, result) == [row(1) | {"_deleted": False}]

    def test_a_column_of_the_source_keeps_its_name(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("d", row(1))], options=TableOptions(soft_delete="doc"))
        assert only(tmp_path, result, "doc", "doc_") == [("d", True)]


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
        assert stop_of(result) == (
            "mode_changed",
            f"the settings ask for mode {now}, but the table's 1 files were made in mode {before}",
            f"set the table's mode back to {before}, or rebuild the table from an empty folder",
            1,
        )


class TestDisguise:
    def test_hashed_keys_of_rows_deletes_and_old_keys_are_alike(self, tmp_path: Path) -> None:
        options = TableOptions(hashed=("id", "name"))
        events = [Event("c", row(1)), Event("u", row(2), old_key={"id": 1}), Event("d", {"id": 2})]
        result = land(tmp_path, events, options=options, secrecy=SECRECY)
        assert only(tmp_path, result, "id", "name", MARKER) == [
            (digest("1"), digest("a"), 4),
            (digest("1"), None, 2),
            (digest("2"), digest("a"), 4),
            (digest("2"), None, 2),
        ]
        assert result.state.key_forms == ("hash:5a17",)

    def test_hash_wins_over_encrypt_and_encrypt_over_mask(self, tmp_path: Path) -> None:
        options = TableOptions(hashed=("name",), encrypted=("name", "doc"), mask=("*",))
        (line,) = landed(tmp_path, land(tmp_path, [Event("c", row(1))], options=options, secrecy=SECRECY))
        assert line["name"] == digest("a")
        assert line["doc"] not in ("d", "****")
        assert line["id"] == 1, "a key column is never masked"

    def test_a_disguised_value_that_was_not_sent_is_filled_from_an_earlier_row(self, tmp_path: Path) -> None:
        options = TableOptions(hashed=("id", "doc"))
        batches = [[Event("c", row(1))], [Event("u", row(1, "b", MISSING))]]
        result = land(tmp_path, *batches, options=options, secrecy=SECRECY)
        assert only(tmp_path, result, "name", "doc") == [("a", digest("d")), ("b", digest("d"))]

    def test_columns_that_do_not_land_are_not_disguised(self, tmp_path: Path) -> None:
        options = TableOptions(hashed=("doc",), exclude=("doc",))
        assert landed(tmp_path, land(tmp_path, [Event("c", row(1))], options=options)) == [
            {"id": 1, "name": "a", MARKER: 4}
        ]

    @pytest.mark.parametrize("options", [TableOptions(), TableOptions(encrypted=("id",))])
    def test_a_table_with_files_keeps_the_form_of_its_keys(self, tmp_path: Path, options: TableOptions) -> None:
        known = land(tmp_path, [Event("c", row(1))], options=TableOptions(hashed=("id",)), secrecy=SECRECY)
        later = plan(tmp_path, options=options, secrecy=SECRECY)
        later = replace(later, tables={known.table: known.state}, schemas=known.schemas)
        result = land(tmp_path, rows([Event("c", row(2))], first_offset=1), state=known.state, batch_plan=later)
        assert stop_of(result) == (
            "key_form_changed",
            "the key columns land in another form, or under another secret, than in the table's 1 files, so that no "
            "row would be found again",
            "restore columns.hash, columns.encrypt and tables.secrecy, or rebuild the table from an empty folder",
            1,
        )

    def test_another_salt_is_another_form(self, tmp_path: Path) -> None:
        options = TableOptions(hashed=("id",))
        known = land(tmp_path, [Event("c", row(1))], options=options, secrecy=SECRECY)
        later = plan(tmp_path, options=options, secrecy=replace(SECRECY, salt="another", salt_digest="a0"))
        later = replace(later, tables={known.table: known.state}, schemas=known.schemas)
        result = land(tmp_path, rows([Event("c", row(2))], first_offset=1), state=known.state, batch_plan=later)
        assert stop_of(result)[0] == "key_form_changed"

    def test_options_without_the_secret_are_a_mistake_of_the_caller(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="hold no secret for it"):
            land(tmp_path, [Event("c", row(1))], options=TableOptions(hashed=("name",)))


class TestCasts:
    OPTIONS = TableOptions(casts=(("name", "decimal(5,2)"), ("doc", "bool")))
    EVENTS = (
        Event("c", row(1, "1.5", "yes")),
        Event("c", row(2, "lots", "perhaps")),
        Event("c", row(3, "2", None)),
    )

    def test_a_value_that_does_not_fit_is_null_and_counted(self, tmp_path: Path) -> None:
        result = land(tmp_path, self.EVENTS, options=self.OPTIONS)
        assert only(tmp_path, result, "id", "name", "doc") == [
            (1, Decimal("1.50"), True),
            (2, None, None),
            (3, Decimal("2.00"), None),
        ]
        assert result.counts == {"cast_failures": 2}

    def test_it_parks_the_table_where_the_policy_says_so(self, tmp_path: Path) -> None:
        options = replace(self.OPTIONS, on_cast_failure=OnCastFailure.PARK)
        result = land(tmp_path, self.EVENTS, options=options)
        assert only(tmp_path, result, "id") == [(1,)]
        assert stop_of(result) == (
            "cast_failure",
            "a value does not fit the type that the settings cast it to: name (decimal(5,2)), doc (bool)",
            "change the type under casts, or set policies.on_cast_failure to null to land such values as NULL",
            1,
        )

    def test_it_sets_the_event_aside_where_the_policy_says_so(self, tmp_path: Path) -> None:
        options = replace(self.OPTIONS, on_cast_failure=OnCastFailure.DEAD_LETTER)
        result = land(tmp_path, self.EVENTS, options=options, markers=Markers.NATURAL)
        assert only(tmp_path, result, "id") == [(1,), (3,)]
        assert result.left_out == {"cast_failure": 1}
        assert (result.state.dead_letters, result.state.tainted) == (1, True)

    @pytest.mark.parametrize(
        ("stops", "reason"),
        [
            ({"on_unavailable": OnUnavailable.PARK}, "unavailable_value"),
            ({"on_unavailable": OnUnavailable.NULL, "added": (("n", "cast(doc as int)"),)}, "expression"),
        ],
    )
    def test_no_event_behind_the_stop_is_a_dead_letter(
        self, tmp_path: Path, stops: dict[str, Any], reason: str
    ) -> None:
        events = [
            Event("c", row(1, "x", "1")),
            Event("c", row(2, "2", "2")),
            Event("u", row(3, "3", MISSING if reason == "unavailable_value" else "bad")),
            Event("c", row(4, "x", "4")),
        ]
        options = TableOptions(casts=(("name", "int32"),), on_cast_failure=OnCastFailure.DEAD_LETTER, **stops)
        result = land(tmp_path, events, options=options)
        parked = result.state.parked
        assert parked is not None
        assert (parked.reason, parked.offset, parked.skipped) == (reason, 2, 2)
        assert (only(tmp_path, result, "id"), result.left_out) == ([(2,)], {"cast_failure": 1})
        assert (result.state.dead_letters, result.state.tainted) == (1, True)

    def test_an_unavailable_value_behind_the_stop_is_no_dead_letter(self, tmp_path: Path) -> None:
        events = [Event("c", row(1, "1")), Event("c", row(2, "bad")), Event("u", row(3, "3", MISSING))]
        options = TableOptions(on_unavailable=OnUnavailable.DEAD_LETTER, added=(("n", "cast(name as int)"),))
        result = land(tmp_path, events, options=options)
        assert result.state.parked is not None
        assert (result.state.parked.offset, result.state.parked.skipped) == (1, 2)
        assert (result.left_out, result.state.dead_letters, result.state.tainted) == ({}, 0, False)

    def test_a_batch_of_nothing_but_misfits_lands_nothing(self, tmp_path: Path) -> None:
        options = replace(self.OPTIONS, on_cast_failure=OnCastFailure.DEAD_LETTER)
        result = land(tmp_path, self.EVENTS[1:2], options=options)
        assert result.file is None
        assert result.left_out == {"cast_failure": 1}

    def test_a_key_that_does_not_fit_parks_whatever_the_policy(self, tmp_path: Path) -> None:
        result = land(
            tmp_path, [Event("c", row(1)), Event("c", row(70_000))], options=TableOptions(casts=(("id", "int16"),))
        )
        assert only(tmp_path, result, "id") == [(1,)]
        assert stop_of(result)[0] == "cast_failure"

    @pytest.mark.parametrize("other", ["007", "+7", " 7", "7.0"])
    def test_a_cast_never_makes_one_key_of_two(self, tmp_path: Path, other: str) -> None:
        schema = RowSchema(
            (Field("id", ConnectType.STRING, optional=False), Field("name", ConnectType.STRING)), ("id",)
        )
        events = [Event("c", {"id": "7", "name": "seven"}), Event("d", {"id": other})]
        result = land(tmp_path, rows(events, schema=schema), options=TableOptions(casts=(("id", "int32"),)))
        assert only(tmp_path, result, "id", MARKER) == [(7, 4)]
        assert stop_of(result) == (
            "cast_failure",
            "a key does not fit the type that the settings cast it to, or would not be told from another one there "
            "(as 7 and 007): id (int32)",
            "take the key column out of casts, or choose a type that keeps its values apart, and rebuild the table "
            "from an empty folder if anything of it has landed",
            1,
        )

    def test_keys_are_cast_in_deletes_and_old_keys_too(self, tmp_path: Path) -> None:
        events = [Event("u", row(2), old_key={"id": 1}), Event("d", {"id": 2})]
        result = land(tmp_path, events, options=TableOptions(casts=(("id", "string"),)))
        assert only(tmp_path, result, "id", MARKER) == [("1", 2), ("2", 4), ("2", 2)]


class TestAddedColumns:
    def test_they_are_computed_from_the_row_as_it_lands(self, tmp_path: Path) -> None:
        options = TableOptions(
            casts=(("name", "int32"),),
            hashed=("doc",),
            added=(("load_source", "'shop'"), ("twice", "name * 2"), ("secret", "left(doc, 4)"), ("at", "_cdc_op")),
            metadata_columns=(MetadataColumn.OP,),
        )
        result = land(tmp_path, [Event("c", row(1, "21"))], options=options, secrecy=SECRECY)
        assert only(tmp_path, result, "load_source", "twice", "secret", "at") == [("shop", 42, digest("d")[:4], "c")]

    def test_rows_of_deletes_have_none(self, tmp_path: Path) -> None:
        options = TableOptions(added=(("load_source", "'shop'"),))
        events = [Event("c", row(1)), Event("u", row(2), old_key={"id": 1}), Event("d", {"id": 2})]
        result = land(tmp_path, events, options=options)
        assert only(tmp_path, result, "id", "load_source", MARKER) == [
            (1, "shop", 4),
            (1, None, 2),
            (2, "shop", 4),
            (2, None, 2),
        ]

    def test_deleted_rows_that_stay_have_them(self, tmp_path: Path) -> None:
        options = TableOptions(added=(("load_source", "'shop'"),), soft_delete="_deleted")
        result = land(tmp_path, [Event("d", row(1))], options=options)
        assert only(tmp_path, result, "load_source", "_deleted") == [("shop", True)]

    def test_a_row_that_fails_parks_the_table_there(self, tmp_path: Path) -> None:
        options = TableOptions(added=(("number", "cast(name as int)"),))
        events = [Event("c", row(1, "7")), Event("c", row(2, "x"))]
        for cut in ([events], [[event] for event in events]):
            result = land(tmp_path, *cut, options=options)
            assert only(tmp_path, result, "id", "number") == [(1, 7)]
            reason, message, remedy, offset = stop_of(result)
            assert (reason, offset) == ("expression", 1)
            assert message.startswith("the expression of the added column number fails: conversion from `str` to `i32`")
            assert remedy == (
                "correct the expression under add, so that it holds for every row (try_cast gives NULL where cast "
                "fails)"
            )

    def test_an_expression_that_no_row_allows_parks_at_the_first(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("c", row(1))], options=TableOptions(added=(("number", "nowhere + 1"),)))
        assert result.file is None
        assert stop_of(result)[3] == 0

    def test_an_old_row_that_fails_parks_at_its_key_change(self, tmp_path: Path) -> None:
        options = TableOptions(added=(("number", "cast(name as int)"),), soft_delete="_deleted")
        moved = [Event("c", row(5, "1")), Event("u", row(2, "2"), old_key={"id": 1})]
        result = land(tmp_path, with_images(rows(moved), id=[1], name=["x"], doc=["d"]), options=options)
        assert only(tmp_path, result, "id") == [(5,)]
        assert stop_of(result)[3] == 1

    def test_they_see_values_that_were_filled_in(self, tmp_path: Path) -> None:
        options = TableOptions(added=(("copy", "doc || '!'"),))
        batches = [[Event("c", row(1))], [Event("u", row(1, "b", MISSING))]]
        assert only(tmp_path, land(tmp_path, *batches, options=options), "copy") == [("d!",), ("d!",)]


class TestCompaction:
    def states(self, zone: Path, events: Sequence[Event], **changes: Any) -> list[tuple[Any, ...]]:
        options = changes.pop("options", LAST_STATES)
        cuts = [[events], [[event] for event in events]]
        found = []
        for cut in cuts:
            result = land(zone, *cut, options=options, **changes)
            found.append(only(zone, result, "id", "name", MARKER))
            assert result.counts.get("compacted", 0) + len(found[-1]) >= len(events)
        assert found[0] == found[1], "however the events are cut"
        return found[0]

    def test_only_the_last_row_of_each_key_stays(self, tmp_path: Path) -> None:
        events = [
            Event("c", row(1, "a")),
            Event("c", row(2, "b")),
            Event("u", row(1, "c")),
            Event("u", row(2, "d")),
            Event("u", row(1, "e")),
        ]
        assert self.states(tmp_path, events) == [(2, "d", 1), (1, "e", 1)]

    def test_delete_and_insert_become_an_upsert(self, tmp_path: Path) -> None:
        assert self.states(tmp_path, [Event("d", {"id": 1}), Event("c", row(1, "new"))]) == [(1, "new", 4)]

    def test_insert_and_delete_become_a_delete_and_never_nothing(self, tmp_path: Path) -> None:
        assert self.states(tmp_path, [Event("c", row(1)), Event("d", {"id": 1})]) == [(1, None, 2)]

    def test_a_key_change_is_a_delete_of_one_key_and_an_upsert_of_another(self, tmp_path: Path) -> None:
        events = [Event("c", row(1)), Event("u", row(2, "b"), old_key={"id": 1}), Event("c", row(1, "c"))]
        assert self.states(tmp_path, events) == [(2, "b", 4), (1, "c", 4)]
        assert self.states(tmp_path, events[:2]) == [(1, None, 2), (2, "b", 4)]

    def test_an_insert_that_lost_its_delete_looks_for_the_key(self, tmp_path: Path) -> None:
        events = [
            Event("c", row(9), lsn=1),
            Event("c", row(1), lsn=2),
            Event("d", {"id": 1}, lsn=3),
            Event("c", row(1, "new"), lsn=4),
            Event("c", row(2), lsn=5),
        ]
        assert self.states(tmp_path, events, markers=Markers.NATURAL) == [(9, "a", 4), (1, "new", 4), (2, "a", 0)]

    def test_a_load_keeps_having_no_markers(self, tmp_path: Path) -> None:
        events = [Event("r", row(1)), Event("r", row(2)), Event("r", row(1, "again"))]
        result = land(tmp_path, events, options=LAST_STATES)
        assert landed(tmp_path, result) == [row(2), row(1, "again")]
        assert result.counts == {"compacted": 1}
        assert result.file is not None
        assert (result.file.rows, result.state.rows) == ({"": 2}, {"": 2})
        assert result.file.ranges == {"shop.public.orders": {0: (0, 2)}}, "the file stands for all of its events"

    def test_composite_keys_and_columns_that_come_later(self, tmp_path: Path) -> None:
        schema = RowSchema((*SCHEMA.fields, Field("extra", ConnectType.STRING)), key=("id", "name"))
        narrow = RowSchema(SCHEMA.fields, key=("id", "name"))
        result = land(
            tmp_path,
            rows([Event("c", row(1, "a")), Event("c", row(1, "b"))], schema=narrow),
            rows([Event("u", row(1, "a", "z") | {"extra": "e"})], schema=schema, first_offset=2),
            options=LAST_STATES,
        )
        assert only(tmp_path, result, "id", "name", "doc", "extra") == [(1, "b", "d", None), (1, "a", "z", "e")]

    def test_text_files_are_compacted_too(self, tmp_path: Path) -> None:
        options = replace(LAST_STATES, file_format=FileFormat.DELIMITED)
        state = msgspec.structs.replace(new_table(), extension="csv", column_separator=",")
        result = land(tmp_path, [Event("c", row(1)), Event("u", row(1, "b"))], options=options, state=state)
        assert result.file is not None
        assert result.file.rows == {"1": 1}
        assert (tmp_path / result.file.staged).read_text().splitlines()[1:] == ["1,b,d,1"]

    def test_a_table_without_a_key_lands_every_row(self, tmp_path: Path) -> None:
        keyless = RowSchema(SCHEMA.fields, key=())
        options = replace(LAST_STATES, on_missing_key=OnMissingKey.APPEND)
        events = rows([Event("c", row(1)), Event("c", row(1))], schema=keyless)
        assert only(tmp_path, land(tmp_path, events, options=options), "id") == [(1,), (1,)]

    def test_values_that_were_not_sent_are_filled_before(self, tmp_path: Path) -> None:
        events = [[Event("c", row(1))], [Event("u", row(1, "b", MISSING))], [Event("u", row(1, "c", MISSING))]]
        assert landed(tmp_path, land(tmp_path, *events, options=LAST_STATES)) == [row(1, "c") | {MARKER: 1}]

    def test_no_local_file_is_left_behind(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
        land(tmp_path, [Event("c", row(1)), Event("u", row(1, "b"))], options=LAST_STATES)
        left = [path.name for path in tmp_path.rglob("*") if path.is_file()]
        assert len(left) == 1, left


def test_incremental_snapshot_rows_go_through_every_option(tmp_path: Path) -> None:
    options = TableOptions(
        hashed=("name",), added=(("n", "1"),), soft_delete="_deleted", compaction=Compaction.LAST_STATE
    )
    events = [Event("r", row(1), snapshot=SnapshotKind.INCREMENTAL), Event("d", row(1))]
    result = land(tmp_path, events, options=options, secrecy=SECRECY)
    assert landed(tmp_path, result) == [{"id": 1, "name": digest("a"), "doc": "d", "_deleted": True, "n": 1, MARKER: 4}]


def test_key_words_of_the_merge_do_not_change_with_the_options(tmp_path: Path) -> None:
    plain, shaped = (
        land(tmp_path, [Event("c", row(1), lsn=9)], options=options).state.partitions
        for options in (TableOptions(), HISTORY)
    )
    assert plain == shaped


class TestNamesThatTheSourceTakes:
    """A name keeps its meaning in a mirrored table."""

    OWN = TableOptions(
        soft_delete="_deleted",
        metadata_columns=(MetadataColumn.OP,),
        added=(("shop", "'x'"),),
    )

    @staticmethod
    def wide(*names: str) -> RowSchema:
        return RowSchema((*SCHEMA.fields, *(Field(name, ConnectType.STRING) for name in names)), key=("id",))

    @pytest.mark.parametrize("name", ["_deleted", "_cdc_op", "shop"])
    def test_a_source_column_with_the_name_of_an_own_column_parks_the_table(self, tmp_path: Path, name: str) -> None:
        second = rows([Event("c", {**row(2), name: "theirs"})], schema=self.wide(name), first_offset=1)
        result = land(tmp_path, [Event("c", row(1))], second, options=self.OWN)
        assert only(tmp_path, result, "id") == [(1,)]
        assert stop_of(result) == (
            "name_taken",
            f"the source has columns of a name that the settings give to a column of the bridge's: {name}",
            "give the bridge's columns another name (soft_delete.column, metadata_prefix, add) and resume the table; "
            "the name then is the source column's, whatever the earlier rows hold in it",
            1,
        )

    def test_a_source_column_that_was_there_first_keeps_its_name(self, tmp_path: Path) -> None:
        schema = self.wide("_deleted")
        first = rows([Event("c", {**row(1), "_deleted": "theirs"})], schema=schema)
        second = rows([Event("d", {"id": 1})], schema=schema, first_offset=1)
        result = land(tmp_path, first, second, options=self.OWN)
        assert result.state.parked is None
        assert only(tmp_path, result, "_deleted", "_deleted_") == [("theirs", False), (None, True)]
