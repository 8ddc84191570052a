"""A blocking snapshot before its run has streamed: Debezium has told whether that run made an initial one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from connectors.kafka.signals import Notification
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
AT_ITS_TIME = Table(TOPIC, run=SECOND, base_ms=20_100)
"""Rows of the second run whose time is near to what is told of it."""


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


@pytest.mark.parametrize(
    "of_the_run",
    [
        pytest.param([told(Progress.STARTED, 20_100), told(Progress.COMPLETED, 20_101)], id="no_data"),
        pytest.param(snapshot(20_100, scan(20_102, 1, "public.users")), id="the snapshot of other tables"),
    ],
)
def test_a_run_whose_initial_snapshot_left_the_table_out_removes_no_row_of_it(
    world: World, of_the_run: list[Notification]
) -> None:
    shop = streaming(world)
    shop.told += [*of_the_run, *snapshot(25_000, scan(25_001, 1))]
    shop.send(AT_ITS_TIME.read(row(1, "asked for"), 5_000))
    shop.live()
    assert (shop.rows(), shop.table.generation) == ([row(1, "asked for"), row(2), row(3)], 1)


@pytest.mark.parametrize("retained", [True, False])
def test_what_a_later_run_tells_does_not_make_its_own_snapshot_one_that_somebody_asked_for(
    world: World, retained: bool
) -> None:
    shop = streaming(world)
    if not retained:
        shop.told.clear()
    shop.told += [told(Progress.SKIPPED, 30_050)]
    shop.send(AT_ITS_TIME.read(row(1, "eins"), 90))
    shop.live()
    assert (shop.rows(), shop.table.generation) == ([row(1, "eins")], 2)


@pytest.mark.parametrize(
    ("says", "row_at"),
    [
        pytest.param([told(Progress.SKIPPED, 20_150)], 49, id="the clocks differ"),
        pytest.param(snapshot(900_000, scan(900_001, 1)), 880_000, id="retention has removed how the run began"),
    ],
)
def test_where_it_is_not_clear_nothing_is_removed(world: World, says: list[Notification], row_at: int) -> None:
    shop = streaming(world)
    shop.told[:] = says
    shop.send(AT_ITS_TIME.read(row(1, "asked for"), row_at))
    shop.live()
    parked = shop.table.parked
    assert parked is not None
    assert (parked.reason, parked.rebuild, shop.rows()) == ("ambiguous_snapshot", None, [row(1), row(2), row(3)])
    assert parked.message == (
        "rows of a snapshot arrived under a new connector run; from what the connector's notifications still tell it "
        "is not clear whether they are of a second initial snapshot or of one that somebody asked for, and nothing was "
        "removed"
    )
    assert parked.remedy == (
        "`cdc-bridge resync CONFIG public.orders`; or set policies.on_resnapshot to upsert, which accepts that rows "
        "stay that no longer exist at the source, and `cdc-bridge resume CONFIG public.orders`"
    )


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
