"""A table that the settings have parked, from there through its remedy to a table that streams with the right rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from connectors.debezium.options import DecodeOptions, TableRules
from connectors.landing_zone.requests import Action
from streaming.demo.columns import Column, Kind
from streaming.plan import TableOptions
from streaming.policies import MetadataColumn, OnMissingKey, OnResnapshot, TableMode
from tests.remedies.lost_files import healthy
from tests.remedies.parked_tables import carry_on, land, mirrored, require_parked, require_refused, require_streaming
from tests.remedies.parks import documented
from tests.support.records import COLUMNS, Table
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, USERS, World
from tests.unit.streaming.shaped import SECRECY, digest

KEYLESS = replace(ORDERS, key=())
WITH_LOAD = replace(ORDERS, columns=(*COLUMNS, Column("load", Kind.TEXT)))
EAST = Table("east.orders", database="east", run="east-1")
WEST = Table("west.orders", database="west", run="west-1")
MERGED = "orders"


def made_in(folder: Path, **fields: Any) -> World:
    """A world with a folder of its own."""
    folder.mkdir()
    return World(folder, **fields)


def streaming(folder: Path, **policies: object) -> World:
    """Two rows of a table that streams, and what a snapshot of it would bring later on."""
    made = World(folder, policies=dict(policies), options={"secrecy": SECRECY})
    land(made, ORDERS.read(row(1), 10), USERS.read(row(1), 10), ORDERS.create(row(2), 11))
    made.snapshot = (ORDERS.reread(row(1), 80), ORDERS.reread(row(9), 80))
    return made


class TestExcluded:
    @pytest.fixture
    def left_out(self, tmp_path: Path) -> World:
        made = streaming(tmp_path)
        made.options["decode"] = DecodeOptions(rules=TableRules(exclude=(NAME,)))
        healthy(made)
        land(made, ORDERS.create(row(3), 20))
        return made

    def test_the_table_is_included_again(self, left_out: World) -> None:
        assert left_out.rows() == [row(1), row(2)]
        require_refused(left_out, Action.RESUME)
        require_refused(left_out, Action.RESYNC)
        remedy = require_parked(left_out, "excluded")
        del left_out.options["decode"]
        carry_on(left_out, remedy, Action.RESUME)
        require_streaming(left_out, [row(1), row(2), row(3)])


class TestModeChanged:
    def test_a_history_begins_anew_as_a_mirror(self, tmp_path: Path) -> None:
        world = streaming(tmp_path, mode=TableMode.HISTORY)
        world.policies["mode"] = TableMode.MIRROR
        land(world, ORDERS.create(row(3), 20))
        remedy = require_parked(world, "mode_changed")
        assert f"cdc-bridge resync CONFIG {NAME} --restart" in remedy
        carry_on(world, remedy, Action.RESYNC, restart="yes")
        require_streaming(world, [row(1), row(9)])


class TestKeyFormChanged:
    @pytest.fixture
    def hashed(self, tmp_path: Path) -> World:
        made = streaming(tmp_path, hashed=("id",))
        made.policies["hashed"] = ()
        land(made, ORDERS.update(row(2, "two"), 20))
        return made

    def test_the_table_begins_anew_in_the_new_form(self, hashed: World) -> None:
        carry_on(hashed, require_parked(hashed, "key_form_changed"), Action.RESYNC)
        require_streaming(hashed, [row(1), row(9)])


def names(world: World) -> dict[object, object]:
    """The names of the mirrored rows, whose keys are hashed."""
    return {one["id"]: one["name"] for one in mirrored(world)}


class TestMaskedKey:
    def test_a_table_that_has_not_landed_hashes_its_key(self, tmp_path: Path) -> None:
        world = World(tmp_path, policies={"mask": ("id",)}, options={"secrecy": SECRECY})
        land(world, ORDERS.create(row(2), 9), ORDERS.create(row(1), 10), ORDERS.update(row(1, "one"), 11))
        remedy = require_parked(world, "masked_key")
        world.policies["hashed"] = ("id",)
        carry_on(world, remedy, Action.RESUME)
        assert names(world) == {digest("1"): "one", digest("2"): "new"}

    def test_a_table_that_has_landed_in_the_clear_begins_anew_with_hashes(self, tmp_path: Path) -> None:
        world = streaming(tmp_path)
        world.policies["mask"] = ("id",)
        land(world, ORDERS.create(row(3), 20))
        remedy = require_parked(world, "masked_key")
        world.policies |= {"mask": (), "hashed": ("id",)}
        carry_on(world, remedy, Action.RESYNC)
        assert names(world) == {digest("1"): "new", digest("9"): "new"}


@pytest.mark.parametrize("mended", [{"exclude": ()}, {"metadata_columns": (MetadataColumn.KAFKA_OFFSET,)}])
def test_no_columns(tmp_path: Path, mended: dict[str, object]) -> None:
    world = World(tmp_path, policies={"on_missing_key": OnMissingKey.APPEND, "exclude": ("*",)})
    land(world, KEYLESS.create(row(1), 10), KEYLESS.create(row(2), 11))
    remedy = require_parked(world, "no_columns")
    world.policies |= mended
    carry_on(world, remedy, Action.RESUME)
    land(world, KEYLESS.create(row(3), 12))
    assert len(mirrored(world)) == 3


class TestIncludedLate:
    @pytest.fixture
    def late(self, tmp_path: Path) -> World:
        """Two rows have passed by, and a third shows that."""
        made = World(tmp_path, options={"decode": DecodeOptions(rules=TableRules(exclude=(NAME,)))})
        land(made, ORDERS.read(row(1), 10), USERS.read(row(1), 10), ORDERS.create(row(2), 11))
        del made.options["decode"]
        land(made, ORDERS.create(row(3), 20))
        return made

    def test_all_of_its_rows_come_in_a_snapshot(self, late: World) -> None:
        late.snapshot = tuple(ORDERS.reread(row(key), 40) for key in (1, 2, 3))
        carry_on(late, require_parked(late, "included_late"), Action.RESYNC)
        require_streaming(late, [row(1), row(2), row(3)])

    def test_it_begins_in_the_middle(self, late: World) -> None:
        carry_on(late, require_parked(late, "included_late"), Action.RESUME)
        land(late, ORDERS.create(row(4), 21))
        require_streaming(late, [row(3), row(4)])

    def test_it_goes_on_behind_a_snapshot_that_a_person_asked_debezium_for(self, late: World) -> None:
        land(late, *(ORDERS.reread(row(key), 40) for key in (1, 2, 3)))
        carry_on(late, require_parked(late, "included_late"), Action.RESUME)
        require_streaming(late, [row(1), row(2), row(3)])


SHARED: dict[str, Any] = {
    "merge_sources": True,
    "metadata_columns": (MetadataColumn.SOURCE_DATABASE, MetadataColumn.OP),
    "schema_template": "",
    "on_resnapshot": OnResnapshot.UPSERT,
}


def shards(world: World) -> list[tuple[object, ...]]:
    """The merged rows."""
    return sorted((one["_cdc_source_database"], one["id"], one["name"]) for one in mirrored(world, MERGED))


def test_sources_differ(tmp_path: Path) -> None:
    masking = TableOptions(**{**SHARED, "mask": ("name",)})
    world = World(tmp_path, policies=dict(SHARED), options={"tables": (("west.public.orders", masking),)})
    land(world, EAST.create(row(1, "east"), 1))
    land(world, WEST.create(row(1, "west"), 2), EAST.create(row(2, "east"), 2))
    remedy = require_parked(world, "sources_differ", MERGED)
    world.options["tables"] = (("*.public.orders", TableOptions(**SHARED)),)
    carry_on(world, remedy, Action.RESUME, MERGED)
    assert shards(world) == [("east", 1, "east"), ("east", 2, "east"), ("west", 1, "west")]


class TestSourcesAlike:
    @pytest.fixture
    def alike(self, tmp_path: Path) -> World:
        columns = (MetadataColumn.SOURCE_TABLE, MetadataColumn.SOURCE_SCHEMA)
        made = made_in(tmp_path / "first", policies={**SHARED, "metadata_columns": columns})
        land(made, EAST.create(row(1, "east"), 1))
        land(made, WEST.create(row(1, "west"), 2), EAST.create(row(2, "east"), 2))
        return made

    def test_a_bridge_of_its_own_tells_them_apart(self, alike: World) -> None:
        remedy = require_parked(alike, "sources_alike", MERGED)
        assert "with a bridge and a landing zone of their own" in remedy
        second = made_in(alike.work.parent / "second", policies=dict(SHARED), log=alike.log)
        second.live()
        assert shards(second) == [("east", 1, "east"), ("east", 2, "east"), ("west", 1, "west")]

    def test_one_of_them_gets_another_name_there(self, alike: World) -> None:
        remedy = require_parked(alike, "sources_alike", MERGED)
        assert "give one of them another name with tables.overrides[].naming" in remedy
        named = TableOptions(**{**alike.policies, "table_template": "western"})
        tables = (("west.public.orders", named),)
        second = made_in(
            alike.work.parent / "second", policies=alike.policies, log=alike.log, options={"tables": tables}
        )
        second.live()
        land(second, WEST.create(row(2, "west"), 3), EAST.create(row(3, "east"), 3))
        assert [(one["id"], one["name"]) for one in second.rows(MERGED)] == [(1, "east"), (2, "east"), (3, "east")]
        assert [(one["id"], one["name"]) for one in second.rows("western")] == [(1, "west"), (2, "west")]


class TestNameTaken:
    @pytest.fixture
    def taken(self, tmp_path: Path) -> World:
        made = streaming(tmp_path, added=(("load", "'bridge'"),))
        land(made, WITH_LOAD.create(row(3, load="theirs"), 20))
        return made

    def test_the_bridges_column_gets_another_name(self, taken: World) -> None:
        remedy = require_parked(taken, "name_taken")
        taken.policies["added"] = (("loaded_by", "'bridge'"),)
        carry_on(taken, remedy, Action.RESUME)
        before = [row(key, load="bridge", loaded_by=None) for key in (1, 2)]
        require_streaming(taken, [*before, row(3, load="theirs", loaded_by="bridge")])

    def test_the_table_begins_anew_where_the_sources_column_is_read(self, taken: World) -> None:
        require_parked(taken, "name_taken")
        taken.policies["added"] = (("loaded_by", "'bridge'"),)
        taken.snapshot = (WITH_LOAD.reread(row(3, load="theirs"), 40),)
        carry_on(taken, documented()["name_taken"], Action.RESYNC)
        require_streaming(taken, [row(3, load="theirs", loaded_by="bridge")])


def test_name_collision(tmp_path: Path) -> None:
    """A second bridge carries the table, with a snapshot of its own; the first one leaves it out and goes on."""
    first = made_in(tmp_path / "first", policies={"table_template": "all"})
    land(first, USERS.create(row(1), 10))
    land(first, ORDERS.create(row(1), 20), ORDERS.create(row(2), 21))
    colliding = "public.all <- shop.public.orders"
    require_parked(first, "name_collision", colliding)
    require_refused(first, Action.RESUME, colliding)
    require_refused(first, Action.RESYNC, colliding)

    first.options["decode"] = DecodeOptions(rules=TableRules(exclude=(NAME,)))
    healthy(first)
    only_orders = DecodeOptions(rules=TableRules(include=(NAME,)))
    second = made_in(tmp_path / "second", options={"decode": only_orders})
    land(second, *(ORDERS.read(row(key), 40) for key in (1, 2)), ORDERS.update(row(2, "two"), 50))
    land(first, USERS.create(row(2), 51))

    require_streaming(second, [row(1), row(2, "two")])
    require_streaming(first, [row(1), row(2)], "public.all")
    assert list(second.ledger.tables) == [NAME]
