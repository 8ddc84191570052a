"""When the newest record of a topic was written: whether somebody still writes there at all."""

from __future__ import annotations

from collections.abc import Mapping

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec

from connectors.kafka.topics import Admin, TopicDescription

_TOO_OLD = (KafkaError.UNSUPPORTED_VERSION, KafkaError._UNSUPPORTED_FEATURE)


def newest_timestamps(admin: Admin, topics: Mapping[str, TopicDescription]) -> dict[str, int]:
    """Kafka's largest timestamp of a record, per topic, in milliseconds; a topic without records is left out.

    Nothing is read: the brokers know it of each partition (KIP-734). One older than 3.0 does not; its partitions are
    left out.

    Raises:
        BrokerUnavailableError, KafkaAccessError: as :func:`connectors.kafka.topics.describe_topics`.
    """
    wanted = {
        TopicPartition(topic, partition): OffsetSpec.max_timestamp()
        for topic, description in topics.items()
        for partition in description.partitions
    }
    if not wanted:
        return {}
    futures = admin.client.list_offsets(
        wanted, isolation_level=IsolationLevel.READ_UNCOMMITTED, request_timeout=admin.timeout
    )
    found: dict[str, int] = {}
    for asked, future in futures.items():
        try:
            newest = future.result(timeout=admin.timeout + 5)
        except KafkaException as problem:
            if problem.args[0].code() in _TOO_OLD:
                continue
            raise admin.failure(problem, "asking for the newest record", topic=asked.topic) from problem
        except TimeoutError as problem:
            raise admin.failure(problem, "asking for the newest record", topic=asked.topic) from problem
        if newest.offset >= 0 and newest.timestamp >= 0:
            found[asked.topic] = max(newest.timestamp, found.get(asked.topic, 0))
    return found
