"""The ledger, and a second driver."""

from __future__ import annotations

from tests.monitoring.cases.case import Case, fires, quiet

CONFLICTS = 'bridge_ledger_conflicts_total{reason="fenced"}'
EPOCH, LIVE, PENDING, VERSION = "bridge_ledger_epoch", "bridge_live", "bridge_pending_files", "bridge_ledger_version"
SECOND = '{pod="bridges-old-0",instance="10.0.0.2:8080"}'

LEDGER: tuple[Case, ...] = (
    fires(
        "BridgeLedgerConflict",
        30,
        {CONFLICTS: "_x30 1x2 stale"},
        "The bridge of shop and its landing zone disagree (fenced)",
        reason="fenced",
    ),
    quiet("BridgeLedgerConflict", 30, {CONFLICTS: "1x60"}),
    fires(
        "BridgeEpochFlapping",
        29,
        {EPOCH: "1x10 3x2 5x2 7x2 9x20", EPOCH + SECOND: "_x12 4x2 6x2 8x20"},
        "The landing zone of shop was claimed 7 times within half an hour",
    ),
    quiet("BridgeEpochFlapping", 30, {EPOCH: "1x10 2x2 3x2 4x20"}),
    fires("BridgeTwoDrivers", 15, {LIVE: "1x30", LIVE + SECOND: "_x5 1x30"}, "2 processes run as the bridge of shop"),
    quiet("BridgeTwoDrivers", 14, {LIVE: "1x30", LIVE + SECOND: "_x5 1x30"}),
    quiet("BridgeTwoDrivers", 30, {LIVE: "1x30", 'bridge_live{source="crm",instance="10.0.0.2:8080"}': "1x30"}),
    # One job of several bridges that are not told apart by a label `source`.
    quiet(
        "BridgeTwoDrivers",
        30,
        {'bridge_live{source=""}': "1x30", 'bridge_live{source="",instance="10.0.0.2:8080"}': "1x30"},
    ),
    fires(
        "BridgePendingFilesStuck",
        11,
        {PENDING: "0x5 2x40", VERSION: "7x60"},
        "2 committed files of shop are not published",
    ),
    quiet("BridgePendingFilesStuck", 10, {PENDING: "0x5 2x40", VERSION: "7x60"}),
    quiet("BridgePendingFilesStuck", 40, {PENDING: "2x60", VERSION: "7+1x60"}),
    quiet(
        "BridgePendingFilesStuck",
        40,
        {
            PENDING: "1x60",
            VERSION: "7x60",
            'bridge_table_parked{table="public.orders",reason="zone:lost_file"}': "1x60",
        },
    ),
    quiet(
        "BridgePendingFilesStuck",
        40,
        {PENDING: "1x60", VERSION: "7x60", 'bridge_table_parked{table="*",reason="zone:lost_file"}': "1x60"},
    ),
    quiet("BridgePendingFilesStuck", 40, {PENDING: "0x60", VERSION: "7x60"}),
)
