"""msgspec structs for JSON records of a known schema.

A struct decodes strictly (an int is never a string or a float, a required field must be there) and touches only the
members that are asked for. Attributes are numbered, since a column's name need not be a Python identifier.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter
from types import UnionType
from typing import Any

import msgspec
import pyarrow as pa

from connectors.debezium import semantics
from connectors.debezium.physical import Physical, is_nested, physical_array, struct_array, text_array
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.types import decimal_scale
from connectors.debezium.values import physical_type

NULL = msgspec.Raw(b"null")
# PostgreSQL's numeric has up to 147,455 digits; a number such as 1e999999999 must not be written out.
_MAX_DIGITS = 150_000


class RowStruct:
    """The struct of one row image and how its columns come out of it.

    Args:
        fields: the members to decode; others in the JSON are passed over.
        required: False to let every member be absent or null (a ``before`` image).
        numeric_decimals: True for ``decimal.format=NUMERIC``, where a Decimal is a JSON number.

    Attributes:
        type: the generated struct.
        empty: an instance whose columns are all null.
    """

    def __init__(self, fields: Iterable[Field], *, required: bool = True, numeric_decimals: bool = False) -> None:
        self._columns: dict[str, _Column] = {}
        members: list[tuple[str, Any] | tuple[str, Any, Any]] = []
        names: dict[str, str] = {}
        for number, field in enumerate(fields):
            attribute = f"f{number}"
            names[attribute] = field.name
            column = _column(field, attribute, numeric_decimals)
            self._columns[field.name] = column
            annotation = msgspec.Raw if column.raw else _annotation(column.kind)
            members.append(_member(attribute, annotation, optional=field.optional or not required))
        self.type: type[msgspec.Struct] = msgspec.defstruct("Row", members, rename=names, kw_only=True, gc=False)
        self.empty = self.type(
            **{
                attribute: NULL if column.raw else None
                for attribute, column in zip(names, self._columns.values(), strict=True)
            }
        )

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def column(self, images: Sequence[msgspec.Struct], field: Field) -> Physical:
        """The column of ``field``, one value per image, as its physical type."""
        column = self._columns[field.name]
        values = list(map(column.get, images))
        if column.raw:
            if pa.types.is_binary(column.kind):
                return _decimal_bytes(values, decimal_scale(field), column.kind)
            return text_array(map(_compact if is_nested(field, column.kind) else _number_text, values))
        if isinstance(column.kind, pa.StructType):
            return struct_array(values, column.kind, getattr)
        return physical_array(values, column.kind)


@dataclass(frozen=True)
class _Column:
    """How a column comes out of a struct; ``raw`` where its JSON text is kept."""

    get: attrgetter[Any]
    kind: pa.DataType
    raw: bool


def _column(field: Field, attribute: str, numeric_decimals: bool) -> _Column:
    kind = physical_type(field)
    if pa.types.is_string(kind):
        raw = field.type is not ConnectType.STRING
    else:
        raw = numeric_decimals and field.semantic == semantics.DECIMAL and field.type is ConnectType.BYTES
    return _Column(attrgetter(attribute), kind, raw)


def _member(attribute: str, annotation: UnionType | type, *, optional: bool) -> tuple[str, Any] | tuple[str, Any, Any]:
    if annotation is msgspec.Raw:
        return (attribute, annotation, NULL) if optional else (attribute, annotation)
    return (attribute, annotation | None, None) if optional else (attribute, annotation)


def _annotation(kind: pa.DataType) -> UnionType | type:
    if pa.types.is_boolean(kind):
        return bool
    if pa.types.is_integer(kind):
        return int
    if pa.types.is_floating(kind):
        return float | str
    if pa.types.is_string(kind):
        return str
    if pa.types.is_binary(kind):
        return bytes
    members = [(member.name, _annotation(member.type) | None, None) for member in kind]
    return msgspec.defstruct("Nested", members, gc=False)


def _compact(raw: msgspec.Raw) -> bytes | None:
    text = bytes(raw)
    return None if text == b"null" else msgspec.json.format(text, indent=-1)


def _number_text(raw: msgspec.Raw) -> bytes | None:
    text = bytes(raw)
    return None if text == b"null" else text.strip(b'"')


def _decimal_bytes(raws: Sequence[msgspec.Raw], scale: int, kind: pa.DataType) -> Physical:
    """Decimals as JSON numbers (or base64 among them) as big-endian unscaled bytes."""
    values: list[bytes | None] = []
    bad: dict[int, str] = {}
    for place, raw in enumerate(raws):
        text = bytes(raw)
        value: bytes | None = None
        try:
            if text.startswith(b'"'):
                value = base64.b64decode(text.strip(b'"'), validate=True)
            elif text != b"null":
                value = _unscaled(Decimal(text.decode()), scale)
        except (ArithmeticError, ValueError) as error:
            bad[place] = f"{text[:60].decode(errors='replace')} is not a decimal with {scale} decimal places: {error}"
        values.append(value)
    return Physical(pa.array(values, kind), bad)


def _unscaled(number: Decimal, scale: int) -> bytes:
    sign, digits, exponent = number.as_tuple()
    shift = int(exponent) + scale
    if abs(shift) + len(digits) > _MAX_DIGITS:
        raise ValueError(f"more than {_MAX_DIGITS} digits")
    magnitude: int = int("".join(map(str, digits)))
    if shift >= 0:
        magnitude *= 10**shift
    else:
        magnitude, rest = divmod(magnitude, 10**-shift)
        if rest:
            raise ValueError("more decimal places than the column has")
    value: int = -magnitude if sign else magnitude
    return value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)
