"""Whatever may lie in Kafka's partitions, both readers give each record of a range once, in order and unchanged."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterable, Sequence

import pyarrow.compute as pc
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from connectors.debezium.events import RawRecords
from connectors.kafka.config import KafkaConfig, options
from connectors.kafka.errors import RecordsGoneError, TopicNotFoundError
from connectors.kafka.reading.native_reader import BATCH_BYTES, NativeReader
from connectors.kafka.reading.ranges import PartitionRange
from tests.integration.conftest import ReaderMaker, TopicMaker
from tests.support.kafka_messages import built
from tests.support.large_text import large_text
from tests.support.record_batches import write

pytestmark = pytest.mark.kafka

TRANSACTIONS, EACH, KEYS = 20, 100, 60
"""Of a topic that is compacted, how many, how many records each has, and how many keys there are."""


def producer_of(kafka: KafkaConfig, **own: object) -> Producer:
    return Producer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "log_level": 0,
            "linger.ms": 20,
            **{name.replace("_", "."): value for name, value in own.items()},
        }
    )


def numbered(kafka: KafkaConfig, topic: str, count: int, partition: int = 0) -> None:
    """Records whose values are their offsets."""
    producer = producer_of(kafka)
    for number in range(count):
        producer.produce(topic, b"%d" % number, partition=partition)
    assert producer.flush(60) == 0


def seen(records: Iterable[RawRecords]) -> list[tuple[str, int, int]]:
    """Topic, partition and offset of each numbered record."""
    found = []
    for each in records:
        assert each.values.to_pylist() == [b"%d" % offset for offset in each.offsets.tolist()]
        found += [(each.topic, each.partition, offset) for offset in each.offsets.tolist()]
    return found


def wanted_of(ranges: Sequence[PartitionRange]) -> list[tuple[str, int, int]]:
    return [(each.topic, each.partition, offset) for each in ranges for offset in range(each.start, each.end)]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_batches_of_any_size_and_codec_come_unchanged(
    kafka: KafkaConfig, new_topic: TopicMaker, reader_of: ReaderMaker, codec: str
) -> None:
    topic = new_topic()
    producer = producer_of(kafka, compression_type=codec, batch_num_messages=10_000)
    written = [(b"%d" % n, b"v" * (n % 90), [("h", b"%d" % n)] if n % 3 else None) for n in range(20_001)]
    for number, (key, value, headers) in enumerate(written):
        if number == 20_000:
            producer.flush(60)
        producer.produce(topic, value, key, headers=headers, timestamp=1 + number)
    assert producer.flush(60) == 0

    found = list(reader_of(kafka).read([PartitionRange(topic, 0, 777, 20_001)]))

    assert [offset for each in found for offset in each.offsets.tolist()] == list(range(777, 20_001))
    assert [key for each in found for key in each.keys.to_pylist()] == [key for key, _, _ in written[777:]]
    assert [value for each in found for value in each.values.to_pylist()] == [value for _, value, _ in written[777:]]
    assert [time for each in found for time in each.timestamps.tolist()] == list(range(778, 20_002))
    headers_found = [each or [] for records in found for each in (records.headers or [])]
    assert [[(h["key"], h["value"]) for h in each.as_py() or []] if each else [] for each in headers_found] == [
        headers or [] for _, _, headers in written[777:]
    ]


def test_the_time_may_be_the_brokers_or_absent_and_headers_of_any_kind(
    kafka: KafkaConfig, new_topic: TopicMaker, reader_of: ReaderMaker
) -> None:
    topic = new_topic()
    headers = [(b"", b""), (b"", None), ("\N{LATIN SMALL LETTER E WITH ACUTE}".encode(), b"\xff\x00"), (b"a", b"1")] * 2
    write(kafka.bootstrap_servers, topic, b"", None, headers)
    appended = new_topic(message_timestamp_type="LogAppendTime")
    before = int(time.time() * 1000)
    producer = producer_of(kafka)
    producer.produce(appended, b"", timestamp=5)
    assert producer.flush(30) == 0
    after = int(time.time() * 1000)

    [absent, told] = reader_of(kafka).read([PartitionRange(topic, 0, 0, 1), PartitionRange(appended, 0, 0, 1)])

    assert absent.timestamps.tolist() == [-1]
    assert (absent.keys.to_pylist(), absent.values.to_pylist()) == ([b""], [None])
    assert absent.headers is not None
    assert absent.headers.to_pylist() == [[{"key": name.decode(), "value": value} for name, value in headers]]
    assert before <= told.timestamps[0] <= after


def test_a_header_whose_name_is_no_text_has_replacement_characters(kafka: KafkaConfig, new_topic: TopicMaker) -> None:
    topic = new_topic()
    write(kafka.bootstrap_servers, topic, None, b"v", [(b"\xffx", b"1"), (b"ok", None)])
    reader = NativeReader(kafka, built())

    [records] = reader.read([PartitionRange(topic, 0, 0, 1)])

    reader.close()
    assert records.headers is not None
    assert records.headers.to_pylist() == [[{"key": "\ufffdx", "value": b"1"}, {"key": "ok", "value": None}]]


def test_a_batch_is_bounded_where_large_records_follow_small_ones(kafka: KafkaConfig, new_topic: TopicMaker) -> None:
    topic = new_topic(max_message_bytes=str(10 << 20))
    # So well compressed that all of them come in one answer of the broker.
    producer = producer_of(kafka, compression_type="zstd", message_max_bytes=(10 << 20) - 1_000)
    sizes = [100] * 1_000 + [9 << 20] * 12 + [0] * 5
    for size in sizes:
        producer.produce(topic, bytes(size), headers=[("h", bytes(size))] if size < 1_000 else None)
    assert producer.flush(60) == 0
    reader = NativeReader(kafka, built())

    found = [
        (records.values.nbytes, pc.binary_length(records.values).to_pylist())
        for records in reader.read([PartitionRange(topic, 0, 0, len(sizes))])
    ]

    reader.close()
    assert [size for _, lengths in found for size in lengths] == sizes
    assert max(size for size, _ in found) < BATCH_BYTES + (1 << 20)


@pytest.mark.parametrize(
    ("codec", "megabytes"), [("zstd", 60), ("zstd", 100), ("zstd", 300), ("gzip", 100), ("lz4", 100), ("none", 103)]
)
def test_a_record_comes_unchanged_however_much_larger_it_is_than_its_batch_and_alone_in_one_answer(
    kafka: KafkaConfig, new_topic: TopicMaker, reader_of: ReaderMaker, codec: str, megabytes: int
) -> None:
    """A broker takes requests of 100 MiB unless it is told otherwise: more than librdkafka takes by itself."""
    topic = new_topic(max_message_bytes="104000000")
    producer = producer_of(kafka, compression_type=codec, message_max_bytes=400_000_000)
    large = large_text(megabytes * 1_000_000).encode()
    for value in (b"first", large, b"last"):
        producer.produce(topic, value, partition=0)
        assert producer.flush(60) == 0

    found = [value for each in reader_of(kafka).read([PartitionRange(topic, 0, 0, 3)]) for value in each.values]

    assert [found[0].as_py(), found[2].as_py()] == [b"first", b"last"]
    # Without a copy of it in the words of a failed assertion.
    assert (found[1].as_py() == large) is True


def test_ranges_of_a_partition_may_follow_one_another_and_overlap(
    kafka: KafkaConfig, new_topic: TopicMaker, reader_of: ReaderMaker
) -> None:
    topic = new_topic(partitions=2)
    for partition in range(2):
        numbered(kafka, topic, 100, partition)
    ranges = [
        PartitionRange(topic, partition, start, end)
        for partition, start, end in [(0, 0, 10), (1, 50, 60), (0, 20, 100), (0, 5, 15), (1, 0, 100), (1, 99, 100)]
    ]

    assert seen(reader_of(kafka).read(ranges)) == wanted_of(ranges)


def test_many_topics_come_in_one_read(kafka: KafkaConfig, reader_of: ReaderMaker) -> None:
    prefix = f"many-{time.time_ns()}"
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
    topics = [f"{prefix}-{number}" for number in range(100)]
    for future in admin.create_topics([NewTopic(topic, 1, 1) for topic in topics]).values():
        future.result(60)
    producer = producer_of(kafka)
    for topic in topics:
        for number in range(3):
            producer.produce(topic, b"%d" % number, partition=0)
    assert producer.flush(60) == 0
    ranges = [PartitionRange(topic, 0, number % 3, 3) for number, topic in enumerate(topics)]
    reader = reader_of(kafka)

    assert seen(reader.read(ranges)) == wanted_of(ranges)
    assert seen(reader.read(ranges[::-1])) == wanted_of(ranges[::-1])


def test_a_read_may_be_left_in_the_middle(kafka: KafkaConfig, new_topic: TopicMaker, reader_of: ReaderMaker) -> None:
    topic = new_topic(partitions=3)
    for partition in range(3):
        numbered(kafka, topic, 3_000, partition)
    ranges = [PartitionRange(topic, partition, 7, 2_999) for partition in range(3)]
    reader = reader_of(kafka)

    for records in range(1, 6):
        left = reader.read(ranges, batch=700)
        for _ in range(records):
            next(left)
        left.close()

    assert seen(reader.read(ranges)) == wanted_of(ranges)


def test_a_reader_reads_on_after_errors(kafka: KafkaConfig, new_topic: TopicMaker, reader_of: ReaderMaker) -> None:
    topic, other = new_topic(), new_topic()
    numbered(kafka, topic, 10)
    reader = reader_of(kafka)
    whole = [PartitionRange(topic, 0, 0, 10)]

    for bad, error in [
        (PartitionRange("nobody-made-this", 0, 0, 5), TopicNotFoundError),
        (PartitionRange(topic, 7, 0, 5), TopicNotFoundError),
        (PartitionRange(other, 0, 20, 30), RecordsGoneError),
    ]:
        with pytest.raises(error):
            list(reader.read([*whole, bad, *whole], timeout=20))
        assert seen(reader.read(whole)) == wanted_of(whole)


def test_a_closed_reader_refuses_and_is_closed_again_without_harm(kafka: KafkaConfig, new_topic: TopicMaker) -> None:
    topic = new_topic()
    numbered(kafka, topic, 10)
    reader = NativeReader(kafka, built())
    assert len(seen(reader.read([PartitionRange(topic, 0, 0, 10)]))) == 10

    reader.close()
    reader.close()

    with pytest.raises(TypeError):
        list(reader.read([PartitionRange(topic, 0, 0, 10)]))


def test_records_that_go_while_they_are_read_are_told(
    kafka: KafkaConfig, new_topic: TopicMaker, reader_of: ReaderMaker
) -> None:
    topic = new_topic()
    producer = producer_of(kafka)
    # 90 MB: a client fetches up to 64 MiB ahead, and what it has may still come.
    for _ in range(60_000):
        producer.produce(topic, bytes(1_500), partition=0)
    assert producer.flush(60) == 0
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
    reading = reader_of(kafka).read([PartitionRange(topic, 0, 0, 60_000)], batch=1_000)

    found = next(reading).offsets.tolist()
    for future in admin.delete_records([TopicPartition(topic, 0, 59_000)]).values():
        future.result(30)
    with pytest.raises(RecordsGoneError):
        found += [offset for records in reading for offset in records.offsets.tolist()]

    # What had been fetched before they went may still come, without a gap.
    assert found == list(range(len(found)))


def test_a_topic_that_was_made_again_is_read_from_its_own_records(
    kafka: KafkaConfig, new_topic: TopicMaker, reader_of: ReaderMaker
) -> None:
    topic = new_topic()
    numbered(kafka, topic, 50)
    reader = reader_of(kafka)
    assert len(seen(reader.read([PartitionRange(topic, 0, 0, 50)]))) == 50
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})

    admin.delete_topics([topic])[topic].result(30)
    while topic in admin.list_topics(timeout=30).topics:
        time.sleep(0.05)
    with pytest.raises(TopicNotFoundError):
        list(reader.read([PartitionRange(topic, 0, 50, 60)], timeout=20))
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)
    numbered(kafka, topic, 10)

    with pytest.raises(RecordsGoneError):
        list(reader.read([PartitionRange(topic, 0, 50, 60)], timeout=20))
    assert len(seen(reader.read([PartitionRange(topic, 0, 0, 10)]))) == 10


def test_compacted_and_aborted_records_leave_holes_anywhere(
    kafka: KafkaConfig, new_topic: TopicMaker, reader_of: ReaderMaker
) -> None:
    topic = new_topic(
        cleanup_policy="compact",
        segment_ms="100",
        min_cleanable_dirty_ratio="0.001",
        delete_retention_ms="0",
        min_compaction_lag_ms="0",
    )
    chance = random.Random(1)
    producer = producer_of(kafka, transactional_id=topic)
    producer.init_transactions(30)
    for number in range(TRANSACTIONS):
        producer.begin_transaction()
        for _ in range(EACH):
            producer.produce(topic, b"%d" % number, b"%d" % chance.randrange(KEYS))
        producer.flush(30)
        if number % 3:
            producer.commit_transaction(30)
        else:
            producer.abort_transaction(30)
        time.sleep(0.11)
    # With a marker behind each transaction, of which the broker may still have to write the last one.
    end = TRANSACTIONS * (EACH + 1)
    uncommitted = reader_of(kafka, isolation="read_uncommitted")
    deadline = time.monotonic() + 180

    def kept() -> list[int]:
        whole = uncommitted.read([PartitionRange(topic, 0, 0, end)])
        return [offset for records in whole for offset in records.offsets.tolist()]

    # All but the last transaction, whose segment is written to, down to the keys that there are: a first round may have
    # come while they were written, and the next one would leave out more while the rest of this test reads.
    while len(kept()) > KEYS + EACH:
        assert time.monotonic() < deadline, "the broker has not compacted everything"
        time.sleep(0.5)
    reader = reader_of(kafka)
    committed = reader.read([PartitionRange(topic, 0, 0, end)])
    offsets = [offset for records in committed for offset in records.offsets.tolist()]
    gaps = [first + 1 for first, second in itertools.pairwise(offsets) if second > first + 1]

    assert offsets[0] > 0
    assert gaps
    assert offsets[-1] < end - 1
    for _ in range(30):
        start = chance.choice([0, offsets[0] - 1, *gaps, chance.randrange(end)])
        stop = chance.choice([end, *gaps, chance.randrange(start, end) + 1])
        found = list(reader.read([PartitionRange(topic, 0, start, stop)], batch=chance.choice([1, 7, 10_000])))
        assert [offset for records in found for offset in records.offsets.tolist()] == [
            offset for offset in offsets if start <= offset < stop
        ]


def test_nothing_is_committed_for_a_group_that_the_settings_name(
    kafka: KafkaConfig, new_topic: TopicMaker, reader_of: ReaderMaker
) -> None:
    topic = new_topic()
    numbered(kafka, topic, 10)
    settings = {"group.id": topic, "auto.commit.interval.ms": "50"}
    reader = reader_of(KafkaConfig(kafka.bootstrap_servers, client=options(settings)))

    assert len(seen(reader.read([PartitionRange(topic, 0, 0, 9)]))) == 9
    time.sleep(1.0)
    reader.close()

    asking = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": topic})
    [known] = asking.committed([TopicPartition(topic, 0)], timeout=30)
    asking.close()
    assert known.offset < 0
