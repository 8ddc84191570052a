"""Events that a table's policies refuse, whatever their columns hold, and what the rest says about the load.

Pure functions over events in apply order; the lander asks them in this order for each slice of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from connectors.debezium.events import Bools, Int64s, Op, SnapshotKind
from connectors.landing_zone.evolution import Evolution, RefusalReason, Refused
from connectors.landing_zone.ledger.state import SnapshotIdentity, TableState
from streaming.files import column_separator, file_extension
from streaming.plan import TableOptions
from streaming.policies import FileFormat, OnMissingKey, OnResnapshot, OnTruncate
from streaming.rows import OrderedRows
from streaming.snapshots import SnapshotVerdict, Streamed, initial_rows, judge, snapshot_runs


@dataclass(frozen=True)
class Stop:
    """Why and where a table cannot go on: the event at ``index`` of the events that were looked at."""

    index: int
    reason: str
    message: str
    remedy: str
    topic: str
    partition: int
    offset: int

    @staticmethod
    def at(events: OrderedRows, index: int, reason: str, message: str, remedy: str) -> Stop:
        return Stop(
            index,
            reason,
            message,
            remedy,
            events.topics[events.topic_index[index]],
            int(events.partitions[index]),
            int(events.offsets[index]),
        )


def first_stop(
    events: OrderedRows,
    options: TableOptions,
    keys: tuple[str, ...] | None,
    snapshot: SnapshotIdentity | None,
    streamed: Streamed,
) -> Stop | None:
    """The first event that the policies refuse.

    Args:
        keys: the table's pinned key columns; None while nothing has landed yet.
        snapshot: the snapshot that loads the table, if known.
        streamed: what has streamed before these events.
    """
    stops = (
        _truncate_stop(events, options),
        _key_stop(events, options, keys),
        _snapshot_stop(events, options, keys, snapshot, streamed),
    )
    return min((stop for stop in stops if stop is not None), key=lambda stop: stop.index, default=None)


def format_stop(events: OrderedRows, options: TableOptions, state: TableState) -> Stop | None:
    """A table keeps the file format that its metadata has told the replicator."""
    now = file_extension(options)
    separator = column_separator(options)
    if not state.sequence or (now == state.extension and state.column_separator in (separator, "")):
        return None
    if now != state.extension:
        what = f"the settings ask for .{now} files, but the table's {state.sequence} files end in .{state.extension}"
    else:
        what = (
            f"the settings ask for columns separated by {separator!r}, but the table's {state.sequence} files have "
            f"{state.column_separator!r}"
        )
    return Stop.at(
        events,
        0,
        "file_format_changed",
        what,
        "set the table's file_format back, or rebuild the table from an empty folder",
    )


def null_key_stop(events: OrderedRows, keys: tuple[str, ...]) -> Stop | None:
    """The first row that has NULL in a key column: the destination could never find it again."""
    places = [first for name in keys if (first := _first_null(events.rows.column(name))) is not None]
    if events.old_keys is not None:
        places += [
            int(events.key_changed[first])
            for name in keys
            if (first := _first_null(events.old_keys.column(name))) is not None
        ]
    if not places:
        return None
    return Stop.at(
        events,
        min(places),
        "null_key",
        f"a row has NULL in its key ({', '.join(keys)}), so later changes could not find it",
        "declare key columns for this table in the settings that are never NULL",
    )


def _first_null(column: pa.Array) -> int | None:
    if not column.null_count:
        return None
    return int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])


def text_refusal(options: TableOptions, evolution: Evolution) -> Refused | None:
    """Text tables declare their columns once and for all (landing-zone format, "Delimited text requirements")."""
    if options.file_format is not FileFormat.DELIMITED:
        return None
    names = ", ".join(change.column.name for change in evolution.changes)
    return Refused(
        RefusalReason.TYPE_CHANGED,
        f"the source has new columns ({names}), and a delimited-text table cannot get any",
        "exclude the columns in the settings, or rebuild the table with file_format parquet",
    )


def without_truncates(events: OrderedRows) -> tuple[OrderedRows, Int64s]:
    """The events less the truncates, and the places of those among the events that stay, ascending."""
    truncates = events.ops == Op.TRUNCATE
    where = np.flatnonzero(truncates)
    if not len(where):
        return events, where
    return events.take(np.flatnonzero(~truncates)), where - np.arange(len(where))


def loading_snapshot(
    events: OrderedRows, recorded: SnapshotIdentity | None, streamed: frozenset[str]
) -> SnapshotIdentity | None:
    """The identity of the snapshot that loads the table, once a row with a connector run shows it."""
    for run in snapshot_runs(events):
        if recorded is None and run.run_id is not None and run.run_id not in streamed:
            high, low = events.keys[run.start, 1:].tolist()
            return SnapshotIdentity(events.connector, run.run_id, f"{high:016x}{low:016x}")
    return recorded


def load_rows(events: OrderedRows, snapshot: SnapshotIdentity | None) -> Bools:
    """Which rows belong to the snapshot that loads the table."""
    mask = np.zeros(len(events), np.bool_)
    for run in snapshot_runs(events):
        if snapshot is not None and (snapshot.connector, snapshot.run_id) == (events.connector, run.run_id):
            mask[run.start : run.stop] = True
    return mask


def streamed_runs(events: OrderedRows) -> list[str]:
    """The connector runs of streaming events (snapshot rows of any kind prove nothing)."""
    streaming = np.flatnonzero(events.snapshots == SnapshotKind.NONE)
    if not len(streaming):
        return []
    runs = events.run_ids.take(streaming).unique().to_pylist()
    return [run for run in runs if run is not None]


def _truncate_stop(events: OrderedRows, options: TableOptions) -> Stop | None:
    where = np.flatnonzero(events.ops == Op.TRUNCATE)
    if not len(where) or options.on_truncate is not OnTruncate.PARK:
        return None
    return Stop.at(
        events,
        int(where[0]),
        "truncate",
        "the source truncated the table, and the landing zone has no marker for that",
        "rebuild the mirrored table from an empty folder, or set policies.on_truncate to ignore if the rows may stay",
    )


def _key_stop(events: OrderedRows, options: TableOptions, keys: tuple[str, ...] | None) -> Stop | None:
    rows = np.flatnonzero(events.ops != Op.TRUNCATE)
    if not len(rows):
        return None
    first = int(rows[0])
    now = events.schema.key
    if keys and now and keys != now:
        return Stop.at(
            events,
            first,
            "key_changed",
            f"the key columns changed from ({', '.join(keys)}) to ({', '.join(now)}); a mirrored table's key never can",
            "restore the key at the source, or declare the old key columns for this table in the settings",
        )
    if now and keys != ():
        return None
    if keys != () and options.on_missing_key is OnMissingKey.PARK:
        return Stop.at(
            events,
            first,
            "missing_key",
            "the records carry no key, so updates and deletes cannot find their row",
            "declare the table's key columns in the settings, or set policies.on_missing_key to append",
        )
    if keys:
        return Stop.at(
            events,
            first,
            "missing_key",
            f"a record without key arrived for a table with the key ({', '.join(keys)})",
            "restore the key at the source, or declare the key columns for this table in the settings",
        )
    changes = np.flatnonzero((events.ops == Op.UPDATE) | (events.ops == Op.DELETE))
    if not len(changes):
        return None
    return Stop.at(
        events,
        int(changes[0]),
        "change_without_key",
        "an update or delete arrived for a table that can only append",
        "declare the table's key columns in the settings, or make the source send inserts only",
    )


def _snapshot_stop(
    events: OrderedRows,
    options: TableOptions,
    keys: tuple[str, ...] | None,
    snapshot: SnapshotIdentity | None,
    streamed: Streamed,
) -> Stop | None:
    keyless = not (events.schema.key if keys is None else keys)
    if options.on_resnapshot is not OnResnapshot.PARK and not keyless:
        return None
    recorded = snapshot
    for run in snapshot_runs(events):
        earlier = events.slice(0, run.start)
        seen = Streamed(
            streamed.table or bool((~initial_rows(earlier)).any()),
            streamed.own.union(streamed_runs(earlier)),
            streamed.any,
        )
        verdict = judge(run.run_id, recorded, events.connector, seen)
        if keyless and verdict in (SnapshotVerdict.SECOND, SnapshotVerdict.BLOCKING):
            return Stop.at(
                events,
                run.start,
                "second_snapshot",
                "the rows of a table without key were snapshotted again, and appending them would double every row",
                "rebuild the mirrored table from an empty folder, or declare the table's key columns in the settings",
            )
        if verdict is SnapshotVerdict.SECOND:
            return Stop.at(
                events,
                run.start,
                "second_snapshot",
                "a second initial snapshot arrived; rows deleted since the first one were never sent as deletes",
                "rebuild the mirrored table from an empty folder, or set policies.on_resnapshot to upsert to accept "
                "that rows which no longer exist at the source stay",
            )
        if verdict is SnapshotVerdict.LOAD and recorded is None:
            recorded = loading_snapshot(events.slice(run.start, run.stop), None, seen.own | seen.any)
    return None
