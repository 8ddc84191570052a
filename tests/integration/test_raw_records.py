"""Bounded reads beside the query, from a real broker."""

from __future__ import annotations

import pyarrow as pa
import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from connectors.kafka.config import KafkaConfig
from connectors.kafka.errors import BrokerUnavailableError, RecordsGoneError, TopicNotFoundError
from connectors.kafka.headers import HEADERS_TYPE
from connectors.kafka.raw import read_records
from connectors.kafka.reading import open as open_module
from tests.integration.conftest import TopicMaker
from tests.support.kafka_messages import built

pytestmark = pytest.mark.kafka


@pytest.fixture(autouse=True, params=["native", "messages"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of the two readers :func:`read_records` takes."""
    if request.param == "messages":
        monkeypatch.setattr(open_module, "LIBRARY", None)
    else:
        assert open_module.LIBRARY is built()


def produce(kafka: KafkaConfig, topic: str, *values: str) -> None:
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    for value in values:
        producer.produce(topic, value.encode())
    assert producer.flush(30) == 0


def offsets(kafka: KafkaConfig, topic: str, start: int, end: int, batch: int = 10_000) -> list[list[int]]:
    return [records.offsets.tolist() for records in read_records(kafka, topic, 0, start, end, batch=batch)]


def test_records_arrive_as_they_lie_in_kafka(kafka: KafkaConfig, new_topic: TopicMaker) -> None:
    topic = new_topic()
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    producer.produce(topic, b"v", b"k", timestamp=1_000, headers=[("a", b"1"), ("a", None), ("b", b"\xff")])
    producer.produce(topic, None, b"k", timestamp=2_000)
    producer.produce(topic, b"", None, timestamp=3_000)
    producer.flush(30)

    [records] = read_records(kafka, topic, 0, 0, 3)

    assert (records.topic, records.partition, len(records)) == (topic, 0, 3)
    assert records.keys.equals(pa.array([b"k", b"k", None], pa.binary()))
    assert records.values.equals(pa.array([b"v", None, b""], pa.binary()))
    assert records.offsets.tolist() == [0, 1, 2]
    assert records.timestamps.tolist() == [1_000, 2_000, 3_000]
    headers = [[{"key": "a", "value": b"1"}, {"key": "a", "value": None}, {"key": "b", "value": b"\xff"}], [], []]
    assert records.headers is not None
    assert records.headers.equals(pa.array(headers, HEADERS_TYPE))


def test_a_range_is_half_open_and_comes_in_batches(kafka: KafkaConfig, new_topic: TopicMaker) -> None:
    topic = new_topic()
    produce(kafka, topic, *"abcdefgh")

    batches = offsets(kafka, topic, 2, 7, batch=2)

    assert [offset for batch in batches for offset in batch] == [2, 3, 4, 5, 6]
    assert max(len(batch) for batch in batches) <= 2


def test_an_empty_range_reads_nothing(kafka: KafkaConfig) -> None:
    assert offsets(kafka, "need-not-exist", 5, 5) == []


def test_aborted_records_and_markers_are_left_out_even_at_the_end(kafka: KafkaConfig, new_topic: TopicMaker) -> None:
    topic = new_topic()
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(30)
    for commit in (True, False):
        producer.begin_transaction()
        producer.produce(topic, b"1")
        producer.flush(30)
        if commit:
            producer.commit_transaction(30)
        else:
            producer.abort_transaction(30)

    assert offsets(kafka, topic, 0, 4) == [[0]]


def test_a_range_behind_an_open_transaction_is_given_up_after_the_timeout(
    kafka: KafkaConfig, new_topic: TopicMaker
) -> None:
    topic = new_topic()
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"open")
    producer.flush(30)

    with pytest.raises(BrokerUnavailableError) as raised:
        list(read_records(kafka, topic, 0, 0, 1, timeout=5.0))

    producer.abort_transaction(30)
    assert str(raised.value) == (
        "nothing came from Kafka within 5 s, and the range's end is not reached "
        f"[topic={topic}, partition=0, end=1, bootstrap_servers={kafka.bootstrap_servers}]. Remedy: check the brokers; "
        "an open transaction of a producer holds committed readers back until it ends"
    )


def test_records_that_retention_has_removed_are_an_error(kafka: KafkaConfig, new_topic: TopicMaker) -> None:
    topic = new_topic()
    produce(kafka, topic, *"abc")
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
    for future in admin.delete_records([TopicPartition(topic, 0, 2)]).values():
        future.result(30)

    with pytest.raises(RecordsGoneError) as raised:
        offsets(kafka, topic, 1, 3)

    assert str(raised.value) == (
        f"Kafka does not hold the first offset that was asked for [topic={topic}, partition=0, offset=1]. Remedy: "
        "retention has removed it, or the topic was created again: ask for a later offset, or "
        "`cdc-bridge resync CONFIG TABLE` for a table that needs it"
    )


@pytest.mark.parametrize("partition", [0, 5])
def test_a_topic_or_partition_that_does_not_exist_is_an_error(
    kafka: KafkaConfig, new_topic: TopicMaker, partition: int
) -> None:
    topic = new_topic() if partition else "nobody-made-this"

    with pytest.raises(TopicNotFoundError, match="the Kafka cluster has no such topic or partition") as raised:
        list(read_records(kafka, topic, partition, 0, 1, timeout=20))

    assert raised.value.facts == {"topic": topic, "partition": partition}


def test_no_broker_is_told_with_the_servers(unused_port: int) -> None:
    servers = f"127.0.0.1:{unused_port}"

    with pytest.raises(BrokerUnavailableError) as raised:
        list(read_records(KafkaConfig(servers), "orders", 0, 0, 1, timeout=1.0))

    assert raised.value.facts["bootstrap_servers"] == servers
