"""The result of ``make bench-growth`` as a file: the machine, every point, and what is said of each curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tests.bench.growth_curve import Curve, Shape, curve
from tests.bench.growth_dimensions import DIMENSIONS, Dimension
from tests.bench.growth_point import Point
from tests.bench.machine import Machine
from tests.bench.results import FOLDER

FILE = FOLDER / "growth.json"
TIME, START = "seconds a batch", "seconds to start"
MEMORY = {"worker": "worker MiB", "java": "Java MiB", "python": "driver's Python MiB"}
NOTICED = 0.05
"""Share of the longest period that a stage has to have before its own curve is judged: less is lost in the clock."""


@dataclass(frozen=True)
class GrowthResults:
    """Of one or several runs on one machine.

    Attributes:
        elsewhere: share of the cores that other work had meanwhile; figures are worth nothing where it is large.
        curves: judged again from the points whenever they are written.
    """

    machine: Machine
    when: str
    elsewhere: float
    points: tuple[Point, ...]
    curves: tuple[Curve, ...]


def points_of(points: Sequence[Point], dimension: str) -> list[Point]:
    """Those of one dimension, by size."""
    return sorted((each for each in points if each.dimension == dimension), key=lambda each: each.size)


def curves(points: Sequence[Point]) -> tuple[Curve, ...]:
    """Time, its stages, start and memory along every dimension of which at least two sizes are there."""
    return tuple(found for dimension in DIMENSIONS for found in _curves(dimension, points_of(points, dimension.name)))


def _curves(dimension: Dimension, points: Sequence[Point]) -> list[Curve]:
    fitting = [each for each in points if each.size >= dimension.fit_from]
    if len(fitting) < 2:
        return []
    measures = {TIME: [each.period for each in fitting]}
    for stage in dict.fromkeys(name for each in fitting for name in each.stages):
        seconds = [each.stages.get(stage, 0.0) for each in fitting]
        if min(seconds) > 0 and max(seconds) >= NOTICED * max(measures[TIME]):
            measures[f"seconds in {stage}"] = seconds
    measures[START] = [each.start for each in fitting]
    for kind, name in MEMORY.items():
        mebibytes = [float(getattr(each, kind)) for each in fitting]
        if min(mebibytes) > 0:
            measures[name] = mebibytes
    sizes = [float(each.size) for each in fitting]
    return [curve(dimension.name, measure, sizes, values) for measure, values in measures.items()]


def worse(found: Sequence[Curve]) -> list[Curve]:
    """The curves that grow worse than linearly: each is a defect."""
    return [each for each in found if each.shape is Shape.WORSE]


def load(path: Path) -> GrowthResults:
    """Read a result."""
    return msgspec.json.decode(path.read_bytes(), type=GrowthResults)


def save(results: GrowthResults, path: Path) -> None:
    """Write a result, its folder too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")


def merged(earlier: GrowthResults | None, later: GrowthResults) -> GrowthResults:
    """The later result, with the dimensions of the earlier one that it does not have, if both are of one machine."""
    if earlier is None or earlier.machine != later.machine:
        return later
    again = {each.dimension for each in later.points}
    points = (*(each for each in earlier.points if each.dimension not in again), *later.points)
    return GrowthResults(later.machine, later.when, max(earlier.elsewhere, later.elsewhere), points, curves(points))
