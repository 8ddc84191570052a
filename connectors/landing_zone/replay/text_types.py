"""Values of delimited text as the types that a ``SchemaDefinition`` names.

The format gives names only. Read are: numbers as usual, ``true``/``false``/``1``/``0``, ISO 8601 dates and times (cut
off after six fractional digits, as mirroring keeps six; with a zone, turned into UTC), and Base64 for ``ByteArray``.
"""

from __future__ import annotations

import binascii
from typing import Any, TypeAlias, assert_never

import pyarrow as pa
import pyarrow.compute as pc

from connectors.landing_zone.replay.table_metadata import TextType

Values: TypeAlias = "pa.ChunkedArray[Any]"

_ZONE = r"\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$"


def typed(values: Values, kind: TextType) -> Values:
    """``values`` (``string``) as ``kind``; NULL stays NULL.

    ``ITime`` is ``time64[us]``, or ``timestamp[us]`` when the values have dates: the format's page has said either.

    Raises:
        ValueError: a value is none of that type (``pyarrow.ArrowInvalid`` is one too).
    """
    match kind:
        case TextType.STRING:
            return values
        case TextType.DOUBLE:
            return values.cast(pa.float64())
        case TextType.SINGLE:
            return values.cast(pa.float32())
        case TextType.INT16:
            return values.cast(pa.int16())
        case TextType.INT32:
            return values.cast(pa.int32())
        case TextType.INT64:
            return values.cast(pa.int64())
        case TextType.BOOLEAN:
            return values.cast(pa.bool_())
        case TextType.DATE:
            return values.cast(pa.date32())
        case TextType.DATE_TIME:
            return _date_time(values)
        case TextType.TIME:
            return _time(values)
        case TextType.BYTE_ARRAY:
            return _bytes(values)
        case _:
            assert_never(kind)


def _date_time(values: Values) -> Values:
    values = pc.replace_substring_regex(values, r"(\.\d{6})\d+", r"\1")
    zoned = pc.match_substring_regex(values, _ZONE)
    if not pc.any(zoned).as_py():
        return values.cast(pa.timestamp("us"))
    none = pa.scalar(None, pa.string())
    in_utc = pc.if_else(zoned, values, none).cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us"))
    naive: Values = pc.if_else(zoned, none, values).cast(pa.timestamp("us"))
    both: Values = pc.if_else(zoned, in_utc, naive)
    return both


def _time(values: Values) -> Values:
    if values.null_count == len(values):
        return pa.chunked_array([pa.nulls(len(values))])
    if pc.any(pc.match_substring_regex(values, r"^\d{4}-")).as_py():
        return _date_time(values)
    dated: Values = pc.replace_substring_regex(values, "^", "1970-01-01T", max_replacements=1)
    return _date_time(dated).cast(pa.time64("us"))


def _bytes(values: Values) -> Values:
    try:
        return pa.chunked_array(
            [[None if value is None else binascii.a2b_base64(value, strict_mode=True) for value in values.to_pylist()]],
            pa.binary(),
        )
    except binascii.Error as error:
        raise ValueError(f"not Base64: {error}") from error
