"""What Fabric tells of the mirrored database and its tables."""

from __future__ import annotations

from streaming.metrics.metric import Combine, Kind, Metric, Unit

MIRRORING_STATE = Metric(
    "bridge_mirroring_state",
    Kind.GAUGE,
    Unit.TRUTH,
    "1 for the state of the mirrored database: initializing, initialized, starting, running, paused, stopping, "
    "stopped; unknown for any other word.",
    ("state",),
)
MIRRORING_TROUBLE = Metric(
    "bridge_mirroring_trouble",
    Kind.GAUGE,
    Unit.TRUTH,
    "1 for what is wrong with the mirrored database itself, 0 for what is not: error, stopped (or paused, stopping), "
    "not_begun, starting, unknown_state, no_heartbeat.",
    ("cause",),
)
TABLE_MIRRORING_STATE = Metric(
    "bridge_table_mirroring_state",
    Kind.GAUGE,
    Unit.TRUTH,
    "1 for the state of the table in Fabric: initialized, snapshotting, replicating, reseeding, stopped, failed; "
    "unknown for any other word.",
    ("table", "state"),
    Combine.SUM,
)
TABLE_MIRRORING_ERROR = Metric(
    "bridge_table_mirroring_error",
    Kind.GAUGE,
    Unit.TRUTH,
    "1 where Fabric tells of an error for the table, 0 where it tells of none.",
    ("table",),
    Combine.SUM,
)
TABLE_BLOCKED = Metric(
    "bridge_table_blocked",
    Kind.GAUGE,
    Unit.TRUTH,
    "1 where published files have not been taken in for fabric.blocked_after, 0 where none waits that long.",
    ("table",),
    Combine.SUM,
)
FABRIC_SEEN = Metric(
    "bridge_fabric_seen_timestamp_seconds",
    Kind.GAUGE,
    Unit.SECONDS,
    "When Fabric, or the landing zone's folders, last told how far mirroring has come. Seconds since 1970; 0 "
    "where they were asked and have not told since the start.",
)
FABRIC_FAILURES = Metric(
    "bridge_fabric_failures_total",
    Kind.COUNTER,
    Unit.TIMES,
    "Questions about mirroring that failed: denied, not_found, unavailable, answer, storage, other.",
    ("reason",),
)

METRICS = (
    MIRRORING_STATE,
    MIRRORING_TROUBLE,
    TABLE_MIRRORING_STATE,
    TABLE_MIRRORING_ERROR,
    TABLE_BLOCKED,
    FABRIC_SEEN,
    FABRIC_FAILURES,
)
