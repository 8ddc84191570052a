"""Alerts on what waits, by stage. Tables that stand still are left out: they have alerts of their own."""

from __future__ import annotations

from streaming.monitoring.alerts.naming import BRIDGE, DURATION, SOURCE
from streaming.monitoring.rule import Alert, Severity

LAG: tuple[Alert, ...] = (
    Alert(
        "BridgeSourceLag",
        Severity.WARNING,
        # Of a table that lands nothing for nine minutes there is no figure.
        'source_stage:bridge_lag_seconds:max{stage="source_to_kafka"}',
        "> 900",
        "10m",
        f"Changes of {SOURCE} reach Kafka {DURATION} late",
        "The bridge lands what comes; Debezium brings it late. Look at the connector: its task, its queue, the "
        "database's log.",
    ),
    Alert(
        "BridgeLag",
        Severity.WARNING,
        'source_stage:bridge_lag_seconds:max{stage="kafka_to_file"}',
        "> 900",
        "10m",
        f"{BRIDGE} is behind Kafka by {DURATION}",
        "The oldest record that is in no file yet has waited that long. It works and is too slow, or it does not work: "
        "the status page tells which.",
    ),
    Alert(
        "BridgeLagCritical",
        Severity.CRITICAL,
        'source_stage:bridge_lag_seconds:max{stage="kafka_to_file"}',
        "> 3600",
        "10m",
        f"{BRIDGE} is behind Kafka by {DURATION}",
        "As BridgeLag, for an hour and more. Compare with the topics' retention first.",
    ),
    Alert(
        "BridgeMirroringLag",
        Severity.WARNING,
        'source_stage:bridge_lag_seconds:max{stage="file_to_mirrored"}',
        "> 1800",
        "15m",
        f"Fabric is behind the files of {SOURCE} by {DURATION}",
        "The bridge has published, the mirrored database has not taken in. Look at the mirrored database in Fabric: "
        "its state, its errors, the capacity.",
    ),
    Alert(
        "BridgeOffsetsBehindGrowing",
        Severity.WARNING,
        """
        (
            source:bridge_offsets_behind:sum
            and deriv(source:bridge_offsets_behind:sum[30m]) > 0
            and min_over_time(source:bridge_offsets_behind:sum[30m]) > 0
        )
        """,
        "> 100000",
        "30m",
        f"{BRIDGE} falls behind: {{{{ $value }}}} offsets, and more every minute",
        "More comes than lands. It will not catch up by itself unless the source calms down: give it more cores, or "
        "executors.",
    ),
)
