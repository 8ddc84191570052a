"""Snapshots that somebody asks Debezium for beside the bridge, and events sent again, while somebody writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
from confluent_kafka import Producer

from connectors.kafka.config import KafkaConfig
from connectors.kafka.signals import (
    SIGNAL_PARTITION,
    Notification,
    SnapshotKind,
    SnapshotProgress,
    collection_pattern,
    notifications_since,
)
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.replay import ObservationKind
from tests.rig import Connector, Converter, Database, Rig, until
from tests.rig.equivalence import Source, repeated_events
from tests.rig.tables import Dialect, Table
from tests.rig.versioned import create, stale_values, unreadable, versioned, writing
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

ORDERS, PARTS, UNREADABLE = versioned("orders"), versioned("parts"), versioned("unreadable")
TABLES = (ORDERS, PARTS)
ROWS = 800
CHUNK = 10
KILLS = 2
TAIL = 400
SELDOM = 600_000
"""Milliseconds between two commits of offsets that never come in a test."""


class Snapshots:
    """A connector's signals and what it says of its snapshots."""

    def __init__(self, cluster: Cluster) -> None:
        self._config = KafkaConfig(cluster.bootstrap_servers)
        self._prefix = cluster.prefix
        self._signals = cluster.own_topic("signals")
        self._notifications = cluster.own_topic("notifications")
        self.options: dict[str, Any] = {
            "incremental_snapshot_chunk_size": str(CHUNK),
            "signal_enabled_channels": "source,kafka",
            "signal_kafka_topic": self._signals,
            "signal_kafka_bootstrap_servers": cluster.bootstrap_servers,
            "notification_enabled_channels": "sink",
            "notification_sink_topic_name": self._notifications,
        }

    def ask_topic(self, db: Database, tables: Sequence[Table], kind: SnapshotKind) -> None:
        """Ask for the tables' snapshot through the signal topic.

        In one signal: Debezium takes the next one up when it can read the table of the one before, and forgets it when
        it is killed meanwhile.
        """
        names = [collection_pattern(db.schema, table.name) for table in tables]
        signal = {"id": "ask", "type": "execute-snapshot", "data": {"type": kind.value, "data-collections": names}}
        producer = Producer({"bootstrap.servers": self._config.bootstrap_servers})
        producer.produce(self._signals, json.dumps(signal), self._prefix, partition=SIGNAL_PARTITION)
        assert producer.flush(30) == 0

    def ask_table(self, db: Database, tables: Sequence[Table], kind: SnapshotKind) -> None:
        """Ask for the tables' snapshot through the signalling table."""
        names = [collection_pattern(db.schema, table.name) for table in tables]
        db.signal("ask", "execute-snapshot", json.dumps({"type": kind.value, "data-collections": names}))

    def wait_begun(self) -> None:
        """Return once the connector has said that it reads a chunk."""
        until(lambda: bool(self._told(SnapshotProgress.IN_PROGRESS)), "a snapshot has begun", seconds=120)

    def complete(self, db: Database, tables: Sequence[Table] = TABLES) -> bool:
        """Whether the connector has said of each table that it was read."""
        told = self._told(SnapshotProgress.TABLE_SCAN_COMPLETED)
        names = {each.details.get("scanned_collection", "").removeprefix(f"{db.name}.") for each in told}
        return {f"{db.schema}.{table.name}".removeprefix(f"{db.name}.") for table in tables} <= names

    def _told(self, progress: SnapshotProgress) -> list[Notification]:
        told = notifications_since(self._config, self._notifications, {})
        return [each for each in told if each.progress is progress]


def stale(made: Bridge) -> list[str]:
    return [each for name in made.ledger.tables for each in stale_values(made, name)]


