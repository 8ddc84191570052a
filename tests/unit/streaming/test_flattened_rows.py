"""Flattened rows say less than envelopes do; what they leave out neither doubles a row nor keeps a stale one."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.debezium.options import TombstonePolicy
from connectors.landing_zone.ledger.draft import Draft
from streaming.driver.dropping import with_drop
from streaming.driver.startup import taint_incomplete
from streaming.landing.source_drop import drop_seen
from streaming.policies import Markers
from tests.unit.streaming.flattened_shop import flattened, reading, tombstone
from tests.unit.streaming.landed_shop import row
from tests.unit.streaming.rebuild_world import NAME, World
from tests.unit.streaming.resumable import Shop


@pytest.mark.parametrize("otherwise", [TombstonePolicy.SKIP, TombstonePolicy.AUTO])
def test_a_row_whose_delete_was_a_skipped_tombstone_is_there_once_with_natural_markers(
    tmp_path: Path, otherwise: TombstonePolicy
) -> None:
    shop = Shop(tmp_path, options={"markers": Markers.NATURAL, "decode": reading(otherwise)})
    shop.receive(flattened("c", 8, "new", 10), flattened("c", 3, "first", 15))
    for tombstones, record in ((TombstonePolicy.SKIP, tombstone(3)), (otherwise, flattened("c", 3, "second", 30))):
        shop.options["decode"] = reading(tombstones)
        shop.restart()
        taint_incomplete(shop.plain.ledger, shop.plain.job)
        shop.receive(record)
    assert shop.rows() == [row(3, "second"), row(8)]


@pytest.mark.parametrize("named", [True, False], ids=["__op", "no __op"])
def test_a_row_of_a_table_that_is_gone_does_not_land_on_that_of_the_snapshot_since(tmp_path: Path, named: bool) -> None:
    def op(letter: str) -> str | None:
        return letter if named else None

    world = World(tmp_path)
    world.options = {"decode": reading()}
    world.send(flattened(op("c"), 1, "old", 10), flattened(op("c"), 2, "old", 11))
    world.live()
    driver = world.driver()
    gone = with_drop(world.table, drop_seen(world.table, 30, 1_700_000_000_030), driver.ledger.state, {}, driver.job)
    driver.ledger.commit(Draft(tables={NAME: gone}))
    world.snapshot = (
        flattened(op("c"), 7, "of the gone table", 25),
        flattened(op("r"), 5, "new", 40, snapshot="incremental"),
    )
    world.ask()
    world.live()
    world.send(flattened(op("c"), 6, "new", 41))
    world.live()
    assert world.rows() == [row(5), row(6)]
