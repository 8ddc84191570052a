"""The budget's lines add up to what the kernel counted."""

from __future__ import annotations

import pytest

from tests.bench.profile_budget import Profile, budget, seconds, unmatched, walls
from tests.bench.profile_stacks import Kind
from tests.bench.profile_stages import Part


def profile(records: int, java: float, worker: float, *, rest: float = 0.5, read: int = 30) -> Profile:
    """A run whose Java reads and transfers, and whose workers decode, encode and do something that is not known."""
    return Profile(
        records=records,
        wall=2 * java,
        cpu=java + worker + rest,
        kernel={Kind.JAVA: java, Kind.WORKER: worker, Kind.DRIVER: 0.0},
        samples={
            Kind.JAVA: {Part.READ: read, Part.TRANSFER: 10},
            Kind.WORKER: {Part.DECODE: 6, Part.ENCODE: 3, Part.UNMATCHED: 1},
            Kind.DRIVER: {},
        },
        sampled={Kind.JAVA: 1.0, Kind.WORKER: 1.0, Kind.DRIVER: 0.0},
        stages={"land": java, "commit": 0.5},
        steps={"decode": worker / 2},
    )


def test_a_kinds_seconds_divide_as_its_samples_do() -> None:
    divided = seconds(profile(100_000, java=8.0, worker=2.0))

    assert divided == pytest.approx(
        {
            (Part.READ, Kind.JAVA): 6.0,
            (Part.TRANSFER, Kind.JAVA): 2.0,
            (Part.DECODE, Kind.WORKER): 1.2,
            (Part.ENCODE, Kind.WORKER): 0.6,
            (Part.UNMATCHED, Kind.WORKER): 0.2,
            (Part.UNMATCHED, Kind.DRIVER): 0.0,
            (Part.UNSAMPLED, None): 0.5,
        }
    )


def test_seconds_of_a_kind_without_samples_are_matched_by_no_pattern() -> None:
    one = profile(1, java=1.0, worker=1.0)
    silent = Profile(**{**vars(one), "kernel": {**one.kernel, Kind.DRIVER: 0.75}})

    assert seconds(silent)[Part.UNMATCHED, Kind.DRIVER] == 0.75


def test_a_record_costs_what_the_larger_size_takes_beyond_the_smaller_one() -> None:
    found = budget([profile(100_000, java=8.0, worker=2.0), profile(300_000, java=10.0, worker=3.0)])
    warm = {line.part: line.total for line in found.lines}
    start = {line.part: line.start for line in found.lines}

    assert warm == pytest.approx(
        {
            Part.READ: 7.5,
            Part.TRANSFER: 2.5,
            Part.DECODE: 3.0,
            Part.ENCODE: 1.5,
            Part.UNMATCHED: 0.5,
            Part.UNSAMPLED: 0.0,
        }
    )
    assert start == pytest.approx(
        {
            Part.READ: 5.25,
            Part.TRANSFER: 1.75,
            Part.DECODE: 0.9,
            Part.ENCODE: 0.45,
            Part.UNMATCHED: 0.15,
            Part.UNSAMPLED: 0.5,
        }
    )


def test_the_lines_add_up_to_what_the_kernel_counted() -> None:
    runs = [
        profile(100_000, java=8.0, worker=2.1, rest=0.7, read=31),
        profile(100_000, java=7.7, worker=2.3, rest=0.2, read=9),
        profile(300_000, java=10.4, worker=2.2, rest=-0.01, read=50),
        profile(300_000, java=10.1, worker=3.9, rest=0.9, read=3),
    ]

    found = budget(runs)

    counted = (sum(each.cpu for each in runs[2:]) - sum(each.cpu for each in runs[:2])) / 2
    assert found.warm == pytest.approx(counted / 200_000 * 1e6)
    assert sum(line.total for line in found.lines) == pytest.approx(found.warm)
    assert sum(line.start for line in found.lines) == pytest.approx(found.start)
    assert found.start + found.warm * 0.1 == pytest.approx((runs[0].cpu + runs[1].cpu) / 2)


def test_a_budget_needs_two_sizes() -> None:
    with pytest.raises(ValueError, match=r"two sizes, not of \[5\]"):
        budget([profile(5, java=1.0, worker=1.0)])


def test_the_share_that_no_pattern_knows_is_of_all_samples() -> None:
    assert unmatched(profile(1, java=1.0, worker=1.0)) == pytest.approx(1 / 50)


def test_the_histograms_are_of_the_same_runs() -> None:
    runs = [profile(100_000, java=8.0, worker=2.0), profile(300_000, java=10.0, worker=3.0)]

    stages, steps = walls(runs, "stages"), walls(runs, "steps")
    assert list(stages) == ["land", "commit"]
    assert stages["land"] == pytest.approx((10.0, 10.0))
    assert stages["commit"] == pytest.approx((0.5, 0.0))
    assert steps["decode"] == pytest.approx((1.5, 2.5))
