"""One librdkafka consumer, held by its own handle."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from connectors.extension import CValue
from connectors.kafka.clients import Connection
from connectors.kafka.reading.library import CONSUMER, ERROR_EVENTS, Library

_ERROR_BYTES = 512
END_SECONDS = 10.0
"""A consumer usually ends within milliseconds."""


class Handle:
    """A consumer that reads the partitions that it is told to, each from the offset that it is told.

    It joins no group and commits nothing. Not for several threads.

    Args:
        options: all that librdkafka is told, those of the connection among them.

    Raises:
        ClientOptionsError: librdkafka does not take an option, or a file that one names.
    """

    def __init__(self, library: Library, connection: Connection, options: Mapping[str, str]) -> None:
        self._library = library
        self._connection = connection
        ffi, lib = library.ffi, library.lib
        said = ffi.new("char[]", _ERROR_BYTES)
        conf = lib.rd_kafka_conf_new()
        # Its own lines would go to this process's standard error; what matters comes as an event.
        for name, value in {**options, "log_level": "0"}.items():
            if lib.rd_kafka_conf_set(conf, name.encode(), value.encode(), said, _ERROR_BYTES):
                lib.rd_kafka_conf_destroy(conf)
                raise connection.unusable(ValueError(_text(ffi, said)))
        lib.rd_kafka_conf_set_events(conf, ERROR_EVENTS)
        self._rk: Any = lib.rd_kafka_new(CONSUMER, conf, said, _ERROR_BYTES)
        if self._rk == ffi.NULL:
            lib.rd_kafka_conf_destroy(conf)
            raise connection.unusable(ValueError(_text(ffi, said)))
        self._events: Any = lib.rd_kafka_queue_get_main(self._rk)
        self._topics: dict[str, Any] = {}

    def start(self, topic: str, partition: int, offset: int) -> None:
        """Let librdkafka fetch a partition's records from an offset on; raises KafkaException."""
        known = self._topics.get(topic)
        lib, ffi = self._library.lib, self._library.ffi
        if known is None:
            known = lib.rd_kafka_topic_new(self._rk, topic.encode(), ffi.NULL)
            if known == ffi.NULL:
                raise KafkaException(self.error(lib.rd_kafka_last_error()))
            self._topics[topic] = known
        if lib.rd_kafka_consume_start(known, partition, offset):
            raise KafkaException(self.error(lib.rd_kafka_last_error()))

    def stop(self, topic: str, partition: int) -> None:
        """Fetch no more of a partition, and drop what was fetched."""
        self._library.lib.rd_kafka_consume_stop(self._topics[topic], partition)

    def take(self, topic: str, partition: int, messages: CValue, count: int, milliseconds: int) -> int:
        """Messages of a started partition, as many as come within so many milliseconds; raises KafkaException."""
        ffi, lib = self._library.ffi, self._library.lib
        # The same memory, as librdkafka's declarations have it.
        pointers = ffi.cast("void **", int(self._library.messages.ffi.cast("uintptr_t", messages)))
        taken: int = lib.rd_kafka_consume_batch(self._topics[topic], partition, milliseconds, pointers, count)
        if taken < 0:
            raise KafkaException(self.error(lib.rd_kafka_last_error()))
        return taken

    def serve(self) -> None:
        """Let librdkafka tell what goes wrong, and renew its tokens."""
        lib, ffi = self._library.lib, self._library.ffi
        while (event := lib.rd_kafka_queue_poll(self._events, 0)) != ffi.NULL:
            error = lib.rd_kafka_event_error(event)
            if error:
                self._connection.tell(KafkaError(error, _text(ffi, lib.rd_kafka_event_error_string(event))))
            lib.rd_kafka_event_destroy(event)

    def error(self, code: int) -> KafkaError:
        """librdkafka's error of a code, with librdkafka's words for it."""
        return KafkaError(code, _text(self._library.ffi, self._library.lib.rd_kafka_err2str(code)))

    def close(self) -> None:
        """End it; harmless where it has ended, and nothing else may be called then.

        An offset reset that is under way can have librdkafka wait for itself for ever: the reply to a queue that is
        closed by then takes the partition's lock a second time (seen with 2.x). So the end is waited for, but not for
        long; what does not end is left to the end of the process.
        """
        lib, rk = self._library.lib, self._rk
        if rk is None:
            return
        for topic in self._topics.values():
            lib.rd_kafka_topic_destroy(topic)
        lib.rd_kafka_queue_destroy(self._events)
        # cffi refuses None: what is called by mistake raises instead of using memory that is free.
        self._topics, self._events, self._rk = {}, None, None
        ending = threading.Thread(target=lib.rd_kafka_destroy_flags, args=(rk, 0), name="kafka-end", daemon=True)
        ending.start()
        ending.join(END_SECONDS)


def _text(ffi: CValue, characters: CValue) -> str:
    return bytes(ffi.string(characters)).decode(errors="replace")
