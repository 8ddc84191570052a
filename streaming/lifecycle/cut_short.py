"""Incremental snapshots that ended before the table did, though Debezium calls them successful.

With ``read.only`` two threads of Debezium read the first chunk where a row is changed meanwhile: the one that took the
signal from Kafka, and the stream's. They share the rows in hand and the place reached. Where one has emptied the hands
of the other, that one finds no row left, and ends the scan: seen with 3.6.1 for PostgreSQL and MariaDB, in three of
some seventy snapshots under load. What it told before each chunk gives it away (Debezium, "Notifications",
``maximum_key`` and ``last_processed_key``): a whole scan ends at the greatest key that the table had when it began.

Where that key is deleted during the scan, a whole one ends before it, too. Nobody can tell the two apart, and asking
once more does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from connectors.kafka.signals import INCREMENTAL_SNAPSHOT, Notification, SnapshotProgress
from streaming.lifecycle.debezium import is_scan_of

MOST_ASKED = 4
"""Signals for one rebuild whose snapshots ended too early, until its table is stopped."""
WHERE_READ_ONLY = "as happens with read.only while the table is written"
"""How the reason ends for which such a table is stopped."""
_IN_PROGRESS = "current_collection_in_progress"
"""The table, in what is told before each chunk."""
_NO_VALUE = re.compile(r"\[[A-Z][^@]*@[0-9a-f]+")
"""A Java array, which is told by where it lies in memory."""


@dataclass(frozen=True)
class CutShort:
    """How far a scan came.

    Attributes:
        last: the greatest key that was read; greatest: that of the table when the scan began; both as Debezium tells
            them.
    """

    last: str
    greatest: str

    def __str__(self) -> str:
        return (
            f"Debezium says that it has read the table, but its last chunk ended at key {self.last!r}, before the "
            f"greatest one, {self.greatest!r}"
        )


def cut_short(told: Sequence[Notification], collection: str) -> CutShort | None:
    """How far the table's latest scan came, if it has ended before the table's greatest key; None if nothing says so.

    Args:
        told: since it was asked for; collection: the table as Debezium names it.
    """
    mine = [one for one in told if one.aggregate == INCREMENTAL_SNAPSHOT]
    ends = [
        place
        for place, one in enumerate(mine)
        if one.progress is SnapshotProgress.TABLE_SCAN_COMPLETED and is_scan_of(one, collection)
    ]
    chunks = [
        one.details
        for one in mine[: ends[-1] if ends else 0]
        if one.progress is SnapshotProgress.IN_PROGRESS and is_scan_of(one, collection, _IN_PROGRESS)
    ]
    if not chunks:
        return None
    last, greatest = (chunks[-1].get(name, "") for name in ("last_processed_key", "maximum_key"))
    if last == greatest or not last or not greatest or any(map(_NO_VALUE.search, (last, greatest))):
        return None
    return CutShort(last, greatest)
