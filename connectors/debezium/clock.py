"""Times of day as text ``HH:MM:SS[.ffffff]``.

One text per time, whatever the unit of its schema: the fraction has six digits, or is absent when it is zero, so that
a key compares equal before and after a source changes its precision. MySQL's TIME is a duration and may be negative or
longer than a day (``-838:59:59``); PostgreSQL has ``24:00:00``.
"""

from __future__ import annotations

from typing import Any, assert_never

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium.converted import Bools, Column, Converted, Int64s, integer_cells, present_cells, with_bad
from connectors.debezium.temporal import TimeUnit

# 999:59:59.999999: the longest time that three digits of hours can hold; MySQL ends at 838:59:59.
_LONGEST_MICROS = (1000 * 3600) * 1_000_000 - 1
_WIDTH = len("-hhh:mm:ss.ffffff")
_TEXT = (
    r"^(?P<hour>\d{2}):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.(?P<fraction>\d{1,9}))?)?"
    r"(?P<zone>Z|[+-]\d{2}(?::?\d{2}){0,2})?$"
)


def times(ticks: Column, unit: TimeUnit) -> Converted:
    """Text from ticks since midnight (int32 or int64); digits below the microsecond are cut off.

    Rows beyond 999 hours are bad: no source has such a time.
    """
    values, present = integer_cells(ticks)
    match unit:
        case TimeUnit.MILLIS:
            limit, per_tick = _LONGEST_MICROS // 1000, 1000
        case TimeUnit.MICROS:
            limit, per_tick = _LONGEST_MICROS, 1
        case TimeUnit.NANOS:
            limit, per_tick = _LONGEST_MICROS * 1000 + 999, 0
        case _:
            assert_never(unit)
    beyond = present & ((values < -limit) | (values > limit))
    values = np.where(beyond, 0, values)
    magnitude = np.abs(values) * per_tick if per_tick else np.abs(values) // 1000
    text = _clock_text(magnitude, values < 0, present & ~beyond)
    return with_bad(text, 0, beyond, "time beyond 999 hours", ticks)


def times_of_text(array: Column, *, keep_zone: bool) -> Converted:
    """The same text from ISO 8601 times with 0 to 9 fractional digits.

    Args:
        keep_zone: True for times with an offset, which stays behind the digits; False for local times, which
            ``time.precision.mode=isostring`` marks with a ``Z`` that means nothing.
    """
    parts = pc.extract_regex(array, pattern=_TEXT)
    readable = present_cells(parts)
    hour, minute, second, fraction, zone = (
        pc.struct_field(parts, name) for name in ("hour", "minute", "second", "fraction", "zone")
    )
    micros = ((_number(hour) * 60 + _number(minute)) * 60 + _number(second)) * 1_000_000 + _number(
        pc.utf8_slice_codeunits(pc.utf8_rpad(fraction, 6, "0"), 0, 6)
    )
    text = _clock_text(micros, np.zeros(len(array), dtype=np.bool_), readable)
    if keep_zone:
        text = pc.binary_join_element_wise(text, zone, "")
    return with_bad(text, 0, present_cells(array) & ~readable, "not an ISO 8601 time", array)


def _number(digits: Column) -> Int64s:
    """Numbers of digits; 0 for null and for a group that was left out."""
    # A leading 0 changes no number and gives an empty group one.
    filled: Any = digits.fill_null("")
    padded: Any = pc.binary_join_element_wise("0", filled, "")
    numbers: Int64s = padded.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return numbers


def _clock_text(micros: Int64s, negative: Bools, present: Bools) -> Column:
    """Text of n magnitudes: every cell is written at full width, then the bytes that it needs are kept."""
    count = len(micros)
    cells = np.empty((count, _WIDTH), dtype=np.uint8)
    keep = np.zeros((count, _WIDTH), dtype=np.bool_)
    seconds, fraction = np.divmod(micros, 1_000_000)
    minutes, second = np.divmod(seconds, 60)
    hour, minute = np.divmod(minutes, 60)
    cells[:, 0], cells[:, 4], cells[:, 7], cells[:, 10] = ord("-"), ord(":"), ord(":"), ord(".")
    _write_digits(cells[:, 1:4], hour)
    _write_digits(cells[:, 5:7], minute)
    _write_digits(cells[:, 8:10], second)
    _write_digits(cells[:, 11:17], fraction)
    keep[:, 0] = present & negative & (micros > 0)
    keep[:, 1] = present & (hour > 99)
    keep[:, 2:10] = present[:, None]
    keep[:, 10:] = (present & (fraction > 0))[:, None]
    offsets = np.zeros(count + 1, dtype=np.int32)
    np.cumsum(keep.sum(axis=1), out=offsets[1:])
    validity = None if bool(present.all()) else pa.py_buffer(np.packbits(present, bitorder="little").tobytes())
    text = pa.py_buffer(cells[keep].tobytes())
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets.tobytes()), text, validity)


def _write_digits(cells: npt.NDArray[np.uint8], numbers: Int64s) -> None:
    for place in range(cells.shape[1] - 1, -1, -1):
        numbers, digit = np.divmod(numbers, 10)
        cells[:, place] = digit + ord("0")
