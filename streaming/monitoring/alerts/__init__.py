"""All alerts, by what they watch. Each has a section in ``docs/runbook.md`` and tests in ``tests/monitoring``."""

from __future__ import annotations

from streaming.monitoring.alerts.fabric import FABRIC
from streaming.monitoring.alerts.lag import LAG
from streaming.monitoring.alerts.ledger import LEDGER
from streaming.monitoring.alerts.liveness import LIVENESS
from streaming.monitoring.alerts.records import RECORDS
from streaming.monitoring.alerts.retention import RETENTION
from streaming.monitoring.alerts.source import SOURCE_SPEAKS
from streaming.monitoring.alerts.tables import TABLES
from streaming.monitoring.rule import Alert

ALERT_GROUPS: tuple[tuple[str, tuple[Alert, ...]], ...] = (
    ("cdc-bridge-liveness", LIVENESS),
    ("cdc-bridge-lag", LAG),
    ("cdc-bridge-source", SOURCE_SPEAKS),
    ("cdc-bridge-retention", RETENTION),
    ("cdc-bridge-tables", TABLES),
    ("cdc-bridge-records", RECORDS),
    ("cdc-bridge-ledger", LEDGER),
    ("cdc-bridge-fabric", FABRIC),
)
"""Alerts by the name of their group."""

ALERTS: tuple[Alert, ...] = tuple(alert for _, alerts in ALERT_GROUPS for alert in alerts)
