"""The first event that a table's policies refuse, whatever its columns hold."""

from __future__ import annotations

from connectors.landing_zone.ledger.state import SnapshotIdentity
from streaming.landing.inserted import MergeKey
from streaming.landing.rows import OrderedRows
from streaming.landing.snapshots import Streamed
from streaming.landing.stops.keys import key_stop
from streaming.landing.stops.snapshots import snapshot_stop
from streaming.landing.stops.stop import Stop, first_of
from streaming.landing.stops.truncates import truncate_stop
from streaming.plan import TableOptions
from streaming.policies import TableMode


def first_stop(
    events: OrderedRows,
    options: TableOptions,
    keys: tuple[str, ...] | None,
    snapshot: SnapshotIdentity | None,
    streamed: Streamed,
    inserted: MergeKey | None,
) -> Stop | None:
    """The first event that the policies refuse.

    Args:
        keys: the table's pinned key columns; None while nothing has landed yet.
        snapshot: the snapshot that loads the table, if known.
        streamed: what has streamed before these events.
        inserted: the highest merge key of a row that has landed as a new one; None for none.
    """
    if options.mode is TableMode.HISTORY:
        # A history has no key, and takes truncates and snapshots as it takes every event.
        return None
    return first_of(
        truncate_stop(events, options, inserted),
        key_stop(events, options, keys),
        snapshot_stop(events, options, keys, snapshot, streamed),
    )
