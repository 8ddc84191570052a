"""msgspec structs for JSON records of a known schema.

Decoding is strict (an int is never a string or a float, a required field must be there) and touches only the members
that are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import UnionType
from typing import Any

import msgspec
import pyarrow as pa

from connectors.debezium import semantics
from connectors.debezium.json_members import Member, object_type
from connectors.debezium.physical import DOES_NOT_FIT, Physical, is_nested, physical_array, struct_array, text_array
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.types import decimal_scale
from connectors.debezium.values import physical_type

NULL = msgspec.Raw(b"null")
# PostgreSQL's numeric has up to 147,455 digits; a number such as 1e999999999 must not be written out.
_MAX_DIGITS = 150_000


class RowStruct:
    """The struct of one row image and how its columns come out of it.

    Columns of plain values come out together: one pass over the images, and one in Arrow.

    Args:
        fields: the members to decode; others in the JSON are passed over.
        required: False to let every member be absent or null (a ``before`` image).
        beside: members that are no columns, see :meth:`beside`.
        numeric_decimals: True for ``decimal.format=NUMERIC``, where a Decimal is a JSON number.

    Attributes:
        type: the generated type.
        empty: an instance whose columns are all null.
        kinds: the physical type of each column.
        json_columns: how each column's values come out of JSON.

    Raises:
        SchemaError: a decimal that is a JSON number, and whose schema gives no scale.
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
        for field, (kind, raw) in zip(columns, kinds, strict=True):
            if raw and pa.types.is_binary(kind):
                decimal_scale(field)
        members = [
            _member(field, kind, raw=raw, optional=field.optional or not required)
            for field, (kind, raw) in zip(columns, kinds, strict=True)
        ]
        objects = object_type((*members, *beside))
        self.type: Any = objects.type
        self.empty: Any = objects.empty
        self.kinds = {field.name: kind for field, (kind, _) in zip(columns, kinds, strict=True)}
        self.json_columns = tuple(
            JsonColumn(field, get, kind, raw, required=required and not field.optional)
            for field, get, (kind, raw) in zip(columns, objects.getters, kinds, strict=False)
        )
        plain = [place for place, column in enumerate(self.json_columns) if column.is_plain]
        self._plain = tuple(self.json_columns[place].field.name for place in plain)
        self._plain_values = objects.together(plain)
        self._plain_kind = pa.struct([(str(place), self.json_columns[place].kind) for place in plain])
        self._beside = dict(zip((member.name for member in beside), objects.getters[len(columns) :], strict=True))

    def beside(self, images: Sequence[Any]) -> Iterator[tuple[str, list[Any]]]:
        """The members that are no columns, each with its value in each image."""
        for name, get in self._beside.items():
            yield name, list(map(get, images))

    def columns(self, images: Sequence[Any]) -> dict[str, Physical]:
        """Each field's column, one value per image, as its physical type."""
        try:
            rows = pa.array(list(map(self._plain_values, images)), self._plain_kind)
        except DOES_NOT_FIT:
            found = {}
        else:
            found = dict(zip(self._plain, map(Physical, rows.flatten()), strict=True))
        return {column.field.name: found.get(column.field.name) or column.read(images) for column in self.json_columns}


@dataclass(frozen=True)
class JsonColumn:
    """How a column comes out of images.

    Attributes:
        get: its value in a decoded image.
        kind: its physical type.
        raw: True where its JSON text is the value.
        required: True where an image without it does not decode.
    """

    field: Field
    get: Callable[[Any], Any]
    kind: pa.DataType
    raw: bool
    required: bool

    @property
    def is_plain(self) -> bool:
        """Whether Arrow takes the values as they are, unless one is bad."""
        return not self.raw and not isinstance(self.kind, pa.StructType)

    def read(self, images: Sequence[Any]) -> Physical:
        return self.physical(list(map(self.get, images)))

    def physical(self, values: Sequence[Any]) -> Physical:
        """The column of its values in decoded images, which are JSON texts where it is ``raw``."""
        if self.raw:
            if pa.types.is_binary(self.kind):
                return _decimal_bytes(values, decimal_scale(self.field), self.kind)
            return text_array(map(_compact if is_nested(self.field, self.kind) else _number_text, values))
        if isinstance(self.kind, pa.StructType):
            return struct_array(values, self.kind, getattr)
        return physical_array(values, self.kind)

    @property
    def annotation(self) -> UnionType | type:
        """The type that msgspec decodes one value as, if its JSON text is not the value."""
        annotation = _annotation(self.kind)
        return annotation if self.required else annotation | None


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
