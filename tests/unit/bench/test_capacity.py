"""The simulation, where its outcome can be worked out by hand; every load here is even unless it says otherwise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.bench.capacity import (
    Costs,
    Load,
    enough_partitions,
    needed,
    shares,
    simulated,
    table_limit,
    with_fewest_partitions,
)

COSTS = Costs(event=10e-6, read_event=8e-6, ordered_event=4e-6, table=0.01, driver_batch=0.5, driver_table=0.002)
EVEN = Load(rate=100_000, tables=20, interval=10.0, skew=0.0, burst=0.0, request=0.0)


def test_an_even_load_takes_its_share_on_each_core() -> None:
    # A batch is 1,000,000 events: 10 s of a core, and 0.2 s for the tables; the driver takes 0.5 s + 20 x 2 ms.
    found = simulated(EVEN, COSTS, cores=4)

    took = 10.2 / 4 + 0.54
    assert found.keeps_up
    assert found.lag == pytest.approx(took + 5)
    assert found.worst == pytest.approx(took + 10)
    assert found.busy == pytest.approx(10.2 / 4 / 10)


def test_too_few_cores_do_not_keep_up() -> None:
    assert not simulated(EVEN, COSTS, cores=1).keeps_up


def test_a_batch_that_takes_too_long_makes_the_next_one_larger() -> None:
    # On one core, a batch of what came in t seconds takes t * rate * 10e-6 + 0.2 + 0.54: at 90,000/s, 0.9 t + 0.74.
    slow = simulated(replace(EVEN, rate=90_000, interval=1.0), COSTS, cores=1, batches=400)

    assert not slow.keeps_up
    assert slow.worst == pytest.approx(2 * 0.74 / (1 - 0.9), rel=0.01)


def test_the_storage_is_waited_for_in_rounds_of_threads() -> None:
    load = replace(EVEN, request=0.05, requests=2, threads=8)

    assert load.storage == pytest.approx(3 * 2 * 0.05)
    assert simulated(load, COSTS, 4).lag == pytest.approx(simulated(EVEN, COSTS, 4).lag + 0.3)


def test_one_table_of_one_partition_uses_one_core() -> None:
    one = replace(EVEN, tables=1, rate=50_000)

    assert simulated(one, COSTS, 1).lag == pytest.approx(simulated(one, COSTS, 64).lag)
    assert simulated(one, COSTS, 64).lag == pytest.approx(5 + 0.01 + 0.502 + 5)


def test_one_table_of_several_partitions_is_read_side_by_side_and_written_by_one() -> None:
    one = replace(EVEN, tables=1, partitions=4)

    # 1,000,000 events: 8 s of reading over 4 cores, then 4 s and the table's 10 ms on one.
    assert simulated(one, COSTS, 4).lag == pytest.approx(2 + 4.01 + 0.502 + 5)
    assert simulated(one, COSTS, 64).lag == pytest.approx(simulated(one, COSTS, 4).lag)


def test_partitions_go_to_cores_whole_and_in_order() -> None:
    placed = shares(replace(EVEN, tables=5), cores=2)

    assert placed.first == pytest.approx((0.4, 0.6))
    assert placed.first_tables == (2, 3)
    assert placed.second == ()


def test_every_merged_table_is_on_one_core() -> None:
    placed = shares(replace(EVEN, tables=10, partitions=3, skew=0.5), cores=4)

    assert len(placed.first) == len(placed.second) == 4
    assert sum(placed.first) == pytest.approx(1)
    assert sum(placed.second) == pytest.approx(1)
    assert sum(placed.second_tables) == 10
    assert placed.first_tables == (0, 0, 0, 0)


def test_an_uneven_load_takes_longer_and_is_the_same_each_time() -> None:
    uneven = replace(EVEN, skew=0.5, burst=0.3)

    assert simulated(uneven, COSTS, 4).worst > simulated(EVEN, COSTS, 4).worst
    assert simulated(uneven, COSTS, 4) == simulated(uneven, COSTS, 4)
    assert simulated(uneven, COSTS, 4) != simulated(replace(uneven, seed=8), COSTS, 4)


def test_the_fewest_cores_that_keep_up() -> None:
    # 10.2 s of cores within 10 s - 0.54 s.
    found = needed(EVEN, COSTS)

    assert found is not None
    assert found.cores == 2
    slow = needed(replace(EVEN, rate=1), COSTS)
    assert slow is not None
    assert slow.cores == 1


def test_no_cores_help_a_driver_that_is_too_slow() -> None:
    assert needed(EVEN, replace(COSTS, driver_batch=11.0)) is None


def test_a_table_gets_as_few_partitions_as_keep_up() -> None:
    one = replace(EVEN, tables=1, interval=100.0)

    fits, merges, none = (with_fewest_partitions(replace(one, rate=rate), COSTS) for rate in (90_000, 120_000, 300_000))

    assert fits is not None
    assert (fits[0].partitions, fits[1].cores) == (1, 1)
    # 120,000/s: 0.48 s of each second in one task, 0.96 s of reading, which two tasks share and then fit.
    assert merges is not None
    assert (merges[0].partitions, merges[1].cores) == (2, 2)
    assert none is None


def test_what_one_table_can_carry() -> None:
    one = replace(EVEN, interval=100.0)
    left = 1 - (0.5 + 0.002 + 0.01) / 100

    assert table_limit(one, COSTS) == pytest.approx(left / 10e-6)
    assert table_limit(replace(one, partitions=4), COSTS) == pytest.approx(left / (2e-6 + 4e-6))
    assert table_limit(replace(one, partitions=4, skew=0.5, burst=0.25), COSTS) == pytest.approx(
        left / 1.25 / (3e-6 + 4e-6)
    )
    assert table_limit(replace(one, interval=0.4), COSTS) == 0


def test_partitions_beyond_which_little_is_gained() -> None:
    # 4 / (8/P + 4) reaches 0.9 at P = 18.
    assert enough_partitions(EVEN, COSTS) == 18
