"""The bridge's own columns and source columns of the same name: each keeps what it has been in a mirrored table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules, TombstonePolicy
from connectors.debezium.schema import ConnectType, Field, RowSchema
from connectors.landing_zone.schema import PinnedColumn, PinnedSchema
from streaming.demo.columns import Column, Kind
from streaming.landing.own_columns import displaced, landed_own, own_source
from streaming.plan import TableOptions
from streaming.policies import MetadataColumn, OnTypeChange, TableMode
from tests.support.records import COLUMNS, Table
from tests.unit.streaming import landed_shop
from tests.unit.streaming.events import MARKER, SCHEMA, Event, following, land, landed, plan, row, rows
from tests.unit.streaming.shaped import only, stop_of
from tests.unit.streaming.test_merged_sources import EAST, SHARED, WEST, Shards

SOFT = TableOptions(soft_delete="_deleted")


def wide(name: str) -> RowSchema:
    """The rows' schema with one more column of text."""
    return replace(SCHEMA, fields=(*SCHEMA.fields, Field(name, ConnectType.STRING)))


def with_column(key: int, name: str, offset: int) -> Any:
    """A created row that has the source's column of a name."""
    return rows([Event("c", {**row(key), name: "theirs"})], schema=wide(name), first_offset=offset)


def pinned(*sources: str) -> PinnedSchema:
    return PinnedSchema(tuple(PinnedColumn(source, source, "bool") for source in sources))


