"""Was a record really left out? A letter is sent before its batch is committed, and the batch may have run again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from connectors.landing_zone.ledger.history import versions
from connectors.landing_zone.ledger.state import PlannedTopic, Version
from connectors.landing_zone.storage.protocol import Storage
from streaming.dead_letters.coordinates import Coordinates

_COUNTED = "dead_letters."


@dataclass(frozen=True)
class _Carried:
    """What one version carried, and whether it left out as many records as its range has letters."""

    planned: dict[str, PlannedTopic]
    proven: bool


class LeftOutProof:
    """Which letters' records were left out for certain, by what the ledger's versions count.

    An attempt that died after sending letters may have been followed by one that could decode the records. Where a
    version counts as many records left out as its range has letters, there was no such attempt.

    Args:
        state: the state storage; its versions are read, newest first, as far back as it takes.
        letters: the coordinates of all letters of the bridge.
    """

    def __init__(self, state: Storage, letters: frozenset[Coordinates]) -> None:
        self._letters = letters
        self._unread: Iterator[Version] = versions(state)
        self._read: list[_Carried] = []

    def holds(self, at: Coordinates) -> bool:
        """Whether it is proven; not if the version that carried the record is not kept.

        Raises:
            LedgerCorruptError: a version is missing or cannot be read.
        """
        for carried in self._read:
            if _within(carried.planned, at):
                return carried.proven
        for version in self._unread:
            counted = sum(count for name, count in version.counters.items() if name.startswith(_COUNTED))
            sent = sum(_within(version.planned, letter) for letter in self._letters) if version.planned else 0
            self._read.append(_Carried(version.planned, counted == sent))
            if _within(version.planned, at):
                return counted == sent
        return False


def _within(planned: dict[str, PlannedTopic], at: Coordinates) -> bool:
    topic = planned.get(at.topic)
    start, end = (0, 0) if topic is None else topic.partitions.get(at.partition, (0, 0))
    return start <= at.offset < end
