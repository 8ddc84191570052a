"""Filling values that the source did not send (unchanged TOAST and LOB columns).

The placeholder is never landed. A value that ``before`` did not hold either may stand in an earlier row of the same key
in the same batch; where it does not, the table's policy decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from connectors.debezium.events import Bools, Op
from connectors.landing_zone.row_marker import COLUMN as MARKER_COLUMN
from connectors.landing_zone.row_marker import RowMarker
from streaming.rows import OrderedRows

# Columns by source name -> the rows of the batch that came before, in order, and their markers (NULL if unmarked).
ReadEarlier = Callable[[tuple[str, ...]], Iterator[pa.RecordBatch]]


_UNKNOWN = object()


class EarlierValues:
    """The latest known value per key of the columns that had to be filled, over one table's rows of one batch.

    Nothing is remembered until a first placeholder appears; then what has been written so far is read back once. From
    then on memory grows with the number of keys in the batch times the size of the filled columns.

    Args:
        keys: what tells the rows apart; without any, no row says which row is an earlier one of its own.
    """

    def __init__(self, keys: tuple[str, ...], read_earlier: ReadEarlier) -> None:
        self._keys = keys
        self._read_earlier = read_earlier
        self._values: dict[str, dict[tuple[object, ...], object]] = {}

    def begin_anew(self, column: str) -> None:
        """Forget what is known of a column, and remember it from the next events on."""
        self._values[column] = {}

    def fill(self, events: OrderedRows) -> tuple[OrderedRows, dict[str, Bools]]:
        """Fill what can be filled.

        Returns:
            the events with values filled in, and per column the mask of cells that stay unavailable.
        """
        if not self._keys:
            return _with_rows(events, events.rows), {
                name: mask for name, mask in events.unavailable.items() if mask.any()
            }
        for name in events.unavailable:
            if name not in self._values and events.unavailable[name].any():
                self._values[name] = self._from_earlier(name)
        if not self._values:
            return events, {}
        row_keys = _tuples(events.rows, self._keys)
        moved = {}
        if events.old_keys is not None:
            moved = dict(zip(events.key_changed.tolist(), _tuples(events.old_keys, self._keys), strict=True))
        columns = list(events.rows.columns)
        missing: dict[str, Bools] = {}
        for name, known in self._values.items():
            index = events.rows.schema.get_field_index(name)
            if index < 0:
                continue
            asked = events.unavailable.get(name, np.zeros(len(events), np.bool_))
            columns[index], missing[name] = self._walk(columns[index], row_keys, moved, asked, events.ops, known)
        rows = pa.RecordBatch.from_arrays(columns, schema=events.rows.schema)
        return _with_rows(events, rows), {name: mask for name, mask in missing.items() if mask.any()}

    def _walk(
        self,
        column: pa.Array,
        row_keys: list[tuple[object, ...]],
        moved: dict[int, tuple[object, ...]],
        asked: Bools,
        ops: Iterable[int],
        known: dict[tuple[object, ...], object],
    ) -> tuple[pa.Array, Bools]:
        values = column.to_pylist()
        missing = np.zeros(len(values), np.bool_)
        for index, (key, op) in enumerate(zip(row_keys, ops, strict=True)):
            if op == Op.DELETE:
                known.pop(key, None)
                continue
            if index in moved:
                # The row takes its values along; whatever had the new key before is gone.
                before = known.pop(moved[index], _UNKNOWN)
                known.pop(key, None)
                if before is not _UNKNOWN:
                    known[key] = before
            if not asked[index]:
                known[key] = values[index]
            elif key in known:
                values[index] = known[key]
            else:
                missing[index] = True
        return pa.array(values, column.type), missing

    def _from_earlier(self, name: str) -> dict[tuple[object, ...], object]:
        known: dict[tuple[object, ...], object] = {}
        for batch in self._read_earlier((*self._keys, name)):
            values = zip(batch.column(name).to_pylist(), batch.column(MARKER_COLUMN).to_pylist(), strict=True)
            for key, (value, marker) in zip(_tuples(batch, self._keys), values, strict=True):
                if marker == RowMarker.DELETE:
                    known.pop(key, None)
                else:
                    known[key] = value
        return known


def _tuples(batch: pa.RecordBatch, names: tuple[str, ...]) -> list[tuple[object, ...]]:
    return list(zip(*(batch.column(name).to_pylist() for name in names), strict=True))


def _with_rows(events: OrderedRows, rows: pa.RecordBatch) -> OrderedRows:
    return replace(events, rows=rows, unavailable={})