class TestAColumnThatTheSourceHadFirst:
    """Its name stays the source's, also once the source's column is gone."""

    def test_the_flag_of_soft_deletes_stays_in_its_column(self, tmp_path: Path) -> None:
        later = rows([Event("d", {"id": 1}), Event("c", row(2))], first_offset=1)
        result = land(tmp_path, with_column(1, "_deleted", 0), later, options=SOFT)
        assert only(tmp_path, result, "id", "_deleted", "_deleted_") == [
            (1, "theirs", False),
            (1, None, True),
            (2, None, False),
        ]

    def test_a_computed_column_stays_in_its_column(self, tmp_path: Path) -> None:
        options = TableOptions(added=(("shop", "'ours'"), ("twice", "shop || shop")))
        batches = with_column(1, "shop", 0), [Event("c", row(2))], with_column(3, "shop", 2)
        result = land(tmp_path, batches[0], rows(batches[1], first_offset=1), batches[2], options=options)
        assert only(tmp_path, result, "id", "shop", "shop_", "twice") == [
            (1, "theirs", "ours", "theirstheirs"),
            (2, None, "ours", None),
            (3, "theirs", "ours", "theirstheirs"),
        ]

    def test_a_column_about_the_event_stays_in_its_column_and_expressions_find_it(self, tmp_path: Path) -> None:
        options = TableOptions(mode=TableMode.HISTORY, added=(("what", "_cdc_op_"),))
        later = rows([Event("d", row(1))], first_offset=1)
        result = land(tmp_path, with_column(1, "_cdc_op", 0), later, options=options)
        assert only(tmp_path, result, "id", "_cdc_op", "_cdc_op_", "what") == [
            (1, "theirs", "c", "c"),
            (1, None, "d", "d"),
        ]

    def test_it_holds_over_micro_batches(self, tmp_path: Path) -> None:
        first = land(tmp_path / "1", with_column(1, "_deleted", 0), options=SOFT)
        second = land(
            tmp_path / "2",
            rows([Event("d", {"id": 1})], first_offset=1),
            state=first.state,
            batch_plan=following(first, plan(tmp_path / "2", options=SOFT)),
        )
        assert only(tmp_path / "2", second, "id", "_deleted", "_deleted_") == [(1, None, True)]

    def test_a_delete_of_learned_rows_that_has_its_key_alone_is_marked_there(self, tmp_path: Path) -> None:
        full = replace(wide("_deleted"), learned=True)
        keys = RowSchema(SCHEMA.fields[:1], key=("id",), learned=True)
        first = rows([Event("c", {**row(1), "_deleted": "theirs"})], schema=full)
        second = rows([Event("d", {"id": 1})], schema=keys, first_offset=1)
        result = land(tmp_path, first, second, options=SOFT)
        assert only(tmp_path, result, "_deleted", "_deleted_") == [("theirs", False), (None, True)]

    @pytest.mark.parametrize("together", [True, False])
    def test_a_tombstone_that_deletes_is_marked_there(self, tmp_path: Path, together: bool) -> None:
        table = Table(landed_shop.TOPIC, columns=(*COLUMNS, Column("_deleted", Kind.BOOLEAN)))
        first = [table.create({**landed_shop.row(1), "_deleted": False}, 1)]
        second = [table.tombstone(landed_shop.row(1))]
        decode = DecodeOptions(
            tombstones=TombstonePolicy.DELETE, rules=TableRules(tables=(("*", TableDecoding(before_images=True)),))
        )
        batches = [first + second] if together else [first, second]
        job = landed_shop.landed(tmp_path, *batches, defaults=SOFT, decode=decode)
        assert job.rows("public.orders") == [{"id": 1, "name": None, "_deleted": None, "_deleted_": True}]

    @pytest.mark.parametrize("name", ["id", "shop"])
    def test_deletes_that_nothing_can_be_computed_of_leave_it_the_name(self, tmp_path: Path, name: str) -> None:
        options = TableOptions(added=((name, "upper(name)"),))
        fields = (SCHEMA.fields[0], Field("shop", ConnectType.STRING))
        deletes = [
            rows(
                [Event("d", {"id": key})],
                schema=RowSchema(fields, key=("id",), learned=True),
                first_offset=key,
            )
            for key in range(2)
        ]
        result = land(tmp_path, *deletes, options=options)
        assert result.state.parked is None
        assert only(tmp_path, result, "id", "shop", MARKER) == [(0, None, 2), (1, None, 2)]

    def test_a_key_column_of_a_delete_that_comes_first_does_not_stop_the_rows_after_it(self, tmp_path: Path) -> None:
        keys = RowSchema(SCHEMA.fields[:1], key=("id",), learned=True)
        first = rows([Event("d", {"id": 1})], schema=keys)
        second = rows([Event("c", row(2))], first_offset=1)
        result = land(tmp_path, first, second, options=TableOptions(added=(("id", "upper(name)"),)))
        assert result.state.parked is None
        assert only(tmp_path, result, "id", "id_", MARKER) == [(1, None, 2), (2, "A", 4)]

    def test_two_source_columns_in_a_row_leave_it_the_next_name(self, tmp_path: Path) -> None:
        schema = replace(SCHEMA, fields=(*wide("_deleted").fields, Field("_deleted_", ConnectType.STRING)))
        first = rows([Event("c", {**row(1), "_deleted": "x", "_deleted_": "y"})], schema=schema)
        result = land(tmp_path, first, rows([Event("d", {"id": 1})], first_offset=1), options=SOFT)
        assert only(tmp_path, result, "_deleted", "_deleted_", "_deleted__") == [("x", "y", False), (None, None, True)]

    def test_what_is_told_of_the_own_column_calls_it_by_its_name_in_the_files(self, tmp_path: Path) -> None:
        first = land(tmp_path / "1", with_column(1, "_deleted", 0), options=SOFT)
        second = land(
            tmp_path / "2",
            with_column(2, "_deleted", 1),
            state=first.state,
            batch_plan=following(first, plan(tmp_path / "2")),
        )
        assert second.notes == (
            "_deleted_ is gone from the rows: it stays, NULL in every row that changes from now on",
        )

    def test_a_changed_type_of_the_own_column_calls_it_by_its_name_in_the_files(self, tmp_path: Path) -> None:
        first = land(tmp_path / "1", with_column(1, "shop", 0), options=TableOptions(added=(("shop", "'x'"),)))
        second = land(
            tmp_path / "2",
            with_column(2, "shop", 1),
            state=first.state,
            batch_plan=following(first, plan(tmp_path / "2", options=TableOptions(added=(("shop", "id > 1"),)))),
        )
        assert stop_of(second)[1] == (
            "the column 'shop_' changed its type from string to bool, which the mirrored column cannot hold"
        )


