"""A table that an event has parked, from there through its remedy to a table that streams with the right rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.landing_zone.requests import Action
from streaming.demo.columns import Column, Kind
from streaming.landing import table_writer
from streaming.landing.marking import Marked, mark
from streaming.landing.rows import OrderedRows
from streaming.policies import (
    FileFormat,
    OnCastFailure,
    OnMissingKey,
    OnResnapshot,
    OnTruncate,
    OnTypeChange,
    OnUnavailable,
)
from tests.remedies.parked_tables import carry_on, land, require_parked, require_streaming
from tests.remedies.parks import documented
from tests.support.records import COLUMNS, Table
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, USERS, World

KEYLESS = replace(ORDERS, key=())
BY_NAME = replace(ORDERS, key=("name",))
NUMBERED = replace(ORDERS, columns=(COLUMNS[0], Column("name", Kind.INT64)))
SECOND_RUN = Table(TOPIC, run="run-2")
MISSING = "__debezium_unavailable_value"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two rows of a table that streams, and what a snapshot of it would bring later on."""
    made = World(tmp_path)
    land(made, ORDERS.read(row(1), 10), ORDERS.read(row(2), 10), USERS.read(row(1), 10), ORDERS.create(row(3), 11))
    made.snapshot = (ORDERS.reread(row(1), 80), ORDERS.reread(row(9), 80))
    return made


def declare(world: World, *keys: str) -> None:
    """Name the orders' key columns in the settings."""
    rules = TableRules(tables=((NAME, TableDecoding(keys=keys)),))
    world.options["decode"] = DecodeOptions(rules=rules)


class TestTruncate:
    def test_old_rows_may_stay(self, world: World) -> None:
        land(world, ORDERS.truncate(20), ORDERS.create(row(4), 21))
        remedy = require_parked(world, "truncate")
        world.policies["on_truncate"] = OnTruncate.IGNORE
        carry_on(world, remedy, Action.RESUME)
        require_streaming(world, [row(1), row(2), row(3), row(4)])

    def test_the_table_begins_anew(self, world: World) -> None:
        world.takes_signals = False
        land(world, ORDERS.truncate(20), ORDERS.create(row(4), 21))
        carry_on(world, require_parked(world, "truncate"), Action.RESYNC)
        require_streaming(world, [row(4)])


class TestSecondSnapshot:
    @pytest.fixture
    def again(self, world: World) -> World:
        """The second row was deleted before the snapshot that nobody asked for."""
        world.policies["on_resnapshot"] = OnResnapshot.PARK
        land(world, SECOND_RUN.read(row(1, "now"), 30), SECOND_RUN.read(row(3), 30), SECOND_RUN.create(row(4), 31))
        return world

    def test_stale_rows_may_stay(self, again: World) -> None:
        remedy = require_parked(again, "second_snapshot")
        again.policies["on_resnapshot"] = OnResnapshot.UPSERT
        carry_on(again, remedy, Action.RESUME)
        require_streaming(again, [row(1, "now"), row(2), row(3), row(4)])

    def test_the_table_begins_anew(self, again: World) -> None:
        again.snapshot = tuple(SECOND_RUN.reread(one, 40) for one in (row(1, "now"), row(3), row(4)))
        carry_on(again, require_parked(again, "second_snapshot"), Action.RESYNC)
        require_streaming(again, [row(1, "now"), row(3), row(4)])


class TestAmbiguousSnapshot:
    @pytest.fixture
    def unclear(self, world: World) -> World:
        """The second run has streamed another table before it reads the orders."""
        land(world, replace(USERS, run="run-2").create(row(2), 25))
        land(world, SECOND_RUN.read(row(1, "now"), 30), SECOND_RUN.create(row(4), 31))
        return world

    def test_stale_rows_may_stay(self, unclear: World) -> None:
        remedy = require_parked(unclear, "ambiguous_snapshot")
        unclear.policies["on_resnapshot"] = OnResnapshot.UPSERT
        carry_on(unclear, remedy, Action.RESUME)
        require_streaming(unclear, [row(1, "now"), row(2), row(3), row(4)])

    def test_the_table_begins_anew(self, unclear: World) -> None:
        unclear.snapshot = tuple(SECOND_RUN.reread(one, 40) for one in (row(1, "now"), row(4)))
        carry_on(unclear, require_parked(unclear, "ambiguous_snapshot"), Action.RESYNC)
        require_streaming(unclear, [row(1, "now"), row(4)])


