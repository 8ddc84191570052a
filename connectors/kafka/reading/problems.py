"""What goes wrong while records are read, in the bridge's words."""

from __future__ import annotations

import time

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from connectors.errors import BridgeError
from connectors.kafka.clients import Connection
from connectors.kafka.errors import BrokerUnavailableError, RecordsGoneError, TopicNotFoundError, UnreadableBatchError
from connectors.kafka.reading.ranges import PartitionRange

_DOING = "reading records"
_SILENT_SECONDS = 0.5
"""After which it is asked whether there is anything to wait for: once, since librdkafka waits in silence."""
_OF_NO_MATTER = (KafkaError._ALL_BROKERS_DOWN, KafkaError.GROUP_AUTHORIZATION_FAILED)
"""Told beside the records: brokers that come back, and a group that the client looks for and nobody joins."""
_GONE = (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE)
_UNKNOWN = (KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION, KafkaError.UNKNOWN_TOPIC_OR_PART)
_UNREADABLE = {
    KafkaError._BAD_COMPRESSION: "it cannot be decompressed, or has more bytes then than the client takes",
    KafkaError._BAD_MSG: "it is damaged",
    KafkaError._NOT_IMPLEMENTED: "it is compressed in a way that the client does not know",
}


def passes(error: KafkaError) -> bool:
    """Whether reading goes on after this error, without the caller's doing."""
    return error.retriable() or error.code() in _OF_NO_MATTER


def unreadable(error: KafkaError, connection: Connection, at: PartitionRange, position: int) -> BridgeError:
    """What an error that does not pass means for the records of a range.

    Args:
        position: the offset before which all records have been read.
    """
    where = {"topic": at.topic, "partition": at.partition}
    if error.code() in _GONE:
        return RecordsGoneError(
            "Kafka does not hold the first offset that was asked for",
            remedy="retention has removed it, or the topic was created again: ask for a later offset, or "
            "`cdc-bridge resync CONFIG TABLE` for a table that needs it",
            **where,
            offset=at.start,
        )
    if error.code() in _UNKNOWN:
        return _unknown(at)
    if error.code() in _UNREADABLE:
        return UnreadableBatchError(
            f"a batch of records in Kafka cannot be read: {_UNREADABLE[error.code()]}",
            remedy="where another replica has it whole, let that one lead; otherwise stop the bridge, remove the "
            "partition's records up to and including this offset with kafka-delete-records.sh, start again, and "
            "`cdc-bridge resync CONFIG TABLE`; if the next offset is told then, do the same with it: a batch can hold "
            'several records (docs/dead-letters.md, "Records that are too large")',
            **where,
            offset=position,
        )
    return connection.failure(KafkaException(error), _DOING, **where, offset=position)


def require(client: Consumer | AdminClient, at: PartitionRange, timeout: float) -> frozenset[int]:
    """The partitions of a range's topic.

    Raises:
        TopicNotFoundError: there is no such topic or partition.
        KafkaException: no broker answered, or it refuses to.
    """
    found = client.list_topics(at.topic, timeout=timeout).topics[at.topic]
    if found.error is not None and found.error.code() not in _UNKNOWN:
        raise KafkaException(found.error)
    if at.partition not in found.partitions:
        raise _unknown(at)
    return frozenset(found.partitions)


def _unknown(at: PartitionRange) -> TopicNotFoundError:
    return TopicNotFoundError(
        "the Kafka cluster has no such topic or partition",
        remedy="check the topic's name and the number of its partitions",
        topic=at.topic,
        partition=at.partition,
    )


class Patience:
    """A time in which the next records have to come."""

    def __init__(self, connection: Connection, at: PartitionRange, timeout: float) -> None:
        self._connection = connection
        self._at = at
        self._timeout = timeout
        self._looked = False
        self._since = time.monotonic()

    def renew(self) -> None:
        """Something has come, so that what the client was told before is over."""
        self._since = time.monotonic()
        self._connection.forget()

    def check(self) -> None:
        """Look whether it goes on.

        Raises:
            TopicNotFoundError: nothing comes, and there is no such topic or partition.
            BridgeError: nothing has come in time: the reason that the client was told, if it was.
        """
        if not self._looked and time.monotonic() - self._since > _SILENT_SECONDS:
            self._looked = True
            require(self._connection.admin(), self._at, self._timeout)
        if time.monotonic() - self._since <= self._timeout:
            return
        where = {"topic": self._at.topic, "partition": self._at.partition}
        failure = self._connection.failure(TimeoutError(), _DOING, **where)
        if not isinstance(failure, BrokerUnavailableError):
            raise failure
        raise BrokerUnavailableError(
            f"nothing came from Kafka within {self._timeout:.0f} s, and the range's end is not reached",
            remedy="check the brokers; an open transaction of a producer holds committed readers back until it ends",
            **where,
            end=self._at.end,
            bootstrap_servers=self._connection.bootstrap_servers,
        )
