"""Merging sorted runs of several partitions: apply order, and only the overlap in memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from connectors.debezium.merge_keys import PositionCarry, merge_keys
from connectors.debezium.schema import ConnectType, Field, RowSchema
from streaming.landing.rows import OrderedRows
from streaming.task.blobs import Blob, pack, sort_key, unpack
from streaming.task.merging import merge_runs
from tests.unit.streaming.events import MISSING, SCHEMA, Event, chunk, rows

TOPIC = "shop.public.orders"


def runs(partition: int, lsns: list[int], cuts: list[int], topic: str = TOPIC) -> list[Blob]:
    """One partition's events with these positions, cut into runs as batches of a task would be."""
    blobs: list[Blob] = []
    carry = PositionCarry()
    bounds = sorted({0, len(lsns), *(cut % (len(lsns) + 1) for cut in cuts)})
    for start, stop in pairwise(bounds):
        events = [Event("c", {"id": partition * 1_000 + index}, lsn=lsns[index]) for index in range(start, stop)]
        built = chunk(events, partition=partition, first_offset=start, topic=topic)
        keys, carry, _ = merge_keys(built.positions, built.snapshots, carry)
        blobs.append(Blob(OrderedRows.of_chunk(built, keys), topic, partition, carry))
    return blobs


def order(merged: list[OrderedRows]) -> list[tuple[int, int]]:
    return [
        (int(part), int(offset))
        for piece in merged
        for part, offset in zip(piece.partitions, piece.offsets, strict=True)
    ]


@given(
    partitions=st.lists(st.lists(st.integers(0, 20), max_size=12), min_size=1, max_size=4),
    cuts=st.lists(st.integers(0, 12), max_size=6),
)
def test_rows_leave_by_running_maximum_then_partition_then_offset(partitions: list[list[int]], cuts: list[int]) -> None:
    blobs = [blob for number, lsns in enumerate(partitions) for blob in runs(number, lsns, cuts)]
    merged = order(list(merge_runs(sorted(blobs, key=lambda blob: sort_key(blob.rows, 0)))))
    expected = sorted(
        (int(np.maximum.accumulate(lsns)[offset]), number, offset)
        for number, lsns in enumerate(partitions)
        for offset in range(len(lsns))
    )
    assert merged == [(number, offset) for _, number, offset in expected]


def test_runs_that_do_not_overlap_leave_one_by_one() -> None:
    first, second = runs(0, [1, 2, 3], []) + runs(1, [4, 5], [])
    pieces = merge_runs([first, second])
    assert order([next(pieces)]) == [(0, 0), (0, 1), (0, 2)], "the first run leaves as soon as the second begins"
    assert order(list(pieces)) == [(1, 0), (1, 1)]


def test_many_runs_side_by_side_leave_in_few_pieces() -> None:
    """A piece for each run that begins would look through all of them each time: the square of the partitions."""
    count = 256
    blobs = [run for number in range(count) for run in runs(number, [number, count + number], [])]

    pieces = list(merge_runs(sorted(blobs, key=lambda blob: sort_key(blob.rows, 0))))

    assert sum(map(len, pieces)) == 2 * count
    assert len(pieces) <= 20


def test_no_more_than_twice_the_overlap_is_held() -> None:
    """Runs of ten, each of which overlaps the next one by half."""
    lengths, taken, peak = 10, 0, 0

    def coming() -> Iterator[Blob]:
        nonlocal taken, peak
        for number in range(40):
            taken += lengths
            peak = max(peak, taken)
            yield runs(number, list(range(5 * number, 5 * number + lengths)), [])[0]

    for piece in merge_runs(coming()):
        taken -= len(piece)

    assert taken == 0
    assert peak <= 3 * lengths


def test_rows_of_different_schemas_interleave_in_order() -> None:
    wider = RowSchema((*SCHEMA.fields, Field("size", ConnectType.INT32)), key=("id",))
    old = rows([Event("c", {"id": 1}, lsn=1), Event("c", {"id": 3}, lsn=3)], partition=0)
    new = rows([Event("c", {"id": 2, "size": 9}, lsn=2)], partition=1, schema=wider)
    blobs = [Blob(old, TOPIC, 0, PositionCarry()), Blob(new, TOPIC, 1, PositionCarry())]
    pieces = list(merge_runs(blobs))
    assert [piece.rows.to_pylist()[0]["id"] for piece in pieces] == [1, 2, 3]
    assert pieces[1].schema == wider


def test_key_changes_and_unavailable_cells_move_with_their_rows() -> None:
    left = rows([Event("c", {"id": 1}, lsn=1), Event("u", {"id": 5}, lsn=5, old_key={"id": 4})], partition=0)
    right = rows(
        [Event("u", {"id": 3}, lsn=3, old_key={"id": 2}), Event("u", {"id": 7, "doc": MISSING}, lsn=7)], partition=1
    )
    blobs = [Blob(left, TOPIC, 0, PositionCarry()), Blob(right, TOPIC, 1, PositionCarry())]
    changes: list[tuple[int, int]] = []
    gaps: list[int] = []
    for piece in merge_runs(blobs):
        ids = piece.rows.column("id").to_pylist()
        old = [] if piece.old_keys is None else piece.old_keys.column("id").to_pylist()
        changes += [(old[place], ids[index]) for place, index in enumerate(piece.key_changed.tolist())]
        gaps += [ids[index] for index in np.flatnonzero(piece.unavailable.get("doc", np.zeros(len(piece), bool)))]
    assert changes == [(2, 3), (4, 5)]
    assert gaps == [7]


def test_a_run_survives_packing() -> None:
    events = [
        Event("c", {"id": 1, "name": "é", "doc": MISSING}, lsn=1, run=None),
        Event("u", {"id": 3}, lsn=4, old_key={"id": 2}),
        Event("d", {"id": 3}, lsn=2**60),
    ]
    blob = Blob(rows(events, partition=3), TOPIC, 3, PositionCarry(1, 1, (2, 3), 4))
    again = unpack(pack(blob))
    assert (again.topic, again.partition, again.carry) == (TOPIC, 3, blob.carry)
    assert again.rows.rows.equals(blob.rows.rows)
    assert again.rows.old_keys is not None
    assert again.rows.old_keys.equals(blob.rows.old_keys)
    assert again.rows.run_ids.to_pylist() == [None, "run-1", "run-1"]
    for name in ("ops", "offsets", "keys", "snapshots", "source_ms", "key_changed", "partitions"):
        assert np.array_equal(getattr(again.rows, name), getattr(blob.rows, name)), name
    assert again.rows.unavailable["doc"].tolist() == [True, False, False]
    assert again.rows.schema == blob.rows.schema
