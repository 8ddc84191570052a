"""What a metric is: its kind, what its value counts, its labels, and how many series become one."""

from __future__ import annotations

import enum
from dataclasses import dataclass

ALL = "*"
"""Value of the labels ``table``, ``topic`` and ``partition`` of a series that stands for all of them."""


class Kind(enum.StrEnum):
    """Prometheus' kinds of metrics; an ``info`` is a gauge of value 1 whose labels are what it tells."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    INFO = "info"


class Unit(enum.StrEnum):
    """What a value counts."""

    SECONDS = "seconds"
    BYTES = "bytes"
    EVENTS = "events"
    RECORDS = "records"
    VALUES = "values"
    ROWS = "rows"
    FILES = "files"
    OFFSETS = "offsets"
    TABLES = "tables"
    CHANGES = "changes"
    TIMES = "times"
    NUMBER = "number"
    TRUTH = "0 or 1"


class Combine(enum.StrEnum):
    """How one series is made of many where the bridge aggregates; ``NONE`` for a metric without such labels."""

    NONE = ""
    SUM = "sum"
    MAX = "longest"
    MIN = "shortest"


@dataclass(frozen=True, eq=False)
class Metric:
    """One metric; each is declared once, so it is equal to itself alone.

    Attributes:
        name: as Prometheus shows it, a counter's ending ``_total`` included.
        help: one sentence.
        combine: see :class:`Combine`; over the labels ``table``, or ``topic`` and ``partition``.
        buckets: upper bounds of a histogram, ascending, without the last one, infinity.
    """

    name: str
    kind: Kind
    unit: Unit
    help: str
    labels: tuple[str, ...] = ()
    combine: Combine = Combine.NONE
    buckets: tuple[float, ...] = ()
