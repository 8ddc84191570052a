"""What a start does with the zone, after the claim and before the first micro-batch: without Kafka, without Spark.

Files that an earlier driver committed are rolled forward, then every table's folder is compared with the ledger. What
either finds wrong may be the work of a driver that has claimed the zone since: ask :meth:`Ledger.check_fence` first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from connectors.errors import BridgeError
from connectors.landing_zone.backoff import persist
from connectors.landing_zone.errors import TableResetError
from connectors.landing_zone.layout import metadata_path, table_of_folder
from connectors.landing_zone.ledger.state import LandedFile, TableState
from connectors.landing_zone.published import published_files
from connectors.landing_zone.redo import TABLE_ERRORS, Published, check_folder, roll_forward, settle_all
from connectors.landing_zone.side_by_side import side_by_side
from connectors.landing_zone.storage.protocol import Storage


def recover(
    zone: Storage,
    pending: Mapping[str, LandedFile],
    metadata: Mapping[str, bytes],
    *,
    threads: int = 8,
    sleep: Callable[[float], None] = time.sleep,
) -> Published:
    """Publish what earlier drivers committed and may not have published; :mod:`connectors.landing_zone.redo` decides.

    Args:
        zone: the landing zone, claimed by this driver.
        pending: the ledger's pending files, by table.
        metadata: bytes of ``_metadata.json`` by table: needed where the pending file is the table's first, otherwise
            compared with what the folder has.
        threads: tables looked at side by side.
        sleep: waits so many seconds before a request is repeated.

    Raises:
        Transient: the storage failed for longer than the back-off lasts; call again.
        Terminal: the storage refuses the requests for good.
        ValueError: a first file without metadata.
    """
    return settle_all(
        pending,
        lambda table, file: persist(lambda: roll_forward(zone, file, metadata.get(table)), sleep=sleep),
        threads=threads,
    )


def inspect_table(zone: Storage, table_state: TableState) -> BridgeError | None:
    """Why the table cannot go on, if its folder does not fit the ledger; only for a table without a pending file.

    Consumed files move away and vanish, and only the last one stays, so nothing is said of lower numbers.

    Returns:
        ``LedgerBehindError`` if a higher number is there than the ledger has bound, ``TableResetError`` if the folder,
        its metadata or the last number is gone, otherwise None.
    """
    folder = table_state.folder
    table = table_of_folder(folder)
    files = published_files(zone, folder)
    try:
        check_folder(table, folder, files, table_state.sequence)
    except TABLE_ERRORS as error:
        return error
    if table_state.sequence and zone.stat(metadata_path(folder)) is None:
        return TableResetError(
            f"The table's metadata is gone, although {table_state.sequence} files were published",
            table=table,
            folder=folder,
            file=metadata_path(folder),
            remedy=f"`cdc-bridge resync CONFIG {table}`; or, if only this file was deleted, put it back and "
            f"`cdc-bridge resume CONFIG {table}`",
        )
    return None


def inspect_tables(
    zone: Storage,
    tables: Mapping[str, TableState],
    *,
    threads: int = 8,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, BridgeError]:
    """:func:`inspect_table` of all ``tables``, side by side: why those that cannot go on have to stop, by table."""
    names = list(tables)
    errors = side_by_side(
        lambda name: persist(lambda: inspect_table(zone, tables[name]), sleep=sleep), names, threads=threads
    )
    return {name: error for name, error in zip(names, errors, strict=True) if error is not None}
