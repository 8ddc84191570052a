"""From measured seconds to figures: medians, what a warm job does, ratios."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.bench.workloads import Contender

MILLION = 1_000_000


@dataclass(frozen=True)
class Measurement:
    """One run of one contender.

    Attributes:
        round: which of the runs side by side; records: that it carried, in all tables.
        wall, cpu: seconds, with start-up; cpu is of all of its processes.
        worker, java, python: largest resident size of any one process of the kind, MiB.
        rows, files, bytes: that it landed; 0 for one that lands nothing.
    """

    workload: str
    contender: Contender
    round: int
    records: int
    wall: float
    cpu: float
    worker: int
    java: int
    python: int
    rows: int = 0
    files: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class Summary:
    """A contender's figures on a workload, from the medians of its runs.

    Attributes:
        total: records a second with start-up, of the larger size.
        total_cpu: seconds of the processor for each million records of the larger size, with start-up.
        warm: records a second without start-up: what is between the two sizes; None where the larger did not take
            longer, so that the difference is noise.
        warm_cpu: seconds of the processor for each million of the records between the two sizes; None likewise.
        spread: the largest of the walls of the larger size over the smallest.
        worker, java, python: MiB, largest over the runs of the larger size.
        small_worker: MiB, largest worker over the runs of the smaller size.
        bytes_per_row, files: of the larger size; 0 where nothing lands.
    """

    workload: str
    contender: Contender
    runs: int
    small: int
    large: int
    total: float
    total_cpu: float
    warm: float | None
    warm_cpu: float | None
    spread: float
    worker: int
    small_worker: int
    java: int
    python: int
    bytes_per_row: float
    files: int


def marginal(small: tuple[int, float], large: tuple[int, float]) -> float | None:
    """Seconds for each record between two sizes, each given as records and seconds.

    None where the larger size took no longer than the smaller one.

    Raises:
        ValueError: the sizes do not grow.
    """
    (fewer, shorter), (more, longer) = small, large
    if more <= fewer:
        raise ValueError(f"{more} records are no larger size than {fewer}")
    return None if longer <= shorter else (longer - shorter) / (more - fewer)


def summary(measurements: Sequence[Measurement]) -> Summary:
    """The figures of one contender on one workload.

    Raises:
        ValueError: the measurements are of other than two sizes, or of several contenders or workloads.
    """
    sizes = sorted({each.records for each in measurements})
    whose = {(each.workload, each.contender) for each in measurements}
    if len(sizes) != 2 or len(whose) != 1:
        raise ValueError(f"two sizes of one contender are needed: {sorted(whose)} with {sizes}")
    small, large = ([each for each in measurements if each.records == size] for size in sizes)
    walls = tuple(_point(size, (each.wall for each in of)) for size, of in zip(sizes, (small, large), strict=True))
    cpus = tuple(_point(size, (each.cpu for each in of)) for size, of in zip(sizes, (small, large), strict=True))
    wall, cpu = marginal(walls[0], walls[1]), marginal(cpus[0], cpus[1])
    rows = large[0].rows
    return Summary(
        workload=large[0].workload,
        contender=large[0].contender,
        runs=len(large),
        small=sizes[0],
        large=sizes[1],
        total=sizes[1] / walls[1][1],
        total_cpu=cpus[1][1] / sizes[1] * MILLION,
        warm=None if wall is None else 1 / wall,
        warm_cpu=None if cpu is None else cpu * MILLION,
        spread=max(each.wall for each in large) / min(each.wall for each in large),
        worker=max(each.worker for each in large),
        small_worker=max(each.worker for each in small),
        java=max(each.java for each in large),
        python=max(each.python for each in large),
        bytes_per_row=large[0].bytes / rows if rows else 0.0,
        files=large[0].files,
    )


def summaries(measurements: Iterable[Measurement]) -> dict[tuple[str, Contender], Summary]:
    """The figures of every contender on every workload, in the order in which they were first measured."""
    of: dict[tuple[str, Contender], list[Measurement]] = {}
    for each in measurements:
        of.setdefault((each.workload, each.contender), []).append(each)
    return {whose: summary(several) for whose, several in of.items()}


def ratio(of: float | None, over: float | None) -> float | None:
    """One over the other; None where either is not known."""
    return None if of is None or over is None or over == 0 else of / over


def median(values: Iterable[float]) -> float:
    """The middle one, or the mean of the two in the middle."""
    return statistics.median(values)


def _point(size: int, seconds: Iterable[float]) -> tuple[int, float]:
    return size, median(seconds)
