"""Alerts before Kafka removes what has not landed, and once it has."""

from __future__ import annotations

from streaming.monitoring.alerts.naming import DURATION, SOURCE, TABLE, TOPIC
from streaming.monitoring.rule import Alert, Severity

_LEFT = """
min by ($id, topic) (
    bridge_retention_headroom_seconds and on ($id, topic, partition) bridge_offsets_behind > 0
)
"""
# Tables that are left out on purpose need nothing of what they pass over; where one series stands for all tables, they
# have no part in it.
_PARKED_LEFT = """
min by ($id, table) (
    bridge_table_retention_headroom_seconds
    unless on ($id, table) bridge_table_parked{reason=~"dropped|excluded", table!="*"} > 0
)
"""

RETENTION: tuple[Alert, ...] = (
    Alert(
        "BridgeRetentionShort",
        Severity.WARNING,
        _LEFT,
        "< 21600",
        "15m",
        f"Kafka may remove records of {SOURCE} ({TOPIC}) in {DURATION} that have not landed",
        "Either the bridge is far behind, or the topic keeps records for a few hours only, too short for a night. "
        "Raise the topic's retention.ms first, then look for the cause.",
    ),
    Alert(
        "BridgeRetentionCritical",
        Severity.CRITICAL,
        _LEFT,
        "< 3600",
        "5m",
        f"Kafka may remove records of {SOURCE} ({TOPIC}) in {DURATION} that have not landed",
        "Rows will be lost. Raise the topic's retention.ms (and retention.bytes) now: that takes seconds and holds at "
        "once. Then look for the cause.",
    ),
    Alert(
        "BridgeRetentionBySize",
        Severity.WARNING,
        # Only where more waits than lies between Kafka's oldest record and the first one that waits.
        """
        min by ($id, topic) (
            predict_linear(bridge_retention_headroom_offsets[1h], 14400)
            and on ($id, topic, partition) bridge_offsets_behind > bridge_retention_headroom_offsets
        )
        """,
        "< 0",
        "15m",
        f"At this pace Kafka removes records of {SOURCE} ({TOPIC}) within 4 hours that have not landed",
        "Kafka's oldest record comes closer to the first one that has not landed: a limit of size (retention.bytes) "
        "may be at work, which no time tells. Raise it first, then look why the bridge is behind.",
    ),
    Alert(
        "BridgeRecordsLost",
        Severity.CRITICAL,
        "min by ($id, topic) (bridge_retention_headroom_offsets)",
        "< 0",
        "0m",
        f"Kafka has removed records of {SOURCE} ({TOPIC}) that had not landed",
        "The tables of this topic lack changes. They park (retention_passed) and need a resync. Raise the retention "
        "before anything else, or the next ones go, too.",
    ),
    Alert(
        "BridgeParkedRetentionShort",
        Severity.WARNING,
        f"{_PARKED_LEFT} > 0",
        "< 172800",
        "5m",
        f"{TABLE} stands still and can be resumed for {DURATION} only",
        "What it has passed over is in Kafka alone. Mend the cause and resume it, or raise the topic's retention.ms; "
        "later, only a resync brings it back.",
    ),
    Alert(
        "BridgeParkedRetentionCritical",
        Severity.CRITICAL,
        f"{_PARKED_LEFT} > 0",
        "< 21600",
        "5m",
        f"{TABLE} stands still and can be resumed for {DURATION} only",
        "As BridgeParkedRetentionShort, with hours left. Raise the topic's retention.ms now.",
    ),
    Alert(
        "BridgeParkedRecordsLost",
        Severity.WARNING,
        _PARKED_LEFT,
        "<= 0",
        "1m",
        f"{TABLE} stands still and can no longer be resumed",
        "Kafka has removed the first record that it passed over. Its mirror stays as it is; a resync brings it back.",
    ),
)
