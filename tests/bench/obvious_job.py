"""The PySpark job that comes to mind first, at its best: what the bridge is compared with.

Per micro-batch it keeps the records in memory, and takes one table after the other: filter, ``from_json`` with the
table's known schema, one partition, sorted by log position, Spark's own Parquet writer, and a rename to the next
number. It knows its tables beforehand, parses only the fields that it needs, and has a heap that holds a batch. It has
no ledger: a crash between two renames leaves it with doubled or missing files, a record that is no JSON becomes a row
of NULLs, and of a table's schema it knows what it was told.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from connectors.kafka.jars import JarSet, resolve_jars

JSON_TYPES = {
    "int64": "bigint",
    "float64": "double",
    "boolean": "boolean",
    "string": "string",
    "timestamp(us)": "bigint",
    "timestamptz": "string",
}
"""How a declared type stands in Debezium's JSON; decimals are there in base64."""
KEY = "id"
MARKER = "__rowMarker__"
UPSERT, UPDATE, DELETE = 4, 1, 2
HEAP = "4g"


def session() -> SparkSession:
    """A session of the job's own, with every core and enough memory for a batch."""
    jars = resolve_jars(JarSet.SPARK_KAFKA)
    return (
        SparkSession.builder.appName("the obvious job")
        .master("local[*]")
        .config("spark.jars", ",".join(str(jar) for jar in jars))
        .config("spark.driver.memory", HEAP)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.kafka.consumer.cache.capacity", "1024")
        .config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
        .getOrCreate()
    )


class ObviousJob:
    """The job.

    Attributes:
        seconds: spent in micro-batches.

    Args:
        zone: gets ``public.schema/<table>/<number>.parquet``.
        columns: of every table, by name: types as the bridge's settings declare them.
        embedded_schema: whether the records are ``{"schema": ..., "payload": ...}``.
    """

    def __init__(self, zone: Path, columns: dict[str, str], *, embedded_schema: bool) -> None:
        self.seconds = 0.0
        self._zone = zone
        self._columns = columns
        image = ", ".join(f"`{name}`: {JSON_TYPES.get(kind, 'string')}" for name, kind in columns.items())
        key = f"`{KEY}`: {JSON_TYPES[columns[KEY]]}"
        event = f"struct<before: struct<{key}>, after: struct<{image}>, source: struct<lsn: bigint>, op: string>"
        self._schema = f"struct<payload: {event}>" if embedded_schema else event
        self._event = "parsed.payload" if embedded_schema else "parsed"

    def carry(self, spark: SparkSession, source: dict[str, str], checkpoint: Path) -> None:
        """Land everything that is in the topics."""
        query = (
            spark.readStream.format("kafka")
            .options(**source)
            .load()
            .select("topic", "partition", "offset", "value")
            .writeStream.foreachBatch(self.land)
            .option("checkpointLocation", checkpoint.as_uri())
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    def land(self, batch: DataFrame, batch_id: int) -> None:
        """One micro-batch."""
        began = time.monotonic()
        batch.persist()
        topics = sorted(row.topic for row in batch.where("value is not null").groupBy("topic").count().collect())
        for topic in topics:
            self._land_table(batch.where(sql.col("topic") == topic), topic.rpartition(".")[2], batch_id)
        batch.unpersist()
        self.seconds += time.monotonic() - began

    def _land_table(self, records: DataFrame, table: str, batch_id: int) -> None:
        folder = self._zone / "public.schema" / table
        written = self._zone / "_written" / f"{table}-{batch_id}"
        self.rows(records).write.parquet(written.as_uri())
        folder.mkdir(parents=True, exist_ok=True)
        number = len(list(folder.glob("*.parquet"))) + 1
        (part,) = written.glob("*.parquet")
        part.rename(folder / f"{number:020d}.parquet")
        if number == 1:
            (folder / "_metadata.json").write_text(json.dumps({"keyColumns": [KEY]}))

    def rows(self, records: DataFrame) -> DataFrame:
        """A table's rows in the order of the log, in one partition, the marker last."""
        event = (
            records.where("value is not null")
            .select(sql.from_json(sql.col("value").cast("string"), self._schema).alias("parsed"), "partition", "offset")
            .select(f"{self._event}.*", "partition", "offset")
        )
        return (
            event.select(
                sql.coalesce("after." + KEY, "before." + KEY).alias(KEY),
                *(_value(name, kind).alias(name) for name, kind in self._columns.items() if name != KEY),
                sql.when(sql.col("op") == "d", DELETE)
                .when(sql.col("op") == "u", UPDATE)
                .otherwise(UPSERT)
                .cast("int")
                .alias(MARKER),
                sql.col("source.lsn").alias("lsn"),
                "partition",
                "offset",
            )
            .coalesce(1)
            .sortWithinPartitions("lsn", "partition", "offset")
            .drop("lsn", "partition", "offset")
        )


def _value(name: str, kind: str) -> Column:
    column = sql.col(f"after.`{name}`")
    if kind == "timestamp(us)":
        return sql.timestamp_micros(column).cast("timestamp_ntz")
    if kind == "timestamptz":
        return column.cast("timestamp")
    if kind.startswith("decimal"):
        precision, scale = (int(part) for part in kind.removeprefix("decimal(").removesuffix(")").split(","))
        raw = sql.hex(sql.unbase64(column))
        unsigned = sql.conv(raw, 16, 10).cast("decimal(20,0)")
        # Two's complement: a number whose first bit is set is less than nothing.
        wrap = sql.when(raw >= "8", sql.pow(sql.lit(16), sql.length(raw)).cast("decimal(20,0)")).otherwise(sql.lit(0))
        return ((unsigned - wrap) / sql.lit(10**scale)).cast(f"decimal({precision},{scale})")
    return column


def source_options(bootstrap_servers: str, pattern: str, max_offsets: int) -> dict[str, str]:
    """Options of Spark's Kafka source."""
    return {
        "kafka.bootstrap.servers": bootstrap_servers,
        "subscribePattern": pattern,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": str(max_offsets),
        "kafka.max.poll.records": "10000",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--bootstrap-servers", "--pattern"):
        parser.add_argument(name, required=True)
    parser.add_argument("--max-offsets", required=True, type=int)
    for name in ("--columns", "--zone", "--checkpoint"):
        parser.add_argument(name, required=True, type=Path)
    parser.add_argument("--embedded-schema", action="store_true")
    given = parser.parse_args()
    source = source_options(given.bootstrap_servers, given.pattern, given.max_offsets)
    job = ObviousJob(given.zone, json.loads(given.columns.read_text()), embedded_schema=given.embedded_schema)
    job.carry(session(), source, given.checkpoint.absolute())


if __name__ == "__main__":
    main()
