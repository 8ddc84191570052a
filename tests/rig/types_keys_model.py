"""A table for every type that can be a key: what is done to its rows, and what the mirror then holds.

The history is the same for every type. It takes each value through every way a key can go: from a snapshot into the
stream, deleted and inserted again, changed to another value and from another one.
"""

from __future__ import annotations

import enum
import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tests.rig.types_differences import NANOSECONDS_WRAP, OUT_OF_RANGE
from tests.rig.types_model import Column, Landed, Modes, Phase, TypedSource

_INEXACT = (OUT_OF_RANGE, NANOSECONDS_WRAP)
"""What is not the event's value, or of an event whose digits below the microsecond show that the value is wrong."""

Content = tuple[Any, int, int]
"""A mirrored row: its key (:func:`identity`), row number and version."""


@dataclass(frozen=True)
class Key:
    """A type as a key.

    Attributes:
        column: with values that the database takes for different ones.
        equal: pairs of the SQL of one of those values and another text that the database takes for the same, with
            what it means; a key goes from the one to the other.
        prefix: characters or bytes that are indexed, where the database wants that said.
    """

    column: Column
    equal: tuple[tuple[str, str, Any], ...] = ()
    prefix: int | None = None

    @property
    def table(self) -> str:
        return f"key_{self.column.name}"


@dataclass(frozen=True)
class KeyedSource:
    """A database's types as keys.

    Attributes:
        types: the database, its modes and what its types need.
        keys: of types that a key can have, under a set of modes: without what ends the connector.
        barred: types of which the database makes no key.
    """

    types: TypedSource
    keys: Callable[[Modes], tuple[Key, ...]]
    barred: tuple[Column, ...]


class Change(enum.Enum):
    """What a statement does to a row."""

    INSERT = enum.auto()
    UPDATE = enum.auto()
    DELETE = enum.auto()
    MOVE = enum.auto()


@dataclass(frozen=True)
class Step:
    """A statement on one row.

    Attributes:
        row: its number; each insert has another one.
        version: of what it writes.
        value: the key's SQL and meaning, after the step or, for a delete, before it.
        before: the key before a move.
    """

    change: Change
    phase: Phase
    row: int
    version: int
    value: tuple[str, Any]
    before: tuple[str, Any] | None = None

    def sql(self, table: str) -> str:
        match self.change:
            case Change.INSERT:
                return f"INSERT INTO {table} (k, number, version) VALUES ({self.value[0]}, {self.row}, {self.version})"
            case Change.UPDATE:
                return f"UPDATE {table} SET version = {self.version} WHERE number = {self.row}"
            case Change.MOVE:
                return f"UPDATE {table} SET k = {self.value[0]}, version = {self.version} WHERE number = {self.row}"
            case Change.DELETE:
                return f"DELETE FROM {table} WHERE number = {self.row}"


def sendable(column: Column, modes: Modes) -> Column:
    """The column without values that the connector has no value for: a column that is NOT NULL ends it there."""
    return replace(
        column,
        values=tuple(
            (sql, truth)
            for sql, truth in column.values
            if all(column.expected(sql, truth, phase, modes).value is not None for phase in Phase)
        ),
    )


def history(key: Key) -> Iterator[Step]:
    """All that is done to a key's table, in order; those of :attr:`Phase.SNAPSHOT` come first."""
    values = key.column.values
    count = len(values)
    stream = Phase.STREAM
    for row, value in enumerate(values):
        yield Step(Change.INSERT, Phase.SNAPSHOT, row, 0, value)
    for row, value in enumerate(values):
        yield Step(Change.UPDATE, stream, row, 1, value)
    for row, value in enumerate(values):
        yield Step(Change.DELETE, stream, row, 1, value)
        yield Step(Change.INSERT, stream, count + row, 2, value)
    holders = {count + row: value for row, value in enumerate(values)}
    yield Step(Change.DELETE, stream, count, 2, holders.pop(count))
    for row, free in zip(range(count + 1, 2 * count), values, strict=False):
        yield Step(Change.MOVE, stream, row, 3, free, holders[row])
        holders[row] = free
    holders[2 * count] = values[-1]
    yield Step(Change.INSERT, stream, 2 * count, 3, values[-1])
    for sql, other, truth in key.equal:
        [row] = [row for row, value in holders.items() if value[0] == sql]
        yield Step(Change.MOVE, stream, row, 4, (other, truth), holders[row])
        holders[row] = (other, truth)
    for row, value in holders.items():
        yield Step(Change.UPDATE, stream, row, 5, value)
    if count > 1:
        yield Step(Change.DELETE, stream, count + 1, 5, holders[count + 1])


@dataclass
class Mirror:
    """What lands of a history.

    Attributes:
        rows: row number and version by key.
        refused: events that become dead letters, since a row with such a key could be taken for another one.
        lost: numbers of the rows that an event was refused of.
        differences: ids of what is not as in the source about the keys.
    """

    rows: dict[Any, tuple[int, int]] = field(default_factory=dict)
    refused: int = 0
    lost: set[int] = field(default_factory=set)
    differences: set[str] = field(default_factory=set)

    def content(self) -> list[Content]:
        return sorted(((key, *row) for key, row in self.rows.items()), key=repr)


def mirrored(key: Key, modes: Modes) -> Mirror:
    """What the mirror of a table holds after its history: an event finds its row by the key that landed."""
    mirror = Mirror()
    if (difference := key.column.kind.difference(modes)) is not None:
        mirror.differences.add(difference.id)
    for step in history(key):
        _apply(mirror, key, step, modes)
    return mirror


def remaining(key: Key) -> list[tuple[int, int]]:
    """Number and version of the rows that the database holds after the history, in order."""
    rows: dict[int, int] = {}
    for step in history(key):
        if step.change is Change.DELETE:
            del rows[step.row]
        else:
            rows[step.row] = step.version
    return sorted(rows.items())


def identity(value: Any) -> Any:
    """What tells keys apart: type and value, with the sign of zero and the scale of a decimal."""
    if isinstance(value, float):
        return "float", struct.pack(">d", value) if value == value else b"NaN"
    if isinstance(value, list | dict):
        return "json", json.dumps(value, sort_keys=True)
    return type(value).__name__, value.hex() if isinstance(value, bytes) else str(value)


def _apply(mirror: Mirror, key: Key, step: Step, modes: Modes) -> None:
    landed = _landed(key, step.value, step, modes)
    if landed.difference is not None:
        mirror.differences.add(landed.difference.id)
    if step.change is Change.DELETE:
        _remove(mirror, landed)
        return
    if step.before is not None:
        before = _landed(key, step.before, step, modes)
        # Where the connector itself sees no change of the key, it sends an update.
        inexact = before.difference in _INEXACT or landed.difference in _INEXACT
        if inexact or identity(before.value) != identity(landed.value):
            _remove(mirror, before)
    if _refused(landed):
        mirror.refused += 1
        mirror.lost.add(step.row)
    else:
        mirror.rows[identity(landed.value)] = (step.row, step.version)


def _remove(mirror: Mirror, landed: Landed) -> None:
    if _refused(landed):
        mirror.refused += 1
    else:
        mirror.rows.pop(identity(landed.value), None)


def _landed(key: Key, value: tuple[str, Any], step: Step, modes: Modes) -> Landed:
    sql, truth = value
    return key.column.expected(sql, truth, step.phase, modes)


def _refused(landed: Landed) -> bool:
    return landed.value is None or landed.difference in _INEXACT
