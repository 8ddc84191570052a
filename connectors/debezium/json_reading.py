"""What decoding JSON records by one layout gives, and how what two ways of decoding give becomes one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from connectors.debezium.event_group import EventGroup
from connectors.debezium.events import Bools, Int64s
from connectors.debezium.json_images import JsonImages
from connectors.debezium.unsigned import Values, listed, taken
from connectors.json_errors import DECODE_ERRORS

TOGETHER = 500
"""Records that become columns before more are decoded: so many records' Python objects stay in a processor's cache, and
columns of 10,000 together take a third longer (docs/performance.md)."""


@dataclass(frozen=True)
class Reading:
    """What one layout makes of records.

    Attributes:
        group: the records that decode.
        failed: the places of the others among the records, ascending.
        foreign: which of the group are of another table; ``None`` when none is.
        doubtful: which of the group have nothing that control records have not; ``None`` when none is.
    """

    group: EventGroup
    failed: list[int]
    foreign: Bools | None = None
    doubtful: Bools | None = None


@dataclass(frozen=True)
class Found:
    """What n records of one layout hold.

    Attributes:
        values: n values each by member, of those that are no columns of the row.
        images: by member.
    """

    values: Mapping[str, Values]
    images: dict[str, JsonImages]

    @classmethod
    def joined(cls, parts: Sequence[Found]) -> Found:
        """What the records of one or more parts hold, which have the same members."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            {name: _joined([part.values[name] for part in parts]) for name in parts[0].values},
            {name: JsonImages.joined([part.images[name] for part in parts]) for name in parts[0].images},
        )

    def select(self, places: Int64s) -> Found:
        return Found(
            {name: taken(values, places) for name, values in self.values.items()},
            {name: images.select(places) for name, images in self.images.items()},
        )


def completed(most: Found, count: int, left: Int64s, rest: Found, failed: list[int]) -> tuple[Found, list[int]]:
    """What ``count`` records hold, of which some have been decoded another way, and the places of those that failed.

    Args:
        most: what each record holds; void at ``left``.
        rest: what the records at ``left`` hold, but for those that ``failed``, places in ``left``.
    """
    decoded = np.delete(left, failed)
    kept = np.delete(np.arange(count), left)
    # What is void goes first: with it, one column's texts could be more than Arrow's 2 GiB.
    found = Found.joined([most.select(kept), rest])
    order = np.argsort(np.concatenate([kept, decoded]), kind="stable")
    return found.select(order), left[failed].tolist()


def _joined(parts: Sequence[Values]) -> Values:
    """Values of Arrow stay there, with those that it can hold beside them."""
    kinds = [part.type for part in parts if isinstance(part, pa.Array)]
    if kinds:
        with suppress(pa.ArrowException, OverflowError):
            return pa.concat_arrays(
                [part if isinstance(part, pa.Array) else pa.array(part, kinds[0]) for part in parts]
            )
    return list(chain.from_iterable(listed(part, len(part)) for part in parts))


def slices(count: int) -> Iterator[slice]:
    """``count`` records, so many at a time as become columns together."""
    for start in range(0, count, TOGETHER):
        yield slice(start, start + TOGETHER)


def decoded_together(decode: Callable[[bytes], Any], bodies: list[bytes], failed: list[int]) -> Iterator[list[Any]]:
    """The decoded bodies, some at a time; the places of those that fail are added to ``failed``."""
    for within in slices(len(bodies)):
        some = bodies[within]
        try:
            yield list(map(decode, some))
        except DECODE_ERRORS:
            events: list[Any] = []
            for place, body in enumerate(some, within.start):
                try:
                    events.append(decode(body))
                except DECODE_ERRORS:
                    failed.append(place)
            yield events
