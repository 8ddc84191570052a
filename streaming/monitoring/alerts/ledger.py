"""Alerts on the ledger, and on a second driver."""

from __future__ import annotations

from streaming.metrics.declared import process
from streaming.monitoring.alerts.naming import BRIDGE, REASON, SOURCE
from streaming.monitoring.promql import grown
from streaming.monitoring.rule import Alert, Severity

LEDGER: tuple[Alert, ...] = (
    Alert(
        "BridgeLedgerConflict",
        Severity.CRITICAL,
        grown(process.LEDGER_CONFLICTS, "reason"),
        "> 0",
        "0m",
        f"{BRIDGE} and its landing zone disagree ({REASON})",
        "Another driver owns the zone, something else writes to it, or state or zone were restored. The ledger lets "
        "nothing through twice. The log's end has the error. Find the other writer.",
    ),
    Alert(
        "BridgeEpochFlapping",
        Severity.WARNING,
        # A driver that tries again claims anew, so what it has told as retried is no other driver's.
        """
        round(
            changes(source:bridge_ledger_epoch:max[30m])
            - on ($id) sum by ($id) (increase(bridge_retried_failures_total[30m]))
            or changes(source:bridge_ledger_epoch:max[30m])
        )
        """,
        "> 3",
        "0m",
        f"The landing zone of {SOURCE} was claimed {{{{ $value }}}} times within half an hour, "
        "its driver's own retries aside",
        "Either one process starts again and again (BridgeRestarting), or two drivers take the zone from each other. "
        "Nothing is written twice, but little lands. The ledger's log shows who claimed it.",
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
        # Each attempt claims the zone, which is a version with an epoch of its own; only further ones are progress.
        """
        max by ($id) (
            (
                bridge_pending_files
                and max_over_time(bridge_ledger_version[15m]) - min_over_time(bridge_ledger_version[15m])
                <= max_over_time(bridge_ledger_epoch[15m]) - min_over_time(bridge_ledger_epoch[15m])
            )
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
