"""What an executor's worker does with its reader, on a real broker."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from connectors.debezium.decoder import Decoder
from connectors.debezium.options import DecodeOptions
from connectors.kafka.config import KafkaConfig
from connectors.kafka.reading.ranges import PartitionRange
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.location import StorageLocation
from streaming.plan import JobOptions
from streaming.task.worker import RecordsMissingError, Worker
from tests.integration.conftest import TopicMaker

pytestmark = pytest.mark.kafka


def test_a_worker_keeps_its_reader_until_an_error_and_says_that_planned_records_are_missing(
    kafka: KafkaConfig, new_topic: TopicMaker, tmp_path: Path
) -> None:
    topic = new_topic()
    quiet = {"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0}
    producer = Producer(quiet)
    for number in range(10):
        producer.produce(topic, b"%d" % number)
    assert producer.flush(30) == 0
    job = JobOptions("f", DecodeOptions(), StorageLocation("file:///zone"), kafka=kafka)
    worker = Worker(job, Decoder(job.decode), LocalStorage(tmp_path))

    [records] = worker.read([PartitionRange(topic, 0, 2, 5)])
    first = worker.reader
    [again] = worker.read([PartitionRange(topic, 0, 5, 10)])

    assert (records.offsets.tolist(), again.offsets.tolist()) == ([2, 3, 4], [5, 6, 7, 8, 9])
    assert worker.reader is first is not None

    admin = AdminClient(quiet)
    for future in admin.delete_records([TopicPartition(topic, 0, 4)]).values():
        future.result(30)
    with pytest.raises(RecordsMissingError) as raised:
        list(worker.read([PartitionRange(topic, 0, 2, 10)]))

    assert raised.value.facts == {"topic": topic, "partition": 0, "offset": 2}
    assert worker.reader is None
    [rest] = worker.read([PartitionRange(topic, 0, 4, 10)])
    assert rest.offsets.tolist() == [4, 5, 6, 7, 8, 9]
