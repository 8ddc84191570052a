"""The offsets of a consumer group that nobody consumes with: for tools that show a group's lag."""

from __future__ import annotations

import time
from collections.abc import Mapping

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException, TopicPartition

from connectors.kafka.topics import Admin

PAUSE_SECONDS = 0.2
_DOING = "committing the offsets of a consumer group"
# A group's coordinator is chosen at its first use, and again when a broker goes.
_COORDINATOR_MOVES = frozenset(
    {
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
    }
)


def commit_group_offsets(admin: Admin, group: str, offsets: Mapping[str, Mapping[int, int]]) -> None:
    """Set the group's next offset of each partition that there is; the group is made where there is none.

    Args:
        offsets: per topic and partition.

    Raises:
        BrokerUnavailableError: no broker answered in time.
        KafkaAccessError: these credentials may not read the group or a topic.
        KafkaRequestError: a refusal, such as that consumers are active in the group.
    """
    places = [
        TopicPartition(topic, partition, offset)
        for topic, partitions in sorted(offsets.items())
        for partition, offset in sorted(partitions.items())
    ]
    if not places:
        return
    give_up = time.monotonic() + admin.timeout
    while True:
        try:
            _commit(admin, group, places)
        except KafkaException as problem:
            moves = problem.args[0].code() in _COORDINATOR_MOVES
            if not moves or time.monotonic() > give_up:
                raise admin.failure(problem, _DOING, group=group) from problem
        except TimeoutError as problem:
            raise admin.failure(problem, _DOING, group=group) from problem
        else:
            return
        time.sleep(PAUSE_SECONDS)


def _commit(admin: Admin, group: str, places: list[TopicPartition]) -> None:
    wanted = [ConsumerGroupTopicPartitions(group, places)]
    futures = admin.client.alter_consumer_group_offsets(wanted, request_timeout=admin.timeout)
    answered = futures[group].result(timeout=admin.timeout + 5).topic_partitions or ()
    for place in answered:
        # A topic that is gone has no lag; those of the others are set by the same request.
        if place.error is not None and place.error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise KafkaException(place.error)
