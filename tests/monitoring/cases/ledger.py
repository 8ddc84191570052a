"""The ledger, and a second driver."""

from __future__ import annotations

from tests.monitoring.cases.case import Case, fires, quiet

CONFLICTS = 'bridge_ledger_conflicts_total{reason="fenced"}'
EPOCH, LIVE, PENDING, VERSION = "bridge_ledger_epoch", "bridge_live", "bridge_pending_files", "bridge_ledger_version"
START, RETRIED = "bridge_start_timestamp_seconds", 'bridge_retried_failures_total{reason="StorageError"}'
STILL = {VERSION: "7x60", EPOCH: "3x60"}
SECOND = '{pod="bridges-old-0",instance="10.0.0.2:8080"}'

LEDGER: tuple[Case, ...] = (
    fires(
        "BridgeLedgerConflict",
        30,
        # The driver that was fenced is there for one more scrape.
        {CONFLICTS: "_x30 1 stale"},
        "The bridge of shop and its landing zone disagree (fenced)",
        reason="fenced",
    ),
    fires(
        "BridgeLedgerConflict",
        38,
        {CONFLICTS: "_x30 1 stale"},
        "The bridge of shop and its landing zone disagree (fenced)",
        reason="fenced",
    ),
    quiet("BridgeLedgerConflict", 42, {CONFLICTS: "_x30 1 stale"}),
    # The next one in its place meets the same: it counts anew.
    fires(
        "BridgeLedgerConflict",
        90,
        {CONFLICTS: "_x29 1 stale _x59 1 stale", START: "0x29 stale _x59 5380x5"},
        "The bridge of shop and its landing zone disagree (fenced)",
        reason="fenced",
    ),
    quiet("BridgeLedgerConflict", 30, {CONFLICTS: "1x60"}),
    # Not scraped for 7 minutes, or for an hour: an old process goes on.
    quiet("BridgeLedgerConflict", 62, {CONFLICTS: "1x40 _x7 1x60", START: "0x40 _x7 0x60"}),
    *(
        quiet("BridgeLedgerConflict", at, {CONFLICTS: "1x40 _x60 1x60", START: "0x40 _x60 0x60"})
        for at in (101, 110, 118, 130)
    ),
    fires(
        "BridgeEpochFlapping",
        29,
        {EPOCH: "1x10 3x2 5x2 7x2 9x20", EPOCH + SECOND: "_x12 4x2 6x2 8x20"},
        "The landing zone of shop was claimed 7 times within half an hour, its driver's own retries aside",
    ),
    quiet("BridgeEpochFlapping", 30, {EPOCH: "1x10 2x2 3x2 4x20"}),
    # One driver tries again and again, and claims each time.
    quiet("BridgeEpochFlapping", 30, {EPOCH: "1x10 2+1x9 11x20", RETRIED: "_x10 1+1x9 10x20"}),
    quiet("BridgeEpochFlapping", 30, {EPOCH: "1x10 2+1x9 11x20", RETRIED: "3x10 4+1x9 13x20"}),
    # Two do, and the other one's claims are more than its own retries.
    fires(
        "BridgeEpochFlapping",
        30,
        {EPOCH: "1x10 3+2x9 21x20", RETRIED: "3x10 4x4 5x25"},
        "The landing zone of shop was claimed 8 times within half an hour, its driver's own retries aside",
    ),
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
        {PENDING: "0x5 2x40", **STILL},
        "2 committed files of shop are not published",
    ),
    # Each attempt to roll forward claims the zone anew; so does each start.
    fires(
        "BridgePendingFilesStuck",
        31,
        {PENDING: "2x40", VERSION: "7x5 8x5 9x10 10x30", EPOCH: "3x5 4x5 5x10 6x30"},
        "2 committed files of shop are not published",
    ),
    fires(
        "BridgePendingFilesStuck",
        31,
        {PENDING: "_x10 2x8 _x2 2x30", VERSION: "_x10 7x8 _x2 8x30", EPOCH: "_x10 3x8 _x2 4x30"},
        "2 committed files of shop are not published",
    ),
    quiet("BridgePendingFilesStuck", 10, {PENDING: "0x5 2x40", **STILL}),
    quiet("BridgePendingFilesStuck", 40, {PENDING: "2x60", VERSION: "7+1x60", EPOCH: "3x60"}),
    quiet("BridgePendingFilesStuck", 40, {PENDING: "2x60", VERSION: "7+2x60", EPOCH: "3+1x60"}),
    quiet(
        "BridgePendingFilesStuck",
        40,
        {
            PENDING: "1x60",
            **STILL,
            'bridge_table_parked{table="public.orders",reason="zone:lost_file"}': "1x60",
        },
    ),
    quiet(
        "BridgePendingFilesStuck",
        40,
        {PENDING: "1x60", **STILL, 'bridge_table_parked{table="*",reason="zone:lost_file"}': "1x60"},
    ),
    quiet("BridgePendingFilesStuck", 40, {PENDING: "0x60", **STILL}),
)
