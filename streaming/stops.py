"""Events that a table's policies refuse, whatever their columns hold, and what the rest says about the load.

Pure functions over events in apply order; the lander asks them in this order for each slice of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import numpy as np
import pyarrow as pa

from connectors.debezium.events import Bools, Int64s, Op, SnapshotKind
from connectors.landing_zone.evolution import Evolution, RefusalReason, Refused, TypeChangePolicy
from connectors.landing_zone.ledger.state import RebuildKind, SnapshotIdentity, TableState
from streaming.files import column_separator, file_extension
from streaming.plan import TableOptions
from streaming.policies import FileFormat, OnKeyChange, OnMissingKey, OnResnapshot, OnTruncate, OnTypeChange, TableMode
from streaming.rows import OrderedRows
from streaming.run_starts import behind_own_stream
from streaming.snapshots import SnapshotVerdict, Streamed, initial_rows, judge, loads, snapshot_runs


@dataclass(frozen=True)
class Stop:
    """Why and where a table cannot go on: the event at ``index`` of the events that were looked at.

    Attributes:
        rebuild: the rebuild that the table's policy asks for, if it does.
    """

    index: int
    reason: str
    message: str
    remedy: str
    topic: str
    partition: int
    offset: int
    rebuild: RebuildKind | None = None

    @staticmethod
    def at(
        events: OrderedRows,
        index: int,
        reason: str,
        message: str,
        remedy: str,
        rebuild: RebuildKind | None = None,
    ) -> Stop:
        return Stop(
            index,
            reason,
            message,
            remedy,
            events.topics[events.topic_index[index]],
            int(events.partitions[index]),
            int(events.offsets[index]),
            rebuild,
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
    if options.mode is TableMode.HISTORY:
        # A history has no key, and takes truncates and snapshots as it takes every event.
        return None
    stops = (
        _truncate_stop(events, options),
        _key_stop(events, options, keys),
        _snapshot_stop(events, options, keys, snapshot, streamed),
    )
    return min((stop for stop in stops if stop is not None), key=lambda stop: stop.index, default=None)


def type_policy(options: TableOptions) -> TypeChangePolicy:
    """How the table's columns follow their sources; a rebuild begins with refusing the change."""
    if options.on_type_change is OnTypeChange.REBUILD:
        return TypeChangePolicy.PARK
    return TypeChangePolicy(options.on_type_change.value)


def refusal_stop(events: OrderedRows, refused: Refused, options: TableOptions) -> Stop:
    """The stop at the first event, whose columns the table cannot take."""
    match refused.reason:
        case RefusalReason.TYPE_CHANGED:
            rebuilds = options.on_type_change is OnTypeChange.REBUILD
        case RefusalReason.KEY_CHANGED:
            rebuilds = options.on_key_change is OnKeyChange.REBUILD
        case _:
            assert_never(refused.reason)
    rebuild = RebuildKind.SNAPSHOT if rebuilds else None
    return Stop.at(events, 0, refused.reason.value, refused.message, refused.remedy, rebuild)


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


def without_truncates(events: OrderedRows, options: TableOptions) -> tuple[OrderedRows, Int64s]:
    """The events less the truncates, and the places of those among the events that stay, ascending.

    A truncate is a row of a history as any other event.
    """
    truncates = (events.ops == Op.TRUNCATE) & (options.mode is not TableMode.HISTORY)
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


def accepted_snapshot(
    events: OrderedRows, recorded: SnapshotIdentity | None, streamed: frozenset[str]
) -> SnapshotIdentity | None:
    """The newest initial snapshot, where a second one is taken as well: its rows to come belong to it, too.

    Args:
        streamed: connector runs that have streamed; a snapshot of theirs may be one that somebody asked for.
    """
    for run in snapshot_runs(events):
        if (
            run.run_id is not None
            and run.run_id not in streamed
            and (recorded is None or recorded.run_id != run.run_id)
        ):
            recorded = loading_snapshot(events.slice(run.start, run.stop), None, streamed)
    return recorded


