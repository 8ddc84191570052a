"""The process that runs the bridge, and the ledger that it writes."""

from __future__ import annotations

from streaming.metrics.metric import Kind, Metric, Unit

LEDGER_VERSION = Metric("bridge_ledger_version", Kind.GAUGE, Unit.NUMBER, "The ledger's last version.")
LEDGER_EPOCH = Metric("bridge_ledger_epoch", Kind.GAUGE, Unit.NUMBER, "The claim under which this driver writes.")
LEDGER_CONFLICTS = Metric(
    "bridge_ledger_conflicts_total",
    Kind.COUNTER,
    Unit.TIMES,
    "Disagreements of ledger and zone, or of two drivers: fenced, sequence_conflict, ledger_behind, table_reset, ...",
    ("reason",),
)
LAST_SUCCESS = Metric(
    "bridge_last_success_timestamp_seconds",
    Kind.GAUGE,
    Unit.SECONDS,
    "When a micro-batch last ended well. Seconds since 1970.",
)
RETRIED_FAILURES = Metric(
    "bridge_retried_failures_total",
    Kind.COUNTER,
    Unit.TIMES,
    "Failures that were met with another attempt, by kind of error.",
    ("reason",),
)
LIVE = Metric("bridge_live", Kind.GAUGE, Unit.TRUTH, "What /livez says.")
READY = Metric("bridge_ready", Kind.GAUGE, Unit.TRUTH, "What /readyz says.")
START_TIME = Metric(
    "bridge_start_timestamp_seconds", Kind.GAUGE, Unit.SECONDS, "When the process started. Seconds since 1970."
)
AGGREGATED = Metric(
    "bridge_metrics_aggregated",
    Kind.GAUGE,
    Unit.TRUTH,
    "1 where one series stands for all tables, or all partitions, since there are more than metrics.max_tables or "
    "metrics.per_table is false.",
    ("over",),
)
BUILD_INFO = Metric(
    "bridge_build_info",
    Kind.INFO,
    Unit.TRUTH,
    "What runs here.",
    ("version", "commit", "spark", "python"),
)

METRICS = (
    LEDGER_VERSION,
    LEDGER_EPOCH,
    LEDGER_CONFLICTS,
    LAST_SUCCESS,
    RETRIED_FAILURES,
    LIVE,
    READY,
    START_TIME,
    AGGREGATED,
    BUILD_INFO,
)
