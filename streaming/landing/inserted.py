"""How far rows have landed as new ones, without a look for their key (marker 0).

What removed rows at the source before that place, and is heard of only now, may have removed one that such a row stands
beside: a truncate that lay unread in another partition, a drop that was told of late.
"""

from __future__ import annotations

import numpy as np

from connectors.landing_zone.ledger.state import TableState
from connectors.landing_zone.row_marker import RowMarker
from streaming.landing.marking import Marked
from streaming.landing.rows import OrderedRows

MergeKey = tuple[int, int, int]

ANYWHERE: MergeKey = (2**64 - 1,) * 3
"""Behind every merge key."""


def has_inserted(table: TableState) -> bool:
    """Whether rows of a table with a key have landed as new ones."""
    return bool(table.keys) and not table.history and table.rows.get(str(RowMarker.INSERT.value), 0) > 0


def inserted_to(table: TableState) -> MergeKey | None:
    """Their highest merge key; None for none, :data:`ANYWHERE` where a ledger that was made again has forgotten it."""
    if not has_inserted(table):
        return None
    text = table.inserted_to
    return (int(text[:16], 16), int(text[16:32], 16), int(text[32:], 16)) if text else ANYWHERE


def inserted_text(key: MergeKey | None) -> str:
    """The other direction of :func:`inserted_to`, as the ledger has it."""
    return "" if key is None or key == ANYWHERE else "".join(f"{word:016x}" for word in key)


def highest_inserted(events: OrderedRows, marked: Marked) -> MergeKey | None:
    """The highest merge key of a row that lands as a new one; None for none."""
    where = np.flatnonzero(marked.markers == RowMarker.INSERT)
    if not len(where):
        return None
    first, high, low = events.keys[marked.origin[where[-1]]].tolist()
    return first, high, low
