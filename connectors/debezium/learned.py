"""Columns learned from the rows of schemaless JSON (``schema: learn``).

JSON tells an integer from a fraction, a string, a boolean and a nested value, and nothing more; so a column is int64,
float64, string, boolean or JSON text. A column is known from its first value that is not null, and ordered by it. A
value of another type ends the rows that are read together: the rows from there on have another schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from connectors.debezium import semantics
from connectors.debezium.event_group import absent_column
from connectors.debezium.events import Int64s
from connectors.debezium.physical import Physical, physical_array, text_array
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.values import physical_type

RawRow = Mapping[str, msgspec.Raw]

_INT64 = range(-(2**63), 2**63)
_SHORT = 19


@dataclass(frozen=True)
class LearnedRun:
    """Consecutive rows, ``start`` to ``stop``, that agree on the types of their columns."""

    start: int
    stop: int
    fields: tuple[Field, ...]


def learn(rows: Sequence[RawRow | None]) -> list[LearnedRun]:
    """The columns of the rows, cut where a column changes its type.

    Args:
        rows: column values as JSON text, in offset order; ``None`` for an event without a row.
    """
    runs: list[LearnedRun] = []
    known: dict[str, Field] = {}
    start = 0
    for place, row in enumerate(rows):
        if row is None:
            continue
        seen = {name: kind for name, raw in row.items() if (kind := _kind(bytes(raw))) is not None}
        if any(name in known and (known[name].type, known[name].semantic) != kind for name, kind in seen.items()):
            runs.append(LearnedRun(start, place, tuple(known.values())))
            known, start = {}, place
        for name, (type_, semantic) in seen.items():
            if name not in known:
                known[name] = Field(name, type_, semantic=semantic)
    runs.append(LearnedRun(start, len(rows), tuple(known.values())))
    return runs


class RawImages:
    """Row images as JSON text per column."""

    def __init__(self, rows: Sequence[RawRow | None]) -> None:
        self._rows = rows
        self.present = np.fromiter((row is not None for row in rows), np.bool_, len(rows))

    def column(self, column: Field) -> Physical:
        texts = [None if row is None or column.name not in row else bytes(row[column.name]) for row in self._rows]
        if all(text is None for text in texts):
            return absent_column(column, len(texts))
        if column.semantic == semantics.JSON:
            return text_array([None if text in (None, b"null") else _compact(text) for text in texts])
        values: list[Any] = []
        bad: dict[int, str] = {}
        for place, text in enumerate(texts):
            value = None if text is None else msgspec.json.decode(text)
            if value is not None and _kind(text or b"") != (column.type, column.semantic):
                bad[place] = f"{(text or b'')[:60].decode(errors='replace')} is not of the type {column.type}"
                value = None
            values.append(value)
        physical = physical_array(values, physical_type(column))
        return Physical(physical.values, bad | physical.bad)

    def select(self, places: Int64s) -> RawImages:
        return RawImages([self._rows[place] for place in places.tolist()])


def _kind(text: bytes) -> tuple[ConnectType, str | None] | None:
    """The type of a JSON value; ``None`` for null."""
    first = text[:1]
    if first == b"n":
        return None
    if first == b'"':
        return ConnectType.STRING, None
    if first in b"tf":
        return ConnectType.BOOLEAN, None
    if first in b"{[":
        return ConnectType.STRING, semantics.JSON
    if any(mark in text for mark in b".eE"):
        return ConnectType.FLOAT64, None
    if len(text) <= _SHORT - 1 or int(text) in _INT64:
        return ConnectType.INT64, None
    return ConnectType.STRING, semantics.JSON


def _compact(text: bytes | None) -> bytes | None:
    return None if text is None else msgspec.json.format(text, indent=-1)
