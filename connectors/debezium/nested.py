"""Values inside arrays, maps and structs, which land as JSON text.

JSON has no decimals, dates or times, so Kafka Connect writes base64, or counts of days and milliseconds, and only the
schema says of what scale or unit. A landing file has no such schema: each of these values becomes the text of what it
means (``"1.10"``, ``"2024-02-29"``, ``"2024-02-29T12:34:56.789012"``). Everything else stays as it was written, apart
from characters that the converter has escaped without need.
"""

from __future__ import annotations

import base64
import datetime
import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium.converted import Column, Converted, with_bad
from connectors.debezium.options import OutOfRange
from connectors.debezium.physical import Physical, physical_array, struct_array
from connectors.debezium.physical_types import physical_type
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.types import LogicalType, logical_type

Convert = Callable[[Column, Field, OutOfRange], Converted]
"""A column of physical type becomes one of its pinned type: :func:`connectors.debezium.values.to_pinned`."""

# What JSON can say by itself, and bytes and geometries, for which it has no better form than the converter's base64.
_AS_WRITTEN = frozenset(
    {
        LogicalType.BOOLEAN,
        LogicalType.INT16,
        LogicalType.INT32,
        LogicalType.INT64,
        LogicalType.UNSIGNED_INT64,
        LogicalType.FLOAT32,
        LogicalType.FLOAT64,
        LogicalType.TEXT,
        LogicalType.BYTES,
        LogicalType.BYTES_BASE64,
        LogicalType.BYTES_BASE64_URL,
        LogicalType.BYTES_HEX,
        LogicalType.GEOMETRY,
        LogicalType.POINT,
    }
)
# A character beyond ASCII that is written as an escape, in two halves where it has more than 16 bits. Text without
# backslashes of its own is by far the most; in front of an escape there may be any even number of them.
_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)((?:\\u(?!00[0-7])[0-9a-fA-F]{4})+)")
_HALF = re.compile(r"[\ud800-\udfff]")

_decoder = msgspec.json.Decoder(float_hook=Decimal)
_Visit = Callable[[Field, object], object]


def json_texts(array: Column, field: Field, rule: OutOfRange, convert: Convert) -> Converted:
    """JSON text in which every nested value has the form of its column.

    Args:
        array: JSON text as ``JsonConverter`` writes it.
        field: an array, map or struct; keys of maps stay as they are.
        rule: for nested dates and timestamps beyond the years 1 to 9999.
        convert: makes columns of nested values.

    Rows with a nested value that cannot be converted are bad.
    """
    if not _has_meaning(field):
        return Converted(_unescaped(array))
    trees: list[object] = []
    endless: set[int] = set()
    cells = _Cells()
    for row, text in enumerate(array.to_pylist()):
        try:
            trees.append(None if text is None else _decoder.decode(text))
        except InvalidOperation:
            # A number with more digits in its exponent than a decimal may have.
            trees.append(None)
            endless.add(row)
        _walked(trees[row], field, partial(cells.add, row))
    clamped, bad = cells.convert(rule, convert)
    bad |= endless
    texts = [
        None if tree is None or row in bad else msgspec.json.encode(_walked(tree, field, cells.take)).decode()
        for row, tree in enumerate(trees)
    ]
    unread = np.zeros(len(array), dtype=np.bool_)
    unread[list(bad)] = True
    return with_bad(pa.array(texts, pa.string()), clamped, unread, "a value in it cannot be read", array)


