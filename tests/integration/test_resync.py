"""A table rebuilt by the real Debezium: incremental and blocking snapshots, through the signal topic and the table."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from connectors.landing_zone.ledger.state import TableState, TableStatus
from connectors.landing_zone.requests import Action, answer_to, new_request, submit
from connectors.landing_zone.storage.local import LocalStorage
from streaming.lifecycle import forgotten_signals
from tests.rig import Connector, Converter, Database, Rig, until
from tests.rig.equivalence import running
from tests.rig.signalled import SignalledSource
from tests.rig.tables import Dialect
from tests.rig.versioned import unreadable, versioned
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]
SECONDS = 240.0


def resynced(
    made: Bridge, source: SignalledSource, connector: Connector, table: str, write: Callable[[int], None]
) -> TableState:
    """Ask for the table's rebuild and run until it streams again, with a writer at work."""
    state = LocalStorage(made.folder / "zone-state")
    request = new_request(Action.RESYNC, now_ms=1, by="ann@here", table=table)
    submit(state, request)
    deadline = time.monotonic() + SECONDS
    turn = 0
    while True:
        turn += 1
        write(turn)
        connector.wait_caught_up()
        made.run()
        now = made.ledger.tables[table]
        given = answer_to(state, request.id)
        assert given is not None
        assert given.accepted, given
        assert now.status is not TableStatus.PARKED, now.parked
        if now.status is TableStatus.STREAMING:
            connector.wait_caught_up()
            made.run()
            return made.ledger.tables[table]
        assert time.monotonic() < deadline, now


def writer(db: Database, table: str = "orders") -> Callable[[int], None]:
    """Inserts, updates and deletes."""

    def write(turn: int) -> None:
        db.transaction(
            f"INSERT INTO {table} VALUES ({1000 + turn}, 'turn {turn}')",
            f"UPDATE {table} SET name = 'seen in turn {turn}' WHERE id = {turn}",
            f"DELETE FROM {table} WHERE id = {100 + turn}",
        )

    return write


def fill(db: Database, table: str = "orders", rows: int = 300) -> None:
    db.execute(f"CREATE TABLE {table} (id int PRIMARY KEY, name varchar(40))")
    db.execute_many(
        f"INSERT INTO {table} VALUES (%s, %s)", [(number, f"row {number}") for number in range(1, rows + 1)]
    )


def content(db: Database, table: str = "orders") -> list[dict[str, Any]]:
    return [{"id": key, "name": name} for key, name in db.execute(f"SELECT id, name FROM {table} ORDER BY id, name")]


@pytest.mark.parametrize("database", ["postgres", "mariadb"])
def test_an_incremental_snapshot_through_the_signal_topic_rebuilds_a_table_while_it_is_written(
    rig: Rig, cluster: Cluster, bridge: MakeBridge, database: str
) -> None:
    db = rig.postgres() if database == "postgres" else rig.mariadb()
    source = SignalledSource(rig, cluster, db, Converter.JSON_SCHEMA)
    fill(db)
    connector = source.connect()
    made = bridge(**source.settings, source__signals={"topic": source.signals})
    made.run()
    [table] = made.tables()

    after = resynced(made, source, connector, table, writer(db))

    assert (after.generation, after.rebuild) == (2, None)
    assert made.rows(table) == content(db)


def test_a_signal_that_debezium_has_forgotten_is_sent_once_more(
    rig: Rig, cluster: Cluster, bridge: MakeBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kafka Connect is killed while Debezium waits for a table's rows, with a signal behind it and no offset since."""
    # Longer than a busy Debezium is silent before it goes on with the snapshots that it has not forgotten.
    monkeypatch.setattr(forgotten_signals, "SILENT_SECONDS", 20.0)
    db = rig.postgres()
    source = SignalledSource(rig, cluster, db, Converter.JSON_SCHEMA, incremental_snapshot_chunk_size="1")
    names = ("early", "locked", "orders")
    for name, rows in zip(names, (1_500, 1, 300), strict=True):
        fill(db, name, rows)
    connector = source.connect()
    made = bridge(**source.settings, source__signals={"topic": source.signals})
    made.run()

    def asked(*tables: str) -> None:
        for name in tables:
            request = new_request(Action.RESYNC, now_ms=1, by="ann@here", table=f"public.{name}")
            submit(LocalStorage(made.folder / "zone-state"), request)
        made.run()

    with unreadable(db, Dialect.POSTGRESQL, versioned("locked")):
        asked("early", "locked")
        until(lambda: source.scanned("public.early"), "the first table is read")
        asked("orders")
        until(lambda: source.signals_passed() == len(names), "Debezium has passed all signals", poll=0.5)
        rig.worker.kill()

    rig.worker.start()
    with running(made):
        for name in names:
            until(lambda of=name: made.ledger.tables[f"public.{of}"].status is TableStatus.STREAMING, name, seconds=120)
    connector.wait_caught_up()
    made.run()

    for name in names:
        assert (made.ledger.tables[f"public.{name}"].generation, made.rows(f"public.{name}")) == (2, content(db, name))
    assert source.signals_passed() == len(names) + 1


def test_an_incremental_snapshot_through_the_signal_table_rebuilds_a_table_while_it_is_written(
    rig: Rig, cluster: Cluster, bridge: MakeBridge
) -> None:
    db = rig.postgres()
    source = SignalledSource(rig, cluster, db, Converter.JSON_SCHEMA)
    fill(db)
    connector = source.connect()
    made = bridge(
        **source.settings,
        source__signals={"table": "public.debezium_signal"},
        source__database={
            "url": f"postgresql://{db.user}@{db.host}:{db.port}/{db.name}",
            "password": db.password or "unused",
            "unverified": True,
        },
    )
    made.run()

    after = resynced(made, source, connector, "public.orders", writer(db))

    assert (after.generation, after.rebuild) == (2, None)
    assert made.rows("public.orders") == content(db)
    [signal] = db.execute("SELECT type FROM debezium_signal WHERE type = 'execute-snapshot'")
    assert signal == ("execute-snapshot",)


def test_a_blocking_snapshot_rebuilds_a_table_without_key(rig: Rig, cluster: Cluster, bridge: MakeBridge) -> None:
    db = rig.postgres()
    source = SignalledSource(rig, cluster, db, Converter.JSON_SCHEMA)
    db.execute("CREATE TABLE visits (id int, name varchar(40))")
    db.execute_many("INSERT INTO visits VALUES (%s, %s)", [(number, f"visit {number}") for number in range(50)])
    connector = source.connect()
    made = bridge(
        **source.settings,
        source__signals={"topic": source.signals},
        tables__defaults={"policies": {"on_missing_key": "append"}},
    )
    made.run()
    db.execute("INSERT INTO visits VALUES (50, 'streamed')")
    connector.wait_caught_up()
    made.run()

    after = resynced(made, source, connector, "public.visits", lambda turn: None)
    db.execute("INSERT INTO visits VALUES (51, 'behind the snapshot')")
    connector.wait_caught_up()
    made.run()

    assert (after.generation, after.rebuild) == (2, None)
    rows = sorted(made.rows("public.visits", by=None), key=lambda row: int(row["id"]))
    assert rows == content(db, "visits")
