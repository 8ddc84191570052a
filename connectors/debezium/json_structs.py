"""msgspec structs for JSON records of a known schema.

Decoding is strict (an int is never a string or a float, a required field must be there) and touches only the members
that are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import UnionType
from typing import Any

import msgspec
import pyarrow as pa

from connectors.debezium import semantics
from connectors.debezium.json_members import Member, object_type
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
        beside: members that are no columns, see :meth:`beside`.
        numeric_decimals: True for ``decimal.format=NUMERIC``, where a Decimal is a JSON number.

    Attributes:
        type: the generated type.
        empty: an instance whose columns are all null.
    """

    def __init__(
        self,
        fields: Iterable[Field],
        *,
        required: bool = True,
        numeric_decimals: bool = False,
        beside: Sequence[Member] = (),
    ) -> None:
        columns = tuple(fields)
        kinds = [(physical_type(field), _is_raw(field, numeric_decimals)) for field in columns]
        members = [
            _member(field, kind, raw=raw, optional=field.optional or not required)
            for field, (kind, raw) in zip(columns, kinds, strict=True)
        ]
        objects = object_type((*members, *beside))
        self.type: Any = objects.type
        self.empty: Any = objects.empty
        self._columns = {
            field.name: _Column(get, kind, raw)
            for field, get, (kind, raw) in zip(columns, objects.getters, kinds, strict=False)
        }
        self._beside = dict(zip((member.name for member in beside), objects.getters[len(columns) :], strict=True))

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def beside(self, images: Sequence[Any], name: str) -> list[Any] | None:
        """The values of a member that is no column; ``None`` when there is no such member."""
        get = self._beside.get(name)
        return None if get is None else list(map(get, images))

    def column(self, images: Sequence[Any], field: Field) -> Physical:
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
    """How a column comes out of an image; ``raw`` where its JSON text is kept."""

    get: Callable[[Any], Any]
    kind: pa.DataType
    raw: bool


def _is_raw(field: Field, numeric_decimals: bool) -> bool:
    if pa.types.is_string(physical_type(field)):
        return field.type is not ConnectType.STRING
    return numeric_decimals and field.semantic == semantics.DECIMAL and field.type is ConnectType.BYTES


def _member(field: Field, kind: pa.DataType, *, raw: bool, optional: bool) -> Member:
    if raw:
        return Member(field.name, msgspec.Raw, NULL, not optional)
    annotation = _annotation(kind)
    return Member(field.name, annotation | None if optional else annotation, None, not optional)


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
                value = msgspec.json.decode(text, type=bytes)
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
