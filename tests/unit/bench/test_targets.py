"""A target missed is told; one missed by half fails."""

from __future__ import annotations

import pytest

from tests.bench.arithmetic import Summary, summary
from tests.bench.results import Facts
from tests.bench.targets import Target, Verdict, verdicts
from tests.bench.workloads import WORKLOADS, Contender
from tests.unit.bench.test_arithmetic import measurement

AT_LEAST = Target("fast", "how fast", 0.7, stretch=0.9)
AT_MOST = Target("small", "how small", 10, stretch=7, at_most=True)
FACTS = {each.name: Facts.of(each, 777.0) for each in WORKLOADS}


@pytest.mark.parametrize(
    ("target", "value", "word", "failed"),
    [
        (AT_LEAST, 0.95, "stretch", False),
        (AT_LEAST, 0.7, "reached", False),
        (AT_LEAST, 0.69, "missed", False),
        (AT_LEAST, 0.34, "missed", True),
        (AT_MOST, 6.0, "stretch", False),
        (AT_MOST, 10.0, "reached", False),
        (AT_MOST, 19.0, "missed", False),
        (AT_MOST, 21.0, "missed", True),
        (AT_LEAST, None, "", False),
    ],
)
def test_a_verdict_fails_only_below_half_of_its_target(
    target: Target, value: float | None, word: str, failed: bool
) -> None:
    verdict = Verdict(target, value)

    assert (verdict.word(), verdict.failed) == (word, failed)


def test_a_verdict_is_one_line() -> None:
    assert Verdict(AT_LEAST, 0.654).line() == "ratio fast 0.65 target 0.7"
    assert Verdict(AT_LEAST, None).line() == "ratio fast unknown target 0.7"


def found(workload: str, contender: Contender, rate: float) -> tuple[tuple[str, Contender], Summary]:
    runs = [
        measurement(size, 10 + size / rate, 5 + size / 200_000, contender=contender, workload=workload, worker=worker)
        for size, worker in ((100_000, 200), (1_000_000, 500))
    ]
    return (workload, contender), summary(runs)


def test_ratios_are_of_warm_rates() -> None:
    measured = dict(
        [
            found("one-table", Contender.LIMIT, 200_000),
            found("one-table", Contender.OBVIOUS, 50_000),
            found("one-table", Contender.BRIDGE, 150_000),
            found("wide", Contender.BRIDGE, 12_000),
            found("avro", Contender.BRIDGE, 180_000),
            found("one-batch", Contender.BRIDGE, 150_000),
        ]
    )

    values = {verdict.target.name: verdict.value for verdict in verdicts(measured, FACTS)}

    assert values == {
        "one-table/limit": pytest.approx(0.75),
        "one-table/obvious": pytest.approx(3.0),
        "one-table/cpu": pytest.approx(5.0),
        "avro": pytest.approx(1.2),
        "wide": pytest.approx(12_000 * 200 / (150_000 * 16)),
        "one-batch": pytest.approx(2.5),
    }
