"""High watermarks: where a partition ends, open transactions included."""

from __future__ import annotations

from collections.abc import Sequence

from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import OffsetSpec

from connectors.kafka.topics import Admin, describe_topics


def high_watermarks(admin: Admin, topics: Sequence[str]) -> dict[str, dict[int, int]]:
    """The offset that the next record of each partition gets, whether it is committed or not.

    Unlike the last stable offset, nothing that was sent before the call lies at or above it.

    Raises:
        TopicNotFoundError, BrokerUnavailableError, KafkaAccessError: as
            :func:`connectors.kafka.topics.describe_topics`.
    """
    known = describe_topics(admin, topics)
    wanted = {
        TopicPartition(topic, partition): OffsetSpec.latest()
        for topic, description in known.items()
        for partition in description.partitions
    }
    if not wanted:
        return {}
    futures = admin.client.list_offsets(
        wanted, isolation_level=IsolationLevel.READ_UNCOMMITTED, request_timeout=admin.timeout
    )
    ends: dict[str, dict[int, int]] = {topic: {} for topic in known}
    for asked, future in futures.items():
        found = admin.result(future, "asking for a high watermark", topic=asked.topic, partition=asked.partition)
        ends[asked.topic][asked.partition] = found.offset
    return {topic: dict(sorted(partitions.items())) for topic, partitions in ends.items()}
