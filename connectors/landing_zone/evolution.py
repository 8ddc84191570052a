"""How a table's pinned schema follows the source's.

The replicator takes new nullable columns and stops at a changed type or key (landing-zone format, "Table columns and
column operations"). So a column is only ever added, behind those that are there; a source column that is gone leaves
its file column, NULL from then on; and a changed type is cast where no value can be lost. Otherwise the table's policy
decides. Everything here is a pure function of the pinned and the incoming schema.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from connectors.landing_zone.naming import landed_column_names, numbered_name
from connectors.landing_zone.schema import PinnedColumn, PinnedSchema, type_from_text


class TypeChangePolicy(enum.StrEnum):
    """What to do when a source column gets a type that its file column cannot hold."""

    PARK = "park"
    NEW_COLUMN = "new_column"


class RefusalReason(enum.StrEnum):
    """Why a schema change cannot be followed; the short code of a parked table."""

    KEY_CHANGED = "key_changed"
    TYPE_CHANGED = "type_changed"


class ChangeKind(enum.StrEnum):
    """What happened to the file's columns."""

    ADDED = "added"
    REPLACED = "replaced"


_INTEGER_DIGITS: dict[pa.DataType, int] = {pa.int16(): 5, pa.int32(): 10, pa.int64(): 19}
_ENDLESS = 1_000


@dataclass(frozen=True)
class IncomingColumn:
    """A column of the source's row schema; ``type`` as in :func:`~connectors.landing_zone.schema.type_from_text`."""

    source: str
    type: str
    key: bool = False


@dataclass(frozen=True)
class ColumnChange:
    """A column that the files have from now on.

    Attributes:
        replaces: for ``REPLACED``: the column that the source field fed before; NULL from now on.
    """

    kind: ChangeKind
    column: PinnedColumn
    replaces: str | None = None


@dataclass(frozen=True)
class Evolution:
    """The pinned schema that takes the incoming rows.

    Attributes:
        mapping: name of the file's column to the source field that feeds it; columns that are left out are NULL.
        changes: columns that were added; empty when the schema is the pinned one. At the first pinning, too.
    """

    schema: PinnedSchema
    mapping: dict[str, str]
    changes: tuple[ColumnChange, ...] = ()


@dataclass(frozen=True)
class Refused:
    """The incoming schema does not fit; ``column`` is the source's name of the one that does not."""

    reason: RefusalReason
    message: str
    remedy: str
    column: str | None = None


def evolve(
    pinned: PinnedSchema | None, incoming: tuple[IncomingColumn, ...], policy: TypeChangePolicy
) -> Evolution | Refused:
    """The schema after rows with ``incoming`` columns, or why they cannot be taken.

    A source field whose type has changed before has several file columns; the newest that can hold the incoming type
    takes it, so rows of an older schema version find their place, too.

    Args:
        pinned: None for a table without a file; all columns are then taken as they come.
        incoming: in the source's order, which is the order of new columns. Names are unique.

    Raises:
        ValueError: a type that no landing file may hold.
    """
    if pinned is None:
        return _first(incoming)
    if refusal := _key_refusal(pinned, incoming):
        return refusal
    histories: dict[str, list[PinnedColumn]] = {}
    for column in pinned.columns:
        histories.setdefault(column.source, []).append(column)
    names = _names_of_new_fields(pinned, incoming)
    taken = {name.casefold() for name in (*names.values(), *(column.name for column in pinned.columns))}
    mapping: dict[str, str] = {}
    changes: list[ColumnChange] = []
    for field in incoming:
        history = histories.get(field.source, [])
        holder = _holder(history, field.type)
        if holder is None:
            if history and field.key:
                return _key_type_refusal(history[-1], field)
            if history and policy is TypeChangePolicy.PARK:
                return _type_refusal(history[-1], field)
            name = numbered_name(history[0].name, taken) if history else names[field.source]
            taken.add(name.casefold())
            holder = PinnedColumn(name, field.source, field.type)
            kind = ChangeKind.REPLACED if history else ChangeKind.ADDED
            changes.append(ColumnChange(kind, holder, history[-1].name if history else None))
        mapping[holder.name] = field.source
    if not changes:
        return Evolution(pinned, mapping)
    return Evolution(PinnedSchema((*pinned.columns, *(change.column for change in changes))), mapping, tuple(changes))


