"""Columns that the settings add: computed from the row as it lands, under names that the source does not take."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.debezium.schema import ConnectType, Field, RowSchema
from streaming.plan import TableOptions
from streaming.policies import MetadataColumn
from tests.unit.streaming.events import MARKER, MISSING, SCHEMA, Event, land, row, rows
from tests.unit.streaming.shaped import SECRECY, digest, only, stop_of, with_images


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
            assert message == (
                "the expression of the added column number fails: conversion from `str` to `i32` failed in "
                "column 'name' for 1 out of 1 values"
            )
            assert remedy == (
                "correct the expression under add, so that it holds for every row (try_cast gives NULL where cast "
                "fails), restart, and `cdc-bridge resume CONFIG TABLE`"
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
            "give the bridge's columns another name (soft_delete.column, metadata_prefix, add), restart, and "
            "`cdc-bridge resume CONFIG TABLE`; the name then is the source column's, whatever the earlier rows hold in "
            "it",
            1,
        )

    def test_a_source_column_that_was_there_first_keeps_its_name(self, tmp_path: Path) -> None:
        schema = self.wide("_deleted")
        first = rows([Event("c", {**row(1), "_deleted": "theirs"})], schema=schema)
        second = rows([Event("d", {"id": 1})], schema=schema, first_offset=1)
        result = land(tmp_path, first, second, options=self.OWN)
        assert result.state.parked is None
        assert only(tmp_path, result, "_deleted", "_deleted_") == [("theirs", False), (None, True)]
