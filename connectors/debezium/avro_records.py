"""Decoded Avro records of one writer schema: as the kernel's scans, or as dicts.

Both give the same images and the same physical values.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from connectors.debezium.avro_kernel.nodes import Node
from connectors.debezium.avro_kernel.scan import Scan
from connectors.debezium.event_group import absent_column, present_mask
from connectors.debezium.events import Bools, Int64s
from connectors.debezium.physical import Images, Physical, is_nested, json_texts, physical_array, struct_array
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.values import physical_type

_COLUMNS = frozenset({"int", "long", "string"})
"""Avro's types whose arrays hold what their values are."""


class AvroRecords(Protocol):
    """n records."""

    def __len__(self) -> int: ...

    def values(self, *path: str) -> list[Any]:
        """The plain values of the field that ``path`` leads to; null where a struct on the way is null."""
        ...

    def column(self, *path: str) -> list[Any] | pa.Array:
        """The same, as an array where that takes less."""
        ...

    def images(self, *path: str) -> Images:
        """The records (an empty path), or their struct field of that name, as images."""
        ...


class ScannedRecords:
    """Records as the kernel has noted them. Columns are made of those that are asked for, once each.

    Args:
        root: the datum's node.
        scans: of all records in turn; one at least.
    """

    def __init__(self, root: Node, scans: Sequence[Scan]) -> None:
        self._root = root
        self._scans = scans
        self._arrays: dict[int, pa.Array] = {}

    def __len__(self) -> int:
        return sum(scan.count for scan in self._scans)

    def values(self, *path: str) -> list[Any]:
        node, rest = self._found(path)
        if node.kind == "record" and rest:
            return [None] * len(self)
        return _members(self.listed(node), rest)

    def column(self, *path: str) -> list[Any] | pa.Array:
        node, rest = self._found(path)
        return self.values(*path) if rest or node.kind not in _COLUMNS else self.array(node)

    def images(self, *path: str) -> Images:
        node, rest = self._found(path)
        return DictImages.of(self.values(*path)) if rest or node.kind != "record" else ScannedImages(self, node)

    def present(self, node: Node) -> Bools:
        """The records in which there is a value."""
        return np.concatenate([scan.present(node) for scan in self._scans])

    def array(self, node: Node) -> pa.Array:
        """The values of a plain node, of Avro's own type."""
        if node.cell not in self._arrays:
            parts = [scan.array(node) for scan in self._scans]
            self._arrays[node.cell] = parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
        return self._arrays[node.cell]

    def listed(self, node: Node) -> list[Any]:
        """The values as plain Python values; one that all records have is one object."""
        if not node.is_plain:
            read = node.reader.read_sound
            encoded = [value for scan in self._scans for value in scan.encoded(node)]
            return [None if value is None else read(value) for value in encoded]
        if all(scan.is_same(node) for scan in self._scans):
            values: list[Any] = list(chain.from_iterable([scan.first(node)] * scan.count for scan in self._scans))
        elif node.kind in ("int", "long") and not self.array(node).null_count:
            values = np.asarray(self.array(node)).tolist()
        else:
            values = self.array(node).to_pylist()
        if node.kind == "enum":
            return [None if value is None else node.symbols[value] for value in values]
        return values

    def _found(self, path: Sequence[str]) -> tuple[Node, Sequence[str]]:
        """The node that the path leads to, as far as there are records on it, and what is left of the path."""
        node = self._root
        for place, name in enumerate(path):
            if name not in node.members:
                return node, path[place:]
            node = node.members[name]
        return node, ()


class ScannedImages:
    """Row images of scanned records.

    Args:
        node: of the image.
        places: those of the records that are meant, ascending; ``None`` for all.
    """

    def __init__(self, records: ScannedRecords, node: Node, places: Int64s | None = None) -> None:
        self._records = records
        self._node = node
        self._places = places
        present = records.present(node)
        self.present = present if places is None else present[places]

    def column(self, column: Field) -> Physical:
        found = self._column(column)
        return found if self._places is None else found.take(self._places)

    def select(self, places: Int64s) -> ScannedImages:
        return ScannedImages(self._records, self._node, places if self._places is None else self._places[places])

    def _column(self, column: Field) -> Physical:
        node = self._node.members.get(column.name)
        if node is None:
            return absent_column(column, len(self._records))
        kind = physical_type(column)
        values = None if is_nested(column, kind) else self._array(node, kind)
        return _column_of(self._records.listed(node), column) if values is None else Physical(values)

    def _array(self, node: Node, kind: pa.DataType) -> pa.Array | None:
        """The values as an array of the column's type, or ``None`` where each has to be looked at."""
        if isinstance(kind, pa.StructType):
            return self._struct(node, kind)
        if not node.is_plain:
            return None
        values = self._records.array(node)
        if node.kind == "enum":
            values = pa.array(node.symbols, pa.string()).take(values)
        elif node.kind == "int" and pa.types.is_integer(kind):
            with suppress(pa.ArrowInvalid):
                values = values.cast(kind)
        return values if values.type == kind else None

    def _struct(self, node: Node, kind: pa.StructType) -> pa.Array | None:
        if node.kind != "record":
            return None
        count = len(self._records)
        found = [node.members.get(each.name) for each in kind]
        children = [
            pa.nulls(count, each.type) if member is None else self._array(member, each.type)
            for each, member in zip(kind, found, strict=True)
        ]
        if any(child is None for child in children):
            return None
        absent = pa.array(~self._records.present(node))
        return pa.StructArray.from_arrays(children, fields=list(kind), mask=absent)


@dataclass(frozen=True)
class DictRecords:
    """Records as Python dicts."""

    records: Sequence[object]

    def __len__(self) -> int:
        return len(self.records)

    def values(self, *path: str) -> list[Any]:
        return _members(list(self.records), path)

    def column(self, *path: str) -> list[Any]:
        return self.values(*path)

    def images(self, *path: str) -> Images:
        return DictImages.of(self.values(*path))


class DictImages:
    """Row images as Python dicts; ``None`` for an absent image."""

    def __init__(self, rows: list[dict[str, Any] | None]) -> None:
        self._rows = rows
        self.present = present_mask(rows)

    @classmethod
    def of(cls, values: Sequence[object]) -> DictImages:
        """The values that are dicts; all others are absent images."""
        return cls([value if isinstance(value, dict) else None for value in values])

    def column(self, column: Field) -> Physical:
        return _column_of([None if row is None else row.get(column.name) for row in self._rows], column)

    def select(self, places: Int64s) -> DictImages:
        chosen = places.tolist()
        return DictImages(list(itemgetter(*chosen)(self._rows)) if len(chosen) > 1 else [self._rows[i] for i in chosen])


def _members(values: list[Any], path: Sequence[str]) -> list[Any]:
    for name in path:
        values = [value.get(name) if isinstance(value, dict) else None for value in values]
    return values


def _column_of(values: list[Any], column: Field) -> Physical:
    """Plain values of Avro's as a column of its physical type."""
    kind = physical_type(column)
    if is_nested(column, kind):
        return json_texts(values, column)
    if isinstance(kind, pa.StructType):
        return struct_array(values, kind, dict.get)
    if pa.types.is_string(kind) and column.type is not ConnectType.STRING:
        values = [None if value is None else str(value) for value in values]
    return physical_array(values, kind)
