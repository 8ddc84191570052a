"""A small shop's zone and ledger on disk, made by the job's own functions without Spark and Kafka."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from connectors.debezium.options import DecodeOptions
from connectors.kafka.config import KafkaConfig
from connectors.kafka.dead_letters import DeadLetterConfig
from connectors.landing_zone.storage.location import StorageLocation
from streaming.demo.columns import Column, Kind
from streaming.demo.workload import Record
from streaming.plan import JobOptions
from tests.support.plain_job import Log, PlainJob
from tests.support.records import COLUMNS, Table

TOPIC = "shop.public.orders"
ORDERS = Table(TOPIC)
WIDER = Table(TOPIC, columns=(*COLUMNS, Column("note", Kind.TEXT)))
LETTERS = DeadLetterConfig(KafkaConfig("127.0.0.1:1"), "shop.dead-letters", "shop")


def row(key: int, name: str = "new", **more: Any) -> dict[str, Any]:
    return {"id": key, "name": name, **more}


def job(folder: Path, **options: Any) -> JobOptions:
    return JobOptions(
        **{
            "fingerprint": "test",
            "decode": DecodeOptions(),
            "zone": StorageLocation(f"file://{folder / 'zone'}"),
            "dead_letters": LETTERS,
            **options,
        }
    )


def landed(folder: Path, *batches: list[Record], **options: Any) -> PlainJob:
    """A job that has landed these micro-batches, one after the other."""
    shop = PlainJob(folder, job(folder, **options), Log())
    for records in batches:
        shop.receive(*records)
    return shop


def two_batches(folder: Path, **options: Any) -> PlainJob:
    """A snapshot of two rows; then a change, a delete with its tombstone, and a row with a new column."""
    first = [ORDERS.read(row(1, "one"), 10), ORDERS.read(row(2, "two"), 10)]
    second = [
        ORDERS.update(row(1, "uno"), 20),
        ORDERS.delete(row(2), 21),
        ORDERS.tombstone(row(2)),
        WIDER.create(row(3, "three", note="n"), 22),
    ]
    return landed(folder, first, second, **options)


def parked(folder: Path) -> PlainJob:
    """A row, then a truncate, which parks the table, and a row behind it."""
    return landed(folder, [ORDERS.read(row(1), 10)], [ORDERS.truncate(20), ORDERS.create(row(2), 21)])
