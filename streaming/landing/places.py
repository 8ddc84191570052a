"""The partitions that feed a table, as small values and as one number per event."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from connectors.debezium.events import Int64s
from streaming.landing.rows import OrderedRows


class Place(NamedTuple):
    """A partition that feeds the table."""

    topic: str
    partition: int


def places(events: OrderedRows) -> Int64s:
    """Topic and partition of each event as one number: the topic's index above, the partition in the low 32 bits."""
    numbers: Int64s = events.topic_index.astype(np.int64) << 32 | events.partitions
    return numbers


def number_of(events: OrderedRows, place: Place) -> int:
    """The number of :func:`places` that stands for a partition of a topic of these events."""
    return events.topics.index(place.topic) << 32 | place.partition


def place_of(events: OrderedRows, number: int) -> Place:
    """The partition behind a number of :func:`places`."""
    return Place(events.topics[number >> 32], number & 0xFFFFFFFF)
