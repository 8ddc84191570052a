"""Debezium ends an incremental snapshot before its table, and calls it a success: it is asked once more."""

from __future__ import annotations

import logging

import pytest

from connectors.kafka.signals import SnapshotProgress as Progress
from connectors.landing_zone.ledger.state import TableStatus
from streaming.lifecycle.cut_short import MOST_ASKED
from streaming.lifecycle.filling import LISTEN_SECONDS
from tests.unit.streaming.landed_shop import row
from tests.unit.streaming.rebuild_world import Driver, World, waiting

COLLECTION = "public.orders"
FULL = [("10", "247"), ("240", "247"), ("247", "247")]


@pytest.fixture
def driver(world: World) -> Driver:
    return waiting(world)


def reads(world: World, *chunks: tuple[str, str]) -> None:
    """Debezium takes up the latest signal, reads the chunks that end at these keys of these greatest, and is done."""
    signal = list(world.signals)[-1]
    world.notify(Progress.STARTED, signal, data_collections=COLLECTION)
    for last, greatest in chunks:
        reads_chunk(world, last, greatest)
    ends_scan(world)
    world.notify(Progress.COMPLETED, signal)


def reads_chunk(world: World, last: str, greatest: str, collection: str = COLLECTION) -> None:
    told = {"current_collection_in_progress": collection, "last_processed_key": last, "maximum_key": greatest}
    world.notify(Progress.IN_PROGRESS, list(world.signals)[-1], data_collections=collection, **told)


def ends_scan(world: World, collection: str = COLLECTION) -> None:
    signal = list(world.signals)[-1]
    world.notify(Progress.TABLE_SCAN_COMPLETED, signal, scanned_collection=collection, status="SUCCEEDED")


def heard(world: World, driver: Driver) -> tuple[TableStatus, int]:
    """What became of the table, and how many signals have been sent."""
    for _ in range(3):
        world.seconds += LISTEN_SECONDS
        driver.drain()
    return world.table.status, len(world.signals)


def test_a_scan_that_ends_before_the_tables_greatest_key_is_asked_for_once_more(
    world: World, driver: Driver, caplog: pytest.LogCaptureFixture
) -> None:
    reads(world, ("13", "247"), ("13", "247"))
    with caplog.at_level(logging.WARNING):
        assert heard(world, driver) == (TableStatus.FILLING, 2)
    assert (
        "public.orders: Debezium says that it has read the table, but its last chunk ended at key '13', before the "
        "greatest one, '247'; it is asked for once more"
    ) in caplog.messages
    world.send(*world.snapshot)
    reads(world, *FULL)
    assert heard(world, driver) == (TableStatus.STREAMING, 2)
    assert world.rows() == [row(1, "uno"), row(3, "three")]


def test_one_that_never_comes_to_its_end_stops_the_table(world: World, driver: Driver) -> None:
    for asked in range(1, MOST_ASKED + 1):
        assert (world.table.status, len(world.signals)) == (TableStatus.FILLING, asked)
        reads(world, ("13", "247"))
        heard(world, driver)
    parked = world.table.parked
    assert parked is not None
    assert (parked.reason, len(world.signals)) == ("snapshot_failed", MOST_ASKED)
    assert parked.message.endswith(
        "before the greatest one, '247'; so it was 4 times, as happens with read.only while the table is written"
    )
    assert parked.remedy == (
        "give the connector a signal table instead of read.only, or wait until nobody writes; then "
        "`cdc-bridge resync CONFIG public.orders`"
    )


@pytest.mark.parametrize(
    "chunks",
    [
        FULL,
        [],
        [("[B@6d06d69c", "[B@1b2a3c4d")],
        [("7, [B@6d06d69c", "7, [B@1b2a3c4d")],
        [("", "247")],
    ],
)
def test_what_came_to_its_end_or_does_not_say_is_believed(
    world: World, driver: Driver, chunks: list[tuple[str, str]]
) -> None:
    world.send(*world.snapshot)
    reads(world, *chunks)
    assert heard(world, driver) == (TableStatus.STREAMING, 1)


def test_nothing_else_says_where_the_scan_ended(world: World, driver: Driver) -> None:
    world.send(*world.snapshot)
    for last, greatest in FULL:
        reads_chunk(world, last, greatest)
    reads_chunk(world, "1", "9", "public.users")
    ends_scan(world)
    reads_chunk(world, "13", "247")
    ends_scan(world, "public.users")
    world.notify(Progress.COMPLETED, list(world.signals)[-1])
    assert heard(world, driver) == (TableStatus.STREAMING, 1)


def test_the_stream_alone_reads_what_is_asked_for_in_the_signal_table(world: World, driver: Driver) -> None:
    world.forgets = False
    other = world.driver()
    world.send(*world.snapshot)
    reads(world, ("13", "247"))
    assert heard(world, other) == (TableStatus.STREAMING, 1)
