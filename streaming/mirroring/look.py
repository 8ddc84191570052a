"""One look at mirroring: Fabric is asked, then the folders are listed in which something may have happened.

A listing is a request that OneLake bills, so a folder is listed only while files of it wait or have come, and of those
at most so many per look, beginning with the ones that were not listed for longest. A table of which everything has been
taken in costs nothing until its next file.
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
    known = dict(_progress(before, state))
    folders_ms = 0 if before is None else before.folders_ms
    failure = None
    for name, published in _due(state, known)[: source.listings]:
        try:
            lying = lying_files(source.zone, published.folder)
        except BridgeError as error:
            failure = error
            break
        folders_ms = now_ms
        if lying is None:
            known.pop(name, None)
            continue
        synced_ms = _synced_ms(told, tables[name])
        known[name] = progressed(known.get(name), published, lying, synced_ms, now_ms)
    return MirroringView(
        looked_ms=now_ms,
        told=told,
        told_ms=told_ms,
        folders_ms=folders_ms,
        tables={name: _table(one, known.get(name), told, source.blocked_after_ms) for name, one in tables.items()},
        folder_failure=failure,
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


def _due(state: LedgerState, known: Mapping[str, Progress]) -> list[tuple[str, Published]]:
    """The tables whose folder may show something new, those that were not looked at for longest first."""
    due: list[tuple[int, str, Published]] = []
    for name, table in state.tables.items():
        number = published_number(name, table, state)
        progress = known.get(name)
        if not number or table.status in _WITHOUT_FOLDER or (progress is not None and progress.number >= number):
            continue
        published = Published(table.folder, table.extension, table.generation, number)
        due.append((0 if progress is None else progress.looked_ms, name, published))
    return [(name, published) for _, name, published in sorted(due, key=lambda one: one[:2])]


def _synced_ms(told: Told, table: TableMirroring | None) -> int | None:
    """When Fabric last worked on the table: 0 where it answers and does not know the table."""
    if table is not None:
        return table.synced_ms
    return None if told.status is None else 0


def _table(told: TableMirroring | None, progress: Progress | None, all_told: Told, after_ms: int) -> MirroredTable:
    standing = None if progress is None else blocked(progress, after_ms, all_told.status, told)
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
