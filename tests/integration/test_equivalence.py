"""The mirrored tables equal the database: a random workload on real databases through real Debezium, cell by cell.

Quick by default. ``CDC_BRIDGE_EQUIVALENCE=long`` (``make equivalence``) runs several times as much under several seeds,
and keeps what it has found for docs/equivalence.md (:mod:`tests.rig.equivalence_report`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial

import pytest

from streaming.driver.batch import BatchReport
from streaming.reconciling.outcome import TableOutcome
from tests.rig import Connector, Converter, Database, Rig, until
from tests.rig.equivalence import MARIADB, POSTGRES, Source, running, set_aside
from tests.rig.equivalence_report import Run, keep
from tests.rig.judge import STRANGE, Verdict
from tests.rig.reconciling import (
    RANGE_ROWS,
    acknowledging,
    copied,
    damage_bag,
    damage_rows,
    not_equal,
    reconciled,
    source_section,
)
from tests.rig.tables import BULK, COMPOSITE, NO_KEY, Dialect
from tests.rig.workload import Workload
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

LONG = os.environ.get("CDC_BRIDGE_EQUIVALENCE") == "long"
SEEDS = (1, 2) if LONG else (1,)
STATEMENTS = 4_000 if LONG else 600
LOADED = 50 if LONG else 12
SLICES = 5 if LONG else 3


# Names as the database has them, and as they are adjusted for Avro.
RECONCILED = {
    (Source(Dialect.POSTGRESQL, Converter.AVRO), 3, 1),
    (Source(Dialect.MARIADB, Converter.JSON_SCHEMA), 1, 1),
}


def more_than(reports: list[BatchReport], count: int) -> bool:
    return len(reports) > count


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("source", [*POSTGRES, *MARIADB], ids=str)
def test_the_mirror_equals_the_database(
    rig: Rig, bridge: MakeBridge, source: Source, partitions: int, seed: int
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
    outcomes = reconciled(made, source_section(rig, db, connector)) if judged_twice(source, partitions, seed) else []
    if LONG:
        keep(run_of(source, partitions, seed, workload, batches, found, outcomes))
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
    if outcomes:
        assert not_equal(outcomes) == []
        assert {each.name for each in outcomes} == set(state.tables)
        assert all(each.ranges == -(-each.source_rows // RANGE_ROWS) for each in outcomes)
        assert damage_is_found(rig, made, db, connector) == []


def judged_twice(source: Source, partitions: int, seed: int) -> bool:
    return LONG or (source, partitions, seed) in RECONCILED


def damage_is_found(rig: Rig, made: Bridge, db: Database, connector: Connector) -> list[str]:
    """What `reconcile` says of tables in which it does not find just the rows that were damaged."""
    copy = copied(made, made.folder.with_name("damaged"))
    names = {table.source[2]: name for name, table in copy.ledger.tables.items()}
    damages = {
        damage.table: damage
        for damage in (
            damage_rows(copy, names[COMPOSITE.name], "note"),
            damage_rows(copy, names[BULK.name], "payload"),
            damage_bag(copy, names[NO_KEY.name], "line"),
        )
    }
    with acknowledging(db):
        outcomes = reconciled(copy, source_section(rig, db, connector), list(damages))
    assert [each.name for each in outcomes] == list(damages)
    assert min(each.ranges for each in outcomes) > 3
    return [
        f"{each.name}: {each.verdict}, {each.reason}, {dict(each.counts)}, {each.shown} instead of {damages[each.name]}"
        for each in outcomes
        if not damages[each.name].found_by(each)
    ]


def run_of(
    source: Source,
    partitions: int,
    seed: int,
    workload: Workload,
    batches: int,
    found: Sequence[Verdict],
    outcomes: Sequence[TableOutcome],
) -> Run:
    return Run(
        source=str(source),
        partitions=partitions,
        seed=seed,
        rows=sum(each.rows for each in found),
        cells=sum(each.cells for each in found),
        batches=batches,
        differences=sum(each.missing + each.extra + each.different for each in found),
        existing_keys=sum(each.doubled for each in found),
        changes=dict(workload.changes),
        reconciled=len(outcomes),
        ranges=sum(each.ranges for each in outcomes),
        not_equal=len(not_equal(outcomes)),
    )
