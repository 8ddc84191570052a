"""Batches that no client can read are told with their place, by both readers, and nothing of them comes as records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from connectors.kafka.config import KafkaConfig, options
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.errors import UnreadableBatchError
from connectors.kafka.reading.ranges import PartitionRange, RecordReader
from tests.integration.conftest import ReaderMaker, TopicMaker
from tests.support.bridge import QUICK_BROKER
from tests.support.cluster import Cluster
from tests.support.record_batches import damage, with_an_unknown_codec, with_another_bit, with_garbage_for_records

pytestmark = pytest.mark.kafka

REMEDY = (
    "where another replica has it whole, let that one lead; otherwise stop the bridge, remove the partition's records "
    "up to and including this offset with kafka-delete-records.sh, start again, and `cdc-bridge resync CONFIG TABLE`; "
    "if the next offset is told then, do the same with it: a batch can hold several records (docs/dead-letters.md, "
    '"Records that are too large")'
)


@pytest.fixture(scope="module")
def broker(broker_jars: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """One whose files may be damaged."""
    with EmbeddedBroker(tmp_path_factory.mktemp("damaged"), broker_jars, jvm_options=QUICK_BROKER) as started:
        yield started


def three_batches(broker: EmbeddedBroker, topic: str, codec: str) -> None:
    """Offsets 0 and 1, 2 and 3, 4 and 5."""
    producer = Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "log_level": 0, "linger.ms": 100, "compression.type": codec}
    )
    for number in range(6):
        producer.produce(topic, b"a value that repeats itself " * 20, partition=0)
        if number % 2:
            assert producer.flush(30) == 0


def offsets(reader: RecordReader, topic: str, start: int, end: int = 6) -> list[int]:
    """Those that come; of a reader of their own, which no earlier fetch of a damaged batch has confused."""
    wanted = [PartitionRange(topic, 0, start, end)]
    return [offset for records in reader.read(wanted, timeout=20) for offset in records.offsets.tolist()]


@pytest.mark.parametrize(
    ("codec", "damaged", "why"),
    [
        ("none", with_another_bit, "it is damaged"),
        ("zstd", with_another_bit, "it is damaged"),
        (
            "zstd",
            with_garbage_for_records,
            "it cannot be decompressed, or has more bytes then than the client takes",
        ),
        ("zstd", with_an_unknown_codec, "it is compressed in a way that the client does not know"),
    ],
)
def test_a_batch_that_cannot_be_read_is_told_with_its_place_and_passed_over_by_removing_it(
    broker: EmbeddedBroker, reader_of: ReaderMaker, codec: str, damaged: Callable[[bytes], bytes], why: str
) -> None:
    cluster = Cluster(broker.bootstrap_servers)
    topic = cluster.topic()
    three_batches(broker, topic, codec)
    config = KafkaConfig(broker.bootstrap_servers)
    assert offsets(reader_of(config), topic, 0) == [0, 1, 2, 3, 4, 5]

    damage(broker.folder / "data" / f"{topic}-0" / f"{0:020d}.log", 2, damaged)

    with pytest.raises(UnreadableBatchError) as raised:
        offsets(reader_of(config), topic, 0)
    assert raised.value.message == f"a batch of records in Kafka cannot be read: {why}"
    assert raised.value.facts == {"topic": topic, "partition": 0, "offset": 2}
    assert raised.value.remedy == REMEDY
    assert offsets(reader_of(config), topic, 0, 2) == [0, 1]
    cluster.expire(topic, 0, 3)
    with pytest.raises(UnreadableBatchError) as raised:
        offsets(reader_of(config), topic, 3)
    assert raised.value.facts["offset"] == 3
    cluster.expire(topic, 0, 4)
    assert offsets(reader_of(config), topic, 4) == [4, 5]


def test_a_batch_that_exceeds_what_the_settings_let_the_client_take_is_told_too(
    kafka: KafkaConfig, new_topic: TopicMaker, reader_of: ReaderMaker
) -> None:
    topic = new_topic()
    producer = Producer(
        {"bootstrap.servers": kafka.bootstrap_servers, "compression.type": "zstd", "message.max.bytes": 200_000_000}
    )
    for value in (b"", bytes(100_000_000), b""):
        producer.produce(topic, value, partition=0)
        assert producer.flush(60) == 0
    limited = KafkaConfig(kafka.bootstrap_servers, client=options({"receive.message.max.bytes": "60000000"}))

    with pytest.raises(UnreadableBatchError) as raised:
        offsets(reader_of(limited), topic, 0, 3)

    assert raised.value.facts == {"topic": topic, "partition": 0, "offset": 1}
    assert offsets(reader_of(kafka), topic, 0, 3) == [0, 1, 2]
