"""Who runs when, on how much."""

from __future__ import annotations

import pytest

from tests.bench.quick import CARRIED, RATIOS, verdicts
from tests.bench.rounds import schedule, selected
from tests.bench.workloads import WORKLOADS, Contender, Workload

SHAPE = Workload("shape", "a table", small=10, large=100, obvious_large=30)
LIMIT, OBVIOUS, BRIDGE = Contender


def test_contenders_alternate_and_each_round_begins_with_another_one() -> None:
    assert schedule(SHAPE, 2) == [
        (0, LIMIT, 10),
        (0, OBVIOUS, 10),
        (0, BRIDGE, 10),
        (0, LIMIT, 100),
        (0, OBVIOUS, 30),
        (0, BRIDGE, 100),
        (1, OBVIOUS, 10),
        (1, BRIDGE, 10),
        (1, LIMIT, 10),
        (1, OBVIOUS, 30),
        (1, BRIDGE, 100),
        (1, LIMIT, 100),
    ]


def test_a_topic_set_is_made_for_every_size() -> None:
    assert SHAPE.sizes() == (10, 30, 100)
    assert selected(["one-batch"], WORKLOADS)[0].sizes() == (100_000, 1_000_000)


def test_sizes_have_to_grow() -> None:
    with pytest.raises(ValueError, match="shape: the sizes have to grow"):
        Workload("shape", "a table", small=10, large=100, obvious_large=10)


@pytest.mark.parametrize("each", WORKLOADS, ids=lambda each: each.name)
def test_a_scaled_workload_still_grows(each: Workload) -> None:
    assert each.scaled(0.001).small < each.scaled(0.001).large
    assert each.scaled(0.5).large == each.large // 2


def test_workloads_are_chosen_by_name() -> None:
    assert [each.name for each in selected(["avro", "wide"], WORKLOADS)] == ["avro", "wide"]
    assert selected([], WORKLOADS) == list(WORKLOADS)
    with pytest.raises(SystemExit, match="no workload is called tall: take some of one-table, two-partitions"):
        selected(["wide", "tall"], WORKLOADS)


def test_the_quick_ratios_are_of_what_is_carried() -> None:
    rates = {(shape.name, contender): 1_000.0 for shape, contenders in CARRIED.items() for contender in contenders} | {
        ("quick-one", BRIDGE): 2_000.0
    }

    assert [verdict.line() for verdict in verdicts(rates)] == [
        "ratio one-table/limit 2.00 target 0.7",
        "ratio one-table/obvious 2.00 target 2.5",
        "ratio fifty-tables-of-100/obvious 1.00 target 15",
        "ratio eight-partitions 0.50 target 0.8",
    ]
    assert {of for _, *both in RATIOS for of in both} == set(rates)
