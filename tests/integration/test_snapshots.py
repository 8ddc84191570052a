"""Initial snapshots of real databases, the first and a second one, while somebody writes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from connectors.landing_zone.ledger.state import TableState, TableStatus
from tests.rig import Connector, Converter, Database, Rig, until
from tests.rig.equivalence import Source
from tests.rig.tables import Dialect, Table
from tests.rig.versioned import Gate, create, stale_values, versioned, writing
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

ORDERS = versioned("orders")
VISITS = versioned("visits", key=())
APPENDED = [{"match": "*.visits", "policies": {"on_missing_key": "append"}}]
ROWS = 1_500
MIDDLE = 1_000
"""Where a gate is; enough rows that MariaDB's buffer for the network is full before."""
SELDOM = 600_000
"""Milliseconds between two commits of offsets that never come in a test."""


def mirrored(made: Bridge, table: Table = ORDERS) -> tuple[str, TableState]:
    """The table's name in the mirror, and what the ledger says of it."""
    [found] = [(name, state) for name, state in made.ledger.tables.items() if state.source[2] == table.name]
    return found


def wait_sent(connector: Connector, records: int) -> None:
    until(lambda: connector.sent() >= records, f"{records} records are sent")


def marked(folder: Path) -> list[bool]:
    """Whether the table's files have row markers, in order of number."""
    return ["__rowMarker__" in pq.read_schema(file).names for file in sorted(folder.glob("*.parquet"))]


@pytest.mark.parametrize(
    ("dialect", "partitions"), [(Dialect.POSTGRESQL, 1), (Dialect.POSTGRESQL, 3), (Dialect.MARIADB, 3)]
)
def test_the_first_snapshot_loads_without_markers_and_hands_over_to_the_stream(
    rig: Rig, bridge: MakeBridge, dialect: Dialect, partitions: int
) -> None:
    source = Source(dialect, Converter.JSON_SCHEMA)
    db = source.database(rig)
    create(db, dialect, [ORDERS], ROWS)
    with ExitStack() as closed:
        gate = closed.enter_context(Gate(db, dialect, ORDERS, MIDDLE))
        connector = rig.connect(db, partitions=partitions, **gate.options)
        wait_sent(connector, MIDDLE // 2)
        with writing(db, [ORDERS], ROWS) as written:
            made = bridge()
            made.run()
            assert mirrored(made)[1].status is TableStatus.LOADING
            closed.close()
            connector.wait_streaming()
            written.wait_more(20)
            made.run()
    connector.wait_caught_up()
    made.run()

    name, table = mirrored(made)
    assert (table.status, table.generation) == (TableStatus.STREAMING, 1)
    folder = made.zone / table.folder
    assert marked(folder)[0] is False
    assert marked(folder) == sorted(marked(folder))
    assert marked(folder)[-1] is True
    metadata = made.metadata(table.folder)
    assert (metadata["keyColumns"], metadata["isUpsertDefaultRowMarker"]) == (["id"], True)
    assert [each for each in source.verdicts(made, db, [ORDERS]) if not each.equal] == []
    assert stale_values(made, name) == []


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
        wait_sent(connector, MIDDLE // 2)
        made.run()
        rig.worker.kill()
    assert mirrored(made)[1].status is TableStatus.LOADING
    db.execute("DELETE FROM orders WHERE id <= 50")

    with writing(db, [ORDERS], ROWS) as written:
        rig.worker.start()
        connector.wait_streaming()
        made.run()
        written.wait_more(20)
    connector.wait_caught_up()
    made.run()

    name, table = mirrored(made)
    assert (table.status, table.generation) == (TableStatus.STREAMING, 2)
    assert [each for each in source.verdicts(made, db, [ORDERS]) if not each.equal] == []
    assert stale_values(made, name) == []


@pytest.mark.parametrize(("dialect", "partitions"), [(Dialect.POSTGRESQL, 1), (Dialect.MARIADB, 3)])
def test_a_worker_killed_before_its_first_commit_of_offsets_leaves_no_row_that_was_deleted_unseen(
    rig: Rig, bridge: MakeBridge, dialect: Dialect, partitions: int
) -> None:
    source = Source(dialect, Converter.JSON_SCHEMA)
    db = source.database(rig)
    create(db, dialect, [ORDERS], ROWS)
    rig.worker.restart(offset_flush_ms=SELDOM)
    connector = rig.connect(db, partitions=partitions)
    wait_sent(connector, ROWS)
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

    table = mirrored(made)[1]
    assert (table.status, table.generation) == (TableStatus.STREAMING, 2)
    assert [each for each in source.verdicts(made, db, [ORDERS]) if not each.equal] == []


def snapshot_again(db: Database, connector: Connector, *unseen: str) -> None:
    """Delete the connector and its offsets, do something that no connector sees, and make it again."""
    connector.forget_offsets()
    connector.delete()
    for statement in unseen:
        db.execute(statement)
    connector.create()
    connector.wait_streaming()


@pytest.mark.parametrize(("dialect", "partitions"), [(Dialect.POSTGRESQL, 3), (Dialect.MARIADB, 1)])
def test_a_recreated_connector_leaves_no_row_that_was_deleted_unseen(
    rig: Rig, bridge: MakeBridge, dialect: Dialect, partitions: int
) -> None:
    source = Source(dialect, Converter.JSON_SCHEMA)
    tables = [ORDERS, VISITS]
    db = source.database(rig)
    create(db, dialect, tables, ROWS)
    connector = rig.connect(db, partitions=partitions)
    connector.wait_streaming()
    made = bridge(landing_zone__release_wait="0s", tables__overrides=APPENDED)
    made.run()
    with writing(db, tables, ROWS) as written:
        written.wait_more(50)
        connector.wait_caught_up()
        made.run()
        snapshot_again(db, connector, "DELETE FROM orders WHERE id <= 50", "DELETE FROM visits WHERE id <= 50")
        made.run()
        written.wait_more(50)
    connector.wait_caught_up()
    made.run()

    for table in tables:
        name, state = mirrored(made, table)
        assert (state.status, state.generation) == (TableStatus.STREAMING, 2)
        assert not table.key or stale_values(made, name) == []
    assert [each for each in source.verdicts(made, db, tables) if not each.equal] == []


@pytest.mark.parametrize("policy", ["upsert", "park"])
def test_other_policies_keep_what_the_second_snapshot_does_not_have(rig: Rig, bridge: MakeBridge, policy: str) -> None:
    db = rig.postgres()
    create(db, Dialect.POSTGRESQL, [ORDERS], 3)
    connector = rig.connect(db)
    connector.wait_streaming()
    made = bridge(tables__defaults={"policies": {"on_resnapshot": policy}})
    made.run()
    before = made.rows()

    snapshot_again(db, connector, "DELETE FROM orders WHERE id = 1", "UPDATE orders SET version = 7 WHERE id = 2")
    made.run()

    parked = mirrored(made)[1].parked
    if policy == "park":
        assert parked is not None
        assert parked.reason == "second_snapshot"
        assert made.rows() == before
    else:
        assert parked is None
        assert [(row["id"], row["version"]) for row in made.rows()] == [(1, 0), (2, 7), (3, 0)]
