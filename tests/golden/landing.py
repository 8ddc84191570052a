"""A traffic landed by the job's own functions, without Spark and Kafka, and read back."""

from __future__ import annotations

import zlib
from pathlib import Path

from connectors.landing_zone.storage.location import StorageLocation
from streaming.demo.workload import Record
from streaming.driver.checkpoint import Offsets
from streaming.plan import JobOptions, TableOptions
from streaming.policies import OnTruncate, OnUnavailable
from tests.golden.traffic import GoldenRecord, KnownSchemas, Traffic
from tests.support.plain_job import Log, PlainJob


def land(traffic: Traffic, folder: Path, *, partitions: int | None = None, batches: int = 1) -> PlainJob:
    """Land everything in ``folder``; whatever the policies could hide parks the table instead.

    Args:
        partitions: spread the records over so many partitions by key, as Kafka's producer does; None to keep theirs.
        batches: into how many micro-batches of equal size each partition is cut.
    """
    log = Log()
    for record in sorted(traffic.records, key=lambda each: (each.topic, each.partition, each.offset)):
        log.append(_placed(record, partitions))
    job = PlainJob(
        folder,
        JobOptions(
            fingerprint="golden",
            decode=traffic.options,
            zone=StorageLocation(f"file://{folder}/zone"),
            defaults=TableOptions(on_truncate=OnTruncate.PARK, on_unavailable=OnUnavailable.PARK),
        ),
        log,
        arrow_rows=1_000,
        schemas=KnownSchemas(traffic.schemas),
    )
    done: Offsets = {topic: dict.fromkeys(ends, 0) for topic, ends in log.ends().items()}
    for number in range(1, batches + 1):
        upto = {
            topic: {partition: end * number // batches for partition, end in ends.items()}
            for topic, ends in log.ends().items()
        }
        job.run_batch(done, upto)
        done = upto
    return job


def parked(job: PlainJob) -> dict[str, str]:
    """Why tables are parked, by the landing zone's name."""
    tables = job.ledger.state.tables.items()
    return {name: table.parked.reason for name, table in tables if table.parked is not None}


def _placed(record: GoldenRecord, partitions: int | None) -> Record:
    partition = record.partition if partitions is None else zlib.crc32(record.key or b"") % partitions
    headers = tuple((name, value) for name, value in record.headers if value is not None)
    return Record(record.topic, partition, record.key, record.value, headers)
