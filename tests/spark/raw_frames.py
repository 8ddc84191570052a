"""Raw records as a DataFrame, and a plan over them: what the Kafka source and the driver would make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from connectors.debezium.options import DecodeOptions
from connectors.landing_zone.storage.location import StorageLocation
from streaming.demo.workload import Record
from streaming.plan import BatchPlan, JobOptions, TopicPlan
from tests.support.records import RAW_SCHEMA, raw_batch

RAW_DDL = (
    "key binary, value binary, topic string, `partition` int, `offset` long, timestamp timestamp, "
    "headers array<struct<key: string, value: binary>>"
)


@dataclass(frozen=True)
class Partitions:
    """Task n yields the records of topic partition n, as Spark's Kafka source does."""

    batches: tuple[bytes, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from pa.ipc.open_stream(self.batches[number])


def frame(spark: SparkSession, *partitions: Sequence[Record]) -> DataFrame:
    streams = []
    for records in partitions:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, RAW_SCHEMA) as stream:
            stream.write_batch(raw_batch((record, offset) for offset, record in enumerate(records)))
        streams.append(sink.getvalue().to_pybytes())
    numbers = spark.range(0, len(streams), 1, len(streams))
    return numbers.mapInArrow(Partitions(tuple(streams)), RAW_DDL)


def plan(zone: Path, *partitions: Sequence[Record], merges: bool = False, **job: Any) -> BatchPlan:
    ranges: dict[str, dict[int, tuple[int, int]]] = {}
    for records in partitions:
        ranges.setdefault(records[0].topic, {})[records[0].partition] = (0, len(records))
    options = JobOptions(fingerprint="test", decode=DecodeOptions(), zone=StorageLocation(f"file://{zone}"))
    return BatchPlan(
        job=replace(options, **job),
        epoch=1,
        commit=1,
        unique="attempt",
        topics={topic: TopicPlan("topic-id", known, merges=merges) for topic, known in ranges.items()},
    )
