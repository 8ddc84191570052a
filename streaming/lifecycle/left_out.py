"""Was a record really left out? A letter is sent before its batch is committed, and the batch may have run again.

So may a table's records be read again beside the stream, when it catches up or is rebuilt: what was a letter in the
stream can have landed there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from connectors.landing_zone.ledger.history import versions
from connectors.landing_zone.ledger.state import LandedFile, PlannedTopic, Version
from connectors.landing_zone.storage.protocol import Storage
from streaming.dead_letters.coordinates import Coordinates

_COUNTED = "dead_letters."


@dataclass(frozen=True)
class _Carried:
    """What one version carried, and whether it left out as many records as its range has letters.

    Attributes:
        beside: the table's file, where it was made of Kafka's records beside the stream.
    """

    planned: dict[str, PlannedTopic]
    beside: LandedFile | None
    proven: bool

    def tells(self, at: Coordinates) -> bool:
        """Whether it read the record for the table."""
        return _within(self.planned, at) or (self.beside is not None and _in_file(self.beside, at))


class LeftOutProof:
    """Which letters' records were left out for certain, by what the ledger's versions count.

    An attempt that died after sending letters may have been followed by one that could decode the records. Where a
    version counts as many records left out as its range has letters, there was no such attempt. Of what was read again
    beside the stream since, nothing counts what was left out.

    Args:
        state: the state storage; its versions are read, newest first, as far back as it takes.
        table: the landing zone's name of the table whose records they are.
        letters: the coordinates of all letters of the bridge.
    """

    def __init__(self, state: Storage, table: str, letters: frozenset[Coordinates]) -> None:
        self._table = table
        self._letters = letters
        self._unread: Iterator[Version] = versions(state)
        self._read: list[_Carried] = []

    def holds(self, at: Coordinates) -> bool:
        """Whether it is proven; not if the version that carried the record is not kept.

        Raises:
            LedgerCorruptError: a version is missing or cannot be read.
        """
        for carried in self._read:
            if carried.tells(at):
                return carried.proven
        for version in self._unread:
            carried = self._carried(version)
            self._read.append(carried)
            if carried.tells(at):
                return carried.proven
        return False

    def _carried(self, version: Version) -> _Carried:
        if not version.planned:
            file = version.files.get(self._table)
            return _Carried({}, None if file is None or file.letters else file, proven=False)
        counted = sum(count for name, count in version.counters.items() if name.startswith(_COUNTED))
        sent = sum(_within(version.planned, letter) for letter in self._letters)
        return _Carried(version.planned, None, counted == sent)


def _in_file(file: LandedFile, at: Coordinates) -> bool:
    first, last = file.ranges.get(at.topic, {}).get(at.partition, (0, -1))
    return first <= at.offset <= last


def _within(planned: dict[str, PlannedTopic], at: Coordinates) -> bool:
    topic = planned.get(at.topic)
    start, end = (0, 0) if topic is None else topic.partitions.get(at.partition, (0, 0))
    return start <= at.offset < end
