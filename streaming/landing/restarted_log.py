"""Whether a change of a table came before what is known of it, in a source's log that may have begun anew.

After a failover or ``RESET MASTER`` positions are low again, but times are not. So a place that lies below another one
comes before it only if its time is not later. Within one log positions decide alone: a statement's time is when it was
begun, which may be before that of one that came first.
"""

from __future__ import annotations

from connectors.landing_zone.ledger.state import Dropped, RenamedColumns, TableState


def before_load(table: TableState, position: str, source_ms: int) -> bool:
    """Whether the snapshot that loaded the table was made behind the place.

    Args:
        position: two hexadecimal words; source_ms: by the source's clock, milliseconds since 1970, 0 where unknown.
    """
    return table.loaded >= position and not begun_anew(table, position, source_ms)


def begun_anew(table: TableState, position: str, source_ms: int) -> bool:
    """Whether the log has begun anew between the snapshot that loaded the table and the place.

    Then the place does not compare with those of the table's events before.
    """
    loaded_ms = table.loaded_ms or table.source_ms
    return table.loaded >= position and 0 < loaded_ms < source_ms


def told_already(known: Dropped | RenamedColumns, epoch: int, position: str, source_ms: int) -> bool:
    """Whether the place is a known change's, or lies before it.

    Epochs do not tell it: those of a table that is built anew begin with 0 again, and a long repeat opens one, too.
    """
    if source_ms and known.source_ms:
        return position <= known.position and source_ms <= known.source_ms
    return (epoch, position) <= (known.epoch, known.position)
