"""Why a table stands still, as plain values."""

from __future__ import annotations

from connectors.landing_zone.ledger.state import Parked


def parked_values(parked: Parked) -> dict[str, object]:
    """For a program: reason, message, remedy, the event that parked the table, and what was passed over since.

    ``beneath`` is what it stands still for once a person has let it go on from here, or None.
    """
    return {
        "reason": parked.reason,
        "message": parked.message,
        "remedy": parked.remedy,
        "topic": parked.topic,
        "partition": parked.partition,
        "offset": parked.offset,
        "skipped": parked.skipped,
        "beneath": None if parked.beneath is None else parked_values(parked.beneath),
    }
