"""Whether a snapshot row belongs to the load that made the table, or to a second one.

Rows that were deleted between two initial snapshots never get a delete event: upserting the second snapshot leaves them
in the mirror. So an initial snapshot has an identity, and a second one is never taken for the first.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from connectors.debezium.events import Bools, Op, SnapshotKind
from connectors.landing_zone.ledger.state import RunStart, SnapshotIdentity
from streaming.landing.rows import OrderedRows


class SnapshotVerdict(enum.Enum):
    """What an initial-type snapshot row is to the table."""

    LOAD = "load"
    BLOCKING = "blocking"
    UNKNOWN = "unknown"
    SECOND = "second"
    AMBIGUOUS = "ambiguous"


@dataclass(frozen=True)
class SnapshotRun:
    """Consecutive initial-type snapshot rows of one connector run: rows ``start`` to ``stop`` (exclusive)."""

    start: int
    stop: int
    run_id: str | None


def initial_rows(events: OrderedRows) -> Bools:
    """Which events are rows of an initial or blocking snapshot (not of an incremental one)."""
    mask: Bools = (events.snapshots == SnapshotKind.INITIAL) & (events.ops == Op.READ)
    return mask


def snapshot_runs(events: OrderedRows, apart: Bools | None = None) -> list[SnapshotRun]:
    """The initial-type snapshot rows, cut where the connector run changes; empty when there are none.

    Args:
        apart: cut as well where this changes.
    """
    where = np.flatnonzero(initial_rows(events))
    if not len(where):
        return []
    codes = events.run_ids.take(pa.array(where)).dictionary_encode(null_encoding="encode")
    numbers = codes.indices.to_numpy(zero_copy_only=False)
    changes = (np.diff(where) != 1) | (np.diff(numbers) != 0)
    if apart is not None:
        changes |= np.diff(apart[where])
    cuts = np.flatnonzero(changes) + 1
    starts, stops = [0, *cuts.tolist()], [*cuts.tolist(), len(where)]
    names = codes.dictionary.to_pylist()
    return [
        SnapshotRun(int(where[start]), int(where[stop - 1]) + 1, names[numbers[start]])
        for start, stop in zip(starts, stops, strict=True)
    ]


def identity_of(events: OrderedRows, run: SnapshotRun) -> SnapshotIdentity | None:
    """The snapshot that these rows belong to: their connector run, and the first one's position; None without a run."""
    if run.run_id is None:
        return None
    high, low = events.keys[run.start, 1:].tolist()
    return SnapshotIdentity(events.connector, run.run_id, f"{high:016x}{low:016x}")


@dataclass(frozen=True)
class Streamed:
    """What has streamed before a snapshot row.

    Attributes:
        table: the table has seen streaming events, whatever run sent them.
        own: connector runs whose streaming events the table has seen.
        any: connector runs that have sent streaming events to any table.
        starts: where those of ``own`` began to.
    """

    table: bool
    own: frozenset[str] = frozenset()
    any: frozenset[str] = frozenset()
    starts: Mapping[str, RunStart] = field(default_factory=dict)


def loads(recorded: SnapshotIdentity | None, connector: str, run_id: str | None) -> bool:
    """Whether rows of a run belong to the snapshot that loads the table; an empty connector stands for any."""
    return recorded is not None and recorded.run_id == run_id and recorded.connector in ("", connector)


def judge(
    run_id: str | None, recorded: SnapshotIdentity | None, connector: str, streamed: Streamed, *, behind: bool
) -> SnapshotVerdict:
    """What a snapshot row of ``run_id`` is.

    A run that has streamed elsewhere only proves nothing about a table that is loaded: this partition may lag, and the
    run's snapshot may have come before those events. Before anything is thrown away for a second one,
    :func:`streaming.landing.run_starts.surely_initial` has to say so.

    Args:
        recorded: the snapshot that loaded the table, if one did.
        behind: the run has streamed in the row's own partition before it.
    """
    if run_id is None:
        return SnapshotVerdict.AMBIGUOUS if streamed.table else SnapshotVerdict.UNKNOWN
    if loads(recorded, connector, run_id):
        return SnapshotVerdict.LOAD
    same_run_throughout = recorded is None and streamed.own == {run_id}
    if behind or same_run_throughout:
        return SnapshotVerdict.BLOCKING
    if recorded is not None or streamed.table:
        return SnapshotVerdict.SECOND
    return SnapshotVerdict.BLOCKING if run_id in streamed.any else SnapshotVerdict.LOAD
