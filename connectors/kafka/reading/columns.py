"""librdkafka's messages as columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connectors.debezium.events import RawRecords
from connectors.extension import CValue
from connectors.kafka.headers import HEADERS_TYPE
from connectors.kafka.reading.library import Library


class _Texts:
    """A column of variable lengths, and the ``kafka_texts`` that fills it."""

    def __init__(self, count: int, size: int) -> None:
        self._count = count
        self.valid = np.zeros((count + 7) // 8, np.uint8)
        self.offsets = np.empty(count + 1, np.int32)
        self.bytes = np.empty(size, np.uint8)

    def fields(self, ffi: CValue) -> tuple[Any, ...]:
        buffer = ffi.from_buffer
        return buffer("uint8_t[]", self.valid), buffer("int32_t[]", self.offsets), buffer("uint8_t[]", self.bytes), 0

    def array(self, kind: pa.DataType, nulls: int) -> pa.Array:
        valid = pa.py_buffer(self.valid) if nulls else None
        return pa.Array.from_buffers(
            kind, self._count, [valid, pa.py_buffer(self.offsets), pa.py_buffer(self.bytes)], nulls
        )


def raw_records(library: Library, topic: str, partition: int, messages: CValue, rows: int, sizes: CValue) -> RawRecords:
    """The records of messages, which may be destroyed afterwards.

    Args:
        rows, sizes: as ``kafka_measure`` says of the messages.
    """
    ffi, headers = library.messages.ffi, int(sizes.headers)
    keys, values = _Texts(rows, sizes.keys), _Texts(rows, sizes.values)
    names, contents = _Texts(headers, sizes.header_keys), _Texts(headers, sizes.header_values)
    offsets, timestamps = np.empty(rows, np.int64), np.empty(rows, np.int64)
    lists: npt.NDArray[np.int32] = np.empty(rows + 1, np.int32)
    buffer = ffi.from_buffer
    held = (
        keys.fields(ffi),
        values.fields(ffi),
        buffer("int64_t[]", offsets),
        buffer("int64_t[]", timestamps),
        buffer("int32_t[]", lists),
        names.fields(ffi),
        contents.fields(ffi),
    )
    columns = ffi.new("kafka_columns *", held)
    library.messages.lib.kafka_copy(library.functions, messages, rows, columns)
    entries = pa.StructArray.from_arrays(
        [
            _readable(names.array(pa.binary(), columns.header_keys.nulls)),
            contents.array(pa.binary(), columns.header_values.nulls),
        ],
        fields=list(HEADERS_TYPE.value_type),
    )
    return RawRecords(
        topic=topic,
        partition=partition,
        keys=keys.array(pa.binary(), columns.keys.nulls),
        values=values.array(pa.binary(), columns.values.nulls),
        offsets=offsets,
        timestamps=timestamps,
        headers=pa.ListArray.from_arrays(pa.array(lists), entries, type=HEADERS_TYPE)
        if headers
        else pa.nulls(rows, HEADERS_TYPE),
    )


def _readable(names: pa.BinaryArray) -> pa.StringArray:
    """Names of headers; what is not UTF-8 in one, which Kafka does not look at, becomes a replacement character."""
    try:
        return names.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([name.decode(errors="replace") for name in names.to_pylist()], pa.string())
