"""The limit: Spark's Kafka source and the transfer to Python workers, which look at every record and keep nothing.

``python -m tests.bench.limit CONFIG RECORDS`` takes the bridge's settings, and so the same session, the same batches
and tasks. It reads what no job that lands rows by key in order can do without: key, value, topic, partition and offset,
and not the headers. Whatever a job does in a worker with records that Spark brings there comes on top of this; the
bridge's workers read Kafka themselves.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from connectors.kafka.jars import JarSet, resolve_jars
from streaming.driver.session import spark_session
from streaming.kafka_options import source_options
from streaming.settings import BridgeSettings, load_settings

COLUMNS = ("key", "value", "topic", "partition", "offset")


def consume(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Counts of the records: one row. Every buffer is in the worker's memory; none is read further."""
    records = size = 0
    for batch in batches:
        records += batch.num_rows
        size += batch.nbytes
    yield pa.RecordBatch.from_pydict({"records": [records], "bytes": [size]})


@dataclass
class Carried:
    """Records that came, and seconds in micro-batches."""

    records: int = 0
    seconds: float = 0.0


def carry(spark: SparkSession, settings: BridgeSettings, checkpoint: Path) -> Carried:
    """Consume everything that is in the topics."""
    cores = spark.sparkContext.defaultParallelism
    carried = Carried()

    def batch(frame: DataFrame, batch_id: int) -> None:
        began = time.monotonic()
        counted = frame.coalesce(cores).mapInArrow(consume, "records long, bytes long").collect()
        carried.records += sum(row.records for row in counted)
        carried.seconds += time.monotonic() - began

    query = (
        spark.readStream.format("kafka")
        .options(**source_options(settings))
        .option("startingOffsets", "earliest")
        .options(**{"includeHeaders": "false", "kafka.fetch.max.wait.ms": "10", "kafka.max.poll.records": "10000"})
        .load()
        .select(*COLUMNS)
        .writeStream.foreachBatch(batch)
        .option("checkpointLocation", checkpoint.as_uri())
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return carried


def both_compilers(settings: BridgeSettings) -> BridgeSettings:
    """Here Java carries the records, where the bridge's driver only plans: it has all that makes it fast."""
    conf = {**settings.spark.conf, "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=4"}
    return settings.model_copy(update={"spark": settings.spark.model_copy(update={"conf": conf})})


def main(config: Path, records: int) -> None:
    settings = both_compilers(load_settings(config))
    spark = spark_session(settings, resolve_jars(JarSet.SPARK_KAFKA))
    carried = carry(spark, settings, config.parent / "checkpoint")
    if carried.records != records:
        raise SystemExit(f"{carried.records} records came of {records}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), int(sys.argv[2]))
