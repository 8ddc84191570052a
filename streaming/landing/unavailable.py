"""Filling values that the source did not send (unchanged TOAST and LOB columns).

The placeholder is never landed. A value that ``before`` did not hold either may stand in an earlier row of the same key
in the same batch; where it does not, the table's policy decides. An earlier row counts only as long as nothing can have
changed the value behind it: a delete, a create, an event that was left out, or rows without the column end that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from connectors.debezium.events import Bools, Op
from streaming.landing.earlier_rows import EarlierRows, Key
from streaming.landing.rows import OrderedRows

# Columns by source name -> the rows of the batch that came before, in order.
ReadEarlier = Callable[[tuple[str, ...]], Iterator[pa.RecordBatch]]

_UNKNOWN = object()


@dataclass(frozen=True)
class _Tracked:
    """One column of the events at hand: its values and gaps, and what is known of it by key."""

    name: str
    values: list[object]
    asked: Bools
    known: dict[Key, object]
    missing: Bools


class EarlierValues:
    """The latest known value per key of the columns that had to be filled, over one table's rows of one batch.

    Nothing is remembered until a first placeholder appears; then what has been written so far is read back once. From
    then on memory grows with the number of keys in the batch times the size of the filled columns.

    Args:
        written: what is known of the rows that ``read_earlier`` yields.

    Attributes:
        filled: how many values have been taken from earlier rows.
    """

    def __init__(self, read_earlier: ReadEarlier, written: EarlierRows) -> None:
        self.filled = 0
        self._keys: tuple[str, ...] = ()
        self._read_earlier = read_earlier
        self._written = written
        self._values: dict[str, dict[Key, object]] = {}

    def begin_anew(self, column: str) -> None:
        """Forget what is known of a column, and remember it from the next events on."""
        self._values[column] = {}

    def fill(
        self, events: OrderedRows, keys: tuple[str, ...], left_out: Bools, *, unfilled_left_out: bool
    ) -> tuple[OrderedRows, dict[str, Bools]]:
        """Fill what can be filled.

        Args:
            keys: what tells the rows apart; without any, no row says which row is an earlier one of its own.
            left_out: events that do not land whatever is found; nothing is filled in them.
            unfilled_left_out: an event with a value that cannot be filled does not land either.

        Returns:
            the events with values filled in, and per column the mask of cells that stay unavailable.
        """
        if keys != self._keys:
            for known in self._values.values():
                known.clear()
            self._keys = keys
        if not keys:
            wanted = (events.ops != Op.DELETE) & ~left_out
            missing = {name: mask & wanted for name, mask in events.unavailable.items()}
            return replace(events, unavailable={}), {name: mask for name, mask in missing.items() if mask.any()}
        for name, mask in events.unavailable.items():
            if name not in self._values and mask.any():
                self._values[name] = self._from_earlier(name)
        if not self._values:
            return events, {}
        nothing = np.zeros(len(events), np.bool_)
        tracked = [
            _Tracked(
                name,
                events.rows.column(name).to_pylist(),
                events.unavailable.get(name, nothing),
                known,
                np.zeros(len(events), np.bool_),
            )
            for name, known in self._values.items()
            if name in events.rows.schema.names
        ]
        self._walk(events, tracked, left_out, unfilled_left_out=unfilled_left_out)
        columns = list(events.rows.columns)
        for column in tracked:
            index = events.rows.schema.get_field_index(column.name)
            columns[index] = pa.array(column.values, columns[index].type)
        rows = pa.RecordBatch.from_arrays(columns, schema=events.rows.schema)
        gaps = {column.name: column.missing for column in tracked if column.missing.any()}
        return replace(events, rows=rows, unavailable={}), gaps

    def _walk(self, events: OrderedRows, tracked: list[_Tracked], left_out: Bools, *, unfilled_left_out: bool) -> None:
        names = {column.name for column in tracked}
        absent = [known for name, known in self._values.items() if name not in names]
        moved = _moved(events, self._keys)
        for index, (key, op) in enumerate(zip(key_tuples(events.rows, self._keys), events.ops.tolist(), strict=True)):
            old = moved.get(index)
            _forget(absent, key, old)
            if op == Op.DELETE or left_out[index]:
                _forget([column.known for column in tracked], key, old)
                continue
            for column in tracked:
                self._take(column, index, key, old, created=op == Op.CREATE)
            if unfilled_left_out and any(column.missing[index] for column in tracked):
                _forget([column.known for column in tracked], key, old)

    def _take(self, column: _Tracked, index: int, key: Key, old: Key | None, *, created: bool) -> None:
        known = column.known
        if old is not None:
            # The row takes its values along; whatever had the new key before is gone.
            before = known.pop(old, _UNKNOWN)
            known.pop(key, None)
            if before is not _UNKNOWN:
                known[key] = before
        elif created:
            # A row that is made again is not the one that had the key before.
            known.pop(key, None)
        if not column.asked[index]:
            known[key] = column.values[index]
        elif key in known:
            column.values[index] = known[key]
            self.filled += 1
        else:
            column.missing[index] = True

    def _from_earlier(self, name: str) -> dict[Key, object]:
        known: dict[Key, object] = {}
        start = 0
        for batch in self._read_earlier((*self._keys, name)):
            for rows, first, part in self._written.cut(batch, start):
                if part.keys != self._keys or not part.columns.issuperset(self._keys):
                    known.clear()
                    continue
                has_column = name in part.columns
                values = rows.column(name).to_pylist()
                for index, key in enumerate(key_tuples(rows, self._keys)):
                    gone = part.gone is not None and part.gone[first - part.start + index]
                    if gone or not has_column or self._written.outdated(key, first + index):
                        known.pop(key, None)
                    else:
                        known[key] = values[index]
            start += batch.num_rows
        return known


def key_tuples(rows: pa.RecordBatch, names: tuple[str, ...]) -> list[Key]:
    """Each row's values in these columns."""
    return list(zip(*(rows.column(name).to_pylist() for name in names), strict=True))


def event_keys(events: OrderedRows, names: tuple[str, ...]) -> list[list[Key]]:
    """Each event's key and, where it has changed, the one before."""
    moved = _moved(events, names)
    return [
        [key, moved[index]] if index in moved else [key] for index, key in enumerate(key_tuples(events.rows, names))
    ]


def _moved(events: OrderedRows, names: tuple[str, ...]) -> dict[int, Key]:
    if events.old_keys is None or not len(events.key_changed):
        return {}
    return dict(zip(events.key_changed.tolist(), key_tuples(events.old_keys, names), strict=True))


def _forget(known_values: list[dict[Key, object]], key: Key, old: Key | None) -> None:
    for known in known_values:
        known.pop(key, None)
        if old is not None:
            known.pop(old, None)
