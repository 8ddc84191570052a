"""Snapshots that somebody asks Debezium for beside the bridge, and events that are sent again, while somebody writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from connectors.kafka.config import KafkaConfig
from connectors.kafka.signals import (
    SnapshotKind,
    SnapshotProgress,
    SnapshotSignal,
    collection_pattern,
    notifications_since,
    send_signal,
)
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.replay import ObservationKind
from tests.rig import Connector, Converter, Database, Rig, until
from tests.rig.equivalence import Source, running
from tests.rig.tables import Dialect, Table
from tests.rig.versioned import create, stale_values, versioned, writing
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

ORDERS, PARTS = versioned("orders"), versioned("parts")
TABLES = (ORDERS, PARTS)
ROWS = 300
CHUNK = 20


class Snapshots:
    """A connector's signals and what it says of its snapshots."""

    def __init__(self, cluster: Cluster) -> None:
        self._config = KafkaConfig(cluster.bootstrap_servers)
        self._prefix = cluster.prefix
        self._signals = cluster.own_topic("signals")
        self._notifications = cluster.own_topic("notifications")
        self.options = {
            "incremental_snapshot_chunk_size": str(CHUNK),
            "signal_enabled_channels": "source,kafka",
            "signal_kafka_topic": self._signals,
            "signal_kafka_bootstrap_servers": cluster.bootstrap_servers,
            "notification_enabled_channels": "sink",
            "notification_sink_topic_name": self._notifications,
        }

    def ask_topic(self, db: Database, table: Table, kind: SnapshotKind) -> None:
        """Ask for one table's snapshot through the signal topic."""
        signal = SnapshotSignal(f"ask-{table.name}", collection_pattern(db.schema, table.name), kind)
        assert send_signal(self._config, self._signals, self._prefix, signal)

    def wait(self, db: Database, progress: SnapshotProgress, tables: tuple[Table, ...] = TABLES) -> None:
        """Return once the connector has said this of each of the tables."""
        wanted = {f"{db.schema}.{table.name}" for table in tables}
        until(lambda: wanted <= self._told(progress), f"{progress} of {sorted(wanted)}", seconds=120)

    def _told(self, progress: SnapshotProgress) -> set[str]:
        told = notifications_since(self._config, self._notifications, {})
        details = [each.details for each in told if each.progress is progress]
        names = [name for each in details for key in ("scanned_collection", "current_collection_in_progress")
                 for name in [each.get(key, "")]]
        return {".".join(name.split(".")[-2:]) for name in names}
