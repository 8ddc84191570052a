"""Tables that stand still, or do not come back."""

from __future__ import annotations

from tests.monitoring.cases.case import Case, fires, quiet


def parked(reason: str, table: str = "public.orders", values: str = "1x2000") -> dict[str, str]:
    return {f'bridge_table_parked{{table="{table}",reason="{reason}"}}': values}


def state(name: str, table: str = "public.orders", values: str = "1x600") -> dict[str, str]:
    return {f'bridge_table_state{{table="{table}",state="{name}"}}': values}


TABLES: tuple[Case, ...] = (
    fires(
        "BridgeTableParked",
        1,
        parked("truncate"),
        "Table public.orders of shop stands still (truncate)",
        table="public.orders",
        reason="truncate",
    ),
    fires(
        "BridgeTableParked",
        1,
        parked("truncate", "*", "3x20"),
        "At least one table of shop stands still (truncate)",
        table="*",
        reason="truncate",
    ),
    quiet("BridgeTableParked", 0, parked("truncate")),
    quiet("BridgeTableParked", 9, parked("truncate", "*", "0x20")),
    quiet("BridgeTableParked", 9, parked("truncate", values="1x5 stale")),
    *(quiet("BridgeTableParked", 9, parked(reason)) for reason in ("paused", "excluded", "dropped")),
    quiet("BridgeTableParked", 9, parked("zone:lost_file")),
    fires(
        "BridgeTableParkedByZone",
        1,
        parked("zone:lost_file"),
        "Table public.orders of shop stands still, its folder is not as the ledger left it (zone:lost_file)",
        table="public.orders",
        reason="zone:lost_file",
    ),
    fires(
        "BridgeTableParkedByZone",
        1,
        parked("zone:lost_file", "*"),
        "At least one table of shop stands still, its folder is not as the ledger left it (zone:lost_file)",
        table="*",
        reason="zone:lost_file",
    ),
    quiet("BridgeTableParkedByZone", 0, parked("zone:lost_file")),
    quiet("BridgeTableParkedByZone", 9, parked("zone:lost_file", "*", "0x20")),
    quiet("BridgeTableParkedByZone", 9, parked("truncate")),
    fires(
        "BridgeTablePaused",
        1440,
        parked("paused"),
        "Table public.orders of shop has been paused for a day",
        table="public.orders",
        reason="paused",
    ),
    fires(
        "BridgeTablePaused",
        1440,
        parked("paused", "*"),
        "At least one table of shop has been paused for a day",
        table="*",
        reason="paused",
    ),
    fires(
        "BridgeTablePaused",
        1440,
        # The pod moves, twice: while it starts there is no figure.
        parked("paused", "public.orders", "1x300 stale _x9 1x600 stale _x4 1x900"),
        "Table public.orders of shop has been paused for a day",
        table="public.orders",
        reason="paused",
    ),
    quiet("BridgeTablePaused", 1439, parked("paused")),
    quiet("BridgeTablePaused", 1600, parked("paused", "public.orders", "1x800 0x20 1x1000")),
    quiet("BridgeTablePaused", 1500, parked("truncate")),
    fires(
        "BridgeTableReturning",
        360,
        state("filling"),
        "Table public.orders of shop has been on its way back for 6 hours (filling)",
        table="public.orders",
        state="filling",
    ),
    fires(
        "BridgeTableReturning",
        360,
        state("catching_up", "*", "2x600"),
        "At least one table of shop has been on its way back for 6 hours (catching_up)",
        table="*",
        state="catching_up",
    ),
    fires(
        "BridgeTableReturning",
        360,
        state("filling", "public.orders", "1x100 stale _x9 1x400"),
        "Table public.orders of shop has been on its way back for 6 hours (filling)",
        table="public.orders",
        state="filling",
    ),
    quiet("BridgeTableReturning", 359, state("filling")),
    quiet("BridgeTableReturning", 400, state("filling", "*", "0x600")),
    quiet("BridgeTableReturning", 500, state("streaming") | state("loading", "public.items")),
)
