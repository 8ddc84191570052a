"""Events that were left out after they were decoded get their bytes back from the broker."""

from __future__ import annotations

from dataclasses import replace

import pytest
from confluent_kafka import Producer

from connectors.debezium.events import BadRecord
from connectors.kafka.config import KafkaConfig
from streaming.landing.shaping.refusals import CAST_FAILURE, UNAVAILABLE_VALUE
from streaming.task.bad_records import with_bytes
from tests.integration.conftest import TopicMaker

pytestmark = pytest.mark.kafka


def test_events_that_were_left_out_late_get_key_value_and_headers_back(
    kafka: KafkaConfig, new_topic: TopicMaker
) -> None:
    topic = new_topic()
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    for number in range(4):
        producer.produce(topic, f"v{number}".encode(), f"k{number}".encode(), headers=[("n", str(number).encode())])
    assert producer.flush(30) == 0
    unread = BadRecord(topic, 0, 0, "not JSON", "no brace", key=b"k0", value=b"v0")
    unsent = BadRecord(topic, 0, 3, UNAVAILABLE_VALUE, "not sent", key=None, value=None)
    unfit = BadRecord(topic, 0, 1, CAST_FAILURE, "does not fit", key=None, value=None)

    assert list(with_bytes([unsent, unread, unfit], kafka)) == [
        unread,
        replace(unfit, key=b"k1", value=b"v1", headers=(("n", b"1"),)),
        replace(unsent, key=b"k3", value=b"v3", headers=(("n", b"3"),)),
    ]
