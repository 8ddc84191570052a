"""Where connector runs began to stream: what tells a second initial snapshot from one that somebody asked for.

Both send rows that look alike. An initial snapshot is over before its run streams anything: its position lies below the
first streamed one. A snapshot that was asked for interrupts the stream of a run. So within one run, never across runs:

- a row behind a streamed event of its run in its own partition is of a snapshot that was asked for;
- a row of a run that has streamed nothing, or nothing but above the row's position, is taken for an initial snapshot's;
- in any other case it cannot be told, and nobody's rows are thrown away for a guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from connectors.debezium.events import Bools, Int64s, SnapshotKind
from connectors.landing_zone.ledger.state import Parked, RunStart, TableState
from streaming.landing.places import Place, place_of, places
from streaming.landing.rows import OrderedRows
from streaming.landing.snapshots import initial_rows

_POSITION = 32
"""Hexadecimal digits of a log position."""


def behind_own_stream(events: OrderedRows, starts: Mapping[str, RunStart]) -> Bools:
    """Which initial-type snapshot rows have a streamed event of their run before them in their partition.

    Args:
        starts: what had streamed before these events, by connector run.
    """
    behind = np.zeros(len(events), np.bool_)
    streaming = events.snapshots == SnapshotKind.NONE
    initial = initial_rows(events)
    if not initial.any() or not (starts or streaming.any()):
        return behind
    names, codes = _runs(events)
    numbers = places(events)
    for number in np.unique(numbers[initial]).tolist():
        where = place_of(events, number)
        here = numbers == number
        for code in np.unique(codes[here & initial]).tolist():
            if code < 0:
                continue
            mine = here & (codes == code)
            streamed = np.flatnonzero(mine & streaming)
            if _has_streamed(starts.get(names[code]), where):
                behind |= mine & initial
            elif len(streamed):
                later = np.flatnonzero(mine & initial)
                behind[later[later > streamed[0]]] = True
    return behind


def streamed_runs(events: OrderedRows) -> list[str]:
    """The connector runs of streaming events (snapshot rows of any kind prove nothing)."""
    streaming = _streaming(events)
    if not len(streaming):
        return []
    runs = events.run_ids.take(streaming).unique().to_pylist()
    return [run for run in runs if run is not None]


def first_streamed(events: OrderedRows) -> list[tuple[str, int]]:
    """The first event that each connector run streams in each partition: the run and the event's index."""
    streaming = _streaming(events)
    if not len(streaming):
        return []
    names, codes = _runs(events)
    _, where = np.unique(places(events)[streaming], return_inverse=True)
    pairs = where * (len(names) + 1) + codes[streaming]
    _, firsts = np.unique(pairs, return_index=True)
    found = streaming[firsts].tolist()
    return [(names[codes[index]], index) for index in found if codes[index] >= 0]


def begun(start: RunStart | None, where: Place, position: str) -> RunStart:
    """The start of a run that has streamed in one more partition.

    Args:
        position: of its first event there, two hexadecimal words; empty where it has none.
    """
    if start is None:
        return RunStart(position, {where.topic: (where.partition,)})
    if _has_streamed(start, where):
        return start
    here = tuple(sorted({*start.partitions.get(where.topic, ()), where.partition}))
    lowest = min(start.position, position) if start.position and position else ""
    return RunStart(lowest, {**start.partitions, where.topic: here})


def surely_initial(parked: Parked, tables: Iterable[TableState]) -> bool:
    """Whether the snapshot row that parked a table is of an initial snapshot, as far as the tables know its run."""
    run, position = parked.run, parked.place[:_POSITION]
    if not run:
        return False
    starts = [table.run_starts.get(run) for table in tables if run in table.streamed_runs]
    return all(start is not None and bool(position) and position < start.position for start in starts)


def _streaming(events: OrderedRows) -> Int64s:
    """The events that a run streams, by index; none where no record names its run."""
    if events.run_ids.null_count == len(events):
        return np.empty(0, np.int64)
    return np.flatnonzero(events.snapshots == SnapshotKind.NONE)


def _has_streamed(start: RunStart | None, where: Place) -> bool:
    return start is not None and where.partition in start.partitions.get(where.topic, ())


def _runs(events: OrderedRows) -> tuple[list[str], np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """The names of the connector runs, and for each event the index of its own; -1 for none."""
    encoded = events.run_ids.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return encoded.dictionary.to_pylist(), codes
