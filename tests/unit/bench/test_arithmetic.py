"""Figures are made from medians of runs; warm ones from what lies between two sizes."""

from __future__ import annotations

import pytest

from tests.bench.arithmetic import Measurement, marginal, ratio, summaries, summary
from tests.bench.workloads import Contender


def measurement(
    records: int,
    wall: float,
    cpu: float,
    *,
    contender: Contender = Contender.BRIDGE,
    workload: str = "one-table",
    worker: int = 100,
) -> Measurement:
    return Measurement(workload, contender, 0, records, wall, cpu, worker, 600, 200, records, 2, records * 50)


RUNS = [
    *(measurement(1_000, wall, cpu) for wall, cpu in [(10.0, 5.0), (11.0, 7.0), (30.0, 6.0)]),
    *(measurement(5_000, wall, cpu, worker=300) for wall, cpu in [(13.0, 8.0), (12.0, 10.0), (36.0, 9.0)]),
]


def test_warm_figures_are_what_lies_between_the_medians_of_two_sizes() -> None:
    found = summary(RUNS)

    assert found.warm == pytest.approx((5_000 - 1_000) / (13.0 - 11.0))
    assert found.warm_cpu == pytest.approx((9.0 - 6.0) / (5_000 - 1_000) * 1_000_000)


def test_total_figures_are_of_the_larger_size_with_its_start() -> None:
    found = summary(RUNS)

    assert found.total == pytest.approx(5_000 / 13.0)
    assert found.total_cpu == pytest.approx(9.0 / 5_000 * 1_000_000)
    assert found.spread == pytest.approx(3.0)
    assert (found.runs, found.small, found.large) == (3, 1_000, 5_000)
    assert (found.worker, found.small_worker, found.java, found.python) == (300, 100, 600, 200)
    assert (found.bytes_per_row, found.files) == (50, 2)


def test_a_larger_size_that_took_no_longer_says_nothing_warm() -> None:
    found = summary([measurement(1_000, 10.0, 5.0), measurement(5_000, 9.0, 6.0)])

    assert found.warm is None
    assert found.warm_cpu is not None


def test_sizes_have_to_grow() -> None:
    assert marginal((10, 1.0), (30, 2.0)) == pytest.approx(0.05)
    with pytest.raises(ValueError, match="10 records are no larger size than 10"):
        marginal((10, 1.0), (10, 2.0))


@pytest.mark.parametrize(
    "wrong",
    [
        [measurement(1_000, 1.0, 1.0)],
        [measurement(1_000, 1.0, 1.0), measurement(2_000, 1.0, 1.0, contender=Contender.LIMIT)],
    ],
)
def test_a_summary_is_of_two_sizes_of_one_contender(wrong: list[Measurement]) -> None:
    with pytest.raises(ValueError, match="two sizes of one contender are needed"):
        summary(wrong)


def test_every_contender_of_every_workload_is_summed_up() -> None:
    runs = [
        measurement(size, float(size), 1.0, contender=contender, workload=workload)
        for workload in ("one-table", "avro")
        for contender in (Contender.LIMIT, Contender.BRIDGE)
        for size in (10, 20)
    ]

    assert list(summaries(runs)) == [
        (workload, contender) for workload in ("one-table", "avro") for contender in (Contender.LIMIT, Contender.BRIDGE)
    ]


def test_a_ratio_of_what_is_not_known_is_not_known() -> None:
    assert ratio(3.0, 2.0) == 1.5
    assert ratio(None, 2.0) is None
    assert ratio(3.0, None) is None
    assert ratio(3.0, 0.0) is None
