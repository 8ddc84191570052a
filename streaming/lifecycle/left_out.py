"""Was a record really left out? A letter is sent before its batch is committed, and the batch may have run again."""

from __future__ import annotations

from collections.abc import Iterable

from connectors.landing_zone.ledger.history import versions
from connectors.landing_zone.ledger.state import Version
from connectors.landing_zone.storage.protocol import Storage
from streaming.dead_letters.coordinates import Coordinates

_COUNTED = "dead_letters."


def proven_left_out(state: Storage, at: Coordinates, letters: Iterable[Coordinates]) -> bool:
    """Whether the version that carried the record counts as many records left out as its range has letters.

    An attempt that died after sending letters may have been followed by one that could decode the records. For a table
    with a key it does no harm that such a record lands again; one without a key would have the row twice.

    Args:
        state: the state storage; a version that is not kept proves nothing.
        letters: the coordinates of all letters of the bridge.

    Raises:
        LedgerCorruptError: a version is missing or cannot be read.
    """
    for version in versions(state):
        if _carries(version, at):
            counted = sum(count for name, count in version.counters.items() if name.startswith(_COUNTED))
            return counted == sum(_carries(version, letter) for letter in letters)
    return False


def _carries(version: Version, at: Coordinates) -> bool:
    planned = version.planned.get(at.topic)
    start, end = (0, 0) if planned is None else planned.partitions.get(at.partition, (0, 0))
    return start <= at.offset < end
