"""What Fabric tells of the mirrored database."""

from __future__ import annotations

from tests.monitoring.cases.case import Case, fires, quiet

ORDERS = "Table public.orders of shop"
SOME = "At least one table of shop"


def of_table(metric: str, values: str, table: str = "public.orders") -> dict[str, str]:
    return {f'{metric}{{table="{table}"}}': values}


def mirroring(state: str, table: str = "public.orders") -> dict[str, str]:
    return {f'bridge_table_mirroring_state{{table="{table}",state="{state}"}}': "1x30"}


def trouble(cause: str) -> dict[str, str]:
    return {f'bridge_mirroring_trouble{{cause="{cause}"}}': "1x30"}


SEEN, START = "bridge_fabric_seen_timestamp_seconds", "bridge_start_timestamp_seconds"
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
    *(
        quiet("BridgeTableBlocked", 30, {**of_table("bridge_table_blocked", "1x30"), **trouble(cause)})
        for cause in ("stopped", "not_begun", "starting", "unknown_state", "no_heartbeat")
    ),
    *(
        fires(
            "BridgeTableBlocked",
            5,
            {**of_table("bridge_table_blocked", "1x30"), **other},
            f"{ORDERS} is blocked: Fabric takes its files in no more",
            table="public.orders",
        )
        for other in (
            {**trouble("error"), 'bridge_mirroring_trouble{cause="stopped"}': "0x30"},
            {'bridge_mirroring_trouble{cause="stopped",source="other"}': "1x30"},
        )
    ),
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
    *(
        fires(
            "BridgeMirroringTrouble",
            15,
            trouble(cause),
            f"The mirrored database of shop is in trouble ({cause})",
            cause=cause,
        )
        for cause in ("error", "not_begun", "starting", "unknown_state", "no_heartbeat")
    ),
    quiet("BridgeMirroringTrouble", 14, trouble("error")),
    quiet("BridgeMirroringTrouble", 30, trouble("stopped")),
    quiet("BridgeMirroringTrouble", 30, {'bridge_mirroring_trouble{cause="error"}': "0x30"}),
    fires(
        "BridgeFabricNotSeen",
        46,
        {SEEN: "0+60x10 600x60", START: "60x70"},
        "The bridge of shop has not heard from Fabric for 36m 0s",
    ),
    quiet("BridgeFabricNotSeen", 45, {SEEN: "0+60x10 600x60", START: "60x70"}),
    # It has never told since the start, or nobody is to ask it.
    fires(
        "BridgeFabricNotSeen",
        46,
        {SEEN: "0x70", START: "600x70"},
        "The bridge of shop has not heard from Fabric for 36m 0s",
    ),
    quiet("BridgeFabricNotSeen", 45, {SEEN: "0x70", START: "600x70"}),
    quiet("BridgeFabricNotSeen", 60, {START: "600x70"}),
    # It is looked at every ten minutes, and tells each time.
    quiet("BridgeFabricNotSeen", 60, {SEEN: "0x9 600x9 1200x9 1800x9 2400x9 3000x9 3600x9", START: "0x70"}),
    *(
        fires("BridgeFabricFailing", 60, failing, "The bridge of shop asks Fabric in vain (denied)", reason="denied")
        for failing in (
            {FAILURES: "_x10 1+1x60"},
            # Ten minutes and some apart, the first time that it ever fails.
            {FAILURES: "_x10 1x10 2x10 3x10 4x10 5x10 6x10"},
        )
    ),
    quiet("BridgeFabricFailing", 39, {FAILURES: "_x10 1+1x60"}),
    *(quiet("BridgeFabricFailing", minute, {FAILURES: "_x10 1x90"}) for minute in (20, 35, 45, 60)),
    *(quiet("BridgeFabricFailing", minute, {FAILURES: "0x10 9x90"}) for minute in (20, 35, 45, 60)),
)
