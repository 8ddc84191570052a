"""Kafka's headers on their way from Spark's Java to a Python worker: as JSON text.

While Spark (4.0) fills an Arrow batch it asks for the batch's size after every row, and for a nested column the answer
takes as long as the batch is: the headers as Spark has them, most of them empty, take three times as long as all other
columns together. Text takes no such time, and a worker reads each distinct text once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
import numpy as np
import pyarrow as pa

from connectors.kafka.raw import HEADERS_TYPE
from streaming.task.runs import SOURCE_COLUMNS

HEADERS = "headers"
TEXT_COLUMNS = tuple(
    f"CASE WHEN size({name}) > 0 THEN to_json({name}) END AS {name}" if name == HEADERS else name
    for name in SOURCE_COLUMNS
)
"""Spark SQL that selects :data:`~streaming.task.runs.SOURCE_COLUMNS` of Spark's Kafka source, the headers as text."""


class _Header(msgspec.Struct, frozen=True):
    """A header as Spark writes it: ``value`` in base64, and absent where it is null."""

    key: str
    value: bytes | None = None


_HEADERS = msgspec.json.Decoder(list[_Header])


def with_headers(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches with their headers as :data:`~connectors.kafka.raw.HEADERS_TYPE`, null for records without any.

    Args:
        batches: the columns of :data:`TEXT_COLUMNS`.
    """
    for batch in batches:
        place = batch.schema.get_field_index(HEADERS)
        yield batch.set_column(place, HEADERS, _headers(batch.column(place)))


def _headers(texts: pa.StringArray) -> pa.ListArray:
    if texts.null_count == len(texts):
        return pa.nulls(len(texts), HEADERS_TYPE)
    encoded = texts.dictionary_encode()
    lists = [_HEADERS.decode(text) for text in encoded.dictionary.to_pylist()]
    entries = pa.StructArray.from_arrays(
        [
            pa.array([header.key for headers in lists for header in headers], pa.string()),
            pa.array([header.value for headers in lists for header in headers], pa.binary()),
        ],
        fields=list(HEADERS_TYPE.value_type),
    )
    ends = np.cumsum([0, *map(len, lists)], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), entries, type=HEADERS_TYPE).take(encoded.indices)
