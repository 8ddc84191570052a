"""Decoded Avro records of one writer schema: as Arrow columns, or as dicts where there are no columns.

Both give the same images and the same physical values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium.event_group import absent_column, present_mask
from connectors.debezium.events import Int64s
from connectors.debezium.physical import Images, Physical, is_nested, json_texts, physical_array, struct_array
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.values import physical_type

Enums = dict[tuple[str, ...], tuple[str, ...]]


class AvroRecords(Protocol):
    """n records."""

    def __len__(self) -> int: ...

    def values(self, *path: str) -> list[Any]:
        """The plain values of the field that ``path`` leads to; null where a struct on the way is null."""
        ...

    def images(self, *path: str) -> Images:
        """The records (an empty path), or their struct field of that name, as images."""
        ...


@dataclass(frozen=True)
class ArrowRecords:
    """Records as an Arrow struct array, enums as ints (see :class:`~connectors.debezium.avro_block.AvroBlock`)."""

    root: pa.StructArray
    enums: Enums

    def __len__(self) -> int:
        return len(self.root)

    def values(self, *path: str) -> list[Any]:
        found = _child(self.root, path)
        if found is None:
            return [None] * len(self.root)
        values: list[Any] = found.to_pylist()
        return _labels(values, self.enums.get(path))

    def images(self, *path: str) -> Images:
        found = _child(self.root, path)
        if found is None or not pa.types.is_struct(found.type):
            found = pa.nulls(len(self.root), pa.struct([]))
        return ArrowImages(found, path, self.enums)


class ArrowImages:
    """Row images as an Arrow struct array."""

    def __init__(self, rows: pa.StructArray, path: tuple[str, ...], enums: Enums) -> None:
        self._rows = rows
        self._path = path
        self._enums = enums
        self.present = np.asarray(rows.is_valid())

    def column(self, column: Field) -> Physical:
        found = _child(self._rows, (column.name,))
        if found is None:
            return absent_column(column, len(self._rows))
        kind = physical_type(column)
        symbols = self._enums.get((*self._path, column.name))
        if symbols is not None:
            return _symbols(found, symbols)
        if is_nested(column, kind):
            return json_texts(found.to_pylist(), column)
        if isinstance(kind, pa.StructType):
            return _cast_struct(found, kind)
        return _cast(found, kind)

    def select(self, places: Int64s) -> ArrowImages:
        return ArrowImages(self._rows.take(pa.array(places)), self._path, self._enums)


@dataclass(frozen=True)
class DictRecords:
    """Records as Python dicts."""

    records: Sequence[object]

    def __len__(self) -> int:
        return len(self.records)

    def values(self, *path: str) -> list[Any]:
        found: list[Any] = list(self.records)
        for name in path:
            found = [value.get(name) if isinstance(value, dict) else None for value in found]
        return found

    def images(self, *path: str) -> Images:
        return DictImages([value if isinstance(value, dict) else None for value in self.values(*path)])


class DictImages:
    """Row images as Python dicts; ``None`` for an absent image."""

    def __init__(self, rows: list[dict[str, Any] | None]) -> None:
        self._rows = rows
        self.present = present_mask(rows)

    def column(self, column: Field) -> Physical:
        values = [None if row is None else row.get(column.name) for row in self._rows]
        kind = physical_type(column)
        if is_nested(column, kind):
            return json_texts(values, column)
        if isinstance(kind, pa.StructType):
            return struct_array(values, kind, dict.get)
        if pa.types.is_string(kind) and column.type is not ConnectType.STRING:
            values = [None if value is None else str(value) for value in values]
        return physical_array(values, kind)

    def select(self, places: Int64s) -> DictImages:
        chosen = places.tolist()
        return DictImages(list(itemgetter(*chosen)(self._rows)) if len(chosen) > 1 else [self._rows[i] for i in chosen])


def _child(rows: pa.StructArray, path: tuple[str, ...]) -> pa.Array | None:
    found: pa.Array = rows
    for name in path:
        if not isinstance(found.type, pa.StructType) or found.type.get_field_index(name) < 0:
            return None
        found = pc.struct_field(found, name)
    return found


def _labels(values: list[Any], symbols: tuple[str, ...] | None) -> list[Any]:
    if symbols is None:
        return values
    return [None if value is None or not 0 <= value < len(symbols) else symbols[value] for value in values]


def _symbols(indexes: pa.Array, symbols: tuple[str, ...]) -> Physical:
    numbers = np.asarray(pc.fill_null(indexes, 0))
    wrong = np.flatnonzero((numbers < 0) | (numbers >= len(symbols)))
    safe = pc.if_else(pa.array((numbers >= 0) & (numbers < len(symbols))), indexes, None)
    bad = {int(place): f"the enum has no symbol number {numbers[place]}" for place in wrong}
    return Physical(pa.array(symbols, pa.string()).take(safe), bad)


def _cast(values: pa.Array, kind: pa.DataType) -> Physical:
    try:
        return Physical(values.cast(kind))
    except pa.ArrowException:
        return physical_array(values.to_pylist(), kind)


def _cast_struct(values: pa.StructArray, kind: pa.StructType) -> Physical:
    present = set(values.type.names)
    children = []
    for member in kind:
        child = _child(values, (member.name,)) if member.name in present else None
        converted = Physical(pa.nulls(len(values), member.type)) if child is None else _cast_any(child, member.type)
        if converted.bad:
            return struct_array(values.to_pylist(), kind, dict.get)
        children.append(converted.values)
    return Physical(pa.StructArray.from_arrays(children, fields=list(kind), mask=values.is_null()))


def _cast_any(values: pa.Array, kind: pa.DataType) -> Physical:
    return _cast_struct(values, kind) if isinstance(kind, pa.StructType) else _cast(values, kind)
