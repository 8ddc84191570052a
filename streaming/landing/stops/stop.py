"""Why and where a table cannot go on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from connectors.landing_zone.ledger.state import RebuildKind
from streaming.landing.places import Place, number_of, places
from streaming.landing.rows import OrderedRows

LONGEST_MESSAGE = 2_000
"""Characters of a message at most: it names columns as a source does, and the ledger keeps it."""


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
            message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]} ...",
            remedy,
            events.topics[events.topic_index[index]],
            int(events.partitions[index]),
            int(events.offsets[index]),
            rebuild,
        )

    def index_in(self, events: OrderedRows) -> int:
        """Its event's index in these events, which hold it; some may have been left out since it was counted."""
        number = number_of(events, Place(self.topic, self.partition))
        return int(np.flatnonzero((places(events) == number) & (events.offsets == self.offset))[0])


def first_of(*stops: Stop | None) -> Stop | None:
    """The stop at the earliest event."""
    return min((stop for stop in stops if stop is not None), key=lambda stop: stop.index, default=None)
