"""What the mirrored tables contain: after a file, after the last one, or all of them as of one ledger version."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from connectors.errors import Terminal
from connectors.landing_zone.ledger.history import state_at
from connectors.landing_zone.ledger.state import LedgerState, TableState, TableStatus
from connectors.landing_zone.replay import (
    ExportFormat,
    Progress,
    ReplayedTable,
    Zone,
    export,
    open_zone,
    replay,
    sequences_at,
)
from streaming.wording import json_row
from streaming.zones.reading import existing_zone, head_state, location_of, reading_storage, require_own, state_place


class RebuiltSinceError(Terminal):
    """A table's files of an earlier generation are asked for, which a rebuild has removed."""


@dataclass(frozen=True)
class ReplayRequest:
    """What to replay.

    Attributes:
        zone, state: folder paths or URLs; ``state`` None for the place beside the zone.
        table: one table; None for all.
        as_of: after this file of the one table.
        version: every table as of this version of the ledger.
        to: write each table in this format into that folder.
    """

    zone: str
    table: str | None = None
    as_of: int | None = None
    version: int | None = None
    state: str | None = None
    to: tuple[ExportFormat, Path] | None = None


@dataclass(frozen=True)
class Replayed:
    """A table's content, and where it was written to, if it was."""

    content: ReplayedTable
    written: Path | None

    def values(self, rows: int) -> dict[str, object]:
        """Plain values for a program, with the first ``rows`` rows."""
        content = self.content
        stopped = content.stopped
        return {
            "table": content.name,
            "rows": content.table.num_rows,
            "files": len(content.files),
            "last_number": content.last_number,
            "rows_per_marker": content.rows_per_marker,
            "columns": {field.name: str(field.type) for field in content.table.schema},
            "first_rows": [json_row(row) for row in content.table.slice(0, rows).to_pylist()],
            "observations": [
                {"kind": one.kind.value, "count": one.count, "detail": one.detail, "stops": one.stops}
                for one in content.observations
            ],
            "stopped": None if stopped is None else f"{stopped.kind}: {stopped.detail}",
            "written": None if self.written is None else str(self.written),
        }


def replay_zone(request: ReplayRequest, progress: Callable[[Progress], None] | None = None) -> Iterator[Replayed]:
    """The tables' contents, one after the other.

    With a version, tables that it does not know are left out, and so are those without a file by then.

    Raises:
        InvalidZoneError: no such zone, table or file number, or metadata that cannot be read.
        VersionNotKeptError: the ledger does not have the version.
        ZoneOwnedError: the zone belongs to another ledger.
        ExportError: a table cannot be written.
    """
    zone = open_zone(existing_zone(request.zone))
    tables = [zone.table(request.table)] if request.table is not None else zone.tables()
    numbers = None if request.version is None else _numbers(request, zone, request.version)
    for table in tables:
        as_of = request.as_of
        if numbers is not None:
            as_of = numbers.get(table.folder, 0)
            if not as_of:
                continue
        content = replay(table, as_of=as_of, progress=progress)
        yield Replayed(content, None if request.to is None else export(content, *request.to))


def _numbers(request: ReplayRequest, zone: Zone, version: int) -> dict[str, int]:
    """The last file of each table, by its folder, as of a version."""
    storage = reading_storage(location_of(state_place(request.zone, request.state)))
    state = state_at(storage, version)
    require_own(zone.storage, storage, state)
    numbers = sequences_at(state)
    _require_same_generations(request, state, head_state(storage))
    return {table.folder: numbers[name] for name, table in state.tables.items() if table.owns_folder}


def _require_same_generations(request: ReplayRequest, then: LedgerState, now: LedgerState) -> None:
    """Return if the files of the version are still those in the folders."""
    gone = [
        name
        for name, table in then.tables.items()
        if request.table in (None, name) and table.sequence and _begun_anew(table, now.tables[name])
    ]
    if gone:
        raise RebuiltSinceError(
            f"{', '.join(sorted(gone))} was rebuilt since version {then.version}, and the files of that time were "
            "removed with the folder",
            remedy="name a later version (`cdc-bridge ledger log CONFIG` shows when it was rebuilt), or another table "
            "with --table; --as-of counts the files since the rebuild",
            version=then.version,
        )


def _begun_anew(then: TableState, now: TableState) -> bool:
    return now.generation != then.generation or now.status is TableStatus.DELETING
