"""A database whose connector can be asked for snapshots, and tells of them."""

from __future__ import annotations

from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient

from connectors.kafka.config import KafkaConfig
from connectors.kafka.signals import INCREMENTAL_SNAPSHOT, notifications_since
from tests.rig import Connector, Converter, Database, Rig
from tests.support.cluster import Cluster

_SECONDS = 240.0


class SignalledSource:
    """A database whose connector takes signals from a topic and tells of its snapshots in another one.

    Args:
        partitions: of the topics that the connector makes.
        options: as in :meth:`tests.rig.Rig.connect`.

    Attributes:
        settings: what a bridge needs to be told of it, but for the channel of its signals.
    """

    def __init__(
        self, rig: Rig, cluster: Cluster, db: Database, converter: Converter, *, partitions: int = 1, **options: str
    ) -> None:
        self.db = db
        self.signals = cluster.own_topic("signals")
        self.notifications = cluster.own_topic("notifications")
        self._servers = cluster.bootstrap_servers
        self._config = KafkaConfig(self._servers)
        self._connect = lambda: rig.connect(
            db,
            converter=converter,
            partitions=partitions,
            signal_enabled_channels="source,kafka",
            signal_kafka_topic=self.signals,
            signal_kafka_bootstrap_servers=cluster.bootstrap_servers,
            notification_enabled_channels="sink",
            notification_sink_topic_name=self.notifications,
            **options,
        )
        self.settings: dict[str, Any] = {
            "source__notifications_topic": self.notifications,
            "landing_zone__release_wait": "0s",
            **rig.bridge(converter),
        }

    def scanned(self, collection: str) -> bool:
        """Whether Debezium has told that an incremental snapshot has read the table."""
        return any(
            one.aggregate == INCREMENTAL_SNAPSHOT and one.details.get("scanned_collection") == collection
            for one in notifications_since(self._config, self.notifications, {})
        )

    def signals_passed(self) -> int:
        """How many signals Debezium's consumer group has behind it."""
        admin = AdminClient({"bootstrap.servers": self._servers})
        asked = ConsumerGroupTopicPartitions("kafka-signal", [TopicPartition(self.signals, 0)])
        [answer] = admin.list_consumer_group_offsets([asked]).values()
        return max(int(answer.result(_SECONDS).topic_partitions[0].offset), 0)

    def connect(self) -> Connector:
        """Its connector, which is streaming."""
        connector = self._connect()
        connector.wait_streaming()
        return connector
