"""How long files wait until the mirrored database has taken them in."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

KEPT_TIMES = 64
"""Published files of a table whose times are remembered."""


@dataclass(frozen=True)
class Mirrored:
    """How far the mirrored database has come with a table.

    Attributes:
        number: of the last file that it has taken in; 0 before the first.
        since_ms: since when it is at this number, milliseconds since 1970.
    """

    number: int
    since_ms: int


class PublishTimes:
    """When the latest files of each table were published. Written by one thread; others read what :meth:`of` copies."""

    def __init__(self) -> None:
        self._times: dict[str, deque[tuple[int, int]]] = {}

    def add(self, table: str, number: int, at_ms: int) -> None:
        """Remember a file; a number that is not above the last one begins another generation."""
        known = self._times.get(table)
        if known is None or (known and known[-1][0] >= number):
            self._times[table] = known = deque(maxlen=KEPT_TIMES)
        known.append((number, at_ms))

    def of(self, table: str) -> dict[int, int]:
        """Milliseconds since 1970 by number."""
        known = self._times.get(table)
        return {} if known is None else dict(known.copy())


def unmirrored_seconds(published: int, times: Mapping[int, int], mirrored: Mirrored, now_ms: int) -> float:
    """How long the oldest published file that is not mirrored has waited; 0 where none does.

    Args:
        published: number of the table's last published file.
        times: when files were published, as far as that is known; for others it counts since when the mirrored
            database is where it is.
    """
    if mirrored.number >= published:
        return 0.0
    since = times.get(mirrored.number + 1, mirrored.since_ms)
    return max(0.0, (now_ms - since) / 1000)
