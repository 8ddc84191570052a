"""What Kafka still holds from before a generation began does not land in it again."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from connectors.debezium.events import SnapshotKind
from connectors.landing_zone.ledger.state import (
    PartitionState,
    Rebuild,
    RebuildKind,
    RunStart,
    SnapshotIdentity,
    TableState,
    TableStatus,
)
from streaming.landing.generation import Beginning, asked_snapshot, place_of_text, place_text
from tests.unit.streaming.events import Event, chunk, rows

TOPIC = "shop.public.orders"
TABLE = TableState(("shop", "public", "orders"), "public.schema/orders", generation=2)
KEYLESS = TableState(
    ("shop", "public", "orders"),
    "public.schema/orders",
    status=TableStatus.FILLING,
    rebuild=Rebuild(RebuildKind.SNAPSHOT, "resync", keyless=True),
)


def belonging(state: TableState, *events: Event, **more: int) -> list[int] | None:
    """The indexes of the events that belong, or None for all of them."""
    kept = Beginning(state, TOPIC, 0).belonging(chunk(events, **more))
    return None if kept is None else kept.tolist()


def test_a_place_is_text_and_back() -> None:
    assert place_of_text(place_text((7, 2**64 - 1), 1_700_000_000_000)) == ((7, 2**64 - 1), 1_700_000_000_000)
    assert (place_text((0, 0), 5), place_of_text("")) == ("", ((0, 0), 0))


def test_a_generation_without_bounds_takes_everything() -> None:
    assert belonging(TABLE, Event("c", {"id": 1}), Event("t")) is None


def test_offsets_below_the_start_are_superseded() -> None:
    started = replace(TABLE, starts={TOPIC: {0: 12}})
    assert belonging(started, *[Event("c", {"id": 1})] * 4, first_offset=10) == [2, 3]
    assert belonging(started, *[Event("c", {"id": 1})] * 2, first_offset=12) is None
    assert belonging(replace(TABLE, starts={TOPIC: {1: 12}}), Event("c", {"id": 1})) is None


def test_a_partition_begins_with_the_run_of_the_snapshot_and_goes_on_with_any() -> None:
    state = replace(TABLE, first_run="run-2", streamed_runs=("run-1",))
    events = [Event("c", run="run-1"), Event("r", run="run-2"), Event("c", run="run-1"), Event("c", run="run-3")]
    assert belonging(state, *events) == [1, 2, 3]
    begun = replace(state, partitions={TOPIC: {0: PartitionState()}})
    assert belonging(begun, *events) is None


def test_a_run_that_nobody_knew_begins_the_generation_only_if_it_is_later() -> None:
    events = [Event("c", run="run-0", lsn=5), Event("c", run="run-3", lsn=50)]
    state = replace(TABLE, first_run="run-2", streamed_runs=("run-1",), first_ms=1_005)
    assert belonging(state, *events) == [1]


@pytest.mark.parametrize(
    ("first_position", "kept"),
    [(f"{20:016x}{20:016x}", [1]), (f"{40:016x}{40:016x}", []), ("", [])],
)
def test_in_a_ledger_of_an_earlier_release_a_runs_first_position_tells_whether_it_is_from_before(
    first_position: str, kept: list[int]
) -> None:
    events = [Event("c", run="run-1", lsn=15), Event("c", run="run-3", lsn=50)]
    state = replace(
        TABLE,
        first_run="run-2",
        streamed_runs=("run-1", "run-3"),
        run_starts={"run-1": RunStart(f"{1:016x}{1:016x}"), "run-3": RunStart(f"{30:016x}{30:016x}")},
        first_position=first_position,
        first_ms=1_005,
    )
    assert belonging(state, *events) == kept
    assert belonging(replace(state, runs_before=("run-1", "run-2")), *events) == [1]


def test_what_the_source_logged_before_the_truncate_is_superseded_and_the_truncate_too() -> None:
    events = [Event("c", lsn=5), Event("t", lsn=9), Event("c", lsn=9), Event("c", lsn=11), Event("c", lsn=0)]
    assert belonging(replace(TABLE, truncated=place_text((9, 9), 1_009)), *events) == [2, 3, 4]
    # Positions are low again after a reset of the source's log, times are not.
    assert belonging(replace(TABLE, truncated=place_text((9, 9), 999)), *events) is None


def test_a_table_without_key_begins_with_the_first_row_of_its_snapshot() -> None:
    read = Event("r", {"id": 1}, snapshot=SnapshotKind.INITIAL)
    beginning = Beginning(KEYLESS, TOPIC, 0)
    before = beginning.belonging(chunk([Event("c", {"id": 1})]))
    assert before is not None
    assert before.tolist() == []
    snapshot = beginning.belonging(chunk([Event("c", {"id": 1}), read, Event("c", {"id": 2})]))
    assert snapshot is not None
    assert snapshot.tolist() == [1, 2]
    assert beginning.belonging(chunk([Event("c", {"id": 3})])) is None


@pytest.mark.parametrize("status", [TableStatus.STREAMING, TableStatus.PARKED])
def test_a_snapshot_is_awaited_only_while_the_table_is_filled(status: TableStatus) -> None:
    read = rows([Event("r", {"id": 1}, snapshot=SnapshotKind.INITIAL, run="run-1")])
    assert asked_snapshot(replace(KEYLESS, status=status), read) is None
    identity = asked_snapshot(KEYLESS, read)
    assert isinstance(identity, SnapshotIdentity)
    assert identity.run_id == "run-1"
    assert asked_snapshot(KEYLESS, rows([Event("c", {"id": 1})])) is None


def test_a_table_with_a_key_is_filled_by_a_run_that_had_streamed_before() -> None:
    filling = replace(KEYLESS, rebuild=Rebuild(RebuildKind.SNAPSHOT, "resync", runs=("run-1",)))
    known, unknown = (rows([Event("r", {"id": 1}, snapshot=SnapshotKind.INITIAL, run=run)]) for run in ("run-1", "r-2"))
    identity = asked_snapshot(filling, known)
    assert identity is not None
    assert identity.run_id == "run-1"
    assert asked_snapshot(filling, unknown) is None
    assert asked_snapshot(replace(filling, status=TableStatus.STREAMING), known) is None
