"""What the bridge makes of one Kafka record, as values."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from connectors.landing_zone.ledger.state import Parked
from streaming.explaining.trial import TrialRow
from streaming.reporting.parked import parked_values
from streaming.wording import json_row


class Fate(enum.StrEnum):
    """What becomes of a record."""

    LANDS = "lands"
    SKIPPED = "skipped"
    """It carries no row, or the settings leave it out; it is counted."""
    DEAD_LETTER = "dead letter"
    STOPS_THE_JOB = "stops the job"
    """It cannot be decoded, and ``on_bad_record`` is ``fail``."""
    PARKS_THE_TABLE = "parks the table"
    TABLE_IS_PARKED = "table is parked"
    """It is passed over, and kept for the catch-up."""


@dataclass(frozen=True)
class Place:
    """Where a record is.

    Attributes:
        timestamp_ms: Kafka's timestamp of it, milliseconds since 1970.
        landed_by: version of the ledger that has carried it; None while it waits, or if that version is not kept.
        other_topic: the ledger knows another topic of that name, so it has not carried the record.
    """

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    landed_by: int | None = None
    other_topic: bool = False


@dataclass(frozen=True)
class Explanation:
    """One record.

    Attributes:
        reason: why it does not simply land; empty when it does. ``remedy`` likewise.
        source: the source's name of the table; ``table``: the landing zone's.
        position: see :func:`streaming.wording.position_text`.
        key: the key columns' values.
        rows: what lands, in order, with its markers.
        file: path in the zone of the file that holds it.
    """

    place: Place
    fate: Fate
    reason: str = ""
    remedy: str = ""
    source: str = ""
    table: str = ""
    operation: str = ""
    position: str = ""
    key: Mapping[str, Any] | None = None
    rows: tuple[TrialRow, ...] = ()
    notes: tuple[str, ...] = ()
    parked: Parked | None = None
    file: str | None = None

    def values(self) -> dict[str, object]:
        """Plain values for a program."""
        return {
            "topic": self.place.topic,
            "partition": self.place.partition,
            "offset": self.place.offset,
            "timestamp_ms": self.place.timestamp_ms,
            "fate": self.fate.value,
            "reason": self.reason,
            "remedy": self.remedy,
            "source": self.source,
            "table": self.table,
            "operation": self.operation,
            "position": self.position,
            "key": None if self.key is None else json_row(self.key),
            "rows": [{"marker": row.marker, "values": json_row(row.values)} for row in self.rows],
            "notes": list(self.notes),
            "parked": None if self.parked is None else parked_values(self.parked),
            "landed_by": self.place.landed_by,
            "other_topic": self.place.other_topic,
            "file": self.file,
        }
