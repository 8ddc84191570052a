"""A mirrored table as it is after a file: what the replicator would have made of the landing zone."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from connectors.command_lines import command
from connectors.landing_zone.errors import InvalidZoneError
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.replay.columns import conformed
from connectors.landing_zone.replay.content import UnreadableFileError, open_content
from connectors.landing_zone.replay.files import LandingFile, read_file
from connectors.landing_zone.replay.history import History
from connectors.landing_zone.replay.observations import Observation, ObservationKind
from connectors.landing_zone.replay.table_metadata import DetectionStrategy, TableMetadata
from connectors.landing_zone.replay.zone import ZoneTable


class Stage(enum.StrEnum):
    """A replay first applies keys and markers of all files, then fetches the rows that are left."""

    APPLY = "apply"
    FETCH = "fetch"


@dataclass(frozen=True)
class Progress:
    """How far a replay is: ``done`` of ``total`` files in this stage; ``file`` is the one just finished."""

    table: str
    stage: Stage
    file: str
    done: int
    total: int


@dataclass(frozen=True)
class ReplayedTable:
    """A table's content.

    Attributes:
        name: as in the zone, ``schema.table``.
        table: its rows without markers, ordered by the file and row that last wrote them; a column is there once any
            applied file had it, in the order of appearance, all nullable.
        files: those that were applied.
        last_number: number of the last of them, 0 when there is none.
        rows_per_marker: rows in them per marker, ``""`` for rows without one; markers that do not occur are left out.
        observations: what was noticed.
    """

    name: str
    table: pa.Table
    files: tuple[LandingFile, ...]
    last_number: int
    rows_per_marker: dict[str, int]
    observations: tuple[Observation, ...]

    @property
    def stopped(self) -> Observation | None:
        """Why files were left out that should have been applied; None when all were."""
        return next((observation for observation in self.observations if observation.stops), None)


def replay(
    zone_table: ZoneTable,
    *,
    as_of: int | None = None,
    places: int = 5,
    progress: Callable[[Progress], None] | None = None,
) -> ReplayedTable:
    """The content of a table after file number ``as_of``, or after the last one.

    A missing number, an unreadable file, an illegal marker or a change of type ends the replay before that file, as it
    ends the replication: :attr:`ReplayedTable.stopped` says so.

    Args:
        as_of: for files ordered by time, how many of them.
        places: how many places to keep of each observation.
        progress: called after each file of each stage.

    Raises:
        InvalidZoneError: the metadata is invalid, or the table has no file ``as_of``.
        UnreadableFileError: a row that is left cannot be decoded, although its key could.
    """
    metadata = zone_table.metadata() or TableMetadata()
    listed = zone_table.listing(metadata).files
    files = [file for file in listed if as_of is None or file.number <= as_of]
    highest = listed[-1].number if listed else 0
    if as_of is not None and not 0 <= as_of <= highest:
        raise InvalidZoneError(
            f"the table has no file {as_of}; its last one is {highest}",
            remedy=f"ask for a number from 0 to {highest}: "
            + command("replay ZONE --table {} --as-of {}", zone_table.name, highest),
            table=zone_table.name,
        )
    history = History(metadata, places=places)
    for done, file in enumerate(files, 1):
        if not _apply_next(history, file, zone_table, metadata, later=len(files) - done):
            break
        _report(progress, Progress(zone_table.name, Stage.APPLY, file.path, done, len(files)))
    return ReplayedTable(
        name=zone_table.name,
        table=_fetch(history, zone_table, metadata, progress),
        files=tuple(history.files),
        last_number=history.files[-1].number if history.files else 0,
        rows_per_marker={marker: count for marker, count in sorted(history.rows_per_marker.items()) if count},
        observations=history.observations(),
    )


def sequences_at(state: LedgerState) -> dict[str, int]:
    """The last file number of every table in a version of the ledger: ``as_of`` for a snapshot across all tables.

    It holds for the tables' present generation only: a rebuilt table's earlier files are gone. A file that the version
    has bound but not yet published is counted.
    """
    return {name: table.sequence for name, table in state.tables.items()}


def _apply_next(
    history: History, file: LandingFile, zone_table: ZoneTable, metadata: TableMetadata, *, later: int
) -> bool:
    expected = history.files[-1].number + 1 if history.files else 1
    if metadata.strategy is DetectionStrategy.SEQUENTIAL and file.number != expected:
        missing = f"file {expected} is" if file.number == expected + 1 else f"files {expected} to {file.number - 1} are"
        detail = f"{missing} missing; files not applied from here on: {later + 1}"
        history.observe(ObservationKind.GAP, file, detail)
        return False
    try:
        return history.apply(
            file, open_content(read_file(zone_table.storage, zone_table.folder, file), metadata, file.path)
        )
    except UnreadableFileError as error:
        history.observe(ObservationKind.UNREADABLE_FILE, file, error.message)
        return False


def _fetch(
    history: History,
    zone_table: ZoneTable,
    metadata: TableMetadata,
    progress: Callable[[Progress], None] | None,
) -> pa.Table:
    live, schema = history.live(), history.schema()
    numbers = np.unique(live.files)
    pieces = [schema.empty_table()]
    for done, number in enumerate(numbers, 1):
        file = history.files[number]
        begin, end = np.searchsorted(live.files, [number, number + 1])
        rows = np.repeat(live.rows[begin:end], live.copies[begin:end])
        content = open_content(read_file(zone_table.storage, zone_table.folder, file), metadata, file.path)
        columns = [name for name in content.schema.names if name in history.columns]
        first = 0
        for group, count in enumerate(content.group_rows):
            low, high = np.searchsorted(rows, [first, first + count])
            if low < high:
                table = conformed(content.read(group, columns), schema)
                pieces.append(table.take(rows[low:high] - first))
            first += count
        _report(progress, Progress(zone_table.name, Stage.FETCH, file.path, done, len(numbers)))
    return pa.concat_tables(pieces)


def _report(progress: Callable[[Progress], None] | None, step: Progress) -> None:
    if progress is not None:
        progress(step)
