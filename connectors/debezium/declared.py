"""Columns declared in the settings, for events that carry no schema.

JSON without embedded schema has neither types nor scales nor time units (``schemas.enable=false``), so the settings say
them: ``amount: decimal(10,2)``, ``updated: timestamp(us)``. A declaration names the encoding on the wire, which the
connector's handling modes decide (``decimal.handling.mode``, ``time.precision.mode``, ``binary.handling.mode``).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable

from connectors.debezium import semantics
from connectors.debezium.errors import ColumnDeclarationError
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.types import UNSIGNED_BIGINT

_Meaning = tuple[ConnectType, str | None]

_FIXED: dict[str, _Meaning] = {
    "boolean": (ConnectType.BOOLEAN, None),
    "int8": (ConnectType.INT8, None),
    "int16": (ConnectType.INT16, None),
    "int32": (ConnectType.INT32, None),
    "int64": (ConnectType.INT64, None),
    "float32": (ConnectType.FLOAT32, None),
    "float64": (ConnectType.FLOAT64, None),
    "string": (ConnectType.STRING, None),
    "bytes": (ConnectType.BYTES, None),
    "bytes(base64)": (ConnectType.STRING, semantics.BASE64),
    "bytes(base64url)": (ConnectType.STRING, semantics.BASE64_URL),
    "bytes(hex)": (ConnectType.STRING, semantics.HEX),
    "variable_decimal": (ConnectType.STRUCT, semantics.VARIABLE_SCALE_DECIMAL),
    "date": (ConnectType.INT32, semantics.DATE),
    "date(iso)": (ConnectType.STRING, semantics.ISO_DATE),
    "time(ms)": (ConnectType.INT32, semantics.TIME),
    "time(us)": (ConnectType.INT64, semantics.MICRO_TIME),
    "time(ns)": (ConnectType.INT64, semantics.NANO_TIME),
    "time(iso)": (ConnectType.STRING, semantics.ISO_TIME),
    "timetz": (ConnectType.STRING, semantics.ZONED_TIME),
    "timestamp(ms)": (ConnectType.INT64, semantics.TIMESTAMP),
    "timestamp(us)": (ConnectType.INT64, semantics.MICRO_TIMESTAMP),
    "timestamp(ns)": (ConnectType.INT64, semantics.NANO_TIMESTAMP),
    "timestamp(iso)": (ConnectType.STRING, semantics.ISO_TIMESTAMP),
    "timestamptz": (ConnectType.STRING, semantics.ZONED_TIMESTAMP),
    "year": (ConnectType.INT32, semantics.YEAR),
    "interval": (ConnectType.STRING, semantics.INTERVAL),
    "interval(us)": (ConnectType.INT64, semantics.MICRO_DURATION),
    "interval(ns)": (ConnectType.INT64, semantics.NANO_DURATION),
    "json": (ConnectType.STRING, semantics.JSON),
    "xml": (ConnectType.STRING, semantics.XML),
    "uuid": (ConnectType.STRING, semantics.UUID),
    "enum": (ConnectType.STRING, semantics.ENUM),
    "geometry": (ConnectType.STRUCT, semantics.GEOMETRY),
    "geography": (ConnectType.STRUCT, semantics.GEOGRAPHY),
    "point": (ConnectType.STRUCT, semantics.POINT),
    "array": (ConnectType.ARRAY, None),
    "map": (ConnectType.MAP, None),
    "struct": (ConnectType.STRUCT, None),
}
_DECIMAL = re.compile(r"decimal\((\d{1,4}),(-?\d{1,4})\)(?: as (string|number))?", re.ASCII)
_BITS = re.compile(r"bits\((\d{1,9})\)", re.ASCII)
_WIRE = {None: ConnectType.BYTES, "string": ConnectType.STRING, "number": ConnectType.FLOAT64}


def parse_column(name: str, text: str) -> Field:
    """The field that a declaration describes; it may be null.

    Args:
        name: the column, as the events call it.
        text: one of :func:`known_declarations`, in any case and spacing; or a semantic name, such as
            ``io.debezium.time.MicroTimestamp``. ``decimal(10,2)`` is base64 of the unscaled number
            (``decimal.handling.mode=precise``), ``... as string`` and ``... as number`` are digits. ``json`` is text
            that holds JSON; ``array``, ``map`` and ``struct`` are nested values, which become JSON text.

    Raises:
        ColumnDeclarationError: none of them.
    """
    if text.strip() in semantics.PHYSICAL_TYPES:
        semantic = text.strip()
        return Field(name, semantics.PHYSICAL_TYPES[semantic], semantic=semantic)
    words = re.sub(r"\s*([(),])\s*", r"\1", " ".join(text.lower().split())).replace(")as ", ") as ")
    if words in _FIXED:
        kind, semantic_name = _FIXED[words]
        return Field(name, kind, semantic=semantic_name)
    if words == "uint64":
        return Field(name, ConnectType.INT64, parameters=(UNSIGNED_BIGINT,))
    for pattern, build in _WITH_NUMBERS:
        match = pattern.fullmatch(words)
        if match:
            return build(name, match)
    raise ColumnDeclarationError(
        f"The type of column {name!r} is not known: {text!r}",
        remedy=f"did you mean {_nearest(text.strip(), words)!r}? Known are {', '.join(known_declarations())}, and "
        "semantic names such as io.debezium.time.MicroTimestamp",
        column=name,
    )


def known_declarations() -> tuple[str, ...]:
    """Every declaration, with n, p and s where a number belongs."""
    numbered = ("decimal(p,s)", "decimal(p,s) as string", "decimal(p,s) as number", "bits(n)")
    return (*_FIXED, "uint64", *numbered)


def _decimal(name: str, match: re.Match[str]) -> Field:
    parameters = (("connect.decimal.precision", match[1]), ("scale", match[2]))
    return Field(name, _WIRE[match[3]], semantic=semantics.DECIMAL, parameters=parameters)


def _bits(name: str, match: re.Match[str]) -> Field:
    return Field(name, ConnectType.BYTES, semantic=semantics.BITS, parameters=(("length", match[1]),))


_WITH_NUMBERS: tuple[tuple[re.Pattern[str], Callable[[str, re.Match[str]], Field]], ...] = (
    (_DECIMAL, _decimal),
    (_BITS, _bits),
)

# What people write who think of another system.
_SYNONYMS = {
    "bool": "boolean",
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "integer": "int32",
    "bigint": "int64",
    "long": "int64",
    "real": "float32",
    "float": "float32",
    "double": "float64",
    "text": "string",
    "varchar": "string",
    "binary": "bytes",
    "bytea": "bytes",
    "numeric": "decimal(p,s)",
    "time": "time(us)",
    "timestamp": "timestamp(us)",
    "datetime": "timestamp(us)",
    "jsonb": "json",
}


def _nearest(text: str, words: str) -> str:
    stem = words.partition("(")[0]
    if words in _SYNONYMS or stem in _SYNONYMS:
        return _SYNONYMS.get(words) or _SYNONYMS[stem]
    known = (*known_declarations(), *semantics.PHYSICAL_TYPES)
    close = difflib.get_close_matches(text, known, n=1, cutoff=0.5) or difflib.get_close_matches(
        words, known, n=1, cutoff=0.0
    )
    return close[0]
