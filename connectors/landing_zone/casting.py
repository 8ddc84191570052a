"""Which pinned type holds which incoming type, and how values get from one to the other.

Three casts, from the safest to the least: between types of which one holds every value of the other; to canonical
text, which holds everything; and, only where a policy accepts the loss, of those values alone that the pinned type
holds exactly: as the same number, the same moment, or the same text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from connectors.landing_zone.canonical_text import canonical_text, from_canonical_text
from connectors.landing_zone.schema import PinnedSchema

_INTEGER_DIGITS: dict[pa.DataType, int] = {pa.int16(): 5, pa.int32(): 10, pa.int64(): 19}
_ENDLESS = 1_000
_WIDEST = 76


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


def cast_rows(
    rows: pa.RecordBatch,
    pinned: PinnedSchema,
    mapping: Mapping[str, str],
    unfollowed: frozenset[str] = frozenset(),
) -> pa.RecordBatch:
    """Source rows as rows of a file: pinned names, order and types; NULL where no source field feeds a column.

    Args:
        rows: columns named as the source's fields; fields of ``mapping`` may be missing (as in rows of keys only).
        pinned, mapping, unfollowed: of an :class:`~connectors.landing_zone.evolution.Evolution`; ``pinned`` may have
            got further columns since.

    Raises:
        pyarrow.ArrowInvalid: a value that the pinned type cannot hold, so not a schema that
            :func:`~connectors.landing_zone.evolution.evolve` has taken.
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
        if column.type == field.type:
            columns.append(column)
        elif field.name in unfollowed:
            columns.append(exact_values(column, field.type))
        elif pa.types.is_string(field.type):
            columns.append(canonical_text(column))
        else:
            columns.append(column.cast(field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def ignored_values(
    rows: pa.RecordBatch, landed: pa.RecordBatch, mapping: Mapping[str, str], unfollowed: frozenset[str]
) -> dict[str, int]:
    """Number of values that ``landed``, made of ``rows`` by :func:`cast_rows`, could not hold; by the file's column."""
    lost: dict[str, int] = {}
    for name in sorted(unfollowed):
        if mapping[name] in rows.schema.names:
            count = landed.column(name).null_count - rows.column(mapping[name]).null_count
            if count:
                lost[name] = count
    return lost


def exact_values(column: pa.Array[Any], kind: pa.DataType) -> pa.Array[Any]:
    """The values that ``kind`` holds exactly; NULL in place of the others.

    Exactly is: between numbers, reading the cast value back gives the same number; between a date and a timestamp
    without zone, the same moment; between text and anything else, the same canonical text.
    """
    if column.type == kind:
        return column
    if pa.types.is_string(kind):
        return canonical_text(column)
    distinct: Any = column.dictionary_encode()
    values = distinct.dictionary
    if pa.types.is_string(column.type):
        held = from_canonical_text(values, kind)
    elif _comparable(column.type, kind):
        held = _read_back(values, kind)
    else:
        held = pa.nulls(len(values), kind)
    exact: pa.Array[Any] = held.take(distinct.indices)
    return exact


def _read_back(values: pa.Array[Any], kind: pa.DataType) -> pa.Array[Any]:
    try:
        cast = _cast(values, kind)
        back = _cast(cast, values.type)
    except pa.ArrowInvalid:
        if len(values) == 1:
            return pa.nulls(1, kind)
    else:
        held: pa.Array[Any] = pc.if_else(_same(back, values), cast, pa.scalar(None, kind))
        return held
    half = len(values) // 2
    return pa.concat_arrays([_read_back(values.slice(0, half), kind), _read_back(values.slice(half), kind)])


def _cast(values: pa.Array[Any], kind: pa.DataType) -> pa.Array[Any]:
    if pa.types.is_integer(values.type) and pa.types.is_decimal128(kind):
        # Arrow refuses a decimal that is too narrow for some integers, whatever the values.
        values = values.cast(pa.decimal256(_WIDEST, kind.scale))
    return values.cast(kind)


def _same(back: pa.Array[Any], values: pa.Array[Any]) -> pa.Array[Any]:
    same: pa.Array[Any] = pc.equal(back, values)
    if pa.types.is_floating(values.type):
        same = pc.or_(same, pc.and_(pc.is_nan(back), pc.is_nan(values)))
    return same


def _comparable(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether a cast between the types keeps what a value means: both numbers, or both moments without zone."""
    return (_is_number(one) and _is_number(other)) or (_is_local_moment(one) and _is_local_moment(other))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal128(kind))


def _is_local_moment(kind: pa.DataType) -> bool:
    return bool(pa.types.is_date32(kind) or kind == pa.timestamp("us"))


def _digits_before_point(kind: pa.DataType) -> int:
    if pa.types.is_decimal128(kind):
        return int(kind.precision - kind.scale)
    return _INTEGER_DIGITS.get(kind, _ENDLESS)


def _scale(kind: pa.DataType) -> int:
    return kind.scale if pa.types.is_decimal128(kind) else 0
