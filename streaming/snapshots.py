"""Whether a snapshot row belongs to the load that made the table, or to a second one.

Rows that were deleted between two initial snapshots never get a delete event: upserting the second snapshot leaves them
in the mirror. So an initial snapshot has an identity, and a second one is never taken for the first.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

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
    run_ids = events.run_ids.take(where).to_pylist()
    runs: list[SnapshotRun] = []
    for index, run_id in zip(where.tolist(), run_ids, strict=True):
        if runs and runs[-1].stop == index and runs[-1].run_id == run_id:
            runs[-1] = SnapshotRun(runs[-1].start, index + 1, run_id)
        else:
            runs.append(SnapshotRun(index, index + 1, run_id))
    return runs


def judge(run_id: str | None, recorded: SnapshotIdentity | None, connector: str, streamed: bool) -> SnapshotVerdict:
    """What a snapshot row of ``run_id`` is.

    Args:
        recorded: the snapshot that loaded the table, if one did.
        streamed: the run has already sent streaming events, or, for a row without run id, the table has seen any.
    """
    if run_id is None:
        return SnapshotVerdict.SECOND if streamed else SnapshotVerdict.UNKNOWN
    if recorded is not None and (recorded.connector, recorded.run_id) == (connector, run_id):
        return SnapshotVerdict.LOAD
    if streamed:
        return SnapshotVerdict.BLOCKING
    return SnapshotVerdict.SECOND if recorded is not None else SnapshotVerdict.LOAD
