"""Dates and times of ``time.precision.mode=structured``: calendar and clock components, as JSON text.

A component is null where it means nothing, the fraction is ``picoseconds`` (``nanos`` in early 3.7 builds) and
``specialValue`` is POSITIVE_INFINITY or NEGATIVE_INFINITY (Debezium source, ``io.debezium.time.StructuredTemporal``).
Every value becomes ISO text, so that one reader decides about all dates and times.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pyarrow as pa

from connectors.debezium.clock import times_of_text
from connectors.debezium.converted import Column, Converted
from connectors.debezium.iso_text import instants, iso_dates, local_timestamps
from connectors.debezium.options import OutOfRange
from connectors.json_errors import DECODE_ERRORS

_INFINITY = {"POSITIVE_INFINITY": "infinity", "NEGATIVE_INFINITY": "-infinity"}


class _Components(msgspec.Struct, rename="camel"):
    year: int | None = None
    month: int | None = None
    day: int | None = None
    hour: int | None = None
    minute: int | None = None
    second: int | None = None
    nanos: int | None = None
    picoseconds: int | None = None
    offset_seconds: int | None = None
    special_value: str | None = None


_components = msgspec.json.Decoder(_Components)


def structured_dates(array: Column, rule: OutOfRange) -> Converted:
    """``date32`` from JSON text of StructuredDate; MySQL's ``0000-00-00`` is out of range."""
    return iso_dates(_iso(array, _date), rule)


def structured_times(array: Column, *, keep_zone: bool) -> Converted:
    """Text ``HH:MM:SS[.ffffff]``, with the offset if asked for, from StructuredTime or StructuredZonedTime."""
    return times_of_text(_iso(array, _zoned_time if keep_zone else _time), keep_zone=keep_zone)


def structured_timestamps(array: Column, rule: OutOfRange) -> Converted:
    """``timestamp[us]`` from JSON text of StructuredTimestamp."""
    return local_timestamps(_iso(array, _timestamp), rule)


def structured_instants(array: Column, rule: OutOfRange) -> Converted:
    """``timestamp[us, UTC]`` from JSON text of StructuredZonedTimestamp; without an offset it is UTC."""
    return instants(_iso(array, _zoned_timestamp), rule)


def finer_than_micros(text: str) -> bool:
    """Whether a struct's fraction of a second has digits below the microsecond; not of what is no such struct."""
    try:
        parts = _components.decode(text)
    except DECODE_ERRORS:
        return False
    return bool((parts.picoseconds or 0) % 1_000_000 or (parts.nanos or 0) % 1000)


def _iso(array: Column, write: Callable[[_Components], str]) -> Column:
    """ISO text per cell; what is no such struct stays as it is, for the reader to refuse."""
    return pa.array([None if text is None else _written(text, write) for text in array.to_pylist()], type=pa.string())


def _written(text: str, write: Callable[[_Components], str]) -> str:
    try:
        parts = _components.decode(text)
        return _INFINITY[parts.special_value] if parts.special_value is not None else write(parts)
    except (*DECODE_ERRORS, KeyError, TypeError):
        return text


def _date(parts: _Components) -> str:
    if parts.year == 0:
        return "-infinity"
    sign = "-" if (parts.year or 0) < 0 else "+" if (parts.year or 0) > 9999 else ""
    return f"{sign}{_digits(parts.year, 4)}-{_digits(parts.month, 2)}-{_digits(parts.day, 2)}"


def _time(parts: _Components) -> str:
    nanos = (parts.picoseconds or 0) // 1000 or parts.nanos or 0
    return f"{_digits(parts.hour, 2)}:{_digits(parts.minute, 2)}:{_digits(parts.second, 2)}.{_digits(nanos, 9)}"


def _zone(parts: _Components) -> str:
    seconds = parts.offset_seconds or 0
    minutes, second = divmod(abs(seconds), 60)
    hour, minute = divmod(minutes, 60)
    if seconds == 0:
        return "Z"
    return f"{'-' if seconds < 0 else '+'}{hour:02d}:{minute:02d}" + (f":{second:02d}" if second else "")


def _zoned_time(parts: _Components) -> str:
    return _time(parts) + _zone(parts)


def _timestamp(parts: _Components) -> str:
    date = _date(parts)
    return date if date.endswith("infinity") else f"{date}T{_time(parts)}"


def _zoned_timestamp(parts: _Components) -> str:
    date = _date(parts)
    return date if date.endswith("infinity") else f"{date}T{_time(parts)}{_zone(parts)}"


def _digits(number: int | None, width: int) -> str:
    if number is None:
        raise TypeError
    return f"{abs(number):0{width}d}"
