"""Kafka Connect dies in the middle of the workload and sends a tail again: no row doubles, none grows stale."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from connectors.landing_zone.replay import ObservationKind
from tests.rig import Connector, Converter, Rig, until
from tests.rig.equivalence import Source, repeated_events, running
from tests.rig.tables import TABLES, Dialect
from tests.rig.workload import Workload
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

KILLS = 2
TAIL = 1_000
STATEMENTS = 200
# An event that is sent twice is two rows of a table without key, which the guarantees say.
KEYED = tuple(table for table in TABLES if table.key)


def sent_more(connector: Connector, than: int) -> bool:
    return connector.sent() > than


@pytest.mark.parametrize(
    ("dialect", "markers"),
    [(Dialect.POSTGRESQL, "natural"), (Dialect.POSTGRESQL, "safe"), (Dialect.MARIADB, "natural")],
)
def test_a_killed_connect_doubles_no_row_and_leaves_none_stale(
    rig: Rig, bridge: MakeBridge, dialect: Dialect, markers: str
) -> None:
    source = Source(dialect, Converter.JSON_SCHEMA)
    db = source.database(rig)
    workload = Workload(db, dialect, seed=7, tables=KEYED)
    workload.create()
    workload.load(12)
    connector = source.connect(rig, db, partitions=3)
    connector.wait_streaming()
    made = bridge(**source.bridge_settings(rig, KEYED), markers=markers)
    # From here on offsets are committed so seldom that a killed worker sends everything since its start again.
    rig.worker.restart(offset_flush_ms=600_000)

    with running(made):
        for _ in range(KILLS):
            middle = connector.sent() + TAIL
            workload.run(STATEMENTS, bulk=1, bulk_rows=TAIL)
            until(partial(sent_more, connector, middle), "the connector is in the middle of it")
            rig.worker.restart(offset_flush_ms=600_000)
        workload.run(STATEMENTS)
        rig.worker.restart()
        connector.wait_caught_up()
    workload.close()
    made.run()

    assert repeated_events(connector, rig.worker.bootstrap_servers) > KILLS * TAIL
    assert [each for each in source.verdicts(made, db, KEYED) if not each.equal] == []
    doubled = [
        seen
        for name in made.ledger.tables
        for seen in made.replayed(name).observations
        if seen.kind is ObservationKind.INSERT_OF_EXISTING_KEY
    ]
    assert doubled == []
    inserted = {name for name in made.ledger.tables if made.replayed(name).rows_per_marker.get("0")}
    assert bool(inserted) is (markers == "natural")
