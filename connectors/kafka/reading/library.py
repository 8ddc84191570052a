"""librdkafka itself, the library below ``confluent_kafka``, called without a Python object per record.

``confluent_kafka`` makes one object of each record, and others of its parts, which takes four times as long as
librdkafka's own work. It is linked to librdkafka, or holds it, so librdkafka's functions are found by it: those of its
wheel, of a distribution, of whatever it was built with. What is called of them here is part of librdkafka's public
interface (``rdkafka.h``), whose functions and structs keep their shape within version 2, and 1 before it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cffi import FFI
from confluent_kafka import cimpl

from connectors.extension import Extension, load

DECLARATIONS = """
typedef struct rd_kafka_s rd_kafka_t;
typedef struct rd_kafka_conf_s rd_kafka_conf_t;
typedef struct rd_kafka_topic_s rd_kafka_topic_t;
typedef struct rd_kafka_topic_conf_s rd_kafka_topic_conf_t;
typedef struct rd_kafka_queue_s rd_kafka_queue_t;
typedef struct rd_kafka_event_s rd_kafka_event_t;
typedef int rd_kafka_resp_err_t;

int rd_kafka_version(void);
rd_kafka_conf_t *rd_kafka_conf_new(void);
void rd_kafka_conf_destroy(rd_kafka_conf_t *conf);
int rd_kafka_conf_set(rd_kafka_conf_t *conf, const char *name, const char *value, char *errstr, size_t errstr_size);
void rd_kafka_conf_set_events(rd_kafka_conf_t *conf, int events);
rd_kafka_t *rd_kafka_new(int type, rd_kafka_conf_t *conf, char *errstr, size_t errstr_size);
void rd_kafka_destroy_flags(rd_kafka_t *rk, int flags);
rd_kafka_topic_t *rd_kafka_topic_new(rd_kafka_t *rk, const char *topic, rd_kafka_topic_conf_t *conf);
void rd_kafka_topic_destroy(rd_kafka_topic_t *topic);
int rd_kafka_consume_start(rd_kafka_topic_t *topic, int32_t partition, int64_t offset);
int rd_kafka_consume_stop(rd_kafka_topic_t *topic, int32_t partition);
ssize_t rd_kafka_consume_batch(rd_kafka_topic_t *topic, int32_t partition, int timeout_ms, void **messages,
                               size_t count);
rd_kafka_resp_err_t rd_kafka_last_error(void);
const char *rd_kafka_err2str(rd_kafka_resp_err_t error);
rd_kafka_queue_t *rd_kafka_queue_get_main(rd_kafka_t *rk);
void rd_kafka_queue_destroy(rd_kafka_queue_t *queue);
rd_kafka_event_t *rd_kafka_queue_poll(rd_kafka_queue_t *queue, int timeout_ms);
rd_kafka_resp_err_t rd_kafka_event_error(rd_kafka_event_t *event);
const char *rd_kafka_event_error_string(rd_kafka_event_t *event);
void rd_kafka_event_destroy(rd_kafka_event_t *event);
int64_t rd_kafka_message_timestamp(const void *message, int *type);
rd_kafka_resp_err_t rd_kafka_message_headers(const void *message, void **headers);
rd_kafka_resp_err_t rd_kafka_header_get_all(const void *headers, size_t place, const char **name, const void **value,
                                            size_t *size);
void rd_kafka_message_destroy(void *message);
"""
CONSUMER = 1
"""``RD_KAFKA_CONSUMER``"""
ERROR_EVENTS = 0x8
"""``RD_KAFKA_EVENT_ERROR``"""

_VERSIONS = (1, 2)
_WITHOUT = "Kafka's records are read record by record, at a fifth of the speed"

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Library:
    """librdkafka and what copies its messages.

    Attributes:
        ffi, lib: its functions, as cffi shows them.
        messages: the extension module of ``messages.h``; functions: librdkafka's, as it takes them.
    """

    ffi: Any
    lib: Any
    messages: Extension
    functions: Any


def find_library(messages: Extension | None, client: str) -> Library | None:
    """What reads with librdkafka's functions; ``None`` without the extension, and with a warning without the functions.

    Args:
        client: the file of ``confluent_kafka``'s extension module.
    """
    if messages is None:
        return None
    ffi = FFI()
    ffi.cdef(DECLARATIONS)
    try:
        lib: Any = ffi.dlopen(client)
        addresses = {name: int(ffi.cast("uintptr_t", getattr(lib, name))) for name in dir(lib)}
    except (OSError, AttributeError) as error:
        _log.warning("%s: librdkafka's functions are not found: %s", _WITHOUT, error)
        return None
    version = lib.rd_kafka_version() >> 24
    if version not in _VERSIONS:
        _log.warning("%s: librdkafka's version %d may have others than those that are called", _WITHOUT, version)
        return None
    taken = ("message_timestamp", "message_headers", "header_get_all", "message_destroy")
    pointers = [messages.ffi.cast("void *", addresses[f"rd_kafka_{name}"]) for name in taken]
    return Library(ffi, lib, messages, messages.ffi.new("kafka_functions *", pointers))


MESSAGES = load(f"{__package__}._messages", Path(__file__).parent, "messages", _WITHOUT)
LIBRARY = find_library(MESSAGES, cimpl.__file__)
"""``None`` where it was installed without a C compiler, or librdkafka is another than those that are known."""
