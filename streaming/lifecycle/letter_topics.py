"""What replaying dead letters asks of Kafka and of the schema registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from connectors.debezium.events import RawRecords
from connectors.debezium.wire import SchemaLookup
from connectors.kafka.config import KafkaConfig
from connectors.kafka.dead_letters import DeadLetterConfig
from connectors.kafka.letters import DeadLetter, read_dead_letters
from connectors.kafka.raw import read_records
from connectors.kafka.registry import Registry
from connectors.kafka.time_offsets import offsets_at
from connectors.kafka.topics import Admin, TopicDescription, existing_topics
from streaming.plan import JobOptions


@dataclass(frozen=True)
class LetterTopics:
    """Kafka and the registry, as replaying needs them.

    Attributes:
        letters: all letters of this bridge, oldest first in each partition of their topic.
        topics: describes those of the topics that exist, by name.
        since: per partition the first offset that is not older than a time, milliseconds since 1970.
        records: the records of ``[start, end)`` of a partition.
        schemas: makes a view of the schema registry that has nothing from before in mind; None without a registry.
    """

    letters: Callable[[], Iterable[DeadLetter]]
    topics: Callable[[Sequence[str]], Mapping[str, TopicDescription]]
    since: Callable[[str, TopicDescription, int], Mapping[int, int]]
    records: Callable[[str, int, int, int], Iterable[RawRecords]]
    schemas: Callable[[], SchemaLookup | None]


def letter_topics(job: JobOptions, letters: DeadLetterConfig, admin: Admin) -> LetterTopics:
    """The real ones."""
    kafka = letters.kafka
    return LetterTopics(
        letters=lambda: letters_of(kafka, letters.topic, letters.bridge),
        topics=lambda names: existing_topics(admin, names),
        since=lambda topic, description, moment: offsets_at(admin, topic, description, moment),
        records=lambda topic, partition, start, end: read_records(kafka, topic, partition, start, end),
        schemas=lambda: None if job.registry is None else Registry(job.registry),
    )


def letters_of(kafka: KafkaConfig, topic: str, bridge: str) -> Iterable[DeadLetter]:
    """The letters that one bridge has sent; raises as :func:`connectors.kafka.dead_letters.read_dead_letters`."""
    return (letter for letter in read_dead_letters(kafka, topic) if letter.bridge == bridge)
