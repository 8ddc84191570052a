"""A plan over what lies in topics: what the driver would make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from connectors.debezium.options import DecodeOptions
from connectors.kafka.config import KafkaConfig
from connectors.landing_zone.storage.location import StorageLocation
from streaming.demo.workload import Record
from streaming.plan import BatchPlan, JobOptions, TopicPlan


def plan(servers: str, zone: Path, *partitions: Sequence[Record], merges: bool = False, **job: Any) -> BatchPlan:
    """Of all records that the partitions hold.

    Args:
        servers: Kafka's, which have these records and no others in these partitions.
        merges: whether the partitions' rows are merged in a second stage.
        job: of the job's options.
    """
    ranges: dict[str, dict[int, tuple[int, int]]] = {}
    for records in partitions:
        ranges.setdefault(records[0].topic, {})[records[0].partition] = (0, len(records))
    options = JobOptions(
        fingerprint="test",
        decode=DecodeOptions(),
        zone=StorageLocation(f"file://{zone}"),
        kafka=KafkaConfig(servers),
    )
    return BatchPlan(
        job=replace(options, **job),
        epoch=1,
        commit=1,
        unique="attempt",
        topics={topic: TopicPlan("topic-id", known, merges=merges) for topic, known in ranges.items()},
    )
