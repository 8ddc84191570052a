"""Why the shape that the settings give a table's rows stops it at an event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from connectors.debezium.events import Bools, SnapshotKind
from connectors.landing_zone.evolution import IncomingColumn
from connectors.landing_zone.ledger.state import KEPT_PASSED_OVER, TableState
from connectors.landing_zone.schema import PinnedSchema
from streaming.landing.columns import is_masked
from streaming.landing.own_columns import displaced
from streaming.landing.rows import OrderedRows
from streaming.landing.shaping.expressions import ExpressionFailedError
from streaming.landing.shaping.merged_sources import identity, identity_columns
from streaming.landing.shaping.reshaping import Reshaped
from streaming.landing.stops.stop import Stop
from streaming.plan import TableOptions
from streaming.policies import OnCastFailure, TableMode
from streaming.sources import Source, source_of, source_text

CAST_FAILURE = "cast_failure"
UNAVAILABLE_VALUE = "unavailable_value"


def landed_otherwise(
    events: OrderedRows, options: TableOptions, state: TableState, forms: tuple[str, ...]
) -> Stop | None:
    """A table with files keeps its mode, and the form in which its keys land.

    Args:
        forms: see :func:`streaming.landing.shaping.reshaping.key_forms`.
    """
    if not state.sequence:
        return None
    if state.history != (options.mode is TableMode.HISTORY):
        before, now = ("history", "mirror") if state.history else ("mirror", "history")
        anew = "`cdc-bridge resync CONFIG TABLE --restart`" if state.history else "`cdc-bridge resync CONFIG TABLE`"
        return Stop.at(
            events,
            0,
            "mode_changed",
            f"the settings ask for mode {now}, but the table's {state.sequence} files were made in mode {before}",
            f"set the table's mode back to {before} and `cdc-bridge resume CONFIG TABLE`; or "
            f"{anew}, which begins the table anew",
        )
    if state.key_forms != forms:
        return Stop.at(
            events,
            0,
            "key_form_changed",
            "the key columns land in another form, or under another secret, than in the table's "
            f"{state.sequence} files, so that no row would be found again",
            "restore columns.hash, columns.encrypt and tables.secrecy and `cdc-bridge resume CONFIG TABLE`, or "
            "`cdc-bridge resync CONFIG TABLE`",
        )
    return None


def sources_alike(events: OrderedRows, index: int, options: TableOptions, known: Iterable[Source]) -> Stop | None:
    """A source of a merged table, that of the event at ``index``, whose rows cannot be told from those of another."""
    mine = source_of(events.table_at(index))
    for other in known:
        if other != mine and identity(other, options) == identity(mine, options):
            return Stop.at(
                events,
                index,
                "sources_alike",
                f"rows of {source_text(mine)} cannot be told from those of {source_text(other)}, which land in the "
                "same table",
                "carry them with a bridge and a landing zone of their own, and list there under metadata_columns what "
                "differs between them (source_database, source_schema, source_table), or give one of them another name "
                "with tables.overrides[].naming",
            )
    return None


def sources_differ(
    events: OrderedRows, index: int, mine: TableOptions, other: Source, others: TableOptions
) -> Stop | None:
    """A source, that of the event at ``index``, that the settings treat otherwise than the one that came first.

    Rows of both land in one file, in one way; their naming may differ, since it has led to one table already.
    """
    named = replace(mine, schema_template=others.schema_template, table_template=others.table_template)
    unlike = [one.name for one in fields(TableOptions) if getattr(named, one.name) != getattr(others, one.name)]
    if not unlike:
        return None
    return Stop.at(
        events,
        index,
        "sources_differ",
        f"the settings treat rows of {source_text(source_of(events.table_at(index)))} otherwise ({', '.join(unlike)}) "
        f"than those of {source_text(other)}, which land in the same table",
        "let one entry of tables.overrides match all of them, restart, and `cdc-bridge resume CONFIG TABLE`",
    )


def late_stop(events: OrderedRows, index: int, *, named: bool) -> Stop | None:
    """The first event of a source table of which events have passed by, unless a snapshot brings them all.

    Args:
        index: of the event.
        named: whether the ledger names the table, and not only as many others as it can.
    """
    if events.snapshots[index] != SnapshotKind.NONE:
        return None
    passed = "have passed by while the settings excluded it, so the rows from before this one would be missing"
    if not named:
        passed = (
            f"may have passed by: the settings have left out more than the {KEPT_PASSED_OVER:,} tables that the ledger "
            "names, so rows from before this one may be missing"
        )
    return Stop.at(
        events,
        index,
        "included_late",
        f"events of {source_text(source_of(events.table_at(index)))} {passed}",
        "`cdc-bridge resync CONFIG TABLE` for all rows; `cdc-bridge resume CONFIG TABLE` if it may begin in the middle",
    )


def name_stop(
    events: OrderedRows, incoming: Sequence[IncomingColumn], options: TableOptions, schema: PinnedSchema | None
) -> Stop | None:
    """The source has a column now whose name a column of the bridge's own has had in the table so far.

    The source's column would take the name over, and the same name would mean two things in one mirrored table.

    Args:
        incoming: the columns that the events land with.
    """
    if schema is None:
        return None
    names = displaced(events.rows.schema.names, [column.source for column in incoming], options, schema)
    if not names:
        return None
    return Stop.at(
        events,
        0,
        "name_taken",
        f"the source has columns of a name that the settings give to a column of the bridge's: {', '.join(names)}",
        "give the bridge's columns another name (soft_delete.column, metadata_prefix, add), restart, and "
        "`cdc-bridge resume CONFIG TABLE`; the name then is the source column's, whatever the earlier rows hold in it",
    )


def no_columns_stop(events: OrderedRows) -> Stop:
    """Events of which no column lands; only a table without a key can come to that."""
    source = "the records have no columns" if not events.rows.num_columns else "the settings leave out all columns"
    return Stop.at(
        events,
        0,
        "no_columns",
        f"{source}, so a row would hold nothing",
        "give the rows a column: in the source, by columns.include and columns.exclude, or about the event "
        "(metadata_columns); or exclude the table (tables.exclude). Then restart, and `cdc-bridge resume CONFIG TABLE`",
    )


def masked_key_stop(events: OrderedRows, options: TableOptions, keys: tuple[str, ...]) -> Stop | None:
    """A key column that is to land masked: rows are found by their key, so it would land in the clear.

    Args:
        keys: of the table; empty where it has none, as a history.
    """
    own = identity_columns(options)
    masked = [name for name in keys if name not in own and is_masked(name, options)]
    if not masked:
        return None
    return Stop.at(
        events,
        0,
        "masked_key",
        f"the settings mask key columns, by which rows are found, so that they cannot be masked: {', '.join(masked)}",
        "hash or encrypt them instead (columns.hash, columns.encrypt), or take them out of columns.mask if they may "
        "land in the clear; then `cdc-bridge resync CONFIG TABLE` if anything of the table has landed, else "
        "`cdc-bridge resume CONFIG TABLE`",
    )


def identity_stop(events: OrderedRows, index: int, options: TableOptions) -> Stop | None:
    """A source of a merged table, that of the event at ``index``, that has a column where its name is to go."""
    if events.identified:
        return None
    taken = [name for name in identity_columns(options) if name in events.rows.schema.names]
    return Stop.at(
        events,
        index,
        "name_taken",
        f"the source has columns of the names that tell merged sources apart: {', '.join(taken)}",
        "keep the columns out of the events (the connector's column.exclude.list) and "
        "`cdc-bridge resume CONFIG TABLE`; or set another metadata_prefix and carry the sources with a bridge "
        "and a landing zone of their own",
    )


def cast_stop(reshaped: Reshaped, options: TableOptions) -> Stop | None:
    """The first event with a value that does not fit the type that the settings cast it to, if that parks."""
    if not reshaped.misfits or options.on_cast_failure is not OnCastFailure.PARK:
        return None
    casts = dict(options.casts)
    index = min(int(np.flatnonzero(mask)[0]) for mask in reshaped.misfits.values())
    named = ", ".join(f"{name} ({casts[name]})" for name, mask in reshaped.misfits.items() if mask[index])
    return Stop.at(
        reshaped.events,
        index,
        "cast_failure",
        f"a value does not fit the type that the settings cast it to: {named}",
        "change the type under casts, or set policies.on_cast_failure to null to land such values as NULL; then "
        "restart, and `cdc-bridge resume CONFIG TABLE`",
    )


def unavailable_stop(events: OrderedRows, missing: Mapping[str, Bools]) -> Stop:
    """The first event with a value that the source did not send and no earlier row has.

    Args:
        missing: per column the cells without their value; at least one.
    """
    index = min(int(np.flatnonzero(mask)[0]) for mask in missing.values())
    names = ", ".join(name for name, mask in missing.items() if mask[index])
    return Stop.at(
        events,
        index,
        "unavailable_value",
        f"the source did not send the unchanged value of {names}, and no earlier row of the batch has it",
        "set REPLICA IDENTITY FULL on the table (PostgreSQL) and `cdc-bridge resync CONFIG TABLE`; or choose another "
        "policies.on_unavailable, restart, and `cdc-bridge resume CONFIG TABLE`",
    )


def key_cast_stop(reshaped: Reshaped, options: TableOptions, keys: tuple[str, ...]) -> Stop | None:
    """The first event whose key is lost in its cast, whatever the policy says of such values."""
    unfit = {name: mask for name, mask in reshaped.misfits.items() if name in keys}
    if not unfit:
        return None
    casts = dict(options.casts)
    index = min(int(np.flatnonzero(mask)[0]) for mask in unfit.values())
    named = ", ".join(f"{name} ({casts[name]})" for name, mask in unfit.items() if mask[index])
    return Stop.at(
        reshaped.events,
        index,
        "cast_failure",
        "a key does not fit the type that the settings cast it to, or would not be told from another one there "
        f"(as 7 and 007): {named}",
        "take the key column out of casts, or choose a type that keeps its values apart; restart, and "
        "`cdc-bridge resync CONFIG TABLE` if anything of it has landed, else `cdc-bridge resume CONFIG TABLE`",
    )


def expression_stop(events: OrderedRows, error: ExpressionFailedError) -> Stop:
    """The first event for which a computed column has no value."""
    return Stop.at(
        events,
        error.row,
        "expression",
        f"the expression of the added column {error.column} fails: {error.detail}",
        "correct the expression under add, so that it holds for every row (try_cast gives NULL where cast fails), "
        "restart, and `cdc-bridge resume CONFIG TABLE`",
    )
