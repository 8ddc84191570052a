"""The bytes of events that were left out long after they were decoded: how many reads they take."""

from __future__ import annotations

from connectors.debezium.events import BadRecord
from connectors.kafka.config import KafkaConfig
from streaming.landing.shaping.refusals import CAST_FAILURE
from streaming.task.bad_records import READ_OVER, reads, with_bytes

NOWHERE = KafkaConfig("127.0.0.1:1")


def left_out(offset: int, partition: int = 0, topic: str = "orders") -> BadRecord:
    return BadRecord(topic, partition, offset, CAST_FAILURE, "a value does not fit", key=None, value=None)


def test_neighbours_are_read_in_one_go_in_offset_order() -> None:
    assert reads([left_out(9), left_out(7), left_out(9 + READ_OVER)]) == [
        [left_out(7), left_out(9), left_out(9 + READ_OVER)]
    ]


def test_distant_offsets_other_partitions_and_other_topics_are_read_apart() -> None:
    far = left_out(8 + READ_OVER)
    assert reads([far, left_out(7, 1), left_out(7), left_out(8, topic="lines")]) == [
        [left_out(8, topic="lines")],
        [left_out(7)],
        [far],
        [left_out(7, 1)],
    ]


def test_a_record_that_could_not_be_decoded_has_its_bytes_and_is_not_read_again() -> None:
    record = BadRecord("orders", 0, 7, "not JSON", "no brace", key=None, value=b"{")
    tombstone = BadRecord("orders", 0, 8, "no key", "null", key=None, value=None)
    assert list(with_bytes([record, tombstone], NOWHERE)) == [record, tombstone]
