"""The landed side: a table's content after a file, and what later files change of some of its rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.command_lines import command
from connectors.errors import Terminal
from connectors.landing_zone.ledger.state import TableState
from connectors.landing_zone.replay import ObservationKind, Progress, Zone, ZoneTable, open_zone, replay
from connectors.landing_zone.replay.content import ROW_MARKER, open_content
from connectors.landing_zone.replay.files import LandingFile, read_file
from connectors.landing_zone.replay.table_metadata import TableMetadata
from connectors.landing_zone.row_marker import RowMarker
from connectors.landing_zone.storage.protocol import Storage
from streaming.reconciling.columns import ColumnPlan
from streaming.reconciling.rows import Row, landed_rows


class UnreadableMirrorError(Terminal):
    """A table's landing files cannot be applied to their end."""


@dataclass(frozen=True)
class Mirror:
    """A table's landed content.

    Attributes:
        number: of the last file that was applied.
        table: its rows without markers.
    """

    number: int
    table: pa.Table


def read_mirror(
    zone: Storage,
    name: str,
    state: TableState,
    deleted: str = "",
    progress: Callable[[Progress], None] | None = None,
) -> Mirror:
    """The content after the last file that the ledger has bound. Holds the whole table in memory.

    Args:
        deleted: column that says that a row was deleted; such rows are left out.

    Raises:
        InvalidZoneError: the zone has no such table or file.
        UnreadableMirrorError: the files cannot be applied to that one.
    """
    if not state.sequence:
        return Mirror(0, pa.table({}))
    content = replay(_zone_table(zone, name, state), as_of=state.sequence, progress=progress)
    if content.stopped is not None:
        gone = content.stopped.kind is ObservationKind.GAP
        raise UnreadableMirrorError(
            f"the table's files cannot be applied to file {state.sequence}: {content.stopped.kind}, "
            f"{content.stopped.detail}",
            remedy="the replicator removes files seven days after it has applied them: compare within that time, or "
            f"{command('resync CONFIG {}', name)}, to have its first files again"
            if gone
            else "`cdc-bridge verify ZONE` says what is wrong with which file",
            table=name,
        )
    rows = content.table
    if deleted in rows.column_names:
        rows = rows.filter(pc.invert(pc.fill_null(rows.column(deleted), False)))
    return Mirror(state.sequence, rows)


@dataclass(frozen=True)
class LaterRow:
    """A row of a later file."""

    identity: int
    marker: RowMarker
    row: Row


def later_rows(
    zone: Storage, name: str, state: TableState, plan: ColumnPlan, after: int, identities: Collection[int]
) -> Iterator[LaterRow]:
    """The rows with these keys, by hash, in the files behind number ``after`` up to the ledger's last, in order."""
    if after >= state.sequence:
        return
    table = _zone_table(zone, name, state)
    metadata = table.metadata() or TableMetadata()
    wanted = np.array(sorted(identities), np.uint64)
    for file in table.listing(metadata).files:
        if after < file.number <= state.sequence:
            yield from _rows_of(table, file, metadata, plan, wanted)


def apply_later(rows: list[Row], later: LaterRow) -> list[Row]:
    """The rows of a key after one more landed row (landing-zone format, "Format requirements")."""
    match later.marker:
        case RowMarker.DELETE:
            return []
        case RowMarker.INSERT:
            return [*rows, later.row]
        case RowMarker.UPDATE | RowMarker.UPSERT:
            return [later.row] * max(1, len(rows))


def _rows_of(
    table: ZoneTable, file: LandingFile, metadata: TableMetadata, plan: ColumnPlan, wanted: np.ndarray[Any, Any]
) -> Iterator[LaterRow]:
    content = open_content(read_file(table.storage, table.folder, file), metadata, file.path)
    default = RowMarker.UPSERT if metadata.upsert_default else RowMarker.INSERT
    for group in range(len(content.group_rows)):
        cells = content.read(group, content.schema.names)
        markers = [int(default)] * cells.num_rows
        if ROW_MARKER in cells.column_names:
            markers = cells.column(ROW_MARKER).fill_null(int(default)).to_pylist()
        if plan.deleted in cells.column_names:
            gone = cells.column(plan.deleted).fill_null(False).to_pylist()
            markers = [int(RowMarker.DELETE) if one else marker for one, marker in zip(gone, markers, strict=True)]
        rows = landed_rows(plan, cells)
        for index in np.flatnonzero(np.isin(rows.identity, wanted)).tolist():
            yield LaterRow(int(rows.identity[index]), RowMarker(markers[index]), rows.row(index))


def _zone_table(zone: Storage, name: str, state: TableState) -> ZoneTable:
    opened: Zone = open_zone(zone)
    return opened.table(state.folder) if state.folder else opened.table(name)
