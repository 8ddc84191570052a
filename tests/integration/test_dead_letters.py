"""Dead letters in a real topic."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Producer

from connectors.debezium.events import BadRecord
from connectors.kafka import dead_letters
from connectors.kafka.config import KafkaConfig
from connectors.kafka.dead_letters import MAX_LETTER_BYTES, DeadLetterConfig, DeadLetterProducer, ensure_topic
from connectors.kafka.errors import (
    BrokerUnavailableError,
    DeadLetterError,
    DeadLetterRefusedError,
    DeadLetterUnsentError,
)
from connectors.kafka.letters import MAX_DETAIL, read_dead_letters
from connectors.kafka.raw import read_records
from connectors.kafka.topics import Admin, describe_topics
from tests.integration.conftest import TopicMaker
from tests.support.large_text import large_text

pytestmark = pytest.mark.kafka


def bad(offset: int = 7, value: bytes | None = b"\xff\x00", **other: object) -> BadRecord:
    known: dict[str, object] = {"key": b'{"id":1}', "headers": (("a", b"1"), ("a", None)), "detail": "line 1: no brace"}
    return BadRecord("shop.orders", 3, offset, "not JSON", value=value, **{**known, **other})


def test_a_bad_record_comes_back_as_it_was(kafka: KafkaConfig, new_topic: TopicMaker) -> None:
    topic = new_topic("dead")
    records = [bad(1), bad(2, value=None, key=None, headers=()), bad(3, value=b"", detail="ü" * 5_000)]
    producer = DeadLetterProducer(DeadLetterConfig(kafka, topic, bridge="shop"))

    for record in records:
        producer.send(record)
    producer.flush()

    letters = list(read_dead_letters(kafka, topic))
    assert [letter.record for letter in letters] == [
        records[0],
        records[1],
        bad(3, value=b"", detail="ü" * MAX_DETAIL),
    ]
    assert [(letter.bridge, letter.partition, letter.offset) for letter in letters] == [
        ("shop", 0, 0),
        ("shop", 0, 1),
        ("shop", 0, 2),
    ]


def test_a_letter_says_in_its_key_and_headers_where_the_record_stood(kafka: KafkaConfig, new_topic: TopicMaker) -> None:
    topic = new_topic("dead")
    producer = DeadLetterProducer(DeadLetterConfig(kafka, topic, bridge="shop"))
    producer.send(bad())
    producer.flush()

    [records] = read_records(kafka, topic, 0, 0, 1)

    assert records.keys.to_pylist() == [b"shop.orders/3/7"]
    assert records.values.to_pylist() == [b"\xff\x00"]
    assert records.headers is not None
    assert [(one["key"], one["value"]) for one in records.headers[0].as_py()] == [
        ("cdc-bridge.reason", b"not JSON"),
        ("cdc-bridge.detail", b"line 1: no brace"),
        ("cdc-bridge.topic", b"shop.orders"),
        ("cdc-bridge.partition", b"3"),
        ("cdc-bridge.offset", b"7"),
        ("cdc-bridge.source-key", b'{"id":1}'),
        ("cdc-bridge.bridge", b"shop"),
        ("cdc-bridge.header.a", b"1"),
        ("cdc-bridge.header.a", None),
    ]


def test_records_of_others_in_the_topic_are_left_out(kafka: KafkaConfig, new_topic: TopicMaker) -> None:
    topic = new_topic("dead")
    other = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    other.produce(topic, b"not a letter")
    other.flush(30)

    assert list(read_dead_letters(kafka, topic)) == []


def test_a_letter_that_is_too_large_is_refused_and_the_next_ones_still_go(
    kafka: KafkaConfig, new_topic: TopicMaker
) -> None:
    topic = new_topic("dead", max_message_bytes="2000")
    producer = DeadLetterProducer(DeadLetterConfig(kafka, topic))
    producer.send(bad(value=os.urandom(10_000)))

    with pytest.raises(DeadLetterRefusedError) as raised:
        producer.flush()

    assert raised.value.facts == {
        "topic": topic,
        "record": "shop.orders/3/7",
        "bootstrap_servers": kafka.bootstrap_servers,
    }
    assert raised.value.remedy == (
        "raise max.message.bytes of the dead-letter topic above the size of the largest record of the source topics"
    )
    producer.send(bad(8))
    producer.flush()
    assert [letter.record for letter in read_dead_letters(kafka, topic)] == [bad(8)]


def test_a_letter_as_large_as_any_is_read_again(kafka: KafkaConfig, new_topic: TopicMaker) -> None:
    topic = new_topic("dead")
    producer = DeadLetterProducer(DeadLetterConfig(kafka, topic, bridge="shop"))
    large = bad(value=large_text(63 << 20).encode())
    producer.send(large)
    producer.flush()

    [letter] = read_dead_letters(kafka, topic)

    assert letter.left_out == 0
    # Without a copy of it in the words of a failed assertion.
    assert (letter.record == large) is True


@pytest.mark.parametrize(
    "part",
    [
        {"value": bytes(MAX_LETTER_BYTES)},
        {"key": bytes(MAX_LETTER_BYTES)},
        {"headers": (("a" * 1_000, b"1"),) * (MAX_LETTER_BYTES // 1_000)},
        {"headers": (("\u20ac" * (MAX_LETTER_BYTES // 3), b"1"),)},
        {"headers": (("", None),) * (MAX_LETTER_BYTES // 20)},
    ],
    ids=["value", "key", "headers", "a header's name", "tiny headers"],
)
def test_of_a_record_larger_than_any_letter_the_letter_tells_where_it_is_and_why(
    kafka: KafkaConfig, new_topic: TopicMaker, part: dict[str, Any]
) -> None:
    topic = new_topic("dead", max_message_bytes="20000")
    producer = DeadLetterProducer(DeadLetterConfig(kafka, topic, bridge="shop"))
    large = replace(bad(), **part)
    producer.send(large)
    producer.flush()

    [letter] = read_dead_letters(kafka, topic)
    assert letter.left_out >= MAX_LETTER_BYTES
    assert letter.record == replace(
        large,
        key=None,
        value=None,
        headers=(),
        detail=f"the record's {letter.left_out} bytes are more than a letter can hold, and stay in its topic; "
        "line 1: no brace",
    )


def test_a_missing_topic_is_an_error_of_the_flush(kafka: KafkaConfig) -> None:
    producer = DeadLetterProducer(DeadLetterConfig(kafka, "no-such-dead-letters", timeout=2.0))
    producer.send(bad())

    with pytest.raises(DeadLetterError) as raised:
        producer.flush()

    assert raised.value.facts["topic"] == "no-such-dead-letters"


def test_letters_that_nobody_takes_stop_the_commit(unused_port: int) -> None:
    servers = f"127.0.0.1:{unused_port}"
    producer = DeadLetterProducer(DeadLetterConfig(KafkaConfig(servers), "dead", timeout=1.0))
    producer.send(bad(1))
    producer.send(bad(2))

    with pytest.raises(DeadLetterUnsentError) as raised:
        producer.flush()

    assert str(raised.value) == (
        "2 dead letters were not delivered (Local: Message timed out), so the batch is not committed "
        f"[topic=dead, bootstrap_servers={servers}]. Remedy: the batch is tried again by itself; if this lasts: check "
        "that the brokers run, that bootstrap_servers names them, and that a firewall or a wrong security protocol is "
        "not in the way"
    )


def test_a_full_queue_waits_and_then_gives_up(unused_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    config = KafkaConfig(f"127.0.0.1:{unused_port}", client=(("queue.buffering.max.messages", "1"),))
    producer = DeadLetterProducer(DeadLetterConfig(config, "dead", timeout=60.0))
    producer.send(bad(1))
    # For the producer a minute passes while the client looks twice: the first letter does not make room by its end.
    moments = itertools.count(0.0, 31.0)
    monkeypatch.setattr(dead_letters, "time", SimpleNamespace(monotonic=lambda: next(moments)))

    with pytest.raises(DeadLetterUnsentError, match="1 dead letters wait in the client, so the batch is not committed"):
        producer.send(bad(2))

    assert next(moments) > 60.0


def test_the_topic_is_created_once_and_keeps_letters_for_ever(kafka: KafkaConfig, new_topic: TopicMaker) -> None:
    admin = Admin(kafka)
    name = f"{new_topic('dead')}-letters"

    assert [ensure_topic(admin, name), ensure_topic(admin, name)] == [True, False]

    found = describe_topics(admin, [name])[name]
    assert (found.retention_ms, found.cleanup_policy, found.max_message_bytes) == (-1, "delete", 64 * 1024 * 1024)


def test_a_topic_created_by_another_at_the_same_time_is_taken(
    kafka: KafkaConfig, new_topic: TopicMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = Admin(kafka)
    name = new_topic("dead")
    monkeypatch.setattr(admin, "topic_names", list)

    assert ensure_topic(admin, name) is False


def test_a_topic_that_no_broker_creates_is_something_that_passes(
    unused_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = Admin(KafkaConfig(f"127.0.0.1:{unused_port}"), timeout=1.0)
    monkeypatch.setattr(admin, "topic_names", list)

    with pytest.raises(BrokerUnavailableError, match="while creating the dead-letter topic"):
        ensure_topic(admin, "dead")


def test_a_topic_for_which_too_few_brokers_are_up_is_something_that_passes(
    kafka: KafkaConfig, new_topic: TopicMaker
) -> None:
    name = f"{new_topic('dead')}-letters"

    with pytest.raises(BrokerUnavailableError, match="too few Kafka brokers are up") as raised:
        ensure_topic(Admin(kafka), name, replication_factor=2)

    assert f"--topic {name} --replication-factor 1" in raised.value.remedy
    assert ensure_topic(Admin(kafka), name)