class TestTablesWithoutACollision:
    def test_their_schema_names_the_own_columns_as_the_settings_do(self, tmp_path: Path) -> None:
        options = replace(SOFT, metadata_columns=(MetadataColumn.OP,), added=(("shop", "'x'"),))
        result = land(tmp_path, [Event("c", row(1))], options=options)
        [text] = result.schemas.values()
        schema = msgspec.json.decode(text, type=PinnedSchema)
        assert [(one.name, one.source) for one in schema.columns[3:]] == [
            ("_cdc_op", "_cdc_op"),
            ("_deleted", "_deleted"),
            ("shop", "shop"),
        ]


class TestTablesFromBefore:
    """Their own columns are pinned with underscores, and only their place tells them from the source's."""

    @pytest.mark.parametrize(
        ("sources", "names", "own"),
        [
            (("id", "_deleted", "_deleted_"), ("id",), "_deleted_"),
            (("id", "_deleted", "_deleted_"), ("id", "_deleted"), "_deleted_"),
            (("id", "_deleted_", "_deleted"), ("id",), "_deleted"),
            (("id", "_deleted", "_deleted_"), ("id", "_deleted_"), "_deleted"),
            (("id", "_deleted"), ("id",), "_deleted"),
            (("id",), ("id",), "_deleted"),
            (("id",), ("id", "_deleted"), "_deleted\0"),
            (("id", "_deleted", "_deleted\0"), ("id",), "_deleted\0"),
        ],
    )
    def test_the_newest_that_the_record_does_not_have_is_the_bridges(
        self, sources: tuple[str, ...], names: tuple[str, ...], own: str
    ) -> None:
        assert own_source("_deleted", names, SOFT, pinned(*sources)) == own

    def test_another_own_column_is_never_taken_for_it(self) -> None:
        options = replace(SOFT, added=(("_deleted_", "1"),))
        assert own_source("_deleted", (), options, pinned("_deleted", "_deleted_")) == "_deleted"

    def test_they_stop_where_the_source_gets_a_column_of_the_name(self) -> None:
        names, incoming = ["id", "_deleted"], ["id", "_deleted", "_deleted\0"]
        assert displaced(names, incoming, SOFT, pinned("id", "_deleted")) == ["_deleted"]
        assert displaced(names, incoming, SOFT, pinned("id", "_deleted", "_deleted_")) == []

    def test_a_key_column_has_never_been_the_bridges(self) -> None:
        key = PinnedSchema((PinnedColumn("_deleted", "_deleted", "bool", key=True),))
        assert displaced(["_deleted"], ["_deleted", "_deleted\0"], SOFT, key) == []


def test_an_own_column_that_landed_is_found_whatever_the_source_has() -> None:
    assert landed_own(["id", "_deleted"], SOFT, pinned("id", "_deleted")) == {"_deleted": ("_deleted",)}
    assert landed_own(["id", "_deleted"], SOFT, pinned("id", "_deleted", "_deleted_")) == {"_deleted": ("_deleted_",)}
    assert landed_own(["id"], SOFT, pinned("id")) == {}


