"""What the commit path lands: the demo's shop in Kafka, five tables in three encodings, and how they land."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from connectors.debezium.options import DecodeOptions, TableRules
from connectors.landing_zone.storage.location import StorageLocation
from streaming.demo.encoding import Encoding
from streaming.demo.shop import TABLES
from streaming.demo.workload import Workload
from streaming.plan import JobOptions, TableOptions
from streaming.policies import MetadataColumn, OnMissingKey
from tests.golden.traffic import KnownSchemas
from tests.support.plain_job import Log
from tests.support.records import declared

METADATA_COLUMNS = (MetadataColumn.KAFKA_TOPIC, MetadataColumn.KAFKA_PARTITION, MetadataColumn.KAFKA_OFFSET)
"""By them a landed row says which record it comes from."""


@dataclass(frozen=True)
class ShopLog:
    """A seeded workload in topics.

    Attributes:
        schemas: what the registry holds.
        truth: the number of rows that each table has in the end.
    """

    log: Log
    schemas: KnownSchemas
    truth: Mapping[str, int]


def shop_log(seed: int, *, rows: int = 4, changes: int = 45) -> ShopLog:
    """The same records for the same seed."""
    ids: dict[str, int] = {}

    def register(subject: str, schema: dict[str, Any]) -> int:
        return ids.setdefault(json.dumps(schema, sort_keys=True), len(ids) + 1)

    workload, log = Workload(register, seed=seed, rows=rows, changes=changes), Log()
    for spec in TABLES:
        log.partitions[spec.topic] = {number: [] for number in range(spec.partitions)}
    for record in workload.records():
        log.append(record)
    truth = {table: len(content) for table, content in workload.truth().items()}
    return ShopLog(log, KnownSchemas({number: text for text, number in ids.items()}), truth)


def shop_options(zone: StorageLocation) -> JobOptions:
    """How it lands."""
    untyped = tuple(
        (f"public.{spec.name}", declared(spec.columns)) for spec in TABLES if spec.encoding is Encoding.JSON
    )
    return JobOptions(
        fingerprint="crash",
        decode=DecodeOptions(rules=TableRules(tables=untyped)),
        zone=zone,
        defaults=TableOptions(on_missing_key=OnMissingKey.APPEND, metadata_columns=METADATA_COLUMNS),
    )
