"""Cutting rows into row groups, the same way however they arrive.

A row group ends after a fixed number of rows, counted from the file's first row, or earlier where its values would take
more than :data:`ROW_GROUP_BYTES` (large texts and very wide tables must exhaust neither memory nor Arrow's 32-bit
offsets). Both depend on the rows alone, never on the batches that brought them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connectors.landing_zone.digest import value_offsets
from connectors.landing_zone.schema import is_text

ROW_GROUP_ROWS = 131_072
ROW_GROUP_BYTES = 64 << 20


class RowGroups:
    """Rows that wait until their row group is complete.

    Args:
        rows: rows of a row group.
        size: bytes that the values of a row group take at most in Arrow, nulls as if they were zero or empty; one row
            may take more.
    """

    def __init__(self, rows: int = ROW_GROUP_ROWS, size: int = ROW_GROUP_BYTES) -> None:
        self._max_rows = rows
        self._max_bytes = size
        self._batches: list[pa.RecordBatch] = []
        self._rows = 0
        # Of all waiting rows, an upper bound: what lies under a null may be counted.
        self._bytes = 0

    @property
    def waiting(self) -> tuple[pa.RecordBatch, ...]:
        """The rows of the unfinished row group, as they came."""
        return tuple(self._batches)

    def add(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take in rows; each row group that they complete is one batch of contiguous columns."""
        self._push(rows)
        while (cut := self._cut()) is not None:
            yield self._take(cut)

    def drain(self) -> Iterator[pa.RecordBatch]:
        """What waits, as the file's last row group (or groups, if :meth:`replace` made the rows larger)."""
        while (cut := self._cut()) is not None:
            yield self._take(cut)
        if self._rows:
            yield self._take(self._rows)

    def replace(self, change: Callable[[pa.RecordBatch], pa.RecordBatch]) -> None:
        """Apply ``change`` to all waiting rows; it may add columns, but not rows."""
        batches, self._batches, self._rows, self._bytes = self._batches, [], 0, 0
        for batch in batches:
            self._push(change(batch))

    def _push(self, rows: pa.RecordBatch) -> None:
        if len(rows):
            self._batches.append(rows)
            self._rows += len(rows)
            self._bytes += _bytes_bound(rows)

    def _cut(self) -> int | None:
        """Rows of the next row group; None while it is not known where it ends."""
        if self._bytes <= self._max_bytes:
            return self._max_rows if self._rows >= self._max_rows else None
        sizes = np.concatenate([_row_bytes(batch) for batch in self._batches])[: self._max_rows]
        ends = np.cumsum(sizes)
        fitting = int(np.searchsorted(ends, self._max_bytes, side="right"))
        if fitting < len(sizes):
            return max(fitting, 1)
        if len(sizes) == self._max_rows:
            return self._max_rows
        self._bytes = int(ends[-1])
        return None

    def _take(self, rows: int) -> pa.RecordBatch:
        taken: list[pa.RecordBatch] = []
        missing = rows
        batches, self._batches, self._rows, self._bytes = self._batches, [], 0, 0
        for batch in batches:
            here = min(missing, len(batch))
            if here:
                taken.append(batch.slice(0, here))
                missing -= here
            self._push(batch.slice(here))
        return contiguous(taken)


def contiguous(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """One batch of the rows of one or more; a single one is returned as it is.

    Pages of a Parquet column are cut within Arrow chunks, so equal bytes need one chunk per column and row group.
    """
    if len(batches) == 1:
        return batches[0]
    joined: pa.RecordBatch = pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
    return joined


def take_at_most(rows: pa.RecordBatch, size: int) -> bool:
    """Whether the rows' values take so many bytes at most in Arrow, nulls as if they were zero or empty."""
    return _bytes_bound(rows) <= size or int(_row_bytes(rows).sum()) <= size


def _fixed_bytes(schema: pa.Schema) -> int:
    return sum(4 if is_text(kind) else max(kind.bit_width // 8, 1) for kind in schema.types)


def _bytes_bound(rows: pa.RecordBatch) -> int:
    bound = len(rows) * _fixed_bytes(rows.schema)
    for column in rows.columns:
        if is_text(column.type):
            offsets = value_offsets(column)
            bound += int(offsets[-1]) - int(offsets[0])
    return bound


def _row_bytes(rows: pa.RecordBatch) -> npt.NDArray[np.int64]:
    sizes = np.full(len(rows), _fixed_bytes(rows.schema), dtype=np.int64)
    for column in rows.columns:
        if is_text(column.type):
            lengths: Any = pc.call_function("binary_length", [column])
            sizes += pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False)
    return sizes