class TestRecordsWithoutTheColumnsOfAnExpression:
    """A delete may have its key alone."""

    UPPER = TableOptions(added=(("big", "upper(name)"),))
    KEYS = RowSchema(SCHEMA.fields[:1], key=("id",), learned=True)

    def delete(self, offset: int = 1) -> Any:
        return rows([Event("d", {"id": 1})], schema=self.KEYS, first_offset=offset)

    @pytest.mark.parametrize("together", [True, False])
    def test_a_tombstone_deletes_its_row(self, tmp_path: Path, together: bool) -> None:
        first, second = (
            [landed_shop.ORDERS.create(landed_shop.row(1), 1)],
            [landed_shop.ORDERS.tombstone(landed_shop.row(1))],
        )
        job = landed_shop.landed(
            tmp_path,
            *([first + second] if together else [first, second]),
            defaults=self.UPPER,
            decode=DecodeOptions(tombstones=TombstonePolicy.DELETE),
        )
        assert job.ledger.state.tables["public.orders"].parked is None
        assert job.rows("public.orders") == []

    def test_a_delete_that_does_not_stay_needs_no_computed_column(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("c", row(1))], self.delete(), options=self.UPPER)
        assert only(tmp_path, result, "id", "big", MARKER) == [(1, "A", 4), (1, None, 2)]

    def test_a_delete_that_comes_first_leaves_the_column_to_the_row_that_has_it(self, tmp_path: Path) -> None:
        result = land(tmp_path, self.delete(0), rows([Event("c", row(2))], first_offset=1), options=self.UPPER)
        assert only(tmp_path, result, "id", "big", MARKER) == [(1, None, 2), (2, "A", 4)]

    def test_a_deleted_row_that_stays_is_computed_from_null(self, tmp_path: Path) -> None:
        options = replace(SOFT, added=(("big", "coalesce(upper(name), 'unknown')"),))
        result = land(tmp_path, [Event("c", row(1))], self.delete(), options=options)
        assert only(tmp_path, result, "id", "big", "_deleted") == [(1, "A", False), (1, "unknown", True)]

    def test_a_source_of_a_merged_table_without_a_column_that_another_has_brings_null(self, tmp_path: Path) -> None:
        wide = replace(EAST, columns=(*COLUMNS, Column("extra", Kind.TEXT)))
        shards = Shards(tmp_path, replace(SHARED, added=(("more", "coalesce(extra, 'none')"),)))
        shards.land(wide.create({**landed_shop.row(1), "extra": "e"}, 1), WEST.create(landed_shop.row(1), 1))
        assert shards.state.parked is None
        assert sorted(line["more"] for line in shards.job.rows("orders")) == ["e", "none"]

    def test_the_message_says_what_the_record_lacks_and_what_it_has(self, tmp_path: Path) -> None:
        options = replace(SOFT, added=(("big", "upper(nowhere) || elsewhere"),))
        reason, message, _, _ = stop_of(land(tmp_path, [Event("c", row(1))], options=options))
        assert (reason, message) == (
            "expression",
            "the expression of the added column big fails: the record has no column nowhere, elsewhere; it has id, "
            "name, doc, _deleted",
        )

    def test_a_column_that_the_settings_leave_out_is_not_null_to_an_expression(self, tmp_path: Path) -> None:
        first = land(tmp_path / "1", [Event("c", row(1))])
        second = land(
            tmp_path / "2",
            rows([Event("c", row(2))], first_offset=1),
            state=first.state,
            batch_plan=following(first, plan(tmp_path / "2", options=replace(self.UPPER, exclude=("name",)))),
        )
        assert stop_of(second)[1].endswith("the record has no column name; it has id, doc")

    def test_deletes_before_the_row_that_fails_land_however_events_are_cut(self, tmp_path: Path) -> None:
        options = TableOptions(added=(("big", "upper(nowhere)"),))
        events = [Event("d", row(1)), Event("d", row(2)), Event("c", row(3))]
        for folder, cut in (("whole", [events]), ("cut", [[event] for event in events])):
            result = land(tmp_path / folder, *cut, options=options)
            assert landed(tmp_path / folder, result) == [row(key) | {MARKER: 2} for key in (1, 2)]
            assert (stop_of(result)[0], stop_of(result)[3]) == ("expression", 2)

    def test_a_row_that_fails_behind_a_delete_is_the_one_that_is_told(self, tmp_path: Path) -> None:
        options = TableOptions(added=(("number", "cast(name as int)"),), on_type_change=OnTypeChange.PARK)
        events = [Event("d", row(1, "x")), Event("c", row(2, "7")), Event("c", row(3, "x"))]
        result = land(tmp_path, events, options=options)
        assert only(tmp_path, result, "id", "number") == [(1, None), (2, 7)]
        assert stop_of(result)[3] == 2
