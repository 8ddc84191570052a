"""A table that stops at what its source sends, or leaves out, is rebuilt while somebody keeps writing to it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import pytest

from connectors.landing_zone.ledger.state import TableStatus
from tests.integration.conftest import Json
from tests.rig import Converter, Database, Rig
from tests.rig.equivalence import running
from tests.rig.judge import Verdict, compare, select
from tests.rig.live import Live, wait
from tests.rig.signalled import SignalledSource
from tests.rig.tables import BIGINT, INT, WIDE, Column, Dialect, Table
from tests.rig.versioned import create, versioned, writing
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

ROWS = 200
OTHER = versioned("other")
BETWEEN = 50
"""Statements that are written before each step of a test."""


def different(made: Bridge, db: Database, dialect: Dialect, tables: Iterable[Table]) -> list[Verdict]:
    """Tables whose mirror is not what the database has, cell by cell."""
    found = [compare(table, select(db, dialect, table), made.replayed(f"{db.schema}.{table.name}")) for table in tables]
    return [each for each in found if not each.equal or not each.rows]


def test_a_table_parked_for_want_of_a_large_value_is_rebuilt_under_full_replica_identity_while_it_is_written(
    rig: Rig, cluster: Cluster, bridge: MakeBridge, as_json: Json
) -> None:
    documents = Table("documents", (Column("id", INT), Column("version", BIGINT), Column("note", WIDE)))
    db = rig.postgres()
    create(db, Dialect.POSTGRESQL, (documents, OTHER), ROWS)
    source = random.Random(3)
    large = [(WIDE.draw(source), key) for key in range(0, ROWS, 5)]
    db.execute_many("UPDATE documents SET note = %s WHERE id = %s", large)
    signalled = SignalledSource(
        rig, cluster, db, Converter.JSON_SCHEMA, partitions=3, incremental_snapshot_chunk_size="50"
    )
    connector = signalled.connect()
    made = bridge(
        **signalled.settings,
        source__signals={"topic": signalled.signals},
        trigger__interval="0s",
        requests__interval="500ms",
    )
    path, live = made.write_settings(), Live(db, made)

    with running(made):
        wait(lambda: live.landed("documents", 1), "the first snapshot lands")
        with writing(db, (documents, OTHER), ROWS) as written:
            wait(lambda: live.parked("documents") == "unavailable_value", "the table parks")
            written.wait_more(BETWEEN)
            files = made.ledger.tables["public.other"].sequence
            wait(lambda: live.landed("other", files + 1), "the other table goes on landing")
            db.execute("ALTER TABLE documents REPLICA IDENTITY FULL")
            written.wait_more(BETWEEN)
            connector.wait_caught_up()
            statements, landed = written.statements, made.ledger.tables["public.other"].sequence
            code, answer = as_json("resync", path, "public.documents")
            assert (code, answer["done"], answer["status"]) == (0, True, "streaming")
            assert written.statements > statements + BETWEEN, "rows were written while the table was filled"
            assert live.landed("other", landed + 1), "and those of the other table landed"
            written.wait_more(BETWEEN)
        connector.wait_caught_up()
    made.run()

    assert live.rebuilt("documents")
    assert different(made, db, Dialect.POSTGRESQL, (documents, OTHER)) == []
    kept = [row for row in made.rows("public.documents") if len(row["note"]) > 4_000]
    assert any(row["version"] for row in kept), "an update left a large value alone, and the mirror has it"


@pytest.mark.parametrize("dialect", Dialect)
def test_a_truncated_table_of_several_partitions_has_no_row_of_before_though_it_is_written_all_the_while(
    rig: Rig, cluster: Cluster, bridge: MakeBridge, dialect: Dialect
) -> None:
    pages = versioned("pages")
    db = rig.postgres() if dialect is Dialect.POSTGRESQL else rig.mariadb()
    create(db, dialect, (pages, OTHER), ROWS)
    signalled = SignalledSource(
        rig,
        cluster,
        db,
        Converter.JSON_SCHEMA,
        partitions=3,
        skipped_operations="none",
        incremental_snapshot_chunk_size="50",
    )
    connector = signalled.connect()
    made = bridge(
        **signalled.settings,
        source__signals={"topic": signalled.signals},
        tables__overrides=[{"match": "*.pages", "policies": {"on_truncate": "rebuild"}}],
        tables__naming={"schema": "{schema}" if dialect is Dialect.POSTGRESQL else "{database}"},
        trigger__interval="0s",
    )
    live = Live(db, made)

    with running(made):
        wait(lambda: live.landed("pages", 1), "the first snapshot lands")
        with writing(db, (pages, OTHER), ROWS) as written:
            written.wait_more(BETWEEN)
            wait(lambda: live.landed("pages", 2), "changes land beside the snapshot")
            assert len(live.rows("pages")) > ROWS / 2
            db.execute("TRUNCATE TABLE pages")
            written.wait_more(BETWEEN)
            wait(lambda: live.rebuilt("pages"), "the table is rebuilt")
            written.wait_more(BETWEEN)
        connector.wait_caught_up()
    made.run()

    state = live.state("pages")
    assert state is not None
    assert (state.status, state.generation, state.parked) == (TableStatus.STREAMING, 2, None)
    assert different(made, db, dialect, (pages, OTHER)) == []
    assert [row for row in live.rows("pages") if row["note"] == "at first"] == []