def load_rows(events: OrderedRows, snapshot: SnapshotIdentity | None) -> Bools:
    """Which rows belong to the snapshot that loads the table."""
    mask = np.zeros(len(events), np.bool_)
    for run in snapshot_runs(events):
        if loads(snapshot, events.connector, run.run_id):
            mask[run.start : run.stop] = True
    return mask


def streamed_runs(events: OrderedRows) -> list[str]:
    """The connector runs of streaming events (snapshot rows of any kind prove nothing)."""
    streaming = np.flatnonzero(events.snapshots == SnapshotKind.NONE)
    if not len(streaming):
        return []
    runs = events.run_ids.take(streaming).unique().to_pylist()
    return [run for run in runs if run is not None]


def truncate_rebuild(options: TableOptions) -> RebuildKind | None:
    """The rebuild that empties a table whose rows are all gone at the source, if the policy asks for one."""
    return RebuildKind.KAFKA if options.on_truncate is OnTruncate.REBUILD else None


def _truncate_stop(events: OrderedRows, options: TableOptions) -> Stop | None:
    where = np.flatnonzero(events.ops == Op.TRUNCATE)
    if not len(where) or options.on_truncate is OnTruncate.IGNORE:
        return None
    return Stop.at(
        events,
        int(where[0]),
        "truncate",
        "the source truncated the table, and the landing zone has no marker for that",
        "resync the table, or set policies.on_truncate to ignore, if the rows may stay, and resume it",
        truncate_rebuild(options),
    )


def _key_stop(events: OrderedRows, options: TableOptions, keys: tuple[str, ...] | None) -> Stop | None:
    rows = np.flatnonzero(events.ops != Op.TRUNCATE)
    if not len(rows):
        return None
    first = int(rows[0])
    now = events.schema.key
    rebuild = RebuildKind.SNAPSHOT if options.on_key_change is OnKeyChange.REBUILD else None
    # A table that had no key takes rows with one as before, unless it is to get that key.
    if now and keys is not None and keys != now and (keys or rebuild):
        return Stop.at(
            events,
            first,
            "key_changed",
            f"the key columns changed from ({', '.join(keys)}) to ({', '.join(now)}); a mirrored table's key never can",
            "resync the table, restore the key at the source, or declare the old key columns for this table in the "
            "settings and resume it",
            rebuild,
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
            rebuild,
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


AMBIGUOUS_REMEDY = (
    "resync the table; or set policies.on_resnapshot to upsert, which accepts that rows stay that no longer exist at "
    "the source, and resume it"
)
_NO_RUN = (
    "rows of a snapshot arrived after the table had streamed, and without the header __debezium.context.runId a second "
    "initial snapshot cannot be told from one that somebody asked for"
)
_DOUBLED = "the rows of a table without key were snapshotted again, and appending them would double every row"
_DOUBLED_REMEDY = "resync the table, or declare its key columns in the settings and resync it"


def _first_behind_streaming(events: OrderedRows) -> int | None:
    """The first snapshot row whose partition has streamed before it, whatever run sent it; None if there is none."""
    streaming = (events.keys[:, 0] >> np.uint64(24) & np.uint64(0xFF)).astype(np.bool_)
    where = np.flatnonzero(initial_rows(events) & streaming)
    return int(where[0]) if len(where) else None


def _snapshot_stop(
    events: OrderedRows,
    options: TableOptions,
    keys: tuple[str, ...] | None,
    snapshot: SnapshotIdentity | None,
    streamed: Streamed,
) -> Stop | None:
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
                "resync the table, or set policies.on_resnapshot to upsert, which accepts that rows stay that no "
                "longer exist at the source, and resume it",
                rebuild,
            )
        if verdict is SnapshotVerdict.LOAD and recorded is None:
            recorded = loading_snapshot(events.slice(run.start, run.stop), None, seen.own | seen.any)
    return None
