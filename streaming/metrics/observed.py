"""What is known of the bridge at one moment, gathered without waiting for the job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from connectors.landing_zone.ledger.state import LedgerState
from streaming.metrics.connect_watch import ConnectorView
from streaming.metrics.lag import KafkaView
from streaming.metrics.mirrored import Mirrored
from streaming.mirroring.view import MirroringView


@dataclass(frozen=True)
class Observed:
    """One moment.

    Attributes:
        now_ms: wall clock, milliseconds since 1970.
        state: what the ledger knows; None before the zone is claimed.
        kafka: what Kafka told when it was last looked at; None before.
        mirrored: how far the mirrored database has come, of the tables of which that is known.
        connector: what Kafka Connect told of the connector when it last did; None before, and where nobody asks.
        mirroring: what Fabric and the landing zone's folders showed when they were last looked at; None before.
        source_seconds: per table that has just landed, between its newest change at the source and its record in Kafka.
        publish_times: of one table's files, milliseconds since 1970 by number, as far as they are known.
        last_success_ms, started_ms: milliseconds since 1970; 0 for never.
        batch_seconds: how long the micro-batch in hand has run; 0 without one.
    """

    now_ms: int
    started_ms: int
    state: LedgerState | None = None
    kafka: KafkaView | None = None
    mirrored: Mapping[str, Mirrored] = field(default_factory=dict)
    mirroring: MirroringView | None = None
    connector: ConnectorView | None = None
    source_seconds: Mapping[str, float] = field(default_factory=dict)
    publish_times: Callable[[str], Mapping[int, int]] = lambda table: {}
    last_success_ms: int = 0
    batch_seconds: float = 0.0
    live: bool = True
    ready: bool = False