def can_hold(pinned: pa.DataType, incoming: pa.DataType) -> bool:
    """Whether every value of ``incoming`` has an exact counterpart in ``pinned``, and a cast finds it."""
    if pinned == incoming:
        return True
    if pa.types.is_decimal128(pinned):
        wide_enough = _digits_before_point(incoming) <= _digits_before_point(pinned)
        return wide_enough and _scale(incoming) <= _scale(pinned)
    if pa.types.is_integer(pinned):
        if pa.types.is_integer(incoming):
            return bool(incoming.bit_width <= pinned.bit_width)
        whole = pa.types.is_decimal128(incoming) and incoming.scale == 0
        return bool(whole) and _digits_before_point(incoming) < _digits_before_point(pinned)
    if pa.types.is_floating(pinned):
        if pa.types.is_floating(incoming):
            return bool(incoming.bit_width <= pinned.bit_width)
        # Integers up to half the width fit into the mantissa.
        return bool(pa.types.is_integer(incoming) and incoming.bit_width * 2 <= pinned.bit_width)
    return bool(pinned == pa.timestamp("us") and pa.types.is_date32(incoming))


def cast_rows(rows: pa.RecordBatch, pinned: PinnedSchema, mapping: Mapping[str, str]) -> pa.RecordBatch:
    """Source rows as rows of a file: pinned names, order and types; NULL where no source field feeds a column.

    Args:
        rows: columns named as the source's fields; fields of ``mapping`` may be missing (as in rows of keys only).
        pinned, mapping: of an :class:`Evolution`; ``pinned`` may have got further columns since.

    Raises:
        pyarrow.ArrowInvalid: a value that the pinned type cannot hold, so not a schema that :func:`evolve` has taken.
    """
    schema = pinned.arrow()
    positions = {name: position for position, name in enumerate(rows.schema.names)}
    columns: list[pa.Array[Any]] = []
    for field in schema:
        position = positions.get(mapping[field.name]) if field.name in mapping else None
        if position is None:
            columns.append(pa.nulls(len(rows), field.type))
            continue
        column = rows.column(position)
        columns.append(column if column.type == field.type else column.cast(field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _first(incoming: tuple[IncomingColumn, ...]) -> Evolution:
    names = landed_column_names([field.source for field in incoming])
    columns: list[PinnedColumn] = []
    for name, field in zip(names, incoming, strict=True):
        type_from_text(field.type)
        columns.append(PinnedColumn(name, field.source, field.type, field.key))
    mapping = {column.name: column.source for column in columns}
    return Evolution(
        PinnedSchema(tuple(columns)), mapping, tuple(ColumnChange(ChangeKind.ADDED, column) for column in columns)
    )


def _names_of_new_fields(pinned: PinnedSchema, incoming: tuple[IncomingColumn, ...]) -> dict[str, str]:
    known = {column.source for column in pinned.columns}
    new = [field.source for field in incoming if field.source not in known]
    names = landed_column_names(new, taken=[column.name for column in pinned.columns])
    return dict(zip(new, names, strict=True))


def _holder(history: list[PinnedColumn], incoming: str) -> PinnedColumn | None:
    kind = type_from_text(incoming)
    return next((column for column in reversed(history) if can_hold(type_from_text(column.type), kind)), None)


def _digits_before_point(kind: pa.DataType) -> int:
    if pa.types.is_decimal128(kind):
        return int(kind.precision - kind.scale)
    return _INTEGER_DIGITS.get(kind, _ENDLESS)


def _scale(kind: pa.DataType) -> int:
    return kind.scale if pa.types.is_decimal128(kind) else 0


def _key_refusal(pinned: PinnedSchema, incoming: tuple[IncomingColumn, ...]) -> Refused | None:
    before = [column.source for column in pinned.columns if column.key]
    now = [field.source for field in incoming if field.key]
    if set(before) == set(now):
        return None
    return Refused(
        RefusalReason.KEY_CHANGED,
        f"the key changed from ({', '.join(before)}) to ({', '.join(now)}), and a mirrored table's key cannot change",
        _KEY_REMEDY,
        next(iter(sorted(set(before) ^ set(now)))),
    )


def _key_type_refusal(pinned: PinnedColumn, field: IncomingColumn) -> Refused:
    return Refused(
        RefusalReason.KEY_CHANGED,
        f"the key column {field.source!r} changed its type from {pinned.type} to {field.type}, "
        "and a mirrored table's key cannot change",
        _KEY_REMEDY,
        field.source,
    )


def _type_refusal(pinned: PinnedColumn, field: IncomingColumn) -> Refused:
    return Refused(
        RefusalReason.TYPE_CHANGED,
        f"the column {field.source!r} changed its type from {pinned.type} to {field.type}, "
        "which the mirrored column cannot hold",
        "rebuild the table, or let the new type have a column of its own (on_type_change: new_column)",
        field.source,
    )


_KEY_REMEDY = "rebuild the table: its folder has to be made again with all rows"
