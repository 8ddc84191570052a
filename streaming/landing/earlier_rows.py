"""What a lander knows of the rows that it has written in one micro-batch, beside what stands in its file.

A file says neither which rows tell of a deleted one nor which columns the source had then, and an event that was left
out is not in it at all. All of this decides whether an earlier row's value may stand in for one that was not sent, so
it is kept here: by row number, the same however the events were cut into slices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from connectors.debezium.events import Bools, Int64s, Op
from streaming.landing.rows import OrderedRows

Key = tuple[object, ...]


@dataclass(frozen=True)
class WrittenRows:
    """Rows ``start`` to ``stop`` (exclusive) of the file, alike in what is known of them.

    Attributes:
        columns: names of the source columns that landed.
        keys: names of the columns that told the rows apart.
        gone: the rows that tell of a deleted one, or of a key that was left; None for none.
    """

    start: int
    stop: int
    columns: frozenset[str]
    keys: tuple[str, ...]
    gone: Bools | None


class EarlierRows:
    """The rows written so far; memory grows with their changes of columns, their deletes, and the events left out."""

    def __init__(self) -> None:
        self._parts: list[WrittenRows] = []
        self._left_out: dict[Key, int] = {}

    @property
    def count(self) -> int:
        """Rows written so far."""
        return self._parts[-1].stop if self._parts else 0

    def write(self, events: OrderedRows, origin: Int64s, columns: frozenset[str], keys: tuple[str, ...]) -> None:
        """Take note of rows that have just been written.

        Args:
            origin: index of the event that each row came from; a key change has two, the first for the old key.
        """
        gone: Bools = (events.ops == Op.DELETE)[origin]
        gone[:-1] |= origin[1:] == origin[:-1]
        start, stop = self.count, self.count + len(origin)
        told = gone if gone.any() else None
        last = self._parts[-1] if self._parts else None
        if last is not None and told is None and last.gone is None and (last.columns, last.keys) == (columns, keys):
            self._parts[-1] = WrittenRows(last.start, stop, columns, keys, None)
            return
        self._parts.append(WrittenRows(start, stop, columns, keys, told))

    def leave_out(self, key: Key, rows: int) -> None:
        """An event of ``key`` was left out behind the first ``rows`` rows: what they say of it is out of date."""
        self._left_out[key] = rows

    def outdated(self, key: Key, row: int) -> bool:
        """Whether an event of the key was left out behind the row."""
        return row < self._left_out.get(key, 0)

    def cut(self, batch: pa.RecordBatch, start: int) -> Iterator[tuple[pa.RecordBatch, int, WrittenRows]]:
        """Rows read back from number ``start`` on, cut where what is known of them changes, with their first number."""
        stop = start + batch.num_rows
        for part in self._parts:
            first, last = max(start, part.start), min(stop, part.stop)
            if first < last:
                yield batch.slice(first - start, last - first), first, part


def written_before(events: OrderedRows, index: int) -> int:
    """How many rows the first ``index`` events become: a key change is two."""
    return index + int(np.searchsorted(events.key_changed, index))
