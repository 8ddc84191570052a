"""What work costs is worked out from the points."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.bench.capacity_costs import costs
from tests.bench.growth_point import Point
from tests.unit.bench.test_growth_results import point

SIZES = (1_000, 100_000)


def records(dimension: str, cpu: Callable[[int], dict[str, float]], **known: object) -> list[Point]:
    return [point(dimension, size, 1.0, cpu={**cpu(size), "python": 9.0}, **known) for size in SIZES]


DIRECT = [
    point(
        "records",
        size,
        1.0,
        cpu={"worker": 0.2 + 4e-6 * size, "java": 0.3 + 6e-6 * size, "python": 9.0},
        stages={"plan": 9.0, "land": 0.25 + 7e-6 * size, "commit": 9.0, "between": 9.0},
    )
    for size in SIZES
]
MERGED = records(
    "merged-records",
    lambda size: {"worker": 0.2 + 8e-6 * size, "java": 0.3 + 9e-6 * size},
    steps={"read": 50.0, "decode": 3.0, "order": 0.5, "encode": 0.25, "stage": 0.25},
)
TABLES = [
    point(
        "tables",
        count,
        1.0,
        records=100 * count,
        tables=count,
        cpu={"worker": 0.1 + 0.0015 * count, "java": 0.2 + 0.0005 * count, "python": 9.0},
        stages={
            "plan": 0.01 + 0.001 * count,
            "land": 9.0,
            "commit": 0.02,
            "publish": 0.002 * count,
            "between": 0.3 + 0.001 * count,
        },
    )
    for count in (1, 100)
]


def test_costs_are_what_grows() -> None:
    found = costs([*DIRECT, *MERGED, *TABLES])

    assert found is not None
    assert found.event == pytest.approx(10e-6)
    # Of the worker's 8 microseconds a quarter is behind decoding, and Java has 3 more than it has without a merge.
    assert found.ordered_event == pytest.approx(2e-6 + 3e-6)
    assert found.read_event == pytest.approx(17e-6 - 5e-6)
    # Of the 2 ms for each table 100 events have 1.
    assert found.table == pytest.approx(0.001)
    assert found.driver_batch == pytest.approx(0.33 + 0.25)
    assert found.driver_table == pytest.approx(0.004)


@pytest.mark.parametrize("points", [[], [*DIRECT, *MERGED], [*DIRECT[:1], *MERGED, *TABLES]])
def test_nothing_is_made_up(points: list[Point]) -> None:
    assert costs(points) is None


def test_tables_that_cost_no_more_than_their_events_cost_nothing_beside_them() -> None:
    cheap = [point("tables", count, 1.0, records=1_000 * count, tables=count) for count in (1, 100)]

    found = costs([*DIRECT, *MERGED, *cheap])

    assert found is not None
    assert found.table == 0
