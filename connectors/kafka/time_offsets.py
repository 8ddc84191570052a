"""Where a partition stands at a moment."""

from __future__ import annotations

from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import OffsetSpec

from connectors.kafka.topics import Admin, TopicDescription


def offsets_at(admin: Admin, topic: str, description: TopicDescription, timestamp_ms: int) -> dict[int, int]:
    """Per partition the offset of the first record that is not older, by Kafka's timestamps; the end if there is none.

    Raises:
        BrokerUnavailableError, KafkaAccessError: as :func:`connectors.kafka.topics.describe_topics`.
    """
    futures = admin.client.list_offsets(
        {
            TopicPartition(topic, partition): OffsetSpec.for_timestamp(timestamp_ms)
            for partition in description.partitions
        },
        isolation_level=IsolationLevel.READ_COMMITTED,
        request_timeout=admin.timeout,
    )
    found: dict[int, int] = {}
    for asked, future in futures.items():
        doing = "asking for the offset at a time"
        offset = admin.result(future, doing, topic=topic, partition=asked.partition).offset
        _, end = description.partitions[asked.partition]
        found[asked.partition] = end if offset < 0 else min(offset, end)
    return dict(sorted(found.items()))