class TestKeyChanged:
    def test_the_table_begins_anew_with_the_new_key(self, world: World) -> None:
        land(world, BY_NAME.create(row(4, "four"), 20))
        world.snapshot = (BY_NAME.reread(row(1, "one"), 40), BY_NAME.reread(row(4, "four"), 40))
        carry_on(world, require_parked(world, "key_changed"), Action.RESYNC)
        land(world, BY_NAME.update(row(5, "four"), 50))
        assert world.table.keys == ("name",)
        require_streaming(world, [row(1, "one"), row(5, "four")])

    def test_the_old_columns_are_declared(self, world: World) -> None:
        land(world, BY_NAME.create(row(5, "five"), 20), BY_NAME.create(row(4, "four"), 21))
        remedy = require_parked(world, "key_changed")
        declare(world, "id")
        carry_on(world, remedy, Action.RESUME)
        land(world, BY_NAME.update(row(4, "quattro"), 50))
        require_streaming(world, [row(1), row(2), row(3), row(4, "quattro"), row(5, "five")])


class TestMissingKey:
    def test_key_columns_are_declared(self, world: World) -> None:
        land(world, KEYLESS.create(row(5), 20), KEYLESS.create(row(4), 21))
        remedy = require_parked(world, "missing_key")
        declare(world, "id")
        carry_on(world, remedy, Action.RESUME)
        land(world, KEYLESS.update(row(4, "four"), 22))
        require_streaming(world, [row(1), row(2), row(3), row(4, "four"), row(5)])

    def test_a_table_that_only_gets_inserts_is_appended_to(self, tmp_path: Path) -> None:
        world = World(tmp_path)
        land(world, KEYLESS.create(row(1), 10))
        remedy = require_parked(world, "missing_key")
        world.policies["on_missing_key"] = OnMissingKey.APPEND
        carry_on(world, remedy, Action.RESUME)
        land(world, KEYLESS.create(row(2), 11))
        require_streaming(world, [row(1), row(2)])


class TestChangeWithoutKey:
    @pytest.fixture
    def changed(self, tmp_path: Path) -> World:
        made = World(tmp_path, policies={"on_missing_key": OnMissingKey.APPEND})
        land(made, KEYLESS.create(row(1), 10), KEYLESS.create(row(2), 11))
        land(made, KEYLESS.update(row(1, "uno"), 12), KEYLESS.create(row(3), 13))
        made.snapshot = tuple(KEYLESS.read(one, 40) for one in (row(1, "uno"), row(2), row(3)))
        return made

    def test_the_source_sends_inserts_only_from_now_on(self, changed: World) -> None:
        carry_on(changed, require_parked(changed, "change_without_key"), Action.RESYNC)
        land(changed, KEYLESS.create(row(4), 50))
        require_streaming(changed, [row(1, "uno"), row(2), row(3), row(4)])

    def test_key_columns_are_declared(self, changed: World) -> None:
        remedy = require_parked(changed, "change_without_key")
        declare(changed, "id")
        carry_on(changed, remedy, Action.RESYNC)
        land(changed, KEYLESS.update(row(2, "due"), 50))
        require_streaming(changed, [row(1, "uno"), row(2, "due"), row(3)])


class TestTypeChanged:
    def test_another_policy_gives_the_values_a_column_of_their_own(self, world: World) -> None:
        land(world, NUMBERED.create({"id": 4, "name": 7}, 20))
        remedy = require_parked(world, "type_changed")
        world.policies["on_type_change"] = OnTypeChange.NEW_COLUMN
        carry_on(world, remedy, Action.RESUME)
        before = [row(key, name__2=None) for key in (1, 2, 3)]
        require_streaming(world, [*before, {"id": 4, "name": None, "name__2": 7}])

    def test_the_table_begins_anew_with_the_new_type(self, world: World) -> None:
        land(world, NUMBERED.create({"id": 4, "name": 7}, 20))
        world.snapshot = (NUMBERED.reread({"id": 4, "name": 7}, 40),)
        carry_on(world, require_parked(world, "type_changed"), Action.RESYNC)
        require_streaming(world, [{"id": 4, "name": 7}])


