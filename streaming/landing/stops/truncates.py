"""Truncates, for which the landing zone has no marker."""

from __future__ import annotations

import numpy as np

from connectors.debezium.events import Bools, Int64s, Op
from connectors.landing_zone.ledger.state import RebuildKind
from streaming.landing.inserted import MergeKey
from streaming.landing.marking import below
from streaming.landing.rows import OrderedRows
from streaming.landing.stops.stop import Stop
from streaming.plan import TableOptions
from streaming.policies import OnTruncate, TableMode


def truncate_stop(events: OrderedRows, options: TableOptions, inserted: MergeKey | None) -> Stop | None:
    """The first truncate that the policy does not ignore, or that cannot be.

    One that lay unread in another partition cannot: a row that it removed, and that was made again and taken for new
    meanwhile, is there twice.

    Args:
        inserted: the highest merge key of a row that has landed as a new one; None for none.
    """
    where = np.flatnonzero(events.ops == Op.TRUNCATE)
    doubling: Bools = np.zeros(len(where), np.bool_)
    if inserted is not None:
        # What is sent again has its partition's highest position.
        doubling = below(events.keys[where], np.array([inserted], np.uint64))
    if options.on_truncate is OnTruncate.IGNORE:
        where, doubling = where[doubling], doubling[doubling]
    if not len(where):
        return None
    if doubling[0]:
        return Stop.at(
            events,
            int(where[0]),
            "truncate",
            "the source truncated the table before rows that have landed already, and `markers: natural` had them land "
            "as new ones (marker 0): rows may be there twice",
            "`cdc-bridge resync CONFIG TABLE`",
            truncate_rebuild(options),
        )
    return Stop.at(
        events,
        int(where[0]),
        "truncate",
        "the source truncated the table, and the landing zone has no marker for that",
        "`cdc-bridge resync CONFIG TABLE`; or set policies.on_truncate to ignore, if the rows may stay, and "
        "`cdc-bridge resume CONFIG TABLE`",
        truncate_rebuild(options),
    )


def truncate_rebuild(options: TableOptions) -> RebuildKind | None:
    """The rebuild that empties a table whose rows are all gone at the source, if the policy asks for one."""
    return RebuildKind.KAFKA if options.on_truncate is OnTruncate.REBUILD else None


def without_truncates(events: OrderedRows, options: TableOptions) -> tuple[OrderedRows, Int64s]:
    """The events less the truncates, and the places of those among the events that stay, ascending.

    A truncate is a row of a history as any other event.
    """
    truncates = (events.ops == Op.TRUNCATE) & (options.mode is not TableMode.HISTORY)
    where = np.flatnonzero(truncates)
    if not len(where):
        return events, where
    return events.take(np.flatnonzero(~truncates)), where - np.arange(len(where))
