"""Keys that a landing file cannot hold exactly: dates and times beyond its range, or with finer digits than it has.

As an ordinary column's value the nearest one will do. As a key's it will not: two rows of the source would land as one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow.compute as pc

from connectors.debezium.converted import Bools, Column, Converted, integer_cells
from connectors.debezium.options import OutOfRange
from connectors.debezium.schema import Field
from connectors.debezium.structured import finer_than_micros
from connectors.debezium.types import LogicalType, logical_type
from connectors.debezium.values import physical_type, to_pinned
from connectors.debezium.verdicts import BadReason, Rejection, sample

_TICKS = frozenset({LogicalType.TIME_NANOS, LogicalType.TIMESTAMP_NANOS})
_TEXTS = frozenset({LogicalType.TIME_ISO, LogicalType.ZONED_TIME_ISO})
_TEXTS |= frozenset({LogicalType.TIMESTAMP_ISO, LogicalType.ZONED_TIMESTAMP_ISO})
_STRUCTS = frozenset({LogicalType.TIME_STRUCT, LogicalType.ZONED_TIME_STRUCT})
_STRUCTS |= frozenset({LogicalType.TIMESTAMP_STRUCT, LogicalType.ZONED_TIMESTAMP_STRUCT})
# A digit other than 0 behind the sixth one of a fraction.
_FINE = r"\.\d{6}\d*[1-9]"


def exact_keys(array: Column, field: Field) -> tuple[Converted, list[tuple[int, Rejection]]]:
    """A key column in its pinned type, and what is wrong with cells that it does not hold exactly.

    Args:
        array, field: as for :func:`connectors.debezium.values.to_pinned`.
    """
    converted = to_pinned(array, field, OutOfRange.DEAD_LETTER)
    wrong = list(_out_of_range(array, field, converted))
    fine = np.flatnonzero(_finer_than_micros(array, field))
    what = "digits below the microsecond, which a landing file cannot hold: "
    wrong += [(place, Rejection(BadReason.INEXACT_KEY, what + sample(array[place].as_py()))) for place in fine.tolist()]
    return converted, wrong


def _out_of_range(array: Column, field: Field, converted: Converted) -> Iterator[tuple[int, Rejection]]:
    if not len(converted.bad):
        return
    # What no rule can carry is no matter of range.
    hopeless = set(to_pinned(array, field).bad.tolist())
    for place in converted.bad.tolist():
        reason = BadReason.OUT_OF_RANGE if place in hopeless else BadReason.INEXACT_KEY
        yield place, Rejection(reason, converted.reason or "")


def _finer_than_micros(array: Column, field: Field) -> Bools:
    kind = logical_type(field)
    fine: Bools = np.zeros(len(array), dtype=np.bool_)
    if kind in _TICKS:
        ticks, present = integer_cells(array.cast(physical_type(field)))
        fine = present & (ticks % 1000 != 0)
    elif kind in _STRUCTS:
        fine = np.array([text is not None and finer_than_micros(text) for text in array.to_pylist()], dtype=np.bool_)
    elif kind in _TEXTS:
        found: Column = pc.match_substring_regex(array.cast(physical_type(field)), _FINE)
        fine = pc.fill_null(found, False).to_numpy(zero_copy_only=False)
    return fine
