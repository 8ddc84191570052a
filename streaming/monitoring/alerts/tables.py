"""Alerts on tables that stand still or do not come back."""

from __future__ import annotations

from streaming.monitoring.alerts.naming import REASON, TABLE
from streaming.monitoring.rule import Alert, Severity

TABLES: tuple[Alert, ...] = (
    Alert(
        "BridgeTableParked",
        Severity.WARNING,
        'max by ($id, table, reason) (bridge_table_parked{reason!~"dropped|excluded|paused|zone:.*"})',
        "> 0",
        "1m",
        f"{TABLE} stands still ({REASON})",
        "Going on would make its mirror wrong. All other tables go on; its changes wait in Kafka. `cdc-bridge status` "
        "and the status page say why and what to do.",
    ),
    Alert(
        "BridgeTableParkedByZone",
        Severity.CRITICAL,
        'max by ($id, table, reason) (bridge_table_parked{reason=~"zone:.*"})',
        "> 0",
        "1m",
        f"{TABLE} stands still, its folder is not as the ledger left it ({REASON})",
        "Something else writes to the landing zone, or state or zone were restored from a backup. Find the other "
        "writer before anything else.",
    ),
    Alert(
        "BridgeTablePaused",
        Severity.INFO,
        # A pod that starts again knows its tables only once it has claimed the zone.
        'max by ($id, table, reason) (max_over_time(bridge_table_parked{reason="paused"}[15m]))',
        "> 0",
        "1d",
        f"{TABLE} has been paused for a day",
        "Somebody paused it, and may have forgotten. What it passes over is kept by Kafka for as long as its topic "
        "keeps records.",
    ),
    Alert(
        "BridgeTableReturning",
        Severity.WARNING,
        "max by ($id, table, state) "
        '(max_over_time(bridge_table_state{state=~"catching_up|cleared|deleting|filling"}[15m]))',
        "> 0",
        "6h",
        f"{TABLE} has been on its way back for 6 hours ({{{{ $labels.state }}}})",
        "A rebuild waits for Fabric to drop the mirrored table or for Debezium's snapshot, or a catch-up is larger "
        "than what it gets between two batches.",
    ),
)
