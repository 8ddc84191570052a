"""Where a table's present generation begins in each partition: what lies before it is superseded.

A rebuild empties the mirrored table. What Kafka still holds from before must not land in it again: the snapshot that
fills the table contains its effect, the truncate has removed it, or a second snapshot has replaced it. Four rules, of
which a generation has at most one or two:

- ``starts``: offsets below the ends that Kafka had when the snapshot was asked for;
- ``first_run``: in each partition, events before the first one of the connector run that made the second snapshot;
- ``truncated``: events that the source logged before the truncate, in whatever partition they arrive and however often
  the truncate itself is sent; the same for ``dropped``, where an earlier generation's table was dropped at the source
  (by their LSNs where its catalog has shown that; if too late, only beside ``starts``).
  Positions decide, and times only where positions may have fallen in between. The rows of the snapshot that loaded the
  table go by their position alone, since Kafka Connect's clock gave them their time; those of a snapshot that was
  asked for to fill the table (``starts``) all stay;
- a table without key that is being filled: events before the first row of its blocking snapshot, during which Debezium
  streams nothing.
"""

from __future__ import annotations

import numpy as np

from connectors.debezium.events import Bools, ChangeChunk, Int64s, Op, SnapshotKind
from connectors.landing_zone.ledger.state import (
    Dropped,
    Rebuild,
    RebuildKind,
    SnapshotIdentity,
    TableState,
    TableStatus,
)
from streaming.landing.rows import OrderedRows
from streaming.landing.snapshots import identity_of, snapshot_runs

SUPERSEDED = "superseded"
"""Why a record that belongs to an earlier generation yields no row."""


def place_text(position: tuple[int, int], source_ms: int) -> str:
    """A position and a time (milliseconds, not negative) as three hexadecimal words; empty for no position."""
    high, low = position
    return f"{high:016x}{low:016x}{max(source_ms, 0):016x}" if high or low else ""


def place_of_text(text: str) -> tuple[tuple[int, int], int]:
    """The other direction of :func:`place_text`; zeros for the empty text."""
    words = [*(int(text[begin : begin + 16], 16) for begin in range(0, len(text), 16)), 0, 0, 0]
    return (words[0], words[1]), words[2]


def _is_behind(position: tuple[int, int], other: tuple[int, int], *, by_lsn: bool) -> bool:
    """Whether a position lies behind another one, by its second word alone where :attr:`Dropped.by_lsn` says so."""
    return position[1] > other[1] if by_lsn else position > other


def asked_snapshot(state: TableState, events: OrderedRows) -> SnapshotIdentity | None:
    """The identity of the blocking snapshot that was asked for to fill a table, if its rows are here.

    Without it those of a table without key would be taken for a snapshot that interrupts the stream and doubles every
    row. Of a table with a key, rows of a run that had not streamed before the snapshot was asked for may be of an
    initial snapshot, which does not tell of what was deleted before it.
    """
    rebuild = _filled_by_snapshot(state)
    if rebuild is None:
        return None
    asked = (run for run in snapshot_runs(events) if rebuild.keyless or run.run_id in rebuild.runs)
    found = (identity_of(events, run) for run in asked)
    return next((identity for identity in found if identity is not None), None)


def _filled_by_snapshot(state: TableState) -> Rebuild | None:
    """The rebuild whose snapshot is on its way; None if there is none."""
    rebuild = state.rebuild
    if rebuild is None or rebuild.kind is not RebuildKind.SNAPSHOT:
        return None
    return rebuild if state.status in (TableStatus.CLEARED, TableStatus.FILLING) else None


def _awaits_snapshot(state: TableState) -> bool:
    rebuild = _filled_by_snapshot(state)
    return rebuild is not None and rebuild.keyless


def is_later(chunk: ChangeChunk, index: int, first_position: str, first_ms: int) -> bool:
    """Whether an event lies behind the one that began the generation, by its log position or by its time.

    The two times may be of two clocks, Kafka Connect's and the database's.

    Args:
        first_position: two hexadecimal words; empty where positions cannot be compared.
        first_ms: milliseconds.
    """
    if int(chunk.source_ms[index]) > first_ms:
        return True
    high, low = chunk.positions[index].tolist()
    return bool(first_position) and (high, low) > place_of_text(first_position)[0]


def _ended_before(state: TableState) -> Dropped | None:
    """The drop that an earlier generation's table ended with; None if there was none, or its place is no bound here.

    One that the catalog has shown too late lies behind events of the new table, too. Only a snapshot that was asked for
    since then contains their effect.
    """
    dropped = state.dropped
    if dropped is None or dropped.generation >= state.generation:
        return None
    return None if dropped.by_lsn and dropped.back and not state.starts else dropped


