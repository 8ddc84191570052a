"""Where a mirrored table's rows begin and end once another drop is known.

The ledger keeps one drop of each table (:class:`~connectors.landing_zone.ledger.state.Dropped`). While an earlier one
is the place behind which the present generation begins, a further one must not let late rows from before it in.
"""

from __future__ import annotations

import msgspec

from connectors.landing_zone.ledger.state import Dropped, TableState
from streaming.landing.source_drop import first_place
from streaming.lifecycle.generations import UNDER_WAY


def as_landed(table: TableState, dropped: Dropped) -> Dropped:
    """The drop as the batch's events have left it, where they have come to it."""
    told = table.dropped
    same = told is not None and (told.epoch, told.position) == (dropped.epoch, dropped.position)
    return told if told is not None and same else dropped


def of_generation(table: TableState, dropped: Dropped, known: TableState | None) -> Dropped:
    """The drop of a table of which nothing has landed since an earlier one: the generation begins behind this one.

    Args:
        table: after the batch that told of the drop.
        known: the table before it; None if it was not known.
    """
    moved = _earlier(table, known) is not None and table.sequence == 0 and table.status not in UNDER_WAY
    return msgspec.structs.replace(dropped, generation=table.generation - 1) if moved and not dropped.back else dropped


def keeping_bounds(table: TableState, known: TableState | None) -> TableState:
    """The table that goes on to begin behind an earlier drop, whose place another drop takes.

    One that PostgreSQL's catalog has shown is not kept: its place does not compare with whole positions.

    Args:
        table, known: as for :func:`of_generation`.
    """
    earlier = _earlier(table, known)
    if earlier is None or earlier.by_lsn or not table.sequence:
        return table
    return msgspec.structs.replace(table, truncated=max(table.truncated, first_place(earlier)))


def _earlier(table: TableState, known: TableState | None) -> Dropped | None:
    """The drop behind which the table's generation begins, if one is known."""
    dropped = None if known is None else known.dropped
    return dropped if dropped is not None and dropped.generation < table.generation else None
