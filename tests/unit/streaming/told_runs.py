"""What a connector tells of its starts and snapshots, and ids of the runs that it tells of."""

from __future__ import annotations

from connectors.kafka.signals import INITIAL_SNAPSHOT, Notification
from connectors.kafka.signals import SnapshotProgress as Progress


def run_id(ms: int) -> str:
    """The id of a connector run that began then: a UUID of version 7, milliseconds since 1970."""
    return f"{ms >> 16:08x}-{ms & 0xFFFF:04x}-7a77-a571-4dc1b636c5cc"


def told(progress: Progress, ms: int, connector: str = "shop", **details: str) -> Notification:
    """One notification about an initial or a blocking snapshot."""
    return Notification("an id", INITIAL_SNAPSHOT, progress, {"connector_name": connector, **details}, ms)


def scan(ms: int, rows: int, table: str = "public.orders", connector: str = "shop") -> Notification:
    """The end of a table's scan; Debezium says SUCCEEDED of an empty table, too."""
    return told(
        Progress.TABLE_SCAN_COMPLETED,
        ms,
        connector,
        scanned_collection=table,
        total_rows_scanned=str(rows),
        status="SUCCEEDED",
    )


def snapshot(ms: int, *scans: Notification, connector: str = "shop") -> list[Notification]:
    """A snapshot of whichever kind, from its start on; scans in its first ten milliseconds."""
    return [told(Progress.STARTED, ms, connector), *scans, told(Progress.COMPLETED, ms + 10, connector)]
