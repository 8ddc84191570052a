"""What Fabric tells of the mirrored database."""

from __future__ import annotations

from tests.monitoring.cases.case import Case, fires, quiet

ORDERS = "Table public.orders of shop"
SOME = "At least one table of shop"


def of_table(metric: str, values: str, table: str = "public.orders") -> dict[str, str]:
    return {f'{metric}{{table="{table}"}}': values}


def mirroring(state: str, table: str = "public.orders") -> dict[str, str]:
    return {f'bridge_table_mirroring_state{{table="{table}",state="{state}"}}': "1x30"}


FAILURES = 'bridge_fabric_failures_total{reason="denied"}'

FABRIC: tuple[Case, ...] = (
    fires(
        "BridgeTableBlocked",
        5,
        of_table("bridge_table_blocked", "1x30"),
        f"{ORDERS} is blocked: Fabric takes its files in no more",
        table="public.orders",
    ),
    fires(
        "BridgeTableBlocked",
        5,
        of_table("bridge_table_blocked", "2x30", "*"),
        f"{SOME} is blocked: Fabric takes its files in no more",
        table="*",
    ),
    quiet("BridgeTableBlocked", 30, of_table("bridge_table_blocked", "0x30")),
    quiet("BridgeTableBlocked", 30, of_table("bridge_table_blocked", "0x30", "*")),
    quiet("BridgeTableBlocked", 4, of_table("bridge_table_blocked", "1x30")),
    fires(
        "BridgeMirroringError",
        5,
        of_table("bridge_table_mirroring_error", "1x30"),
        f"{ORDERS} has an error in Fabric",
        table="public.orders",
    ),
    fires(
        "BridgeMirroringError",
        5,
        of_table("bridge_table_mirroring_error", "2x30", "*"),
        f"{SOME} has an error in Fabric",
        table="*",
    ),
    quiet("BridgeMirroringError", 30, of_table("bridge_table_mirroring_error", "0x30")),
    quiet("BridgeMirroringError", 4, of_table("bridge_table_mirroring_error", "1x30")),
    *(
        fires(
            "BridgeTableMirroringStopped",
            5,
            mirroring(state),
            f"{ORDERS} is {state} in Fabric",
            table="public.orders",
            state=state,
        )
        for state in ("failed", "stopped")
    ),
    fires(
        "BridgeTableMirroringStopped",
        5,
        mirroring("failed", "*"),
        f"{SOME} is failed in Fabric",
        table="*",
        state="failed",
    ),
    quiet("BridgeTableMirroringStopped", 4, mirroring("failed")),
    quiet("BridgeTableMirroringStopped", 30, {'bridge_table_mirroring_state{table="*",state="failed"}': "0x30"}),
    *(
        quiet("BridgeTableMirroringStopped", 30, mirroring(state))
        for state in ("initialized", "snapshotting", "replicating", "reseeding", "unknown")
    ),
    *(
        fires(
            "BridgeMirroringStopped",
            5,
            {f'bridge_mirroring_state{{state="{state}"}}': "1x30"},
            f"The mirrored database of shop is {state}",
            state=state,
        )
        for state in ("paused", "stopped", "stopping")
    ),
    quiet("BridgeMirroringStopped", 30, {'bridge_mirroring_state{state="stopped"}': "0x30"}),
    quiet("BridgeMirroringStopped", 4, {'bridge_mirroring_state{state="stopped"}': "1x30"}),
    *(
        quiet("BridgeMirroringStopped", 30, {f'bridge_mirroring_state{{state="{state}"}}': "1x30"})
        for state in ("initializing", "initialized", "starting", "running", "unknown")
    ),
    fires(
        "BridgeFabricNotSeen",
        46,
        {"bridge_fabric_seen_timestamp_seconds": "0+60x10 600x60"},
        "The bridge of shop has not heard from Fabric for 36m 0s",
    ),
    quiet("BridgeFabricNotSeen", 45, {"bridge_fabric_seen_timestamp_seconds": "0+60x10 600x60"}),
    fires(
        "BridgeFabricFailing",
        30,
        {FAILURES: "_x30 6x60"},
        "The bridge of shop asks Fabric in vain (denied)",
        reason="denied",
    ),
    quiet("BridgeFabricFailing", 30, {FAILURES: "_x30 5x60"}),
)
