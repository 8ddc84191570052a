"""Whether a snapshot row belongs to the load that made the table, or to a second one.

Rows that were deleted between two initial snapshots never get a delete event: upserting the second snapshot leaves them
in the mirror. So an initial snapshot has an identity, and a second one is never taken for the first.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from connectors.debezium.events import Bools, Op, SnapshotKind
from connectors.landing_zone.ledger.state import SnapshotIdentity
from streaming.rows import OrderedRows


class SnapshotVerdict(enum.Enum):
    """What an initial-type snapshot row is to the table."""

    LOAD = "load"
    BLOCKING = "blocking"
    UNKNOWN = "unknown"
    SECOND = "second"


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


def snapshot_runs(events: OrderedRows) -> list[SnapshotRun]:
    """The initial-type snapshot rows, cut where the connector run changes; empty when there are none."""
    where = np.flatnonzero(initial_rows(events))
    if not len(where):
        return []
    codes = events.run_ids.take(pa.array(where)).dictionary_encode(null_encoding="encode")
    numbers = codes.indices.to_numpy(zero_copy_only=False)
    cuts = np.flatnonzero((np.diff(where) != 1) | (np.diff(numbers) != 0)) + 1
    starts, stops = [0, *cuts.tolist()], [*cuts.tolist(), len(where)]
    names = codes.dictionary.to_pylist()
    return [
        SnapshotRun(int(where[start]), int(where[stop - 1]) + 1, names[numbers[start]])
        for start, stop in zip(starts, stops, strict=True)
    ]


@dataclass(frozen=True)
class Streamed:
    """What has streamed before a snapshot row.

    Attributes:
        table: the table has seen streaming events, whatever run sent them.
        own: connector runs whose streaming events the table has seen.
        any: connector runs that have sent streaming events to any table.
    """

    table: bool
    own: frozenset[str] = frozenset()
    any: frozenset[str] = frozenset()


def judge(run_id: str | None, recorded: SnapshotIdentity | None, connector: str, streamed: Streamed) -> SnapshotVerdict:
    """What a snapshot row of ``run_id`` is.

    A run that has streamed other tables only proves nothing about a table that is loaded: its topic may lag, and the
    run's snapshot of it may have come before those events.

    Args:
        recorded: the snapshot that loaded the table, if one did.
    """
    if run_id is None:
        return SnapshotVerdict.SECOND if streamed.table else SnapshotVerdict.UNKNOWN
    if recorded is not None and (recorded.connector, recorded.run_id) == (connector, run_id):
        return SnapshotVerdict.LOAD
    if run_id in streamed.own:
        return SnapshotVerdict.BLOCKING
    if recorded is not None or streamed.table:
        return SnapshotVerdict.SECOND
    return SnapshotVerdict.BLOCKING if run_id in streamed.any else SnapshotVerdict.LOAD
