"""The judge of types takes nothing for equal that a reader of the mirror could tell apart."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pytest

from tests.rig.types_differences import OUT_OF_RANGE, ZERO_DATE
from tests.rig.types_kinds import dates, same
from tests.rig.types_model import Beyond, Column, Deviation, Landed, Modes, Phase

DEFAULT = Modes("default")


@pytest.mark.parametrize("value", [1, 1.5, "1", b"1", None, True, Decimal("1.10"), [1, None], {"a": 1}, math.nan, -0.0])
def test_a_value_is_the_same_as_itself(value: Any) -> None:
    assert same(value, value)


@pytest.mark.parametrize(
    ("landed", "expected"),
    [
        (1, 1.0),
        (True, 1),
        ("1", 1),
        (None, ""),
        (0.0, -0.0),
        (math.nan, 0.0),
        (Decimal("1.1"), Decimal("1.10")),
        (dt.datetime(2024, 1, 1), dt.date(2024, 1, 1)),
        ([1], [1.0]),
        ([1], [1, 2]),
        (7, lambda landed: landed != 7),
    ],
)
def test_a_value_of_another_type_sign_or_scale_is_not_the_same(landed: Any, expected: Any) -> None:
    assert not same(landed, expected)


def test_a_deviation_counts_only_for_its_value_phase_and_modes() -> None:
    deviation = Deviation(ZERO_DATE, "'x'", None, Phase.STREAM, lambda modes: modes["a"] == "b")
    column = Column("c", "date", dates(), (), (deviation,))
    day, modes = dt.date(2024, 1, 1), Modes("m", {"a": "b"})
    assert column.expected("'x'", day, Phase.STREAM, modes) == Landed(None, ZERO_DATE)
    assert column.expected("'y'", day, Phase.STREAM, modes) == Landed(day)
    assert column.expected("'x'", day, Phase.SNAPSHOT, modes) == Landed(day)
    assert column.expected("'x'", day, Phase.STREAM, DEFAULT) == Landed(day)
    assert column.expected("NULL", None, Phase.STREAM, DEFAULT) == Landed(None)


def test_what_is_beyond_the_range_is_the_landing_zones_difference() -> None:
    column = Column("c", "date", dates(), ())
    assert column.expected("'infinity'", Beyond.AFTER, Phase.STREAM, DEFAULT) == Landed(
        dt.date(9999, 12, 31), OUT_OF_RANGE
    )
