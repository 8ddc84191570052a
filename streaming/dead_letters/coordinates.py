"""Where a record stands in Kafka, as people write it: ``topic:partition:offset``."""

from __future__ import annotations

import re
from typing import NamedTuple

from connectors.debezium.events import BadRecord
from connectors.errors import Terminal

_WRITTEN = re.compile(r"(?P<topic>[A-Za-z0-9._-]+)[:/](?P<partition>[0-9]{1,10})[:/](?P<offset>[0-9]{1,19})")


class InvalidCoordinatesError(Terminal):
    """A text does not say where a record stands."""


class Coordinates(NamedTuple):
    """One record's place; ordered by topic, partition, offset."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}:{self.partition}:{self.offset}"

    @staticmethod
    def parse(text: str) -> Coordinates:
        """The other direction of ``str``; a letter's key, with slashes, is understood too.

        Raises:
            InvalidCoordinatesError: it is none.
        """
        found = _WRITTEN.fullmatch(text.strip())
        if found is None:
            raise InvalidCoordinatesError(
                f"{text!r} does not say where a record stands",
                remedy="write topic:partition:offset as `cdc-bridge dead-letters list CONFIG` does",
            )
        return Coordinates(found["topic"], int(found["partition"]), int(found["offset"]))

    @staticmethod
    def of(record: BadRecord) -> Coordinates:
        """Where a bad record stands."""
        return Coordinates(record.topic, record.partition, record.offset)
