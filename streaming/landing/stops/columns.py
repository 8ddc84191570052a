"""Columns and files that the table's pinned schema and its metadata do not allow any more."""

from __future__ import annotations

from typing import assert_never

from connectors.landing_zone.evolution import Evolution, RefusalReason, Refused, TypeChangePolicy
from connectors.landing_zone.ledger.state import RebuildKind, TableState
from streaming.landing.files import column_separator, file_extension
from streaming.landing.rows import OrderedRows
from streaming.landing.stops.stop import Stop
from streaming.plan import TableOptions
from streaming.policies import FileFormat, OnKeyChange, OnTypeChange


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


def text_refusal(options: TableOptions, evolution: Evolution) -> Refused | None:
    """Text tables declare their columns once and for all (landing-zone format, "Delimited text requirements")."""
    if options.file_format is not FileFormat.DELIMITED:
        return None
    names = ", ".join(change.column.name for change in evolution.changes)
    return Refused(
        RefusalReason.TYPE_CHANGED,
        f"the source has new columns ({names}), and a delimited-text table cannot get any",
        "exclude the columns in the settings and `cdc-bridge resume CONFIG TABLE`; or set file_format to parquet and "
        "`cdc-bridge resync CONFIG TABLE`",
    )


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
        "set the table's file_format back and `cdc-bridge resume CONFIG TABLE`, or `cdc-bridge resync CONFIG TABLE`",
    )
