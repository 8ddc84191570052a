"""The reader with an object for each record, over a consumer that answers as a test sets it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Message

from connectors.kafka.config import KafkaConfig
from connectors.kafka.reading import problems
from connectors.kafka.reading.message_reader import MessageReader
from connectors.kafka.reading.ranges import PartitionRange


def record(offset: int) -> Any:
    return SimpleNamespace(
        error=lambda: None,
        offset=lambda: offset,
        key=lambda: None,
        value=lambda: b"v",
        timestamp=lambda: (1, offset),
        headers=lambda: None,
    )


def test_the_time_that_its_caller_takes_for_a_batch_is_no_silence_of_kafkas(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr(problems, "time", SimpleNamespace(monotonic=lambda: now[0]))
    answers: list[list[Message]] = [[record(0)], [], [record(1)]]
    topic = SimpleNamespace(error=None, partitions={0: None})
    reader = MessageReader(KafkaConfig("127.0.0.1:1"))
    consumer = SimpleNamespace(
        list_topics=lambda name, timeout: SimpleNamespace(topics={name: topic}),
        assign=lambda places: None,
        consume=lambda most, timeout: answers.pop(0),
        poll=lambda seconds: None,
    )
    reader.close()
    monkeypatch.setattr(reader, "_consumer", consumer)

    found = []
    for records in reader.read([PartitionRange("orders", 0, 0, 2)], timeout=1.0):
        found += records.offsets.tolist()
        now[0] += 100.0

    assert found == [0, 1]
