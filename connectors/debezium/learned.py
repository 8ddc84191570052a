"""Columns learned from the rows of schemaless JSON (``schema: learn``).

JSON tells an integer from a fraction, a string, a boolean and a nested value, and nothing more; so a column is int64,
float64, string, boolean or JSON text. A column is known from its first value that is not null, and ordered by it. A
value of another type ends the rows that are read together: the rows from there on have another schema. An integer
beyond 64 bits is JSON text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from connectors.debezium import semantics
from connectors.debezium.event_group import present_mask
from connectors.debezium.events import Int64s
from connectors.debezium.physical import Physical, physical_array, text_array
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.values import physical_type

PlainRow = Mapping[str, Any]
_Kind = tuple[ConnectType, str | None]

_JSON_TEXT: _Kind = (ConnectType.STRING, semantics.JSON)
_KINDS: dict[type, _Kind] = {
    bool: (ConnectType.BOOLEAN, None),
    int: (ConnectType.INT64, None),
    float: (ConnectType.FLOAT64, None),
    str: (ConnectType.STRING, None),
    dict: _JSON_TEXT,
    list: _JSON_TEXT,
}
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class LearnedRun:
    """Consecutive rows, ``start`` to ``stop``, that agree on the types of their columns."""

    start: int
    stop: int
    fields: tuple[Field, ...]


def learn(rows: Sequence[PlainRow | None]) -> list[LearnedRun]:
    """The columns of the rows, cut where a column changes its type.

    Args:
        rows: decoded column values, in offset order; ``None`` for an event without a row.
    """
    runs: list[LearnedRun] = []
    known: dict[str, _Kind | None] = {}
    agreeing: set[tuple[object, ...]] = set()
    start = 0
    for place, row in enumerate(rows):
        if not row:
            continue
        signature = _signature(row)
        if signature in agreeing:
            continue
        seen = {name: _kind(value) for name, value in row.items() if value is not None}
        if any(known.get(name, kind) != kind for name, kind in seen.items()):
            runs.append(LearnedRun(start, place, _fields(known)))
            known, start = {}, place
            agreeing.clear()
        for name, kind in seen.items():
            known.setdefault(name, kind)
        agreeing.add(signature)
    runs.append(LearnedRun(start, len(rows), _fields(known)))
    return runs


class PlainImages:
    """Row images as decoded values by column; ``None`` for an absent image."""

    def __init__(self, rows: Sequence[PlainRow | None]) -> None:
        self._rows = rows
        self.present = present_mask(rows)

    def column(self, column: Field) -> Physical:
        values = [None if row is None else row.get(column.name) for row in self._rows]
        if (column.type, column.semantic) == _JSON_TEXT:
            return text_array([None if value is None else msgspec.json.encode(value) for value in values])
        wanted = (column.type, column.semantic)
        bad = {
            place: f"{msgspec.json.encode(value)[:60].decode(errors='replace')} is not of the type {column.type}"
            for place, value in enumerate(values)
            if value is not None and _kind(value) != wanted
        }
        for place in bad:
            values[place] = None
        return Physical(physical_array(values, physical_type(column)).values, bad)

    def select(self, places: Int64s) -> PlainImages:
        return PlainImages([self._rows[place] for place in places.tolist()])


def _signature(row: PlainRow) -> tuple[object, ...]:
    """Equal for rows that have the same columns of the same types."""
    kinds = [type(value) for value in row.values()]
    if int in kinds:
        wide = any(type(value) is int and not _LOWEST <= value <= _HIGHEST for value in row.values())
        if wide:
            return (*row, *map(_kind, row.values()))
    return (*row, *kinds)


def _kind(value: object) -> _Kind | None:
    if isinstance(value, int) and not _LOWEST <= value <= _HIGHEST:
        return _JSON_TEXT
    return _KINDS.get(type(value))


def _fields(known: Mapping[str, _Kind | None]) -> tuple[Field, ...]:
    return tuple(Field(name, kind[0], semantic=kind[1]) for name, kind in known.items() if kind is not None)
