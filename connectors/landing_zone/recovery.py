"""What a start does with the zone, after the claim and before the first micro-batch: without Kafka, without Spark.

Files that an earlier driver committed are rolled forward, then every table's folder is compared with the ledger. What
either finds wrong may be the work of a driver that has claimed the zone since: ask :meth:`Ledger.check_fence` first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType

from connectors.command_lines import command
from connectors.errors import BridgeError
from connectors.landing_zone.backoff import persist
from connectors.landing_zone.errors import TableResetError
from connectors.landing_zone.layout import metadata_path, table_of_folder
from connectors.landing_zone.ledger.state import LandedFile, TableState
from connectors.landing_zone.published import published_files
from connectors.landing_zone.redo import TABLE_ERRORS, Published, check_folder, check_metadata, roll_forward, settle_all
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


def inspect_table(zone: Storage, table_state: TableState, metadata: bytes | None = None) -> BridgeError | None:
    """Why the table cannot go on, if its folder does not fit the ledger; only for a table without a pending file.

    Consumed files move away and vanish, and only the last one stays, so nothing is said of lower numbers.

    Args:
        metadata: what its ``_metadata.json`` has to say; None to ask only whether there is one.

    Returns:
        ``LedgerBehindError`` if a higher number is there than the ledger has bound, ``TableResetError`` if the folder,
        its metadata or the last number is gone, ``MetadataConflictError`` if somebody has changed the metadata,
        otherwise None.
    """
    folder = table_state.folder
    table = table_of_folder(folder)
    files = published_files(zone, folder)
    try:
        unseen = 0 < table_state.sequence == table_state.unseen
        check_folder(table, folder, files, table_state.sequence, unseen=unseen)
    except TABLE_ERRORS as error:
        return error
    if not table_state.sequence:
        return None
    if zone.stat(metadata_path(folder)) is None:
        return TableResetError(
            f"The table's metadata is gone, although {table_state.sequence} files were published",
            table=table,
            folder=folder,
            file=metadata_path(folder),
            remedy=f"{command('resync CONFIG {}', table)}; or, if only this file was deleted, put it back and "
            f"{command('resume CONFIG {}', table)}",
        )
    try:
        if metadata is not None:
            check_metadata(zone, metadata_path(folder), table, metadata)
    except TABLE_ERRORS as error:
        return error
    return None


def inspect_tables(
    zone: Storage,
    tables: Mapping[str, TableState],
    metadata: Mapping[str, bytes] = MappingProxyType({}),
    *,
    threads: int = 8,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, BridgeError]:
    """:func:`inspect_table` of all ``tables``, side by side: why those that cannot go on have to stop, by table."""

    def inspected(name: str) -> BridgeError | None:
        return persist(lambda: inspect_table(zone, tables[name], metadata.get(name)), sleep=sleep)

    names = list(tables)
    errors = side_by_side(inspected, names, threads=threads)
    return {name: error for name, error in zip(names, errors, strict=True) if error is not None}
