"""What the simulation's work costs, from the points of ``make bench-growth``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.bench.capacity import Costs
from tests.bench.growth_curve import Fit, fitted
from tests.bench.growth_point import BETWEEN, Point
from tests.bench.growth_results import points_of

RECORDS, MERGED, TABLES = "records", "merged-records", "tables"
_SERIAL = ("plan", "commit", "publish", BETWEEN)
_ORDERED = ("order", "encode", "stage")
_WORKED = ("decode", *_ORDERED)
"""Steps of a worker; what it waits for Spark, ``read``, is Java's time."""


def costs(points: Sequence[Point]) -> Costs | None:
    """The costs; None where a dimension that they come from has not two sizes.

    Seconds of the processor, of the growth with events or tables alone: what a batch takes whatever is in it counts
    once, at the driver. Of a merge all that a worker does behind decoding, and all that Java does beyond what it does
    for one partition, is taken to be the one task's that writes the table.
    """
    direct, merged, tables = (points_of(points, name) for name in (RECORDS, MERGED, TABLES))
    if min(len(direct), len(merged), len(tables)) < 2:
        return None
    events = _grown(direct, lambda each: each.records, lambda each: _cpu(each, "worker", "java"))
    java = _grown(direct, lambda each: each.records, lambda each: _cpu(each, "java"))
    merged_java = _grown(merged, lambda each: each.records, lambda each: _cpu(each, "java"))
    merged_worker = _grown(merged, lambda each: each.records, lambda each: _cpu(each, "worker"))
    largest = merged[-1].steps
    ordered = sum(largest.get(step, 0.0) for step in _ORDERED) / sum(largest.get(step, 0.0) for step in _WORKED)
    behind = merged_worker.rate * ordered + max(0.0, merged_java.rate - java.rate)
    by_table = _grown(tables, lambda each: each.tables, lambda each: _cpu(each, "worker", "java"))
    serial = _grown(
        tables, lambda each: each.tables, lambda each: sum(each.stages.get(stage, 0.0) for stage in _SERIAL)
    )
    land = _grown(direct, lambda each: each.records, lambda each: each.stages["land"])
    return Costs(
        event=events.rate,
        read_event=merged_worker.rate + merged_java.rate - behind,
        ordered_event=behind,
        table=max(0.0, by_table.rate - events.rate * tables[-1].records / tables[-1].tables),
        driver_batch=serial.base + land.base,
        driver_table=serial.rate,
    )


def _cpu(point: Point, *kinds: str) -> float:
    return sum(point.cpu[kind] for kind in kinds)


def _grown(points: Sequence[Point], size: Callable[[Point], int], value: Callable[[Point], float]) -> Fit:
    return fitted([float(size(each)) for each in points], [value(each) for each in points])
