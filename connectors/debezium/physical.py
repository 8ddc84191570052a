"""Python values of decoded records become Arrow arrays of the physical type.

Which type that is, :func:`connectors.debezium.values.physical_type` says. Values that do not fit are found one by one
and reported by their place; the others are kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec
import pyarrow as pa

from connectors.debezium.events import Bools, Int64s
from connectors.debezium.schema import ConnectType, Field

DOES_NOT_FIT = (pa.ArrowException, OverflowError, TypeError, ValueError)
"""What Arrow raises for a value that is not of the type."""

_NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_NESTED = frozenset({ConnectType.ARRAY, ConnectType.MAP, ConnectType.STRUCT})


@dataclass(frozen=True)
class Physical:
    """A column's values as the wire had them.

    Attributes:
        values: of the physical type; null for SQL NULL, for an absent image and in ``bad`` places.
        bad: what is wrong, per place of a value that does not fit the type.
    """

    values: pa.Array
    bad: dict[int, str] = field(default_factory=dict)

    def take(self, places: Int64s) -> Physical:
        """The values at ``places``, and what is wrong there."""
        chosen = enumerate(places.tolist()) if self.bad else ()
        bad = {new: self.bad[place] for new, place in chosen if place in self.bad}
        return Physical(self.values.take(pa.array(places)), bad)


class Images(Protocol):
    """One image (before or after) of n events.

    Attributes:
        present: n booleans: the event has this image.
    """

    present: Bools

    def column(self, column: Field) -> Physical:
        """The column's n values; null where the image is absent or lacks the column."""
        ...

    def select(self, places: Int64s) -> Images:
        """The images of the events at ``places``."""
        ...


def physical_array(values: Sequence[Any], kind: pa.DataType) -> Physical:
    """Plain values (int, float, str, bytes, bool, ``None``) of a scalar physical type.

    A float may come as one of JSON's words ``NaN``, ``Infinity``, ``-Infinity``.
    """
    try:
        return Physical(pa.array(values, kind))
    except DOES_NOT_FIT:
        return _one_by_one(values, kind)


def _one_by_one(values: Sequence[Any], kind: pa.DataType) -> Physical:
    kept: list[Any] = []
    bad: dict[int, str] = {}
    floating = pa.types.is_floating(kind)
    for place, value in enumerate(values):
        plain = _NON_FINITE.get(value, value) if floating and isinstance(value, str) else value
        try:
            pa.scalar(plain, kind)
        except DOES_NOT_FIT as error:
            bad[place] = f"{_shown(value)} does not fit {kind}: {error}"
            plain = None
        kept.append(plain)
    return Physical(pa.array(kept, kind), bad)


def struct_array(
    values: Sequence[Any], kind: pa.StructType, get: Callable[[Any, str], Any], prefix: str = ""
) -> Physical:
    """Structs such as ``VariableScaleDecimal``, whose members ``get(value, member name)`` gives."""
    absent = [value is None for value in values]
    children: list[pa.Array] = []
    bad: dict[int, str] = {}
    for member in kind:
        members = [None if value is None else get(value, member.name) for value in values]
        if pa.types.is_struct(member.type):
            child = struct_array(members, member.type, get, f"{prefix}{member.name}.")
        else:
            child = physical_array(members, member.type)
        children.append(child.values)
        for place, what in child.bad.items():
            bad.setdefault(place, f"{prefix}{member.name}: {what}")
    mask = pa.array([gone or place in bad for place, gone in enumerate(absent)] if bad else absent, pa.bool_())
    return Physical(pa.StructArray.from_arrays(children, fields=list(kind), mask=mask), bad)


def text_array(texts: Iterable[bytes | None]) -> Physical:
    """UTF-8 texts; the ones that are not UTF-8 are bad."""
    values = pa.array(texts, pa.binary())
    try:
        return Physical(values.cast(pa.string()))
    except pa.ArrowException:
        kept: list[str | None] = []
        bad: dict[int, str] = {}
        for place, value in enumerate(values.to_pylist()):
            try:
                kept.append(None if value is None else value.decode())
            except UnicodeDecodeError as error:
                bad[place] = f"not UTF-8: {error}"
                kept.append(None)
        return Physical(pa.array(kept, pa.string()), bad)


def is_nested(column: Field, kind: pa.DataType) -> bool:
    """True for a column that is carried as the JSON text of an array, map or struct."""
    return column.type in _NESTED and pa.types.is_string(kind)


def json_texts(values: Sequence[Any], column: Field) -> Physical:
    """Nested Python values as compact JSON text, written as ``JsonConverter`` writes them."""
    return text_array([None if value is None else msgspec.json.encode(plain(value, column)) for value in values])


def plain(value: object, column: Field) -> object:
    """A nested value as JSON can write it: bytes as base64, non-finite floats as words, maps by their key's type.

    A map has text keys, and is an object, or other keys, and is a list of pairs (Kafka Connect ``JsonConverter``).
    """
    if value is None:
        return None
    match column.type:
        case ConnectType.ARRAY if isinstance(value, list):
            return [plain(element, column.children[0]) for element in value]
        case ConnectType.MAP if isinstance(value, (dict, list)):
            keys, values = column.children
            pairs = value.items() if isinstance(value, dict) else [(entry["key"], entry["value"]) for entry in value]
            written = [(plain(key, keys), plain(entry, values)) for key, entry in pairs]
            return dict(written) if keys.type is ConnectType.STRING else written
        case ConnectType.STRUCT if isinstance(value, dict) and {child.name for child in column.children} == set(value):
            return {child.name: plain(value[child.name], child) for child in column.children}
        case ConnectType.FLOAT32 | ConnectType.FLOAT64 if isinstance(value, float) and not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case _:
            return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