def _runs_before(state: TableState) -> frozenset[str]:
    """The connector runs from before that of the second snapshot with which the generation begins."""
    if state.runs_before:
        return frozenset(state.runs_before)
    # An earlier release has not told them from those that have streamed since.
    first, _ = place_of_text(state.first_position)
    began = {run: place_of_text(start.position)[0] for run, start in state.run_starts.items()}
    since = {run for run, position in began.items() if first != (0, 0) and position > first}
    return frozenset(state.streamed_runs) - since


class Beginning:
    """What belongs to a table's present generation, among one partition's events in offset order.

    Args:
        state: the table before these events.
    """

    def __init__(self, state: TableState, topic: str, partition: int) -> None:
        begun = partition in state.partitions.get(topic, {})
        bounds = (state.starts, state.landed_to)
        self._start = max(bound.get(topic, {}).get(partition, 0) for bound in bounds)
        self._first_run = "" if begun else state.first_run
        self._first_ms = state.first_ms
        self._first_position = state.first_position
        self._runs_before = _runs_before(state)
        self._truncated, self._truncated_ms = place_of_text(state.truncated)
        self._by_lsn = False
        dropped = _ended_before(state)
        if dropped is not None:
            # A table that was dropped and made again at the source; what it was before ends there as by a truncate.
            ended, _ = place_of_text(dropped.position)
            if _is_behind(ended, self._truncated, by_lsn=dropped.by_lsn):
                self._truncated, self._truncated_ms, self._by_lsn = ended, dropped.source_ms, dropped.by_lsn
        self._filled = bool(state.starts)
        self._loaded_by = state.snapshot
        if self._loaded_by is not None:
            loaded, _ = place_of_text(self._loaded_by.position)
            if _is_behind(loaded, self._truncated, by_lsn=self._by_lsn):
                self._loaded_by = None
        self._awaits_snapshot = not begun and _awaits_snapshot(state)

    def belonging(self, chunk: ChangeChunk) -> Int64s | None:
        """The indexes of the events that belong to the generation; None for all of them."""
        kept = np.ones(len(chunk), np.bool_)
        if self._start:
            kept &= chunk.offsets >= self._start
        if self._first_run:
            kept &= self._of_the_first_run(chunk)
        if self._truncated != (0, 0):
            kept &= ~self._before_the_truncate(chunk)
        if self._awaits_snapshot:
            kept &= self._since_the_snapshot(chunk, kept)
        return None if kept.all() else np.flatnonzero(kept)

    def _of_the_first_run(self, chunk: ChangeChunk) -> Bools:
        """From the run's first event on, or from that of a later run: a partition may have none of the snapshot's
        rows, whatever the others have shown of later runs."""
        kept = np.zeros(len(chunk), np.bool_)
        runs = chunk.run_ids.to_pylist()
        for index, run in enumerate(runs):
            later = run not in self._runs_before and is_later(chunk, index, self._first_position, self._first_ms)
            if run == self._first_run or later:
                self._first_run = ""
                kept[index:] = True
                break
        return kept

    def _before_the_truncate(self, chunk: ChangeChunk) -> Bools:
        high, low = (np.uint64(word) for word in self._truncated)
        first, second = chunk.positions[:, 0], chunk.positions[:, 1]
        same = (first == high) & (second == low)
        below = (first < high) | ((first == high) & (second < low)) | (same & (chunk.ops == Op.TRUNCATE))
        if self._by_lsn:
            below = second <= low
        # After a reset of the source's log positions are low again, but times are not.
        below &= chunk.positions.any(axis=1)
        if self._filled:
            # Flattened rows that name no operation read as a snapshot's, and are one's where they say so.
            below &= (chunk.ops != Op.READ) | (chunk.snapshots == SnapshotKind.NONE)
        before: Bools = below & (chunk.source_ms <= self._truncated_ms)
        if self._loaded_by is not None:
            loading = np.flatnonzero(
                below & ~before & (chunk.ops == Op.READ) & (chunk.snapshots == SnapshotKind.INITIAL)
            )
            for index in loading.tolist():
                before[index] = chunk.run_ids[index].as_py() == self._loaded_by.run_id
        return before

    def _since_the_snapshot(self, chunk: ChangeChunk, kept: Bools) -> Bools:
        rows = (chunk.snapshots == SnapshotKind.INITIAL) & (chunk.ops == Op.READ) & kept
        since = np.zeros(len(chunk), np.bool_)
        if rows.any():
            self._awaits_snapshot = False
            since[int(np.flatnonzero(rows)[0]) :] = True
        return since
