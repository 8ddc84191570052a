"""Where a generation begins that a truncate or a second snapshot asked for, whatever partitions and clocks do."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.debezium.merge_keys import PositionCarry
from connectors.landing_zone.ledger.state import Parked, PartitionState, SnapshotIdentity, TableState, TableStatus
from streaming.landing.generation import Beginning, place_text
from streaming.lifecycle.generations import nothing_landed_behind
from streaming.policies import OnTruncate
from streaming.task.blobs import Blob, pack, unpack
from tests.support.records import Table
from tests.unit.streaming.events import Event, chunk, rows
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import REQUEST, World

BASE_MS = 1_700_000_000_000


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path, policies={"on_truncate": OnTruncate.REBUILD})


def two_partitions(world: World) -> None:
    world.send(ORDERS.at(0).create(row(1), 10), ORDERS.at(1).create(row(2), 11))
    world.live()


class TestTruncateBehindAnotherPartition:
    """A row inserted after the truncate has landed before the truncate was read."""

    @pytest.fixture(autouse=True)
    def ahead(self, world: World) -> None:
        two_partitions(world)
        world.send(ORDERS.at(1).create(row(4), 25))
        world.live()

    def test_a_snapshot_brings_back_the_rows_that_kafka_would_not(self, world: World) -> None:
        world.send(ORDERS.at(0).truncate(20), ORDERS.at(0).create(row(5), 26))
        world.snapshot = (ORDERS.at(1).reread(row(4), 40), ORDERS.at(0).reread(row(5), 40))
        world.live()
        assert (world.rows(), world.table.status) == ([row(4), row(5)], TableStatus.STREAMING)

    def test_without_signals_the_table_stays_parked_with_its_files(self, world: World) -> None:
        world.takes_signals = False
        before = world.files()
        world.send(ORDERS.at(0).truncate(20), ORDERS.at(0).create(row(5), 26))
        world.live()
        parked = world.table.parked
        assert parked is not None
        assert (parked.reason, parked.rebuild, "it is not rebuilt, since" in parked.message) == ("truncate", None, True)
        world.ask(REQUEST)
        world.live()
        assert (world.files(), world.table.status) == (before, TableStatus.PARKED)

    def test_the_truncate_may_be_sent_again_after_the_snapshot(self, world: World) -> None:
        again = (ORDERS.at(0).truncate(20), ORDERS.at(1).create(row(5), 27), ORDERS.at(0).create(row(6), 30))
        world.send(*again)
        world.snapshot = (
            ORDERS.at(1).reread(row(4), 40),
            ORDERS.at(1).reread(row(5), 40),
            ORDERS.at(0).reread(row(6), 40),
        )
        world.live()
        world.send(*again)
        world.live()
        assert (world.rows(), world.table.generation, len(world.signals)) == ([row(4), row(5), row(6)], 2, 1)


def test_a_truncate_that_every_other_partition_lags_behind_is_followed_from_kafka(world: World) -> None:
    two_partitions(world)
    world.send(ORDERS.at(0).truncate(20), ORDERS.at(0).create(row(5), 26))
    world.live()
    world.send(ORDERS.at(1).create(row(3), 15), ORDERS.at(1).create(row(6), 27))
    world.live()
    assert (world.rows(), world.table.generation, world.signals) == ([row(5), row(6)], 2, {})


def test_a_truncate_sent_again_after_a_resync_leaves_every_row(world: World) -> None:
    world.policies = {}
    two_partitions(world)
    again = (ORDERS.at(0).truncate(20), ORDERS.at(1).create(row(5), 25), ORDERS.at(0).create(row(6), 30))
    world.send(*again)
    world.live()
    world.snapshot = (ORDERS.at(1).reread(row(5), 30), ORDERS.at(0).reread(row(6), 31))
    world.ask(REQUEST)
    world.live()
    assert world.rows() == [row(5), row(6)]
    world.policies = {"on_truncate": OnTruncate.REBUILD}
    world.send(*again)
    world.live()
    assert (world.rows(), world.table.generation) == ([row(5), row(6)], 2)


def test_rows_of_the_truncates_moment_stay_after_a_reset_of_the_log(world: World) -> None:
    world.send(ORDERS.create(row(1), 1_000))
    world.live()
    later = Table(TOPIC, run="run-2", base_ms=BASE_MS + 100_000_000_000)
    same = Table(TOPIC, run="run-2", base_ms=BASE_MS + 100_000_000_000 - 1)
    world.send(later.create(row(3), 5), later.truncate(6), same.create(row(4), 7))
    world.live()
    assert world.rows() == [row(4)]


def test_the_loading_snapshots_late_rows_are_gone_with_the_truncate_though_connects_clock_is_ahead(
    world: World,
) -> None:
    ahead = Table(TOPIC, base_ms=BASE_MS + 1_500)
    world.send(ahead.at(0).read(row(1), 10))
    world.live()
    world.send(ORDERS.at(0).truncate(20), ORDERS.at(0).create(row(3), 30))
    world.live()
    world.send(ahead.at(1).read(row(2), 10))
    world.live()
    assert (world.table.parked, world.rows()) == (None, [row(3)])


@pytest.mark.parametrize("behind_ms", [0, 2_000])
def test_a_later_run_begins_a_partition_by_its_position_whatever_its_clock_says(world: World, behind_ms: int) -> None:
    new, third = Table(TOPIC, run="run-2"), Table(TOPIC, run="run-3", base_ms=BASE_MS - behind_ms)
    world.send(ORDERS.at(0).read(row(1), 10), ORDERS.at(1).read(row(2), 10), ORDERS.at(0).update(row(1, "u"), 11))
    world.live()
    world.send(new.at(0).read(row(1), 40))
    world.live()
    assert world.table.generation == 2
    world.send(third.at(1).create(row(7), 50))
    world.live()
    assert world.rows() == [row(1), row(7)]


def test_a_second_snapshot_below_the_log_positions_of_the_first_leaves_it_to_the_clock(world: World) -> None:
    after = BASE_MS + 1_000_000
    new, unknown = Table(TOPIC, run="run-2", base_ms=after), Table(TOPIC, run="run-0")
    world.send(ORDERS.at(0).read(row(1), 900), ORDERS.at(1).read(row(2), 900), ORDERS.at(0).update(row(1, "u"), 910))
    world.live()
    world.send(new.at(0).read(row(1), 40))
    world.live()
    world.send(unknown.at(1).create(row(8), 905))
    world.send(Table(TOPIC, run="run-3", base_ms=after + 5).at(1).create(row(7), 41))
    world.live()
    assert (world.rows(), world.table.first_position) == ([row(1), row(7)], "")


def parked_at(position: int) -> Parked:
    return Parked("truncate", "m", "r", TOPIC, 0, 5, place=place_text((position, position), 7))


def reached(position: int, *, epoch: int = 0, below: int = 0) -> PartitionState:
    return PartitionState(epoch=epoch, high=f"{position:016x}{position:016x}", below=below)


@pytest.mark.parametrize(
    ("other", "parked", "nothing"),
    [
        (reached(19), parked_at(20), True),
        (reached(20), parked_at(20), False),
        (reached(21), parked_at(20), False),
        (reached(19, epoch=1), parked_at(20), False),
        (reached(19, below=1), parked_at(20), False),
        (PartitionState(), parked_at(20), False),
        (reached(19), parked_at(0), False),
    ],
)
def test_another_partition_lags_behind_an_event_only_as_far_as_positions_prove_it(
    other: PartitionState, parked: Parked, nothing: bool
) -> None:
    table = TableState(("shop", "public", "orders"), "f", partitions={TOPIC: {0: reached(99), 1: other}})
    assert nothing_landed_behind(table, parked) is nothing
    alone = TableState(("shop", "public", "orders"), "f", partitions={TOPIC: {0: reached(99)}})
    assert nothing_landed_behind(alone, parked)


def kept(state: TableState, *events: Event) -> list[int]:
    found = Beginning(state, TOPIC, 0).belonging(chunk(events))
    return list(range(len(events))) if found is None else found.tolist()


def test_rows_that_a_snapshot_was_asked_for_stay_though_a_truncate_lies_behind_them() -> None:
    filled = TableState(("shop", "public", "orders"), "f", truncated=place_text((9, 9), 9_000), starts={TOPIC: {0: 0}})
    assert kept(filled, Event("r", {"id": 1}, lsn=5), Event("c", {"id": 2}, lsn=5), Event("t", lsn=9)) == [0]


@pytest.mark.parametrize(("at", "run", "stays"), [(5, "run-1", False), (10, "run-1", True), (5, "run-2", True)])
def test_only_the_snapshot_that_lies_below_the_truncate_goes_by_its_position_alone(
    at: int, run: str, stays: bool
) -> None:
    identity = SnapshotIdentity("postgresql", "run-1", f"{at:016x}{at:016x}")
    emptied = TableState(("shop", "public", "orders"), "f", truncated=place_text((9, 9), 999), snapshot=identity)
    assert kept(emptied, Event("r", {"id": 1}, lsn=5, run=run)) == ([0] if stays else [])


@pytest.mark.parametrize("high", [None, (50, 50)])
def test_the_merge_path_knows_what_position_the_source_gave(high: tuple[int, int] | None) -> None:
    carry = PositionCarry(high=high, phase=1)
    events = rows([Event("c", {"id": 1}, lsn=5), Event("t", lsn=6)], carry=carry)
    blob = unpack(pack(Blob(events, TOPIC, 0, carry))).rows
    assert (blob.positions.tolist(), blob.keys.tolist()) == ([[5, 5], [6, 6]], events.keys.tolist())
    assert blob.slice(1, 2).take(blob.offsets[:1]).positions.tolist() == [[6, 6]]
