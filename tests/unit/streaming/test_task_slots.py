"""Into how many tasks a stage is cut: one per core that there is, or may be."""

from __future__ import annotations

import pytest

from streaming.driver.action import task_slots

DYNAMIC = {
    "spark.master": "k8s://https://kubernetes.default.svc",
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.maxExecutors": "4",
    "spark.executor.cores": "2",
}


def without(key: str) -> dict[str, str]:
    return {name: value for name, value in DYNAMIC.items() if name != key}


@pytest.mark.parametrize("conf", [{}, DYNAMIC | {"spark.dynamicAllocation.enabled": "false"}])
def test_a_fixed_number_of_executors_gets_a_task_per_core(conf: dict[str, str]) -> None:
    assert task_slots(conf, 6) == 6


def test_dynamic_allocation_gets_a_task_for_each_core_that_it_may_ask_for() -> None:
    assert task_slots(DYNAMIC, 2) == 8


def test_more_cores_than_dynamic_allocation_would_ask_for_are_used() -> None:
    assert task_slots(DYNAMIC, 10) == 10


def test_an_executor_has_one_core_where_nobody_says_otherwise() -> None:
    assert task_slots(without("spark.executor.cores"), 2) == 4


def test_without_an_upper_bound_the_cores_that_are_there_count() -> None:
    assert task_slots(without("spark.dynamicAllocation.maxExecutors"), 2) == 2


@pytest.mark.parametrize("master", ["local[2]", "local[*]"])
def test_threads_of_one_process_are_never_more_than_they_are(master: str) -> None:
    assert task_slots(DYNAMIC | {"spark.master": master}, 2) == 2