@pytest.mark.parametrize(
    ("dialect", "channel", "read_only"),
    [
        (Dialect.POSTGRESQL, "topic", True),
        (Dialect.POSTGRESQL, "table", False),
        (Dialect.MARIADB, "topic", True),
        (Dialect.MARIADB, "table", False),
    ],
)
def test_an_incremental_snapshot_interrupted_by_a_kill_leaves_every_row_as_it_is(
    rig: Rig, cluster: Cluster, bridge: MakeBridge, dialect: Dialect, channel: str, read_only: bool
) -> None:
    source = Source(dialect, Converter.JSON_SCHEMA)
    db = source.database(rig)
    create(db, dialect, TABLES, ROWS)
    create(db, dialect, (UNREADABLE,), 1)
    snapshots = Snapshots(cluster)
    more: dict[str, Any] = {"read_only": "true", "signal_enabled_channels": "kafka"} if read_only else {}
    connector = rig.connect(db, **{**snapshots.options, **more, "snapshot_mode": "no_data"})
    connector.wait_streaming()
    with ExitStack() as work:
        if not read_only:
            work.enter_context(writing(db, TABLES, ROWS))
        with unreadable(db, dialect, UNREADABLE):
            asked = (ORDERS, UNREADABLE, PARTS)
            if channel == "table":
                snapshots.ask_table(db, asked, SnapshotKind.INCREMENTAL)
            else:
                snapshots.ask_topic(db, asked, SnapshotKind.INCREMENTAL)
            snapshots.wait_begun()
            if read_only:
                # Were a row changed any earlier, two threads of Debezium would read the first chunk: docs/snapshots.md.
                work.enter_context(writing(db, TABLES, ROWS))
            # Else it has forgotten what the topic has asked it, as it may (Debezium stores that with its offset).
            until(lambda: "incremental_snapshot_collections" in connector.offset(), "the offset tells of the snapshot")
            rig.worker.kill()
        assert not snapshots.complete(db)
        made = bridge()
        made.run()
        rig.worker.start()
        until(lambda: snapshots.complete(db), "both tables are read", seconds=120)
    connector.wait_caught_up()
    made.run()

    assert [each for each in source.verdicts(made, db, (*TABLES, UNREADABLE)) if not each.equal] == []
    assert stale(made) == []
    assert {table.generation for table in made.ledger.tables.values()} == {1}
    [(windows,)] = db.execute("SELECT count(*) FROM debezium_signal WHERE type LIKE 'snapshot-window%'")
    assert (windows == 0) is read_only


@pytest.mark.parametrize("dialect", Dialect)
def test_a_blocking_snapshot_brings_the_rows_that_the_stream_has_not(
    rig: Rig, cluster: Cluster, bridge: MakeBridge, dialect: Dialect
) -> None:
    source = Source(dialect, Converter.JSON_SCHEMA)
    db = source.database(rig)
    create(db, dialect, TABLES, ROWS)
    snapshots = Snapshots(cluster)
    connector = rig.connect(db, **{**snapshots.options, "snapshot_mode": "no_data"})
    with writing(db, TABLES, ROWS) as written:
        connector.wait_streaming()
        written.wait_more(50)
        connector.wait_caught_up()
        made = bridge()
        made.run()
        snapshots.ask_table(db, TABLES, SnapshotKind.BLOCKING)
        until(lambda: snapshots.complete(db), "both tables are read", seconds=120)
        written.wait_more(50)
    connector.wait_caught_up()
    made.run()

    assert [each for each in source.verdicts(made, db, TABLES) if not each.equal] == []
    assert {table.status for table in made.ledger.tables.values()} == {TableStatus.STREAMING}
    assert {table.generation for table in made.ledger.tables.values()} == {1}


@pytest.mark.parametrize("dialect", Dialect)
def test_a_tail_that_is_sent_again_and_landed_at_once_shows_no_older_value_and_no_second_row(
    rig: Rig, bridge: MakeBridge, dialect: Dialect
) -> None:
    source = Source(dialect, Converter.JSON_SCHEMA)
    db = source.database(rig)
    create(db, dialect, TABLES, ROWS)
    connector = rig.connect(db, partitions=3)
    connector.wait_streaming()
    made = bridge(markers="natural")
    made.run()
    with writing(db, TABLES, ROWS) as written:
        # Rows are proven new in the first connector run alone.
        until(partial(sent_more, connector, connector.sent() + TAIL), "the first run has sent changes")
        made.run()
        for _ in range(KILLS):
            rig.worker.restart(offset_flush_ms=SELDOM)
            middle = connector.sent() + TAIL
            until(partial(sent_more, connector, middle), "the connector is in the middle of it")
            made.run()
            rig.worker.restart()
            connector.wait_caught_up()
            made.run()
        written.wait_more(20)
    connector.wait_caught_up()
    made.run()

    assert repeated_events(rig, connector) > TAIL
    assert [each for each in source.verdicts(made, db, TABLES) if not each.equal] == []
    assert stale(made) == []
    inserted = [made.replayed(name) for name in made.ledger.tables]
    assert all(table.rows_per_marker["0"] for table in inserted)
    kinds = {seen.kind for table in inserted for seen in table.observations}
    assert ObservationKind.INSERT_OF_EXISTING_KEY not in kinds


def sent_more(connector: Connector, than: int) -> bool:
    return connector.sent() > than
