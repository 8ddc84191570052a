"""Headers that Spark hands on as text come out in the worker as Kafka had them."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import SparkSession

from connectors.kafka.raw import HEADERS_TYPE
from streaming.task.headers_text import TEXT_COLUMNS, with_headers
from tests.spark.raw_frames import RAW_DDL
from tests.support.records import RAW_SCHEMA

EVERY_BYTE = bytes(range(256))
HEADERS = [
    [("id", b"\x00\x00\x00\x07")],
    [],
    None,
    [("null", None), ("empty", b""), ("bytes", EVERY_BYTE)],
    [("twice", b"1"), ("twice", b"2"), ("", b"no name")],
    [('quo"te\\', b"{}"), ("n\u00e4me \U0001f600\n", b"text")],
    [("id", b"\x00\x00\x00\x07")],
]


def batch(headers: pa.Array) -> pa.RecordBatch:
    columns = {
        "key": pa.nulls(len(headers), pa.binary()),
        "value": pa.array([b"v"] * len(headers), pa.binary()),
        "topic": pa.array(["t"] * len(headers)),
        "partition": pa.array([0] * len(headers), pa.int32()),
        "offset": pa.array(range(len(headers)), pa.int64()),
        "timestamp": pa.array([0] * len(headers), pa.timestamp("us", "UTC")),
        "headers": headers,
    }
    return pa.RecordBatch.from_pydict(columns, schema=RAW_SCHEMA)


def carried(spark: SparkSession, headers: pa.Array) -> pa.Array:
    """The headers after their way through Spark."""
    frame = spark.createDataFrame(pa.Table.from_batches([batch(headers)]), RAW_DDL).coalesce(1)
    table = frame.selectExpr(*TEXT_COLUMNS).toArrow()
    assert table.schema.field("headers").type == pa.string()
    rows = pa.Table.from_batches(with_headers(table.to_batches())).sort_by("offset")
    return rows["headers"].combine_chunks()


def test_headers_of_every_kind_arrive_as_they_were(spark: SparkSession) -> None:
    arrived = carried(spark, pa.array(HEADERS, HEADERS_TYPE))
    assert arrived.type == HEADERS_TYPE
    told = [
        None if one is None else [(header["key"], header["value"]) for header in one] for one in arrived.to_pylist()
    ]
    assert told == [one or None for one in HEADERS]


def test_records_without_headers_have_none(spark: SparkSession) -> None:
    arrived = carried(spark, pa.array([[], None, []], HEADERS_TYPE))
    assert (arrived.type, arrived.null_count) == (HEADERS_TYPE, 3)
