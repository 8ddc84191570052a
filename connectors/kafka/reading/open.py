"""The reader that this installation has."""

from __future__ import annotations

from connectors.kafka.config import KafkaConfig
from connectors.kafka.reading.library import LIBRARY
from connectors.kafka.reading.message_reader import MessageReader
from connectors.kafka.reading.native_reader import NativeReader
from connectors.kafka.reading.ranges import RecordReader


def open_reader(config: KafkaConfig, *, isolation: str = "read_committed") -> RecordReader:
    """A reader of ranges.

    Args:
        isolation: Kafka's ``isolation.level``.

    Raises:
        ClientOptionsError: librdkafka does not take an option, or a file that one names.
    """
    if LIBRARY is None:
        return MessageReader(config, isolation=isolation)
    return NativeReader(config, LIBRARY, isolation=isolation)
