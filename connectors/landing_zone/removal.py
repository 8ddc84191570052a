"""Removing a table's folder, and with it the mirrored table.

The replicator drops a table whose folder is gone, and makes it anew from a folder that comes later (landing-zone
format, "Drop table"). So nothing is removed but the folder that was looked at, and only by the driver that owns the
zone.
"""

from __future__ import annotations

from collections.abc import Callable

from connectors.command_lines import command
from connectors.landing_zone.errors import ForeignFolderError, StorageError
from connectors.landing_zone.published import published_files
from connectors.landing_zone.storage.protocol import Storage

_LOOKS = 5


def remove_folder(zone: Storage, table: str, folder: str, check_fence: Callable[[], None]) -> None:
    """Remove the table's folder with all it holds; on return there is none.

    The folder's etag is read before the fence is looked at: whoever takes the zone over later makes another folder,
    which this removes no more.

    Args:
        check_fence: raises if another driver owns the zone.

    Raises:
        ForeignFolderError: the folder was replaced by one that the bridge did not make.
        FencedError: another driver owns the zone; nothing was removed.
        Transient: call again.
    """
    seen: int | None = None
    for _ in range(_LOOKS):
        highest = _highest(zone, folder)
        found = zone.stat(folder)
        if found is None:
            return
        # A folder's etag may change with its files, which the replicator moves while it still reads them. So each look
        # is compared with the first: the ledger's last number may not be there, for the very reason of the rebuild.
        if seen is not None and highest != seen:
            raise foreign_folder(table, folder)
        seen = highest
        check_fence()
        if zone.delete_folder(folder, found.etag):
            return
    raise StorageError(
        "The table's folder changes again and again while it is to be removed",
        remedy="find out what else moves files in the folder and stop it, if this goes on",
        table=table,
        folder=folder,
    )


def require_no_folder(zone: Storage, table: str, folder: str) -> None:
    """Return if there is no folder where the bridge has removed one.

    Raises:
        ForeignFolderError: there is one.
    """
    if zone.stat(folder) is not None:
        raise foreign_folder(table, folder)


def foreign_folder(table: str, folder: str) -> ForeignFolderError:
    """The error of a folder that somebody else has put in the table's place."""
    return ForeignFolderError(
        "The bridge has removed the table's folder for a rebuild, and something else has made it anew",
        remedy="find out who writes there and stop it; take its folder away and "
        f"{command('resume CONFIG {}', table)}, or, if the folder may go, {command('resync CONFIG {}', table)}",
        table=table,
        folder=folder,
    )


def _highest(zone: Storage, folder: str) -> int:
    files = published_files(zone, folder)
    return 0 if files is None else files.highest
