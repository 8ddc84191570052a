"""Small ledgers, looks at Kafka and batches, for tests of what is told of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest

from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.state import (
    LandedFile,
    LedgerState,
    Parked,
    PartitionState,
    TableState,
    TableStatus,
    TopicOffsets,
)
from streaming.metrics.build import Build
from streaming.metrics.exposition import Exposition
from streaming.metrics.lag import KafkaView
from streaming.metrics.observed import Observed
from streaming.metrics.tallies import Tallies
from tests.support.http import Answered
from tests.unit.landing_zone.ledger_builders import NOON_MS

DAY = 86_400
BUILD = Build("1.2.3", "0123456789ab", "4.0.5", "3.11.2")


def parked(reason: str = "truncate", *, topic: str = "users", offset: int = 40, skipped: int = 2) -> Parked:
    return Parked(
        reason,
        "the source truncated the table",
        "rebuild it with `cdc-bridge resync CONFIG public.users`",
        topic,
        0,
        offset,
        resume={topic: {0: offset}},
        skipped=skipped,
    )


def table(
    name: str = "orders", *, sequence: int = 3, topics: Iterable[str] = (), stop: Parked | None = None, **more: Any
) -> TableState:
    status = TableStatus.STREAMING if stop is None else TableStatus.PARKED
    fed = {topic: {0: PartitionState()} for topic in (list(topics) or [name])}
    source = ("shop", "public", name)
    return TableState(
        source,
        f"public.schema/{name}",
        **{"status": status, "sequence": sequence, "partitions": fed, "parked": stop, "rows": {"4": 7}, **more},
    )


def ledger(*tables: TableState, offsets: Mapping[str, int] | None = None, **more: Any) -> LedgerState:
    """The tables, and topics of one partition that have landed up to these offsets."""
    topics = {topic: TopicOffsets("id", {0: offset}) for topic, offset in (offsets or {}).items()}
    named = {f"public.{one.source[2]}": one for one in tables}
    return LedgerState(
        "ledger", **{"version": 9, "epoch": 2, "writer": "run-1", "tables": named, "topics": topics, **more}
    )


def kafka(
    ends: Mapping[str, tuple[int, int]],
    first_ms: Mapping[tuple[str, int], int] | None = None,
    retention_ms: int | None = 7 * DAY * 1000,
    **more: Any,
) -> KafkaView:
    """Topics of one partition with (earliest, end); ``first_ms`` by topic and offset."""
    first: dict[tuple[str, int], dict[int, int]] = {}
    for (topic, offset), moment in (first_ms or {}).items():
        first.setdefault((topic, 0), {})[offset] = moment
    topics = {topic: TopicDescription("id", {0: span}, retention_ms=retention_ms) for topic, span in ends.items()}
    return KafkaView(NOON_MS - 2_000, topics, first, **more)


def observed(state: LedgerState | None, **more: Any) -> Observed:
    return Observed(now_ms=NOON_MS, started_ms=NOON_MS - 60_000, state=state, **more)


def file(name: str = "orders", sequence: int = 3, **more: Any) -> LandedFile:
    return LandedFile(
        **{
            "table": f"public.{name}",
            "generation": 1,
            "sequence": sequence,
            "staged": "",
            "target": "",
            "sha256": "",
            "logical": "",
            "bytes": 1_000,
            "rows": {"4": 2, "": 5},
            "schema": "s",
            "ranges": {name: {0: (0, 6)}},
            **more,
        }
    )


def scraped(now: Observed, tallies: Tallies | None = None, *, per_table: bool = True, bound: int = 100) -> Answered:
    """What Prometheus reads."""
    registry = CollectorRegistry()
    registry.register(Exposition(lambda: now, tallies or Tallies(), BUILD, per_table=per_table, bound=bound))
    return Answered(200, {}, generate_latest(registry).decode())
