"""Snapshots of which the rows alone do not tell what they are: real Debezium's notifications do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from connectors.kafka.config import KafkaConfig
from connectors.kafka.signals import Notification, SnapshotProgress, notifications_since
from connectors.landing_zone.ledger.state import TableState, TableStatus
from tests.rig import Connector, Converter, Database, Rig, until
from tests.rig.equivalence import Source
from tests.rig.tables import Dialect
from tests.rig.versioned import create, versioned
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

ORDERS, PARTS = versioned("orders"), versioned("parts")
ROWS = 20
SECONDS = 240.0


class Channels:
    """The connector's table for signals, and a topic for what it tells."""

    def __init__(self, cluster: Cluster, db: Database, dialect: Dialect) -> None:
        self._config, self._notifications = KafkaConfig(cluster.bootstrap_servers), cluster.own_topic("notifications")
        self.connector: dict[str, Any] = {
            "notification_enabled_channels": "sink",
            "notification_sink_topic_name": self._notifications,
        }
        self.bridge: dict[str, Any] = {
            "source__signals": {"table": f"{db.schema}.debezium_signal"},
            "source__database": {
                "url": f"{dialect.value}://{db.user}@{db.host}:{db.port}/{db.name}",
                "password": db.password or "unused",
                "unverified": True,
            },
            "source__notifications_topic": self._notifications,
            "landing_zone__release_wait": "0s",
        }

    def told(self, progress: SnapshotProgress) -> list[Notification]:
        told = notifications_since(self._config, self._notifications, {})
        return [each for each in told if each.progress is progress]


def orders(made: Bridge) -> TableState:
    [found] = [table for table in made.ledger.tables.values() if table.source[2] == ORDERS.name]
    return found


def keys(made: Bridge) -> list[int]:
    return sorted(row["id"] for row in made.rows(orders(made).folder))


def insert(db: Database, key: int) -> None:
    db.execute(f"INSERT INTO orders (id, version) VALUES ({key}, 0)")


def begin_anew_with_empty_tables(connector: Connector, db: Database, channels: Channels) -> None:
    """Make the connector anew when both tables are empty, and wait until it has read them: it has sent no row."""
    connector.forget_offsets()
    connector.delete()
    db.execute("DELETE FROM orders")
    db.execute("DELETE FROM parts")
    connector.create()
    until(lambda: len(channels.told(SnapshotProgress.COMPLETED)) == 2, "the empty tables are read", seconds=120)


def run_until_rebuilt(made: Bridge) -> None:
    """Drain the topics again and again until every table streams in its second generation."""
    deadline = time.monotonic() + SECONDS
    while {(table.generation, table.status) for table in made.ledger.tables.values()} != {(2, TableStatus.STREAMING)}:
        assert time.monotonic() < deadline, made.ledger.tables
        made.run()


@pytest.mark.parametrize("dialect", Dialect)
def test_a_table_that_a_second_initial_snapshot_finds_empty_loses_its_stale_rows(
    rig: Rig, cluster: Cluster, bridge: MakeBridge, dialect: Dialect
) -> None:
    source = Source(dialect, Converter.JSON_SCHEMA)
    db = source.database(rig)
    create(db, dialect, (ORDERS, PARTS), ROWS)
    channels = Channels(cluster, db, dialect)
    connector = rig.connect(db, **channels.connector)
    connector.wait_streaming()
    made = bridge(**channels.bridge)
    made.run()
    assert orders(made).generation == 1

    connector.forget_offsets()
    connector.delete()
    db.execute("DELETE FROM orders")
    connector.create()
    connector.wait_streaming()
    insert(db, 7)
    deadline = time.monotonic() + SECONDS
    while (orders(made).generation, orders(made).status) != (2, TableStatus.STREAMING):
        assert time.monotonic() < deadline, orders(made)
        connector.wait_caught_up()
        made.run()
    insert(db, 8)
    connector.wait_caught_up()
    made.run()

    assert (orders(made).status, orders(made).generation) == (TableStatus.STREAMING, 2)
    assert [each for each in source.verdicts(made, db, (ORDERS, PARTS)) if not each.equal] == []


def test_all_rows_go_though_the_run_that_finds_every_table_empty_ends_without_a_record(
    rig: Rig, cluster: Cluster, bridge: MakeBridge
) -> None:
    source = Source(Dialect.POSTGRESQL, Converter.JSON_SCHEMA)
    db = source.database(rig)
    create(db, Dialect.POSTGRESQL, (ORDERS, PARTS), ROWS)
    channels = Channels(cluster, db, Dialect.POSTGRESQL)
    connector = rig.connect(db, **channels.connector)
    connector.wait_streaming()
    made = bridge(**channels.bridge)
    made.run()

    sent = connector.sent()
    begin_anew_with_empty_tables(connector, db, channels)
    until(connector.has_finished_snapshot, "where the snapshot ended is recorded", seconds=120)
    rig.worker.kill()
    rig.worker.start()
    until(lambda: bool(channels.told(SnapshotProgress.SKIPPED)), "the connector has begun again", seconds=120)
    assert connector.sent() == sent
    run_until_rebuilt(made)
    assert made.tables() == []

    insert(db, 7)
    connector.wait_caught_up()
    made.run()
    assert (made.tables(), orders(made).generation) == (["public.orders"], 2)
    assert [each for each in source.verdicts(made, db, (ORDERS,)) if not each.equal] == []


def test_the_record_of_a_schema_change_shows_the_run_that_finds_every_table_empty(
    rig: Rig, cluster: Cluster, bridge: MakeBridge
) -> None:
    source = Source(Dialect.MARIADB, Converter.JSON_SCHEMA)
    db = source.database(rig)
    create(db, Dialect.MARIADB, (ORDERS, PARTS), ROWS)
    channels = Channels(cluster, db, Dialect.MARIADB)
    connector = rig.connect(db, **channels.connector)
    connector.wait_streaming()
    made = bridge(kafka__pattern=rf"{cluster.prefix}(\..*)?", **channels.bridge)
    made.run()

    sent = connector.sent()
    begin_anew_with_empty_tables(connector, db, channels)
    assert connector.sent() == sent
    run_until_rebuilt(made)
    assert made.tables() == []


def test_a_blocking_snapshot_right_after_a_restart_is_not_taken_for_a_second_initial_one(
    rig: Rig, cluster: Cluster, bridge: MakeBridge
) -> None:
    source = Source(Dialect.POSTGRESQL, Converter.JSON_SCHEMA)
    db = source.database(rig)
    create(db, Dialect.POSTGRESQL, (ORDERS,), ROWS)
    channels = Channels(cluster, db, Dialect.POSTGRESQL)
    connector = rig.connect(db, **channels.connector)
    connector.wait_streaming()
    made = bridge(**channels.bridge)
    made.run()

    rig.worker.kill()
    rig.worker.start()
    until(lambda: bool(channels.told(SnapshotProgress.SKIPPED)), "the connector has begun again", seconds=120)
    db.signal(
        "ask",
        "execute-snapshot",
        '{"type": "BLOCKING", "data-collections": ["public.orders"], "additional-conditions": '
        '[{"data-collection": "public.orders", "filter": "SELECT * FROM public.orders WHERE id <= 2"}]}',
    )
    until(lambda: len(channels.told(SnapshotProgress.COMPLETED)) == 2, "the table is read", seconds=120)
    connector.wait_caught_up()
    made.run()

    assert (orders(made).status, orders(made).generation) == (TableStatus.STREAMING, 1)
    assert [each for each in source.verdicts(made, db, (ORDERS,)) if not each.equal] == []
