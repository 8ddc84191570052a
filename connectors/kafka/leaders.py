"""Whether a partition's log is still the one that was read, or a later leader has cut off its end and gone on.

What not all replicas hold is lost where one without it becomes the leader: in an unclean election, or where the
producer waited for one of them only. The new leader gives other records the offsets that are free again. Kafka numbers
a partition's leaders (leader epochs), and a replica knows at which offset each of them began (KIP-101). So a log that
reached up to an offset in an epoch is the same up to there as long as that epoch, or the last one before it that the
log knows, ends no earlier. Kafka's own consumers ask for that (KIP-320), and so does librdkafka, where it is given an
epoch with the offset to begin at.

It holds whatever retention or compaction have removed, and reads no record. No leader cuts off its own log: as long as
the epoch is the same, nothing need be asked.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec

from connectors.kafka.clients import Connection
from connectors.kafka.config import KafkaConfig
from connectors.kafka.errors import BrokerUnavailableError
from connectors.kafka.reading.problems import passes
from connectors.kafka.topics import TIMEOUT_SECONDS, Admin, epoch_of, listed_offsets, topic_ids

Place = tuple[str, int]
"""A topic and the number of a partition of it."""
_AGAIN_SECONDS = 0.1
_POLL_SECONDS = 0.2
_SMALL = {"fetch.message.max.bytes": 1024, "queued.min.messages": 1, "queued.max.messages.kbytes": 1024}
"""No record is wanted, but what the client says of a partition that it is about to read."""
_CUT = KafkaError(KafkaError._LOG_TRUNCATION).str()
_END = re.compile(r"broker end offset is (?P<end>\d+)")


@dataclass(frozen=True)
class Leading:
    """What the leader of a partition says of it.

    Attributes:
        end: the offset that the next record gets, whether it is committed or not.
        epoch: the leader's number; None of a cluster that has none.
    """

    end: int
    epoch: int | None


def leading(admin: Admin, partitions: Collection[Place]) -> dict[Place, Leading]:
    """What the leader of each partition says, asked again while there is none, or another one by now.

    Raises:
        BrokerUnavailableError: a partition gets no leader in time, or does not exist any more.
        KafkaAccessError: as :func:`connectors.kafka.topics.describe_topics`.
    """
    deadline = time.monotonic() + admin.timeout
    found: dict[Place, Leading] = {}
    waiting = list(partitions)
    while waiting:
        told = listed_offsets(
            admin, waiting, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED, "asking for the leader of a partition"
        )
        found |= {one: Leading(listed.offset, epoch_of(listed)) for one, listed in told.items()}
        waiting = [one for one in waiting if one not in found]
        if not waiting:
            break
        topic, partition = waiting[0]
        # The client asks the leader that it knows, until it has reason to look for another one.
        if topic not in topic_ids(admin, sorted({name for name, _ in waiting})) or time.monotonic() >= deadline:
            raise BrokerUnavailableError(
                "Kafka finds no leader of a partition",
                remedy="see whether the topic is there and its partitions have a leader; it is asked again",
                bootstrap_servers=admin.connection.bootstrap_servers,
                topic=topic,
                partition=partition,
            )
        time.sleep(_AGAIN_SECONDS)
    return found


def cut_off(
    config: KafkaConfig, seen: Mapping[Place, tuple[int, int]], *, timeout: float = TIMEOUT_SECONDS
) -> dict[Place, int | None]:
    """The partitions whose log is not any more what it was, each with the first offset that holds something else.

    Args:
        seen: an offset up to which the log reached, and the leader's epoch then.
        timeout: seconds for all of them together.

    Returns:
        None for a partition of which Kafka does not know so early an epoch, or so late a one.

    Raises:
        BrokerUnavailableError: not all of them could be asked in time.
        KafkaAccessError, KafkaRequestError: the broker refuses the request.
    """
    if not seen:
        return {}
    connection = Connection(config)
    consumer = connection.reader("cdc-bridge-epochs", _SMALL)
    deadline = time.monotonic() + timeout
    waiting, found = set(seen), dict[Place, int | None]()
    try:
        consumer.assign(
            [
                TopicPartition(topic, partition, offset, leader_epoch=epoch)
                for (topic, partition), (offset, epoch) in seen.items()
            ]
        )
        while waiting:
            answered: set[Place] = set()
            for message in consumer.consume(len(waiting), timeout=_POLL_SECONDS):
                error, topic, partition = message.error(), message.topic(), message.partition()
                if topic is None or partition is None or (topic, partition) not in waiting - answered:
                    continue
                if error is not None and error.code() == KafkaError._AUTO_OFFSET_RESET:
                    # What else the client says so of is an offset that is not there: of that, the next to read tells.
                    if _CUT in error.str():
                        end = _END.search(error.str())
                        found[topic, partition] = int(end["end"]) if end is not None else None
                elif error is not None and error.code() != KafkaError._PARTITION_EOF:
                    if not passes(error):
                        raise KafkaException(error)
                    continue
                answered.add((topic, partition))
            waiting -= answered
            if answered:
                consumer.incremental_unassign([TopicPartition(*place) for place in answered])
            elif time.monotonic() >= deadline:
                raise TimeoutError
    except (KafkaException, TimeoutError) as problem:
        topic, partition = min(waiting)
        raise connection.failure(problem, "comparing leader epochs", topic=topic, partition=partition) from problem
    finally:
        consumer.close()
    return found
