"""One look at mirroring: Fabric is asked, then the folders are listed in which something may have happened.

A listing is a request that OneLake bills, so a folder is listed only while files of it wait or have come, and of those
at most so many per look, beginning with the ones that were not tried for longest. A table of which everything has been
taken in costs nothing until its next file. A folder that cannot be listed does not keep the others from their turn;
after a few of them it is the storage that does not answer, and the look ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from connectors.errors import BridgeError
from connectors.fabric.status import TableMirroring
from connectors.landing_zone.ledger.state import LedgerState, TableStatus
from connectors.landing_zone.published import lying_files
from connectors.landing_zone.storage.protocol import Storage
from streaming.job_options import storage_location
from streaming.metrics.samples import published_number
from streaming.mirroring.asking import Asking, asking_of
from streaming.mirroring.blocked import blocked
from streaming.mirroring.progress import Progress, Published, progressed
from streaming.mirroring.trouble import table_trouble
from streaming.mirroring.view import MirroredTable, MirroringView, Told, tables_told, told_of
from streaming.settings import BridgeSettings
from streaming.zones.reading import reading_storage

KEPT_MS = 600_000
"""How long what Fabric told stays known while it does not answer."""

LISTINGS_FAILED = 3
"""Folders that cannot be listed after which a look lists no more."""

_WITHOUT_FOLDER = frozenset({TableStatus.DELETING, TableStatus.CLEARED})


@dataclass(frozen=True)
class MirroringSource:
    """What is looked at.

    Attributes:
        zone: the landing zone.
        listings: tables whose folder one look lists at most.
        blocked_after_ms: how long files wait until their table is blocked.
    """

    asking: Asking
    zone: Storage
    listings: int
    blocked_after_ms: int


def look(source: MirroringSource, state: LedgerState, before: MirroringView | None, now_ms: int) -> MirroringView:
    """What there is to see now; never raises an error of the bridge.

    Args:
        state: what the ledger knew before.
        before: the last look.
    """
    told, told_ms = _told(source.asking.ask(), before, now_ms)
    by_name = {} if told.status is None else tables_told(told.status)
    tables = {name: told_of(name, by_name) for name in state.tables}
    synced_ms = {name: _synced_ms(told, table) for name, table in tables.items()}
    known = dict(_progress(before, state))
    folders_ms = 0 if before is None else before.folders_ms
    tried_ms = {name: then for name, then in (before.tried_ms if before else {}).items() if name in state.tables}
    failures: list[BridgeError] = []
    for name, published in _due(state, known, tried_ms, synced_ms)[: source.listings]:
        tried_ms[name] = now_ms
        try:
            lying = lying_files(source.zone, published.folder)
        except BridgeError as error:
            failures.append(error)
            if len(failures) >= LISTINGS_FAILED:
                break
            continue
        folders_ms = now_ms
        if lying is not None:
            known[name] = progressed(known.get(name), published, lying, synced_ms[name], now_ms)
        elif name in known:
            # What waited in a folder that is gone has not been taken in for that.
            known[name] = replace(known[name], looked_ms=now_ms)
    moving = any(now_ms - progress.rose_ms < source.blocked_after_ms for progress in known.values())
    return MirroringView(
        looked_ms=now_ms,
        told=told,
        told_ms=told_ms,
        folders_ms=folders_ms,
        tables={
            name: _table(one, known.get(name), told, source.blocked_after_ms, moving) for name, one in tables.items()
        },
        folder_failure=failures[0] if failures else None,
        tried_ms=tried_ms,
    )


def _told(told: Told, before: MirroringView | None, now_ms: int) -> tuple[Told, int]:
    """What was told now or, for a while, at the last look; and when."""
    if told.via is not None:
        return told, now_ms
    if before is not None and before.told.via is not None and now_ms - before.told_ms <= KEPT_MS:
        return replace(before.told, failure=told.failure), before.told_ms
    return told, 0 if before is None else before.told_ms


def _progress(before: MirroringView | None, state: LedgerState) -> Iterator[tuple[str, Progress]]:
    for name, table in ({} if before is None else before.tables).items():
        present = state.tables.get(name)
        if present is not None and table.progress is not None and table.progress.generation == present.generation:
            yield name, table.progress


def _due(
    state: LedgerState, known: Mapping[str, Progress], tried_ms: Mapping[str, int], synced_ms: Mapping[str, int | None]
) -> list[tuple[str, Published]]:
    """The tables whose folder may show something new, those that were not tried for longest first."""
    due: list[tuple[int, str, Published]] = []
    for name, table in state.tables.items():
        number = published_number(name, table, state)
        progress = known.get(name)
        if not number or table.status in _WITHOUT_FOLDER:
            continue
        if progress is not None and _all_in(progress, number, synced_ms[name]):
            continue
        published = Published(table.folder, table.extension, table.generation, number)
        due.append((tried_ms.get(name, 0), name, published))
    return [(name, published) for _, name, published in sorted(due, key=lambda one: one[:2])]


def _all_in(progress: Progress, published: int, synced_ms: int | None) -> bool:
    """Whether another look can show nothing new: all is in, or assumed to be while Fabric does not tell."""
    return (progress.number if synced_ms is None else progress.seen) >= published


def _synced_ms(told: Told, table: TableMirroring | None) -> int | None:
    """When Fabric last worked on the table: 0 where it does not know the table, and before mirroring has begun."""
    if table is not None:
        return table.synced_ms
    return None if told.status is None and not told.not_begun else 0


def _table(
    told: TableMirroring | None, progress: Progress | None, all_told: Told, after_ms: int, moving: bool
) -> MirroredTable:
    begun = not all_told.not_begun
    standing = (
        None if progress is None else blocked(progress, after_ms, all_told.status, told, begun=begun, moving=moving)
    )
    trouble = standing or (None if told is None else table_trouble(told))
    return MirroredTable(told, progress, standing is not None, trouble)


def mirroring_source(settings: BridgeSettings, *, seconds: float | None = None) -> MirroringSource | None:
    """What is looked at by these settings; None where nothing is. Nothing is sent yet.

    Args:
        seconds: the longest that one request may take; by default as long as the clients take by themselves.
    """
    asking = asking_of(settings, seconds=seconds)
    if asking is None:
        return None
    location = storage_location(settings, settings.landing_zone.url)
    if seconds is not None:
        location = replace(location, budget=seconds, read_timeout=seconds)
    blocked_after_ms = int(settings.fabric.blocked_after.total_seconds() * 1000)
    return MirroringSource(asking, reading_storage(location), settings.fabric.listings, blocked_after_ms)
