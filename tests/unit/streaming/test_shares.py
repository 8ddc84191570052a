"""The ranges of a plan are shared out among tasks."""

from __future__ import annotations

from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import pytest

from connectors.kafka.reading.ranges import PartitionRange
from streaming.driver.action import share_out
from streaming.plan import BatchPlan, TopicPlan
from tests.unit.streaming.landed_shop import job

Ranges = dict[str, dict[int, tuple[int, int]]]


def planned(ranges: Ranges) -> BatchPlan:
    topics = {topic: TopicPlan(f"id-{topic}", spans, merges=False) for topic, spans in ranges.items()}
    return BatchPlan(job(Path("/zone")), epoch=1, commit=1, unique="attempt", topics=topics)


def lengths(shares: tuple[tuple[PartitionRange, ...], ...]) -> list[int]:
    return [sum(each.end - each.start for each in share) for share in shares]


@pytest.mark.parametrize(
    ("ranges", "tasks", "shares"),
    [
        ({}, 4, [[]]),
        ({"a": {0: (7, 7), 1: (0, 0)}}, 4, [[]]),
        ({"a": {0: (7, 9), 1: (5, 5)}}, 4, [[("a", 0, 7, 9)]]),
        ({"a": {0: (0, 1)}, "b": {0: (3, 9)}}, 4, [[("b", 0, 3, 9)], [("a", 0, 0, 1)]]),
        (
            {"a": {0: (0, 40), 1: (0, 30)}, "b": {0: (100, 120), 3: (9, 19)}},
            2,
            [[("a", 0, 0, 40), ("b", 3, 9, 19)], [("a", 1, 0, 30), ("b", 0, 100, 120)]],
        ),
    ],
    ids=["no topic", "nothing new", "one", "fewer than tasks", "more than tasks"],
)
def test_each_partition_with_records_belongs_to_one_task(
    ranges: Ranges, tasks: int, shares: list[list[tuple[str, int, int, int]]]
) -> None:
    assert share_out(planned(ranges), tasks) == tuple(
        tuple(PartitionRange(*each) for each in share) for share in shares
    )


spans = st.tuples(st.integers(0, 1_000), st.integers(0, 1_000)).map(lambda pair: (pair[0], sum(pair)))
all_ranges = st.dictionaries(st.sampled_from("abcde"), st.dictionaries(st.integers(0, 6), spans, max_size=7))


@hypothesis.given(ranges=all_ranges, tasks=st.integers(1, 9))
def test_no_record_is_lost_or_read_twice_and_no_task_has_much_more_than_the_others(ranges: Ranges, tasks: int) -> None:
    shares = share_out(planned(ranges), tasks)
    wanted = [
        PartitionRange(topic, number, *span)
        for topic, numbers in ranges.items()
        for number, span in numbers.items()
        if span[0] < span[1]
    ]
    assert sorted(map(str, wanted)) == sorted(str(each) for share in shares for each in share)
    assert len(shares) == max(1, min(tasks, len(wanted)))
    assert all(shares) or not wanted
    # No other task has so little that its share and the smallest range of the fullest one would be less than that.
    fullest = max(shares, key=lambda share: sum(each.end - each.start for each in share))
    smallest = min((each.end - each.start for each in fullest), default=0)
    assert max(lengths(shares)) <= min(lengths(shares)) + smallest


@pytest.mark.parametrize("partitions", [1, 5, 64])
def test_partitions_of_one_size_are_spread_evenly(partitions: int) -> None:
    sizes = lengths(share_out(planned({"a": dict.fromkeys(range(partitions), (0, 10))}), 4))
    assert max(sizes) - min(sizes) <= 10
