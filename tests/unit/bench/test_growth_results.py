"""Every dimension is judged from its points, in the file too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.bench.growth import chosen
from tests.bench.growth_curve import Shape
from tests.bench.growth_dimensions import DIMENSIONS, WARMING, Dimension
from tests.bench.growth_point import Point
from tests.bench.growth_results import TIME, GrowthResults, curves, load, merged, points_of, save, worse
from tests.bench.machine import Machine

MACHINE = Machine(2, "Model 7", 23.4, "Linux 6.1", {"Java": "17"}, "abc123")
BY_NAME = {each.name: each for each in DIMENSIONS}


def point(dimension: str, size: int, period: float, **known: Any) -> Point:
    """A point whose batches spend nine tenths of their time in landing."""
    made = Point(
        dimension=dimension,
        size=size,
        records=size,
        tables=1,
        partitions=1,
        columns=16,
        value_bytes=789.0,
        files=1,
        batches=6,
        period=period,
        spread=1.1,
        seconds=0.95 * period,
        stages={"plan": 0.001, "land": 0.9 * period, "commit": 0.05 * period, "between": 0.05 * period},
        steps={"decode": 0.5 * period, "order": 0.1 * period, "encode": 0.1 * period, "stage": 0.1 * period},
        cpu={"worker": 0.8 * period, "java": 0.4 * period, "python": 0.1 * period},
        start=4.0,
        worker=200,
        java=500,
        python=150,
    )
    return replace(made, **known)


def points(dimension: str, of: Callable[[int], float]) -> list[Point]:
    return [point(dimension, size, of(size)) for size in BY_NAME[dimension].sizes]


def results(*measured: Point, machine: Machine = MACHINE, elsewhere: float = 0.1) -> GrowthResults:
    return GrowthResults(machine, "2026-01-02", elsewhere, measured, curves(measured))


def test_time_its_stages_start_and_memory_have_a_curve_each() -> None:
    found = curves(points("tables", lambda size: 0.5 + 0.01 * size))

    assert {each.measure: each.shape for each in found} == {
        TIME: Shape.LINEAR,
        "seconds in land": Shape.LINEAR,
        "seconds in commit": Shape.LINEAR,
        "seconds in between": Shape.LINEAR,
        "seconds to start": Shape.FLAT,
        "worker MiB": Shape.FLAT,
        "Java MiB": Shape.FLAT,
        "driver's Python MiB": Shape.FLAT,
    }
    assert worse(found) == []


def test_worse_than_linear_is_said() -> None:
    found = worse(curves([*points("tables", lambda size: 1.0), *points("columns", lambda size: 0.1 + 1e-5 * size**2)]))

    assert ("columns", TIME, "grows as n^2") in [(each.dimension, each.measure, each.text()) for each in found]
    assert {each.dimension for each in found} == {"columns"}


def test_the_curve_of_partitions_begins_where_they_merge() -> None:
    measured = points("partitions", lambda size: 0.2 if size == 1 else 3 + 0.01 * size)

    [time] = [each for each in curves(measured) if each.measure == TIME]

    assert time.shape is Shape.LINEAR
    assert time.line.base == pytest.approx(3)
    assert time.first == pytest.approx(3.02)


def test_one_size_has_no_curve() -> None:
    assert curves([point("tables", 1, 1.0)]) == ()
    assert {each.shape for each in curves(points("tables", lambda size: 1.0)[:2])} == {Shape.UNKNOWN}


def test_points_are_in_the_order_of_their_sizes() -> None:
    measured = points("tables", lambda size: 1.0)

    assert points_of([*measured[::-1], point("columns", 16, 1.0)], "tables") == measured


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = results(*points("tables", lambda size: 0.5 + 0.001 * size**1.4))

    save(written, tmp_path / "deep/growth.json")

    assert load(tmp_path / "deep/growth.json") == written
    assert '"shape": "grows worse than linearly"' in (tmp_path / "deep/growth.json").read_text()


def test_a_dimension_that_was_not_measured_again_stays_if_the_machine_is_the_same() -> None:
    tables, columns = points("tables", lambda size: 1.0 * size), points("columns", lambda size: 1.0 * size)
    earlier, later = results(*tables, *columns, elsewhere=0.3), results(*points("columns", lambda size: 2.0 * size))

    both = merged(earlier, later)

    assert both.points == (*tables, *later.points)
    assert both.curves == curves(both.points)
    assert both.elsewhere == 0.3
    assert merged(None, later) == later
    assert merged(replace(earlier, machine=replace(MACHINE, commit="other")), later) == later


@pytest.mark.parametrize("dimension", DIMENSIONS, ids=lambda each: each.name)
def test_every_size_of_a_dimension_has_whole_batches(dimension: Dimension) -> None:
    for size in dimension.sizes:
        workload = dimension.of(size, WARMING + 6).workload
        assert workload.batch * (WARMING + 6) == workload.large * workload.tables
        assert workload.small % 10 == 0, "blocks of ten events"
    assert list(dimension.sizes) == sorted(dimension.sizes)
    assert dimension.fit_from in (0, *dimension.sizes)


def test_only_what_is_asked_for_grows() -> None:
    tables = [BY_NAME["tables"].of(size, 10).workload for size in (1, 1_000)]
    rows = [BY_NAME["row-size"].of(size, 10).workload for size in (1_000, 64_000)]

    assert [(each.tables, each.batch) for each in tables] == [(1, 100), (1_000, 100_000)]
    assert [each.longer for each in rows] == [200, 12_800]
    assert BY_NAME["ledger"].of(10_000, 10).versions == 10_000
    assert BY_NAME["partitions"].of(500, 10).workload.batch == BY_NAME["partitions"].of(1, 10).workload.batch


def test_dimensions_are_chosen_by_name() -> None:
    assert chosen([]) == list(DIMENSIONS)
    assert [each.name for each in chosen(["ledger", "tables"])] == ["ledger", "tables"]
    with pytest.raises(SystemExit, match="no dimension is called rows: take some of tables, partitions"):
        chosen(["rows"])
