"""A table that stands still for its mode or key form keeps those of its files, so that its remedies lead on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from connectors.landing_zone.requests import Action
from streaming.landing.shaping.secrecy import Secrecy
from streaming.policies import TableMode
from tests.remedies.parked_tables import ask_for, carry_on, land, mirrored, require_parked, require_streaming
from tests.remedies.test_parked_settings import names, streaming
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, World
from tests.unit.streaming.shaped import SECRECY, digest


def test_the_mode_is_set_back(tmp_path: Path) -> None:
    world = streaming(tmp_path)
    world.policies["mode"] = TableMode.HISTORY
    land(world, ORDERS.create(row(3), 20))
    remedy = require_parked(world, "mode_changed")
    assert not world.table.history, "its only file is a mirror's"
    world.policies["mode"] = TableMode.MIRROR
    carry_on(world, remedy, Action.RESUME)
    require_streaming(world, [row(1), row(2), row(3)])


def test_the_key_form_is_restored(tmp_path: Path) -> None:
    world = streaming(tmp_path, hashed=("id",))
    world.policies["hashed"] = ()
    land(world, ORDERS.update(row(2, "two"), 20))
    remedy = require_parked(world, "key_form_changed")
    world.policies["hashed"] = ("id",)
    carry_on(world, remedy, Action.RESUME)
    assert names(world) == {digest("1"): "new", digest("2"): "two"}


def test_a_resume_under_another_salt_parks_again_and_doubles_no_row(tmp_path: Path) -> None:
    """A text key stays text when it is hashed otherwise, so that no other check stops the table."""
    by_name = replace(ORDERS, key=("name",))
    world = World(tmp_path, policies={"hashed": ("name",)}, options={"secrecy": SECRECY})
    land(world, by_name.create(row(1, "one"), 10), by_name.create(row(2, "two"), 11))
    world.options["secrecy"] = Secrecy("another salt of some length", SECRECY.key, "beef", SECRECY.key_digest)
    land(world, by_name.update(row(22, "two"), 20))
    carry_on(world, require_parked(world, "key_form_changed"), Action.RESUME)
    if world.table.parked is None:
        rows = mirrored(world)
        assert [one["id"] for one in rows] == [1, 22], f"the source has two rows, the mirror {rows}"
    require_parked(world, "key_form_changed")


def test_a_history_is_not_thrown_away_without_restart(tmp_path: Path) -> None:
    world = streaming(tmp_path, mode=TableMode.HISTORY)
    world.policies["mode"] = TableMode.MIRROR
    land(world, ORDERS.create(row(3), 20))
    remedy = require_parked(world, "mode_changed")
    assert "--restart" in remedy
    asked = ask_for(world, remedy, Action.RESYNC)
    world.live()
    assert not world.answered(asked).accepted, (world.table.generation, world.rows())


def test_the_remedy_of_an_unavailable_value_names_the_command_that_lets_the_table_go_on(tmp_path: Path) -> None:
    world = streaming(tmp_path)
    land(world, ORDERS.update(row(2, "__debezium_unavailable_value"), 20))
    remedy = require_parked(world, "unavailable_value")
    assert f"cdc-bridge resume CONFIG {NAME}" in remedy, remedy
