"""Debezium's signals and notifications through Kafka: asking a connector for a snapshot, hearing when it is complete.

A signal is a record with the connector's topic prefix as its key, in partition 0 of ``signal.kafka.topic``; the value's
``id`` comes back in the notifications of an incremental snapshot (Debezium, "Sending signals", "Notifications"). The
notification of a blocking snapshot carries an id of its own.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import msgspec
from confluent_kafka import KafkaError, KafkaException, Message

from connectors.json_errors import DECODE_ERRORS
from connectors.kafka.clients import Connection
from connectors.kafka.config import KafkaConfig
from connectors.kafka.errors import BrokerUnavailableError, SignalRefusedError
from connectors.kafka.raw import read_records
from connectors.kafka.topics import Admin, describe_topics

SIGNAL_PARTITION = 0
"""The only partition of the signal topic that Debezium reads."""

SIGNALS_SETTING = "source.signals.topic"
NOTIFICATIONS_SETTING = "source.notifications_topic"
"""Keys of the settings that name the topics."""

_REMEDY = f"mend at the signal topic ({SIGNALS_SETTING}) what Kafka says is wrong"
_REMEDIES = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED: f"let the bridge's user write to the signal topic ({SIGNALS_SETTING})",
    KafkaError.MSG_SIZE_TOO_LARGE: f"raise max.message.bytes of the signal topic ({SIGNALS_SETTING})",
}
_TIMEOUT_SECONDS = 30.0
_LATEST_MS = 253_402_300_799_999  # in the year 9999
_SPECIAL = re.compile(r"([^A-Za-z0-9_ $#@-])")


class SnapshotKind(enum.StrEnum):
    """How Debezium reads the table: in chunks beside the stream, or at once while the stream waits."""

    INCREMENTAL = "INCREMENTAL"
    BLOCKING = "BLOCKING"


@dataclass(frozen=True)
class SnapshotSignal:
    """The request for one table's snapshot.

    Attributes:
        id: at most 42 characters, the width of the signal table that Debezium's documentation proposes.
        collection: a regular expression for the table's full name, see :func:`collection_pattern`.
    """

    id: str
    collection: str
    kind: SnapshotKind

    @property
    def type(self) -> str:
        """Debezium's name of the signal."""
        return "execute-snapshot"

    @property
    def arguments(self) -> dict[str, object]:
        """The signal's ``data``."""
        return {"type": self.kind.value, "data-collections": [self.collection]}


def collection_pattern(*names: str) -> str:
    """The full name of a table for ``data-collections``, which Debezium reads as a regular expression.

    Dots between the names stay plain, as in Debezium's own examples; a special character inside a name is escaped.
    """
    return ".".join(_SPECIAL.sub(r"\\\1", name) for name in names)


def send_signal(config: KafkaConfig, topic: str, prefix: str, signal: SnapshotSignal) -> bool:
    """Put the signal into the signal topic, unless one with its id is there already.

    Args:
        prefix: the connector's ``topic.prefix``.

    Returns:
        True when it was sent now, False when it was there.

    Raises:
        SignalRefusedError: Kafka does not take it.
        TopicNotFoundError: there is no such topic.
        BrokerUnavailableError: no broker answered in time.
        KafkaAccessError: the broker refuses these credentials.
    """
    description = describe_topics(Admin(config), [topic], setting=SIGNALS_SETTING)[topic]
    start, end = description.partitions[SIGNAL_PARTITION]
    if any(_id_of(value) == signal.id for value in _values(config, topic, SIGNAL_PARTITION, start, end)):
        return False
    connection = Connection(config)
    producer = connection.producer(
        {"enable.idempotence": True, "acks": "all", "message.timeout.ms": int(_TIMEOUT_SECONDS * 1000)}
    )
    refused: list[KafkaError] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            refused.append(error)

    value = msgspec.json.encode({"id": signal.id, "type": signal.type, "data": signal.arguments})
    try:
        producer.produce(topic, value, prefix.encode(), partition=SIGNAL_PARTITION, on_delivery=delivered)
        left = connection.served(producer.flush, _TIMEOUT_SECONDS + 5)
    except KafkaException as problem:
        raise connection.failure(problem, "sending a signal", topic=topic) from problem
    if refused and refused[0].code() != KafkaError._MSG_TIMED_OUT:
        raise SignalRefusedError(
            f"Kafka refuses a signal for Debezium: {refused[0].str()}",
            remedy=_REMEDIES.get(refused[0].code(), _REMEDY),
            topic=topic,
            bootstrap_servers=config.bootstrap_servers,
        )
    if refused or left:
        raise BrokerUnavailableError(
            "Kafka did not confirm a signal for Debezium in time",
            remedy="nothing: it is sent again, unless it is there after all; check the brokers if this goes on",
            topic=topic,
            bootstrap_servers=config.bootstrap_servers,
        )
    return True


