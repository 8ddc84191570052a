"""Debezium's part in a rebuild, played by the test: it takes signals up and tells how their snapshots go on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from connectors.kafka.config import KafkaConfig
from connectors.kafka.raw import read_records
from connectors.kafka.topics import Admin, describe_topics
from streaming.demo.workload import Record
from tests.support.cluster import Cluster

SIGNALS = "signals"
NOTIFICATIONS = "notifications"


class PlayedDebezium:
    """A connector whose topic prefix is that of the test's topics, with a signal and a notifications topic of its own.

    Attributes:
        settings: of a bridge that reaches it.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        # Not below the test's prefix and a dot: the bridge reads all of those as tables.
        self.signals = cluster.own_topic(SIGNALS)
        self.notifications = cluster.own_topic(NOTIFICATIONS)
        self.settings: dict[str, Any] = {
            "source__signals": {"topic": self.signals},
            "source__notifications_topic": self.notifications,
            "source__topic_prefix": cluster.prefix,
            "landing_zone__release_wait": "0s",
        }

    def asked(self) -> list[dict[str, Any]]:
        """The signals that have been sent, with the key that they were sent under."""
        config = KafkaConfig(self._cluster.bootstrap_servers)
        partitions = describe_topics(Admin(config), [self.signals])[self.signals].partitions
        return [
            {"key": key.as_py().decode(), **json.loads(value.as_py())}
            for partition, (start, end) in partitions.items()
            for records in read_records(config, self.signals, partition, start, end)
            for key, value in zip(records.keys, records.values, strict=True)
        ]

    def snapshot(self, *records: Record, collection: str = "public.orders") -> None:
        """Send the rows of the snapshot that was asked for last, and say that it is complete."""
        signal = self.asked()[-1]
        incremental = signal["data"]["type"] == "INCREMENTAL"
        aggregate = "Incremental Snapshot" if incremental else "Initial Snapshot"
        identity = signal["id"] if incremental else "an id of its own"
        self.notify("STARTED", aggregate, identity, data_collections=collection)
        self._cluster.send(*records)
        self.notify(
            "TABLE_SCAN_COMPLETED",
            aggregate,
            identity,
            data_collections=collection,
            scanned_collection=collection,
            total_rows_scanned=str(len(records)),
            status="SUCCEEDED" if records else "EMPTY",
        )
        self.notify("COMPLETED", aggregate, identity)

    def notify(self, progress: str, aggregate: str, identity: str, **details: str) -> None:
        """Send one notification."""
        value = {
            "id": identity,
            "aggregate_type": aggregate,
            "type": progress,
            "additional_data": {"connector_name": self._cluster.prefix, **details},
            "timestamp": 1_700_000_000_000,
        }
        self._cluster.send(Record(self.notifications, 0, None, json.dumps(value).encode(), ()))


def signal_of(signals: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the only signal asks for, without its id."""
    [signal] = signals
    return {name: value for name, value in signal.items() if name != "id"}
