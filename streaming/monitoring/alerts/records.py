"""Alerts on records that could not land as they came."""

from __future__ import annotations

from streaming.metrics.declared import records
from streaming.monitoring.alerts.naming import BRIDGE, REASON, SOURCE, TABLE
from streaming.monitoring.promql import grown
from streaming.monitoring.rule import Alert, Severity

RECORDS: tuple[Alert, ...] = (
    Alert(
        "BridgeDeadLetters",
        Severity.WARNING,
        grown(records.DEAD_LETTERS, "reason"),
        "> 0",
        "0m",
        f"{{{{ $value | humanize }}}} records of {SOURCE} went to the dead letters ({REASON})",
        "They have not landed: their rows are missing, or older than at the source, until the letters are replayed. "
        "Everything else goes on.",
    ),
    Alert(
        "BridgeDecodeFailures",
        Severity.CRITICAL,
        grown(records.DECODE_FAILURES, "reason"),
        "> 100",
        "0m",
        f"{{{{ $value | humanize }}}} records of {SOURCE} cannot be decoded ({REASON})",
        "So many at once are no accident: the connector's format, the registry or a topic's producer has changed. "
        "What comes meanwhile is set aside as dead letters.",
    ),
    Alert(
        "BridgeLateEvents",
        Severity.WARNING,
        "max by ($id, table) (increase(bridge_late_events_total[1h]))",
        "> 0",
        "0m",
        f"{TABLE} got rows behind what another partition had landed",
        "Where a key's events moved between partitions, the older one may have won. Compare the table with "
        "`cdc-bridge reconcile`.",
    ),
    Alert(
        "BridgePositionReset",
        Severity.INFO,
        "sum by ($id) (increase(bridge_position_resets_total[1h]))",
        "> 0",
        "0m",
        f"{BRIDGE} saw the source's log positions begin anew",
        "A failover, a restored database, or a reset of its log. The bridge goes on with what comes. Whether anything "
        "is missing between the two, only a comparison with the database tells.",
    ),
)