class SnapshotProgress(enum.StrEnum):
    """What a notification says of a snapshot (Debezium, "Notifications", field ``type``), as far as it matters here."""

    STARTED = "STARTED"
    IN_PROGRESS = "IN_PROGRESS"
    TABLE_SCAN_COMPLETED = "TABLE_SCAN_COMPLETED"
    COMPLETED = "COMPLETED"
    ABORTED = "ABORTED"
    SKIPPED = "SKIPPED"
    PAUSED = "PAUSED"
    RESUMED = "RESUMED"


INCREMENTAL_SNAPSHOT = "Incremental Snapshot"
INITIAL_SNAPSHOT = "Initial Snapshot"
"""Aggregates of notifications; a blocking snapshot's is the latter."""


@dataclass(frozen=True)
class Notification:
    """One notification about a snapshot.

    Attributes:
        id: of the signal, for an incremental snapshot.
        details: ``additional_data``.
        timestamp: milliseconds since 1970 by Kafka Connect's clock; 0 where it tells none that can be one.
    """

    id: str
    aggregate: str
    progress: SnapshotProgress
    details: Mapping[str, str] = field(default_factory=dict)
    timestamp: int = 0


def notification_ends(config: KafkaConfig, topic: str) -> dict[int, int]:
    """The present end of each partition of the notifications topic; raises as :func:`notifications_since`."""
    description = describe_topics(Admin(config), [topic], setting=NOTIFICATIONS_SETTING)[topic]
    return {partition: end for partition, (_, end) in description.partitions.items()}


def notifications_since(config: KafkaConfig, topic: str, heard: Mapping[int, int]) -> list[Notification]:
    """The notifications about snapshots from these offsets on, oldest first within a partition.

    What else is in the topic, and what retention has removed, is left out.

    Args:
        heard: the first offset per partition; partitions that are not named are read from their beginning.

    Raises:
        TopicNotFoundError: there is no such topic.
        BrokerUnavailableError: no broker answered in time.
        KafkaAccessError: the broker refuses these credentials.
    """
    description = describe_topics(Admin(config), [topic], setting=NOTIFICATIONS_SETTING)[topic]
    found: list[Notification] = []
    for partition, (earliest, end) in sorted(description.partitions.items()):
        for value in _values(config, topic, partition, max(earliest, heard.get(partition, earliest)), end):
            notification = read_notification(value)
            if notification is not None:
                found.append(notification)
    return found


def _values(config: KafkaConfig, topic: str, partition: int, start: int, end: int) -> Iterator[bytes]:
    for records in read_records(config, topic, partition, start, end):
        for value in records.values:
            if value.is_valid:
                yield value.as_py()


def _document(value: bytes) -> dict[str, object]:
    try:
        document = msgspec.json.decode(value)
    except DECODE_ERRORS:
        return {}
    if not isinstance(document, dict):
        return {}
    # Connect's JSON converter wraps a value together with its schema.
    inside = document.get("payload") if "schema" in document else document
    return inside if isinstance(inside, dict) else {}


def _id_of(value: bytes) -> object:
    return _document(value).get("id")


def read_notification(value: bytes) -> Notification | None:
    """The notification that a record's value holds; None of whatever else may be in the topic."""
    document = _document(value)
    aggregate, progress = document.get("aggregate_type"), document.get("type")
    if aggregate not in (INCREMENTAL_SNAPSHOT, INITIAL_SNAPSHOT) or progress not in list(SnapshotProgress):
        return None
    details = document.get("additional_data")
    moment = document.get("timestamp")
    return Notification(
        id=str(document.get("id", "")),
        aggregate=str(aggregate),
        progress=SnapshotProgress(str(progress)),
        details={str(name): str(text) for name, text in details.items()} if isinstance(details, dict) else {},
        timestamp=moment if isinstance(moment, int) and 0 <= moment <= _LATEST_MS else 0,
    )
