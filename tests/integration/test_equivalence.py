"""The mirrored tables equal the database: a random workload on real databases through real Debezium, cell by cell.

Quick by default. ``CDC_BRIDGE_EQUIVALENCE=long`` (``make equivalence``) runs several times as much under several seeds
and prints the matrix of runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from streaming.driver.batch import BatchReport
from tests.rig import Rig, until
from tests.rig.equivalence import MARIADB, POSTGRES, Source, running, set_aside, summary
from tests.rig.judge import STRANGE
from tests.rig.workload import Workload
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

LONG = os.environ.get("CDC_BRIDGE_EQUIVALENCE") == "long"
SEEDS = (1, 2) if LONG else (1,)
STATEMENTS = 4_000 if LONG else 600
LOADED = 50 if LONG else 12
SLICES = 5 if LONG else 3


@pytest.fixture(scope="module")
def matrix() -> Iterator[list[str]]:
    """A line per run, printed at the end of a long run."""
    lines: list[str] = []
    yield lines
    if LONG:
        print("\n" + "\n".join([f"{'run':58} {'rows':>8} {'cells':>9} {'differences':>11}", *lines]))


def more_than(reports: list[BatchReport], count: int) -> bool:
    return len(reports) > count


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("source", [*POSTGRES, *MARIADB], ids=str)
def test_the_mirror_equals_the_database(
    rig: Rig, bridge: MakeBridge, matrix: list[str], source: Source, partitions: int, seed: int
) -> None:
    db = source.database(rig)
    workload = Workload(db, source.dialect, seed=seed * 100 + partitions)
    workload.create()
    workload.load(LOADED)
    connector = source.connect(rig, db, partitions=partitions)
    connector.wait_streaming()
    made = bridge(**source.bridge_settings(rig))

    with running(made) as reports:
        for _ in range(SLICES):
            landed = len(reports)
            workload.run(STATEMENTS // SLICES, bulk=1)
            connector.wait_caught_up()
            until(partial(more_than, reports, landed), "the bridge lands a micro-batch", seconds=180)
    workload.close()
    reports += made.run()

    found = source.verdicts(made, db)
    batches = sum(report.version is not None for report in reports)
    matrix.append(summary(f"{source}, partitions {partitions}, seed {seed}, {batches} micro-batches", found))
    assert [each for each in found if not each.equal] == []
    assert batches >= SLICES
    state = made.ledger
    strange = {
        (name, seen.kind): seen.count
        for name in state.tables
        for seen in made.replayed(name).observations
        if seen.kind in STRANGE
    }
    assert strange == {}
    assert set_aside(state) == {}
    assert workload.missing() == set()
