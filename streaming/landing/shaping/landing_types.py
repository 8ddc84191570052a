"""Names of the types that a landing file holds, as the settings write them."""

from __future__ import annotations

import re

import pyarrow as pa

_NAMES: dict[str, pa.DataType] = {
    "bool": pa.bool_(),
    "boolean": pa.bool_(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", tz="UTC"),
}
_DECIMAL = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)", re.ASCII)
_MAX_DIGITS = 38


def landing_type(text: str) -> pa.DataType:
    """The Arrow type of ``int64``, ``decimal(18,2)``, ``timestamptz``, ...

    Raises:
        ValueError: none of them; the message names all.
    """
    words = text.strip().lower()
    if words in _NAMES:
        return _NAMES[words]
    match = _DECIMAL.fullmatch(words)
    if match and 1 <= int(match[1]) <= _MAX_DIGITS and int(match[2]) <= int(match[1]):
        return pa.decimal128(int(match[1]), int(match[2]))
    raise ValueError(f"is not a type to cast to: {', '.join(_NAMES)}, or decimal(p,s) with up to {_MAX_DIGITS} digits")
