"""Sending records that could not be decoded, as they were, with where they stood and why, to the dead-letter topic."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import NewTopic

from connectors.command_lines import argument
from connectors.debezium.events import BadRecord
from connectors.kafka.clients import Connection
from connectors.kafka.config import KafkaConfig
from connectors.kafka.errors import (
    BrokerUnavailableError,
    DeadLetterRefusedError,
    DeadLetterUnsentError,
    KafkaAccessError,
)
from connectors.kafka.letters import PREFIX, letter_headers, letter_size, without_bytes
from connectors.kafka.topics import Admin

MAX_LETTER_BYTES = 64 * 1024 * 1024
_TOPIC_SETTINGS = {"retention.ms": "-1", "cleanup.policy": "delete", "max.message.bytes": str(MAX_LETTER_BYTES)}
_FOR_GOOD = (
    KafkaError.MSG_SIZE_TOO_LARGE,
    KafkaError.INVALID_RECORD,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError._AUTHENTICATION,
    KafkaError._INVALID_ARG,
)
_WITHOUT_REASON = (KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT, KafkaError._FATAL)
_QUEUE_WAIT_SECONDS = 0.1
_REASON_WAIT_SECONDS = 30.0
_REASON_POLL_SECONDS = 1.0
_ROOM_FOR_HEADERS = 64 * 1024
"""Of a letter, for what the bridge itself says in it."""


@dataclass(frozen=True)
class DeadLetterConfig:
    """Where dead letters go.

    Attributes:
        bridge: name of the bridge that sends them, since several may share the topic.
        timeout: seconds within which Kafka has to take a letter.
    """

    kafka: KafkaConfig
    topic: str
    bridge: str = ""
    timeout: float = 60.0


class DeadLetterProducer:
    """Sends bad records to the dead-letter topic, each exactly once per :meth:`send` (idempotent, ``acks=all``).

    Not for several threads at once.

    Raises:
        ClientOptionsError: the client does not take the configuration.
    """

    def __init__(self, config: DeadLetterConfig) -> None:
        self._config = config
        self._connection = Connection(config.kafka)
        self._producer = self._new_producer()
        self._failures: list[tuple[str, KafkaError]] = []

    def send(self, bad: BadRecord) -> None:
        """Hand a record to the client; it has arrived only when :meth:`flush` returns.

        Of a record larger than :data:`MAX_LETTER_BYTES` the letter has the coordinates and the reason alone. Where the
        client has come to its end already, :meth:`flush` finds out why.

        Raises:
            DeadLetterRefusedError: the client does not take this letter.
            DeadLetterUnsentError: the client's queue stayed full for the whole timeout.
        """
        size = letter_size(bad)
        large = size > MAX_LETTER_BYTES - _ROOM_FOR_HEADERS
        if large:
            bad = without_bytes(bad, size)
        key = f"{bad.topic}/{bad.partition}/{bad.offset}"
        headers = letter_headers(bad, self._config.bridge)
        if large:
            headers.append((f"{PREFIX}left-out", str(size).encode()))
        deadline = time.monotonic() + self._config.timeout
        while True:
            try:
                self._producer.produce(
                    self._config.topic, value=bad.value, key=key.encode(), headers=headers, on_delivery=self._delivered
                )
            except BufferError as problem:
                if time.monotonic() > deadline:
                    raise self._unsent(f"{len(self._producer)} dead letters wait in the client") from problem
                self._serve(self._producer.poll, _QUEUE_WAIT_SECONDS)
            except KafkaException as problem:
                if problem.args[0].code() != KafkaError._FATAL:
                    raise self._refused(key, problem.args[0]) from problem
                self._failures.append((key, problem.args[0]))
                return
            else:
                self._serve(self._producer.poll, 0)
                return

    def flush(self) -> None:
        """Return when Kafka has every letter sent since the last call.

        Raises:
            DeadLetterUnsentError: not within the timeout; nothing of their batch may be committed.
            DeadLetterRefusedError: Kafka refuses one for good.
        """
        left = self._serve(self._producer.flush, self._config.timeout + 5)
        failures, self._failures = self._failures, []
        if left or failures:
            # An idempotent producer may be unusable after a failure; the next attempt gets a new one.
            self._producer.purge()
            self._producer = self._new_producer()
        if any(error.code() in _WITHOUT_REASON for _, error in failures) and not _for_good(failures):
            failures += self._reason()
        for key, error in _for_good(failures):
            raise self._refused(key, error)
        if failures:
            raise self._unsent(f"{len(failures)} dead letters were not delivered ({failures[0][1].str()})")
        if left:
            raise self._unsent(f"{left} dead letters were not delivered in time")

    def _reason(self) -> list[tuple[str, KafkaError]]:
        """Why the last producer could not go on, where the client lost the reason among the deliveries.

        A new one is refused as it was, and has no delivery yet that could hide it. One that ends without a reason all
        the same is followed by another.
        """
        told: list[tuple[str, KafkaError]] = []
        deadline = time.monotonic() + min(self._config.timeout, _REASON_WAIT_SECONDS)
        while not _for_good(told) and (left := deadline - time.monotonic()) > 0:
            self._serve(self._producer.poll, min(left, _REASON_POLL_SECONDS))
            if self._failures:
                told += self._failures
                self._failures = []
                self._producer = self._new_producer()
        return told

    def _new_producer(self) -> Producer:
        return self._connection.producer(
            {
                "enable.idempotence": True,
                "acks": "all",
                "compression.type": "zstd",
                "linger.ms": 5,
                "message.max.bytes": MAX_LETTER_BYTES,
                "message.timeout.ms": int(self._config.timeout * 1000),
            }
        )

    def _serve(self, serve: Callable[[float], int], seconds: float) -> int:
        try:
            return self._connection.served(serve, seconds)
        except KafkaException as problem:
            self._failures.append(("", problem.args[0]))
            return 0

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failures.append(((message.key() or b"").decode(), error))

    def _unsent(self, what: str) -> DeadLetterUnsentError:
        said = self._connection.failure(TimeoutError(), "sending dead letters")
        return DeadLetterUnsentError(
            f"{what}, so the batch is not committed",
            remedy=f"the batch is tried again by itself; if this lasts: {said.remedy}",
            topic=self._config.topic,
            bootstrap_servers=self._config.kafka.bootstrap_servers,
        )

    def _refused(self, key: str, error: KafkaError) -> DeadLetterRefusedError:
        match error.code():
            case KafkaError.MSG_SIZE_TOO_LARGE:
                remedy = (
                    "raise max.message.bytes of the dead-letter topic above the size of the largest record of the "
                    "source topics"
                )
            case KafkaError._UNKNOWN_TOPIC | KafkaError.UNKNOWN_TOPIC_OR_PART:
                remedy = "create the dead-letter topic, or let the bridge's user create it"
            case _:
                remedy = "let the bridge's user write to the dead-letter topic"
        return DeadLetterRefusedError(
            f"Kafka refuses a dead letter: {error.str()}",
            remedy=remedy,
            topic=self._config.topic,
            record=key or None,
            bootstrap_servers=self._config.kafka.bootstrap_servers,
        )


def _for_good(failures: list[tuple[str, KafkaError]]) -> list[tuple[str, KafkaError]]:
    """Those that no later attempt mends."""
    return [(key, error) for key, error in failures if error.code() in _FOR_GOOD]


def ensure_topic(admin: Admin, name: str, *, partitions: int = 1, replication_factor: int = -1) -> bool:
    """Create the dead-letter topic where it is missing: kept for ever, with room for large records.

    Args:
        replication_factor: -1 takes the broker's default.

    Returns:
        Whether it was created now.

    Raises:
        KafkaAccessError: it is missing and this user may not create it.
        KafkaRequestError: the broker refuses to create it for another reason.
        BrokerUnavailableError: no broker answered in time, or too few of them are up for its replicas.
    """
    if name in admin.topic_names():
        return False
    wanted = NewTopic(name, num_partitions=partitions, replication_factor=replication_factor, config=_TOPIC_SETTINGS)
    future = admin.client.create_topics([wanted], request_timeout=admin.timeout)[name]
    try:
        future.result(timeout=admin.timeout + 5)
    except (KafkaException, TimeoutError) as problem:
        error = problem.args[0] if problem.args else None
        code = error.code() if isinstance(error, KafkaError) else None
        if code == KafkaError.TOPIC_ALREADY_EXISTS:
            return False
        if code in (KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED):
            raise KafkaAccessError(
                "the dead-letter topic does not exist, and this user may not create it",
                remedy=f"create it: kafka-topics.sh --create --topic {argument(name)} --config retention.ms=-1; or "
                "grant CREATE on it; or let dead_letters.topic name one that exists",
                topic=name,
                bootstrap_servers=admin.connection.bootstrap_servers,
            ) from problem
        if code == KafkaError.INVALID_REPLICATION_FACTOR:
            raise BrokerUnavailableError(
                "too few Kafka brokers are up for the dead-letter topic's replication factor",
                remedy="start the others; where there are none, lower their default.replication.factor, or create "
                f"the topic: kafka-topics.sh --create --topic {argument(name)} --replication-factor 1 --config "
                "retention.ms=-1",
                topic=name,
                bootstrap_servers=admin.connection.bootstrap_servers,
            ) from problem
        raise admin.failure(problem, "creating the dead-letter topic", topic=name) from problem
    return True
