"""Initial snapshots of real databases, the first and a second one, while somebody writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from connectors.landing_zone.ledger.state import TableStatus
from tests.rig import Connector, Converter, Database, Rig, until
from tests.rig.equivalence import Source
from tests.rig.tables import Dialect, Table
from tests.rig.versioned import Gate, create, stale_values, versioned, writing
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

ORDERS = versioned("orders")
ROWS = 600
MIDDLE = ROWS // 2
SELDOM = 600_000
"""Milliseconds between two commits of offsets that never come in a test."""


def mirrored(db: Database, table: Table = ORDERS) -> str:
    return f"{db.schema}.{table.name}"


def wait_sent(connector: Connector, records: int) -> None:
    until(lambda: connector.sent() >= records, f"{records} records are sent")


def marked(folder: Path) -> list[bool]:
    """Whether the table's files have row markers, in order of number."""
    return ["__rowMarker__" in pq.read_schema(file).names for file in sorted(folder.glob("*.parquet"))]


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("dialect", Dialect)
def test_the_first_snapshot_loads_without_markers_and_hands_over_to_the_stream(
    rig: Rig, bridge: MakeBridge, dialect: Dialect, partitions: int
) -> None:
    source = Source(dialect, Converter.JSON_SCHEMA)
    db = source.database(rig)
    create(db, dialect, [ORDERS], ROWS)
    with writing(db, [ORDERS], ROWS) as written:
        with Gate(db, dialect, ORDERS, MIDDLE) as gate:
            connector = rig.connect(db, partitions=partitions, **gate.options)
            wait_sent(connector, MIDDLE)
            made = bridge()
            made.run()
            assert made.ledger.tables[mirrored(db)].status is TableStatus.LOADING
        connector.wait_streaming()
        written.wait_more(20)
        made.run()
    connector.wait_caught_up()
    made.run()

    table = made.ledger.tables[mirrored(db)]
    assert (table.status, table.generation) == (TableStatus.STREAMING, 1)
    folder = made.zone / f"{db.schema}.schema" / ORDERS.name
    assert marked(folder)[0] is False
    assert marked(folder) == sorted(marked(folder))
    assert marked(folder)[-1] is True
    metadata = made.metadata(f"{db.schema}.schema/{ORDERS.name}")
    assert (metadata["keyColumns"], metadata["isUpsertDefaultRowMarker"]) == (["id"], True)
    assert [each for each in source.verdicts(made, db, [ORDERS]) if not each.equal] == []
    assert stale_values(made, mirrored(db)) == []


@pytest.mark.parametrize(("dialect", "partitions"), [(Dialect.POSTGRESQL, 3), (Dialect.MARIADB, 1)])
def test_a_snapshot_that_begins_again_after_a_kill_is_the_tables_only_one(
    rig: Rig, bridge: MakeBridge, dialect: Dialect, partitions: int
) -> None:
    source = Source(dialect, Converter.JSON_SCHEMA)
    db = source.database(rig)
    create(db, dialect, [ORDERS], ROWS)
    made = bridge(landing_zone__release_wait="0s")
    with Gate(db, dialect, ORDERS, MIDDLE) as gate:
        connector = rig.connect(db, partitions=partitions, **gate.options)
        wait_sent(connector, MIDDLE)
        made.run()
        rig.worker.kill()
    assert made.ledger.tables[mirrored(db)].status is TableStatus.LOADING
    db.execute("DELETE FROM orders WHERE id <= 50")

    with writing(db, [ORDERS], ROWS) as written:
        rig.worker.start()
        connector.wait_streaming()
        made.run()
        written.wait_more(20)
    connector.wait_caught_up()
    made.run()

    table = made.ledger.tables[mirrored(db)]
    assert (table.status, table.generation) == (TableStatus.STREAMING, 2)
    assert [each for each in source.verdicts(made, db, [ORDERS]) if not each.equal] == []
    assert stale_values(made, mirrored(db)) == []


@pytest.mark.parametrize(("dialect", "partitions"), [(Dialect.POSTGRESQL, 1), (Dialect.MARIADB, 3)])
def test_a_worker_killed_before_its_first_commit_of_offsets_leaves_no_row_that_was_deleted_unseen(
    rig: Rig, bridge: MakeBridge, dialect: Dialect, partitions: int
) -> None:
    source = Source(dialect, Converter.JSON_SCHEMA)
    db = source.database(rig)
    create(db, dialect, [ORDERS], ROWS)
    rig.worker.restart(offset_flush_ms=SELDOM)
    connector = rig.connect(db, partitions=partitions)
    wait_sent(connector, ROWS + 1)
    with writing(db, [ORDERS], ROWS) as written:
        written.wait_more(100)
    wait_sent(connector, ROWS + 50)
    made = bridge(landing_zone__release_wait="0s")
    made.run()
    assert connector.offset() == {}
    rig.worker.kill()
    db.execute("DELETE FROM orders WHERE id <= 50")

    with writing(db, [ORDERS], ROWS * 2, seed=6) as written:
        rig.worker.start()
        connector.wait_streaming()
        made.run()
        written.wait_more(20)
    connector.wait_caught_up()
    made.run()

    table = made.ledger.tables[mirrored(db)]
    assert (table.status, table.generation) == (TableStatus.STREAMING, 2)
    assert [each for each in source.verdicts(made, db, [ORDERS]) if not each.equal] == []


def snapshot_again(db: Database, connector: Connector, *, gone: str) -> None:
    """A second initial snapshot, before which rows go away unseen."""
    connector.delete()
    db.execute(gone)
    connector.create()
    connector.forget_offsets()
    db.forget(connector.name)
    connector.resume()
    connector.wait_streaming()


@pytest.mark.parametrize(
    ("dialect", "partitions", "streamed"),
    [(Dialect.POSTGRESQL, 3, True), (Dialect.MARIADB, 1, True), (Dialect.POSTGRESQL, 1, False)],
)
def test_a_recreated_connector_leaves_no_row_that_was_deleted_unseen(
    rig: Rig, bridge: MakeBridge, dialect: Dialect, partitions: int, streamed: bool
) -> None:
    source = Source(dialect, Converter.JSON_SCHEMA)
    visits = versioned("visits", key=())
    db = source.database(rig)
    create(db, dialect, [ORDERS], ROWS)
    create_more(db, dialect, visits)
    connector = rig.connect(db, partitions=1 if not streamed else partitions)
    connector.wait_streaming()
    made = bridge(
        landing_zone__release_wait="0s",
        tables__overrides=[{"match": "*.visits", "policies": {"on_missing_key": "append"}}],
    )
    made.run()
