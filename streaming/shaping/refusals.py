"""Why the shape that the settings give a table's rows stops it at an event."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from connectors.landing_zone.ledger.state import TableState
from streaming.plan import TableOptions
from streaming.policies import OnCastFailure, TableMode
from streaming.rows import OrderedRows
from streaming.shaping.expressions import ExpressionFailedError
from streaming.shaping.merged_sources import Source, identity, source_of
from streaming.shaping.reshaping import Reshaped
from streaming.stops import Stop

CAST_FAILURE = "cast_failure"
UNAVAILABLE_VALUE = "unavailable_value"


def first_of(*stops: Stop | None) -> Stop | None:
    """The stop at the earliest event."""
    return min((stop for stop in stops if stop is not None), key=lambda stop: stop.index, default=None)


def landed_otherwise(
    events: OrderedRows, options: TableOptions, state: TableState, forms: tuple[str, ...]
) -> Stop | None:
    """A table with files keeps its mode, and the form in which its keys land.

    Args:
        forms: see :func:`streaming.shaping.reshaping.key_forms`.
    """
    if not state.sequence:
        return None
    if state.history != (options.mode is TableMode.HISTORY):
        before, now = ("history", "mirror") if state.history else ("mirror", "history")
        return Stop.at(
            events,
            0,
            "mode_changed",
            f"the settings ask for mode {now}, but the table's {state.sequence} files were made in mode {before}",
            f"set the table's mode back to {before}, or rebuild the table from an empty folder",
        )
    if state.key_forms != forms:
        return Stop.at(
            events,
            0,
            "key_form_changed",
            "the key columns land in another form, or under another secret, than in the table's "
            f"{state.sequence} files, so that no row would be found again",
            "restore columns.hash, columns.encrypt and tables.secrecy, or rebuild the table from an empty folder",
        )
    return None


def sources_alike(events: OrderedRows, options: TableOptions, known: Iterable[Source]) -> Stop | None:
    """A source of a merged table whose rows could not be told from those of another one."""
    mine = source_of(events.table)
    for other in known:
        if other != mine and identity(other, options) == identity(mine, options):
            return Stop.at(
                events,
                0,
                "sources_alike",
                f"rows of {_source_text(mine)} cannot be told from those of {_source_text(other)}, which land in the "
                "same table",
                "list under metadata_columns what differs between them (source_database, source_schema, source_table) "
                "and rebuild the table from an empty folder, or give one of them another name with "
                "tables.overrides[].naming",
            )
    return None


def _source_text(source: Source) -> str:
    return ".".join(part for part in source if part)


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
        "change the type under casts, or set policies.on_cast_failure to null to land such values as NULL",
    )


def expression_stop(events: OrderedRows, error: ExpressionFailedError) -> Stop:
    """The first event for which a computed column has no value."""
    return Stop.at(
        events,
        error.row,
        "expression",
        f"the expression of the added column {error.column} fails: {error.detail}",
        "correct the expression under add, so that it holds for every row (try_cast gives NULL where cast fails)",
    )
