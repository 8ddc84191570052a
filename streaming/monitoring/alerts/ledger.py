"""Alerts on the ledger, and on a second driver."""

from __future__ import annotations

from streaming.metrics import catalogue
from streaming.monitoring.alerts.naming import BRIDGE, REASON, SOURCE
from streaming.monitoring.promql import grown
from streaming.monitoring.rule import Alert, Severity

LEDGER: tuple[Alert, ...] = (
    Alert(
        "BridgeLedgerConflict",
        Severity.CRITICAL,
        grown(catalogue.LEDGER_CONFLICTS, "reason"),
        "> 0",
        "0m",
        f"{BRIDGE} and its landing zone disagree ({REASON})",
        "Another driver owns the zone, something else writes to it, or state or zone were restored. The ledger lets "
        "nothing through twice. Find the other writer.",
    ),
    Alert(
        "BridgeEpochFlapping",
        Severity.CRITICAL,
        "changes(source:bridge_ledger_epoch:max[30m])",
        "> 3",
        "0m",
        f"The landing zone of {SOURCE} was claimed {{{{ $value }}}} times within half an hour",
        "Two drivers take it from each other, or one starts again and again. Nothing is written twice, but little "
        "lands. End one of the two.",
    ),
    Alert(
        "BridgeTwoDrivers",
        Severity.CRITICAL,
        'count by ($id) (bridge_live{source!=""})',
        "> 1",
        "10m",
        f"{{{{ $value }}}} processes run as the bridge of {SOURCE}",
        "A source has one driver. An old release, or one started by hand, still runs.",
    ),
    Alert(
        "BridgePendingFilesStuck",
        Severity.WARNING,
        """
        max by ($id) (
            (bridge_pending_files and on ($id) changes(bridge_ledger_version[15m]) == 0)
            unless on ($id) bridge_table_parked{reason=~"zone:.*"} > 0
        )
        """,
        "> 0",
        "5m",
        f"{{{{ $value }}}} committed files of {SOURCE} are not published",
        "They are in the ledger and wait for their number: the storage refuses or does not answer. Every start tries "
        "again; no batch is planned before they are in their place.",
    ),
)