class TestUnavailableValue:
    def test_the_policy_lands_null(self, world: World) -> None:
        land(world, ORDERS.update(row(3, MISSING), 20), ORDERS.update(row(2, "two"), 21))
        require_parked(world, "unavailable_value")
        world.policies["on_unavailable"] = OnUnavailable.NULL
        carry_on(world, documented()["unavailable_value"], Action.RESUME)
        require_streaming(world, [row(1), row(2, "two"), {"id": 3, "name": None}])

    def test_the_table_begins_anew_where_the_source_sends_everything(self, world: World) -> None:
        land(world, ORDERS.update(row(3, MISSING), 20))
        require_parked(world, "unavailable_value")
        carry_on(world, documented()["unavailable_value"], Action.RESYNC)
        require_streaming(world, [row(1), row(9)])


class TestCastFailure:
    @pytest.fixture
    def cast(self, tmp_path: Path) -> World:
        made = World(tmp_path, policies={"casts": (("name", "int32"),), "on_cast_failure": OnCastFailure.PARK})
        land(made, ORDERS.create(row(1, "7"), 10), ORDERS.create(row(2, "x"), 11), ORDERS.create(row(3, "9"), 12))
        return made

    def test_the_policy_lands_null(self, cast: World) -> None:
        remedy = require_parked(cast, "cast_failure")
        cast.policies["on_cast_failure"] = OnCastFailure.NULL
        carry_on(cast, remedy, Action.RESUME)
        require_streaming(cast, [{"id": 1, "name": 7}, {"id": 2, "name": None}, {"id": 3, "name": 9}])

    def test_another_type_takes_the_value(self, cast: World) -> None:
        remedy = require_parked(cast, "cast_failure")
        cast.policies |= {"casts": (), "on_type_change": OnTypeChange.NEW_COLUMN}
        carry_on(cast, remedy, Action.RESUME)
        assert [(one["id"], one["name"] or one["name__2"]) for one in cast.rows()] == [(1, 7), (2, "x"), (3, "9")]


def test_expression(tmp_path: Path) -> None:
    world = World(tmp_path, policies={"added": (("number", "cast(name as int)"),)})
    land(world, ORDERS.create(row(1, "7"), 10), ORDERS.create(row(2, "x"), 11), ORDERS.create(row(3, "9"), 12))
    remedy = require_parked(world, "expression")
    world.policies["added"] = (("number", "try_cast(name as int)"),)
    carry_on(world, remedy, Action.RESUME)
    require_streaming(world, [row(1, "7", number=7), row(2, "x", number=None), row(3, "9", number=9)])


def test_unexpected(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a defect, the bridge fails on the values of one column."""
    whole = mark

    def fails_on_a_name(events: OrderedRows, rows: pa.RecordBatch, *args: Any, **named: Any) -> Marked:
        if "name" in rows.schema.names and "odd" in rows["name"].to_pylist():
            raise pa.ArrowInvalid("no room for it")
        return whole(events, rows, *args, **named)

    monkeypatch.setattr(table_writer, "mark", fails_on_a_name)
    land(world, ORDERS.create(row(4), 20), ORDERS.create(row(5, "odd"), 21))
    remedy = require_parked(world, "unexpected")
    assert world.rows() == [row(1), row(2), row(3)], "nothing of the batch has landed"
    world.policies["exclude"] = ("name",)
    carry_on(world, remedy, Action.RESUME)
    require_streaming(world, [row(1), row(2), row(3), {"id": 4, "name": None}, {"id": 5, "name": None}])


class TestFileFormatChanged:
    @pytest.fixture
    def text(self, world: World) -> World:
        world.policies["file_format"] = FileFormat.DELIMITED
        land(world, ORDERS.create(row(4), 20))
        return world

    def test_the_format_is_set_back(self, text: World) -> None:
        remedy = require_parked(text, "file_format_changed")
        del text.policies["file_format"]
        carry_on(text, remedy, Action.RESUME)
        require_streaming(text, [row(1), row(2), row(3), row(4)])

    def test_the_table_begins_anew_in_the_new_format(self, text: World) -> None:
        carry_on(text, require_parked(text, "file_format_changed"), Action.RESYNC)
        require_streaming(text, [row(1), row(9)])
        assert {path.rpartition(".")[2] for path in text.files() if path.startswith("public.schema/orders/0")} == {
            "csv"
        }
