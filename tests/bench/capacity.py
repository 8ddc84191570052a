"""From events a second to cores, past this machine: micro-batches on simulated cores, batch by batch.

A batch begins with the trigger, or when the one before has ended, and takes what has come since that one began. Its
tasks work as the bridge's do: a task for each core, which gets whole partitions in their order, the same number each;
for tables of several partitions a second round, in which one task does all that is to be done for a table, and chance
says which core gets which table. Then the driver's part, on which everything waits. The slowest core ends a round.

What is drawn by chance, the partitions' shares and the ups and downs of the rate, comes from one seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import mean

PARTITIONS = (1, 2, 4, 8, 16, 32)
"""Of each table, tried in this order."""
BATCHES = 40
_MOST_CORES = 4_096
_STEP = 1.02


@dataclass(frozen=True)
class Costs:
    """What work costs, in seconds of one core.

    Attributes:
        event: of a table of one partition, all of it: Spark's Java and the worker, read to file.
        read_event: of a table of several partitions, until its run is on its way to the merge.
        ordered_event: what follows, which one task does for all events of a table.
        table: of a batch for each table in it, whatever its events, in tasks.
        driver_batch: of a batch, whatever is in it, while nothing else goes on; driver_table: for each table in it.
    """

    event: float
    read_event: float
    ordered_event: float
    table: float
    driver_batch: float
    driver_table: float


@dataclass(frozen=True)
class Load:
    """What comes, and how the bridge is set up.

    Attributes:
        rate: events a second, over all tables, which get about the same each.
        partitions: of each table.
        interval: of the trigger, seconds.
        skew: by how much, as a share, a table's or a partition's part may be above or below the mean.
        burst: by how much the rate of one batch may be.
        request: seconds that the storage takes for a request; requests: for a table in a batch, at the driver, of
            which so many threads are under way at once.
    """

    rate: float
    tables: int = 1
    partitions: int = 1
    interval: float = 30.0
    skew: float = 0.2
    burst: float = 0.2
    request: float = 0.03
    requests: int = 2
    threads: int = 8
    seed: int = 7

    @property
    def storage(self) -> float:
        """Seconds of a batch in which the driver waits for the storage."""
        return math.ceil(self.tables / self.threads) * self.requests * self.request


@dataclass(frozen=True)
class Outcome:
    """What became of a load on so many cores, once it has settled.

    Attributes:
        keeps_up: no batch takes longer than the interval.
        lag: seconds from an event to its file, on average; worst: of the event that waited longest.
        busy: share of the cores' time that is worked in.
    """

    cores: int
    keeps_up: bool
    lag: float
    worst: float
    busy: float


@dataclass(frozen=True)
class Shares:
    """How the events of a batch, 1 in all, fall to cores.

    Attributes:
        first: by core of the first round; first_tables: how many tables it lands there.
        second, second_tables: of the second round; no cores where no table is merged.
    """

    first: tuple[float, ...]
    first_tables: tuple[int, ...]
    second: tuple[float, ...]
    second_tables: tuple[int, ...]


def shares(load: Load, cores: int) -> Shares:
    """Which core gets how much, the same in each batch."""
    chance = random.Random(load.seed)
    tables = _drawn(chance, load.tables, load.skew)
    parts = [[table * part for part in _drawn(chance, load.partitions, load.skew)] for table in tables]
    flat = [part for table in parts for part in table]
    used = min(cores, len(flat))
    cuts = [len(flat) * core // used for core in range(used + 1)]
    first = tuple(sum(flat[begin:end]) for begin, end in pairwise(cuts))
    counts = tuple(end - begin for begin, end in pairwise(cuts))
    if load.partitions == 1:
        return Shares(first, counts, (), ())
    second, second_tables = [0.0] * cores, [0] * cores
    for table in tables:
        core = chance.randrange(cores)
        second[core] += table
        second_tables[core] += 1
    return Shares(first, (0,) * used, tuple(second), tuple(second_tables))


def simulated(load: Load, costs: Costs, cores: int, batches: int = BATCHES) -> Outcome:
    """Let so many batches follow each other; the second half of them counts."""
    placed = shares(load, cores)
    chance = random.Random(load.seed + 1)
    first_event = costs.event if load.partitions == 1 else costs.read_event
    serial = costs.driver_batch + load.tables * costs.driver_table + load.storage
    before, began = 0.0, load.interval
    settled: list[tuple[float, float, float, float]] = []
    for number in range(batches):
        events = load.rate * (began - before) * (1 + chance.uniform(-load.burst, load.burst))
        first = _round(events * first_event, costs.table, placed.first, placed.first_tables)
        second = _round(events * costs.ordered_event, costs.table, placed.second, placed.second_tables)
        ended = began + max(first, default=0.0) + max(second, default=0.0) + serial
        if number >= batches // 2:
            worked = (sum(first) + sum(second)) / cores
            settled.append((ended - began, ended - (before + began) / 2, ended - before, worked))
        before, began = began, max(began + load.interval, ended)
    return Outcome(
        cores=cores,
        keeps_up=all(took <= load.interval for took, _, _, _ in settled),
        lag=mean(lag for _, lag, _, _ in settled),
        worst=max(worst for _, _, worst, _ in settled),
        busy=mean(worked for _, _, _, worked in settled) / load.interval,
    )


def needed(load: Load, costs: Costs) -> Outcome | None:
    """The fewest cores that keep up, within two in a hundred; None where no number does."""
    cores = max(1, math.floor(load.rate * min(costs.event, costs.read_event + costs.ordered_event)))
    most = min(_MOST_CORES, 4 * max(load.tables * load.partitions, 1))
    while cores <= most:
        found = simulated(load, costs, cores)
        if found.keeps_up:
            return found
        cores = max(cores + 1, int(cores * _STEP))
    return None


def with_fewest_partitions(load: Load, costs: Costs) -> tuple[Load, Outcome] | None:
    """The load with as few partitions a table as keep up on any number of cores, and how; None for none of them."""
    for partitions in PARTITIONS:
        tried = replace(load, partitions=partitions)
        found = needed(tried, costs)
        if found is not None:
            return tried, found
    return None


def table_limit(load: Load, costs: Costs) -> float:
    """Events a second that one table can carry, however many cores there are.

    One partition is one task's; of several the busiest sets the pace of the first round, and the second is one task's.
    """
    serial = costs.driver_batch + costs.driver_table + costs.table + replace(load, tables=1).storage
    left = max(0.0, 1 - serial / load.interval) / (1 + load.burst)
    if load.partitions == 1:
        return left / costs.event
    busiest = (1 + load.skew) / load.partitions
    return left / (busiest * costs.read_event + costs.ordered_event)


def enough_partitions(load: Load, costs: Costs, share: float = 0.9) -> int:
    """So many partitions bring a table this share of what ever more of them would bring."""
    most = table_limit(replace(load, partitions=1 << 20), costs)
    return next(
        count for count in range(1, 1 << 20) if table_limit(replace(load, partitions=count), costs) >= share * most
    )


def _drawn(chance: random.Random, count: int, skew: float) -> list[float]:
    """Shares of so many, 1 together."""
    weights = [1 + chance.uniform(-skew, skew) for _ in range(count)]
    return [weight / sum(weights) for weight in weights]


def _round(work: float, table: float, parts: Sequence[float], tables: Sequence[int]) -> list[float]:
    return [part * work + count * table for part, count in zip(parts, tables, strict=True)]
