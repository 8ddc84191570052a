"""Where a table was dropped at the source, and what its events from behind it are: those of another table.

A ``DROP TABLE`` has a place in the source's log, and so has every event. Events up to it are about the table that is
gone; events behind it show that a table of that name was made again, of which no row of the old one is part. That is
what a truncate means, too, so the same policy decides.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from connectors.debezium.table_change import TableChange, TableChangeKind
from connectors.landing_zone.ledger.state import Dropped, RebuildKind, TableState
from streaming.landing.carry import high_words
from streaming.landing.rows import OrderedRows
from streaming.landing.stops.stop import Stop
from streaming.landing.stops.truncates import truncate_rebuild
from streaming.plan import TableOptions
from streaming.policies import OnDrop, OnTruncate

NOWHERE = (0, 0, 0)
"""Before the first position."""


def drop_of(table: TableState, changes: Iterable[TableChange]) -> Dropped | None:
    """The latest drop among the table's changes; None when there is none, or it is known, or older than the table.

    Args:
        table: as the ledger knows it.
    """
    epoch = reached(table)[0]
    drops = [change for change in changes if change.kind is TableChangeKind.DROP and any(change.position)]
    if not drops:
        return None
    last = max(drops, key=lambda change: change.position)
    high, low = last.position
    position = f"{high:016x}{low:016x}"
    known = table.dropped
    if known is not None and (epoch, position) <= (known.epoch, known.position):
        return None
    if table.loaded >= position:
        # The snapshot that loaded the table was made after it: what was dropped was never mirrored.
        return None
    return Dropped(epoch, position, table.generation, last.source_ms)


def reached(table: TableState) -> tuple[int, int, int]:
    """Epoch and position (two words) of the furthest event that has landed; zeros before the first."""
    words = [
        (key[0] >> 32, key[1], key[2])
        for partitions in table.partitions.values()
        for partition in partitions.values()
        if (key := high_words(partition)) is not None
    ]
    return max(words, default=NOWHERE)


def place(dropped: Dropped) -> tuple[int, int, int]:
    """Epoch and position of the drop, to compare with :func:`reached`."""
    return dropped.epoch, int(dropped.position[:16], 16), int(dropped.position[16:], 16)


def count_before(events: OrderedRows, dropped: Dropped | None, generation: int) -> int:
    """How many of the events, from the first on, come before the table was dropped; all if that concerns none of them.

    Args:
        dropped: None for a table that was not dropped.
        generation: the table's present one; a drop of an earlier one, or of a table that is back, is behind it.
    """
    if dropped is None or dropped.back or dropped.generation < generation:
        return len(events)
    epoch, high, low = (np.uint64(word) for word in place(dropped))
    epochs, highs, lows = events.keys[:, 0] >> np.uint64(32), events.keys[:, 1], events.keys[:, 2]
    behind = (epochs > epoch) | ((epochs == epoch) & ((highs > high) | ((highs == high) & (lows > low))))
    return int(np.argmax(behind)) if behind.any() else len(events)


def recreated_stop(events: OrderedRows, options: TableOptions) -> Stop | None:
    """The stop at the first event, which is the first of the table that was made again; None to go on regardless."""
    if options.on_drop is OnDrop.DROP:
        return Stop.at(
            events,
            0,
            "dropped",
            "the source dropped the table and made it again, and the settings have its mirror dropped with it",
            "nothing: the folder is deleted, and the events of the new table begin it anew",
            RebuildKind.KAFKA,
        )
    if options.on_truncate is OnTruncate.IGNORE:
        return None
    return Stop.at(
        events,
        0,
        "recreated",
        "the source dropped the table and made it again, so the mirrored rows from before are of a table that is gone",
        "`cdc-bridge resync CONFIG TABLE`; or set policies.on_truncate to ignore, if the rows may stay, and "
        "`cdc-bridge resume CONFIG TABLE`",
        truncate_rebuild(options),
    )
