"""Where a task's time goes: steps within steps, and what each landing says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.debezium.options import DecodeOptions
from connectors.landing_zone.storage.location import StorageLocation
from streaming.landing.steps import Step, Steps, added
from streaming.plan import JobOptions
from tests.support.plain_job import Log, PlainJob
from tests.support.records import Table


def ticking(*times: float) -> Steps:
    ticks: Iterator[float] = iter(times)
    return Steps(clock=lambda: next(ticks))


def test_a_step_within_another_counts_for_itself_alone() -> None:
    steps = ticking(0, 1, 4, 10, 11, 13)
    with steps.measured(Step.ORDER), steps.measured(Step.ENCODE):
        pass
    with steps.measured(Step.ORDER):
        pass
    assert steps.seconds == {"encode": 3, "order": 9}


def test_a_step_that_fails_counts() -> None:
    steps = ticking(0, 2)
    with pytest.raises(ValueError, match="boom"), steps.measured(Step.STAGE):
        raise ValueError("boom")
    assert steps.seconds == {"stage": 2}


def test_what_it_takes_to_get_each_item_counts_and_the_end_too() -> None:
    steps = ticking(0, 1, 10, 12, 20, 23)
    assert list(steps.measured_each(Step.READ, "ab")) == ["a", "b"]
    assert steps.taken() == {"read": 6}
    assert steps.seconds == {}


def test_steps_of_several_add_up() -> None:
    assert added({"read": 1, "order": 2}, {}, {"order": 0.5}) == {"read": 1, "order": 2.5}


@pytest.mark.parametrize("partitions", [1, 2])
def test_a_batch_says_what_each_step_of_its_tasks_took(tmp_path: Path, partitions: int) -> None:
    options = JobOptions(
        fingerprint="test",
        decode=DecodeOptions(),
        zone=StorageLocation(f"file://{tmp_path}/zone"),
    )
    job = PlainJob(tmp_path, options, Log())
    orders = Table("shop.public.orders")
    report = job.receive(*(orders.at(place).create({"id": place}, lsn=place + 1) for place in range(partitions)))
    assert set(report.figures.steps) == set(Step)
    assert all(seconds > 0 for seconds in report.figures.steps.values())
    assert sum(report.figures.steps.values()) < report.seconds