class _Cells:
    """Nested values by their field: first collected, then converted as columns, then taken in the same order."""

    def __init__(self) -> None:
        self._rows: dict[Field, list[int]] = {}
        self._values: dict[Field, list[Any]] = {}

    def add(self, row: int, leaf: Field, value: object) -> object:
        self._rows.setdefault(leaf, []).append(row)
        self._values.setdefault(leaf, []).append(value)
        return value

    def convert(self, rule: OutOfRange, convert: Convert) -> tuple[int, set[int]]:
        """Number of clamped values, and the rows that hold one that cannot be converted; their values are dropped."""
        clamped = 0
        bad: set[int] = set()
        for leaf, values in self._values.items():
            physical = _physical(values, leaf)
            converted = convert(physical.values, leaf, rule)
            clamped += converted.clamped
            bad.update(self._rows[leaf][place] for place in (*physical.bad, *converted.bad.tolist()))
            self._values[leaf] = [_written(value) for value in converted.values.to_pylist()]
        for leaf, rows in self._rows.items():
            kept = [value for row, value in zip(rows, self._values[leaf], strict=True) if row not in bad]
            self._values[leaf] = kept[::-1]
        return clamped, bad

    def take(self, leaf: Field, _: object) -> object:
        return self._values[leaf].pop()


def _has_meaning(field: Field) -> bool:
    kind = logical_type(field)
    if kind is LogicalType.JSON_TEXT:
        return any(map(_has_meaning, field.children))
    return kind not in _AS_WRITTEN


def _walked(value: object, field: Field, visit: _Visit) -> object:
    """The tree with what ``visit`` gives for each value that has a meaning."""
    if value is None:
        return None
    if logical_type(field) is not LogicalType.JSON_TEXT:
        return _plain(value) if not _has_meaning(field) else visit(field, value)
    match field.type, value:
        case ConnectType.ARRAY, list() if field.children:
            return [_walked(each, field.children[0], visit) for each in value]
        case ConnectType.MAP, dict() if field.children:
            return {key: _walked(each, field.children[1], visit) for key, each in value.items()}
        case ConnectType.MAP, list() if field.children:
            return [[_plain(key), _walked(each, field.children[1], visit)] for key, each in value]
        case ConnectType.STRUCT, dict():
            children = {child.name: child for child in field.children}
            return {
                name: _walked(each, children[name], visit) if name in children else _plain(each)
                for name, each in value.items()
            }
        case _:
            return _plain(value)


def _plain(value: object) -> object:
    """A value as it was read, with floats again where digits were kept for decimals."""
    match value:
        case Decimal():
            return float(value)
        case list():
            return [_plain(each) for each in value]
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case _:
            return value


def _physical(values: Sequence[Any], leaf: Field) -> Physical:
    kind = physical_type(leaf)
    if isinstance(kind, pa.StructType):
        decoded = [
            {**value, "value": _bytes(value.get("value"))} if isinstance(value, dict) else {} for value in values
        ]
        return struct_array(decoded, kind, dict.get)
    if pa.types.is_binary(kind):
        if any(isinstance(value, (Decimal, int)) for value in values):
            return physical_array([str(value) for value in values], pa.string())
        return physical_array([_bytes(value) for value in values], kind)
    if leaf.type is ConnectType.STRUCT:
        return physical_array([msgspec.json.encode(value).decode() for value in values], kind)
    return physical_array(values, kind)


def _bytes(text: object) -> object:
    """Bytes of base64; what is no base64 stays, for the column to refuse."""
    if not isinstance(text, str):
        return text
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return text


def _written(value: object) -> object:
    match value:
        case datetime.datetime() if value.tzinfo is not None:
            return value.replace(tzinfo=None).isoformat() + "Z"
        case datetime.date():
            return value.isoformat()
        case Decimal():
            return format(value, "f")
        case _:
            return value


def _unescaped(array: Column) -> Column:
    """The same JSON with characters where the converter has written escapes beyond ASCII."""
    found: Any = pc.any(pc.match_substring(array, "\\u"))
    if not found.as_py():
        return array
    return pa.array(
        [None if text is None else _ESCAPE.sub(_characters, text) for text in array.to_pylist()], pa.string()
    )


def _characters(match: re.Match[str]) -> str:
    text: str = json.loads(f'"{match[2]}"')
    return match[0] if _HALF.search(text) else match[1] + text
