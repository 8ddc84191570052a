"""Snapshots that a table does not take: a second one, or one that cannot be told from it."""

from __future__ import annotations

import numpy as np

from connectors.landing_zone.ledger.state import RebuildKind, SnapshotIdentity
from streaming.landing.rows import OrderedRows
from streaming.landing.run_starts import behind_own_stream, streamed_runs
from streaming.landing.snapshots import SnapshotVerdict, Streamed, identity_of, initial_rows, judge, snapshot_runs
from streaming.landing.stops.stop import Stop
from streaming.plan import TableOptions
from streaming.policies import OnResnapshot

AMBIGUOUS_REMEDY = (
    "`cdc-bridge resync CONFIG TABLE`; or set policies.on_resnapshot to upsert, which accepts that rows stay that no "
    "longer exist at the source, and `cdc-bridge resume CONFIG TABLE`"
)
_NO_RUN = (
    "rows of a snapshot arrived after the table had streamed, and without the header __debezium.context.runId a second "
    "initial snapshot cannot be told from one that somebody asked for"
)
_DOUBLED = "the rows of a table without key were snapshotted again, and appending them would double every row"
_DOUBLED_REMEDY = "`cdc-bridge resync CONFIG TABLE`, with its key columns declared in the settings if it has some"


def snapshot_stop(
    events: OrderedRows,
    options: TableOptions,
    keys: tuple[str, ...] | None,
    snapshot: SnapshotIdentity | None,
    streamed: Streamed,
) -> Stop | None:
    """The first snapshot row that would leave the mirror with rows that are gone, or with rows twice.

    Args:
        keys: the table's pinned key columns; None while nothing has landed yet.
        snapshot: the snapshot that loads the table, if known.
        streamed: what has streamed before these events.
    """
    keyless = not (events.schema.key if keys is None else keys)
    if options.on_resnapshot is OnResnapshot.UPSERT and not keyless:
        return None
    rebuild = RebuildKind.KAFKA if options.on_resnapshot is OnResnapshot.REBUILD else None
    recorded = snapshot
    again = _first_behind_streaming(events) if keyless else None
    behind = behind_own_stream(events, streamed.starts)
    for run in snapshot_runs(events, behind):
        earlier = events.slice(0, run.start)
        seen = Streamed(
            streamed.table or bool((~initial_rows(earlier)).any()),
            streamed.own.union(streamed_runs(earlier)),
            streamed.any,
        )
        verdict = judge(run.run_id, recorded, events.connector, seen, behind=bool(behind[run.start]))
        told_apart = verdict is SnapshotVerdict.SECOND and run.run_id is not None
        if again is not None and run.start <= again < run.stop and not told_apart:
            return Stop.at(events, again, "second_snapshot", _DOUBLED, _DOUBLED_REMEDY)
        if keyless and verdict not in (SnapshotVerdict.LOAD, SnapshotVerdict.UNKNOWN):
            return Stop.at(
                events,
                run.start,
                "second_snapshot",
                _DOUBLED,
                _DOUBLED_REMEDY,
                rebuild if verdict is SnapshotVerdict.SECOND else None,
            )
        if verdict is SnapshotVerdict.AMBIGUOUS:
            return Stop.at(events, run.start, "ambiguous_snapshot", _NO_RUN, AMBIGUOUS_REMEDY)
        if verdict is SnapshotVerdict.SECOND:
            return Stop.at(
                events,
                run.start,
                "second_snapshot",
                "a second initial snapshot arrived; rows deleted since the first one were never sent as deletes",
                AMBIGUOUS_REMEDY,
                rebuild,
            )
        if verdict is SnapshotVerdict.LOAD and recorded is None and run.run_id not in seen.own | seen.any:
            recorded = identity_of(events, run)
    return None


def _first_behind_streaming(events: OrderedRows) -> int | None:
    """The first snapshot row whose partition has streamed before it, whatever run sent it; None if there is none."""
    streaming = (events.keys[:, 0] >> np.uint64(24) & np.uint64(0xFF)).astype(np.bool_)
    where = np.flatnonzero(initial_rows(events) & streaming)
    return int(where[0]) if len(where) else None
