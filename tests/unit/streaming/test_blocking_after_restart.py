"""A blocking snapshot before its run has streamed: Debezium has told whether that run made an initial one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from connectors.kafka.signals import SnapshotProgress as Progress
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Parked, RebuildKind, RunStart, TableStatus
from connectors.landing_zone.replay import open_zone, replay
from streaming.policies import Markers, OnMissingKey
from tests.support.records import Table
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.landed_shop import TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, World
from tests.unit.streaming.told_runs import run_id, scan, snapshot, told

FIRST, SECOND = run_id(1_000), run_id(20_000)
ORDERS, ORDERS_AGAIN = Table(TOPIC, run=FIRST), Table(TOPIC, run=SECOND)


def streaming(world: World, **policies: Any) -> World:
    """A table that the first run has loaded and streamed."""
    world.policies = policies
    orders = Table(TOPIC, run=FIRST, key=() if "on_missing_key" in policies else ("id",))
    world.told += snapshot(1_100, scan(1_101, 2))
    world.send(orders.read(row(1), 10), orders.read(row(2), 10), orders.create(row(3), 20))
    world.live()
    return world


@pytest.mark.parametrize("markers", list(Markers))
def test_rows_of_one_with_conditions_are_upserted_and_no_other_row_is_removed(world: World, markers: Markers) -> None:
    world.options = {"markers": markers}
    shop = streaming(world)
    shop.told += [told(Progress.SKIPPED, 20_050), *snapshot(20_100, scan(20_101, 1))]
    shop.send(ORDERS_AGAIN.read(row(2, "asked for"), 30))
    shop.live()
    assert (shop.rows(), shop.table.generation) == ([row(1), row(2, "asked for"), row(3)], 1)
    shop.send(ORDERS_AGAIN.read(row(3, "more of it"), 30), ORDERS_AGAIN.create(row(4), 40))
    shop.live()
    assert (shop.rows(), shop.table.status) == (
        [row(1), row(2, "asked for"), row(3, "more of it"), row(4)],
        TableStatus.STREAMING,
    )
    assert replay(open_zone(MemoryStorage(shop.zone)).table(NAME)).observations == ()


def test_a_run_that_made_an_initial_snapshot_begins_the_table_anew(world: World) -> None:
    shop = streaming(world)
    shop.told += snapshot(20_100, scan(20_101, 1))
    shop.send(ORDERS_AGAIN.read(row(2), 30))
    shop.live()
    assert (shop.rows(), shop.table.generation) == ([row(2)], 2)


def test_what_another_connector_tells_says_nothing(world: World) -> None:
    shop = streaming(world)
    shop.told += [told(Progress.SKIPPED, 20_050, "mall")]
    shop.send(ORDERS_AGAIN.read(row(2), 30))
    shop.live()
    assert (shop.rows(), shop.table.generation) == ([row(2)], 2)


def test_a_table_without_key_stops_before_its_rows_are_doubled(world: World) -> None:
    shop = streaming(world, on_missing_key=OnMissingKey.APPEND)
    shop.told += [told(Progress.SKIPPED, 20_050), *snapshot(20_100, scan(20_101, 1))]
    shop.send(Table(TOPIC, run=SECOND, key=()).read(row(2), 30))
    shop.live()
    parked = shop.table.parked
    assert parked is not None
    assert (parked.reason, parked.rebuild, shop.table.generation) == ("second_snapshot", None, 1)
    assert sum(shop.table.rows.values()) == 3


def test_a_table_that_parks_with_the_same_rows_once_more_stays_parked(world: World) -> None:
    shop = streaming(world)
    shop.told += [told(Progress.SKIPPED, 20_050)]
    known = RunStart("", {TOPIC: (0,)})
    parked = Parked(
        "second_snapshot", "m", "r", TOPIC, 0, 3, resume={TOPIC: {0: 3}}, rebuild=RebuildKind.KAFKA, run=SECOND
    )
    driver = shop.driver()
    again = msgspec.structs.replace(
        shop.table,
        status=TableStatus.PARKED,
        parked=parked,
        streamed_runs=(FIRST, SECOND),
        run_starts={**shop.table.run_starts, SECOND: known},
    )
    driver.ledger.commit(Draft(tables={NAME: again}))
    driver.do_chores()
    left = shop.table.parked
    assert left is not None
    assert (left.reason, left.rebuild, len(shop.rows())) == ("ambiguous_snapshot", None, 3)
