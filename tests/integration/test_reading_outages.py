"""Ranges that are read while their broker goes away and comes back, by both readers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from connectors.kafka.config import KafkaConfig
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.errors import BrokerUnavailableError
from connectors.kafka.reading.ranges import PartitionRange, RecordReader
from tests.integration.conftest import ReaderMaker
from tests.support.bridge import QUICK_BROKER

pytestmark = pytest.mark.kafka

TOPIC = "orders"
RECORDS = 40_000
WHOLE = PartitionRange(TOPIC, 0, 0, RECORDS)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, broker_jars: list[Path]) -> Iterator[EmbeddedBroker]:
    """A broker that ends connections without traffic after a second; it holds more than a reader fetches ahead."""
    with EmbeddedBroker(
        tmp_path_factory.mktemp("broker"),
        broker_jars,
        properties={"connections.max.idle.ms": "1000"},
        jvm_options=QUICK_BROKER,
    ) as running:
        quiet = {"bootstrap.servers": running.bootstrap_servers, "log_level": 0}
        admin = AdminClient(quiet)
        admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(30)
        producer = Producer({**quiet, "queue.buffering.max.messages": RECORDS, "linger.ms": 5})
        for number in range(RECORDS):
            producer.produce(TOPIC, number.to_bytes(4) * 500, partition=0)
        assert producer.flush(60) == 0
        yield running


@pytest.fixture
def reader(reader_of: ReaderMaker, broker: EmbeddedBroker) -> RecordReader:
    return reader_of(KafkaConfig(broker.bootstrap_servers))


def offsets(
    reader: RecordReader,
    wanted: PartitionRange,
    between: Callable[[], object] = int,
    found: list[int] | None = None,
) -> list[int]:
    """The offsets that came, each with the value that was written there, up to the end or an outage.

    Args:
        between: called after the first records.
        found: empty; gets them as they come.
    """
    found = [] if found is None else found
    try:
        for records in reader.read([wanted], batch=100, timeout=20):
            came = records.offsets.tolist()
            assert [int.from_bytes(value[:4]) for value in records.values.to_pylist()] == came
            first = not found
            found += came
            if first:
                between()
    except BrokerUnavailableError:
        pass
    return found


def test_a_broker_that_is_killed_and_comes_back_costs_no_record(broker: EmbeddedBroker, reader: RecordReader) -> None:
    before: list[int] = []
    fetched: list[int] = []

    def come_back() -> None:
        came = 0
        while came < len(before):
            came = len(before)
            time.sleep(1.0)
        fetched.append(came)
        broker.start()

    back = threading.Thread(target=come_back)

    def kill() -> None:
        broker.kill()
        back.start()

    offsets(reader, WHOLE, kill, before)
    back.join()
    after = offsets(reader, PartitionRange(TOPIC, 0, len(before), RECORDS))

    assert 100 <= fetched[0] < RECORDS, "it stood still until the broker was back"
    assert before + after == list(range(RECORDS))


def test_a_broker_that_stays_away_is_told_in_time_and_read_again_when_it_is_back(
    broker: EmbeddedBroker, reader: RecordReader, capfd: pytest.CaptureFixture[str]
) -> None:
    assert offsets(reader, PartitionRange(TOPIC, 0, 0, 10)) == list(range(10))
    broker.kill()
    try:
        begun = time.monotonic()
        with pytest.raises(BrokerUnavailableError) as raised:
            list(reader.read([WHOLE], timeout=2.0))
        took = time.monotonic() - begun
    finally:
        broker.start()

    assert took < 8
    assert capfd.readouterr() == ("", "")
    assert {"topic": TOPIC, "partition": 0, "bootstrap_servers": broker.bootstrap_servers}.items() <= (
        raised.value.facts.items()
    )
    assert offsets(reader, WHOLE) == list(range(RECORDS))


def test_connections_that_the_broker_has_ended_are_made_again(broker: EmbeddedBroker, reader: RecordReader) -> None:
    assert offsets(reader, PartitionRange(TOPIC, 0, 0, 10)) == list(range(10))

    time.sleep(3.0)

    assert offsets(reader, PartitionRange(TOPIC, 0, 10, 500)) == list(range(10, 500))
    assert offsets(reader, PartitionRange(TOPIC, 0, 0, 10), lambda: time.sleep(3.0)) == list(range(10))
