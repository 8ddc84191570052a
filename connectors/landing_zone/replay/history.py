"""A table's history, applied file by file in bounded memory.

Only key columns and row markers are looked at. What a file leaves is kept as a reference (file, row) until the caller
builds the table from them. References are folded whenever as many rows have come as are left, and at least
:data:`FOLD_ROWS`, so that the memory grows with the table and not with its history.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connectors.landing_zone.replay.columns import conformed, widened
from connectors.landing_zone.replay.content import ROW_MARKER, Content
from connectors.landing_zone.replay.files import LandingFile
from connectors.landing_zone.replay.fold import DELETE, INSERT, UPDATE, UPSERT, Integers, fold, key_codes
from connectors.landing_zone.replay.observations import Observation, ObservationKind, Observations, Place
from connectors.landing_zone.replay.table_metadata import TableMetadata

FOLD_ROWS = 1 << 20
LEGAL_MARKERS = (INSERT, UPDATE, DELETE, UPSERT)

Markers = npt.NDArray[np.int8]


@dataclass(frozen=True)
class LiveRows:
    """Rows of the replayed table, as references into :attr:`History.files`, ascending.

    Attributes:
        files, rows: index of the file, and row in it, from 0.
        copies: how many rows of the table this one stands for.
    """

    files: Integers
    rows: Integers
    copies: Integers


@dataclass(frozen=True)
class _RowGroup:
    file: int
    rows: Integers
    markers: Markers
    keys: pa.Table | None


class History:
    """Applies files of one table in the order in which they are given.

    Attributes:
        files: those applied so far.
        columns: name and type of every column seen, without the row marker, in the order of appearance.
        rows_per_marker: rows applied so far per marker, ``""`` for rows without one.
    """

    def __init__(self, metadata: TableMetadata, *, places: int = 5) -> None:
        self.files: list[LandingFile] = []
        self.columns: dict[str, pa.DataType] = {}
        self.rows_per_marker: Counter[str] = Counter()
        self._metadata = metadata
        self._observations = Observations(places)
        self._live = LiveRows(*(np.zeros(0, np.int64) for _ in range(3)))
        self._live_keys = pa.table({})
        self._waiting: list[_RowGroup] = []
        self._waiting_rows = 0

    def apply(self, file: LandingFile, content: Content) -> bool:
        """Apply a whole file, or nothing of it.

        Returns:
            False when it can't be applied (illegal marker, type conflict): an observation says why, and no later file
            may be applied.

        Raises:
            UnreadableFileError: its key columns or markers cannot be decoded; nothing of it is applied.
        """
        columns = self._columns_with(file, content.schema)
        if columns is None:
            return False
        groups: list[_RowGroup] = []
        counts: Counter[str] = Counter()
        first = 0
        for group, rows in enumerate(content.group_rows):
            read = self._read_group(file, content, group, first, counts)
            if read is None:
                return False
            groups.append(read)
            first += rows
        self.files.append(file)
        self.columns = columns
        self.rows_per_marker.update(counts)
        if first == 0:
            self.observe(ObservationKind.ZERO_ROWS, file)
        self._waiting.extend(groups)
        self._waiting_rows += first
        if self._waiting_rows >= max(FOLD_ROWS, len(self._live.rows)):
            self._fold()
        return True

    def observe(self, kind: ObservationKind, file: LandingFile, detail: str = "") -> None:
        """Note something about a whole file."""
        self._observations.add(kind, [Place(file.path)], detail=detail)

    def live(self) -> LiveRows:
        """What the files applied so far leave of the table."""
        if self._waiting:
            self._fold()
        return self._live

    def observations(self) -> tuple[Observation, ...]:
        """What was noticed so far."""
        self.live()
        return self._observations.all()

    def schema(self) -> pa.Schema:
        """The columns seen so far, all nullable."""
        return pa.schema(list(self.columns.items()))

    def _columns_with(self, file: LandingFile, schema: pa.Schema) -> dict[str, pa.DataType] | None:
        columns = dict(self.columns)
        for field in schema:
            if field.name == ROW_MARKER:
                continue
            known = columns.get(field.name, field.type)
            both = widened(known, field.type)
            detail = f"column {field.name}: {known}, then {field.type}"
            if both is None:
                self.observe(ObservationKind.TYPE_CONFLICT, file, detail)
                return None
            if known != field.type and not (pa.types.is_null(known) or pa.types.is_null(field.type)):
                self.observe(ObservationKind.TYPE_WIDENED, file, detail)
            columns[field.name] = both
        return columns

    def _read_group(
        self, file: LandingFile, content: Content, group: int, first: int, counts: Counter[str]
    ) -> _RowGroup | None:
        rows = content.group_rows[group]
        present = content.schema.names
        columns = [name for name in (*self._metadata.keys, ROW_MARKER) if name in present]
        table = content.read(group, columns) if columns else None
        marker: Any = (
            table.column(ROW_MARKER) if table is not None and ROW_MARKER in columns else pa.nulls(rows, pa.int32())
        )
        if not pa.types.is_integer(marker.type):
            self.observe(ObservationKind.ILLEGAL_MARKER, file, f"{ROW_MARKER} is {marker.type}")
            return None
        missing = marker.is_null().to_numpy(zero_copy_only=False)
        default = UPSERT if self._metadata.upsert_default else INSERT
        values: Any = marker.fill_null(default).to_numpy(zero_copy_only=False)
        illegal = np.flatnonzero(~np.isin(values, LEGAL_MARKERS))
        if len(illegal):
            places = [Place(file.path, first + int(row)) for row in illegal[: self._observations.keep]]
            self._observations.add(
                ObservationKind.ILLEGAL_MARKER, places, count=len(illegal), detail=f"first value: {values[illegal[0]]}"
            )
            return None
        markers = values.astype(np.int8)
        counts[""] += int(missing.sum())
        for value in LEGAL_MARKERS:
            counts[str(value)] += int(np.count_nonzero((markers == value) & ~missing))
        keys = None
        if self._metadata.keys:
            keys = pa.table(
                {
                    name: table.column(name) if table is not None and name in columns else pa.nulls(rows)
                    for name in self._metadata.keys
                }
            )
        return _RowGroup(len(self.files), np.arange(first, first + rows), markers, keys)

    def _fold(self) -> None:
        groups, self._waiting, self._waiting_rows = self._waiting, [], 0
        live = self._live
        carried = len(live.rows)
        files = np.concatenate([live.files, *(np.full(len(group.rows), group.file) for group in groups)])
        rows = np.concatenate([live.rows, *(group.rows for group in groups)])
        markers = np.concatenate([np.zeros(carried, np.int8), *(group.markers for group in groups)])
        copies = np.concatenate([live.copies, np.ones(len(rows) - carried, np.int64)])
        if not self._metadata.keys:
            kept = np.flatnonzero(markers == INSERT)
            self._note(ObservationKind.KEYLESS_CHANGE, markers != INSERT, files, rows)
            self._live = LiveRows(files[kept], rows[kept], copies[kept])
            return
        # A key column that no file has holds NULL only.
        schema = pa.schema([(name, self.columns.get(name, pa.null())) for name in self._metadata.keys])
        tables = [self._live_keys, *(group.keys for group in groups if group.keys is not None)]
        keys = pa.concat_tables([conformed(table, schema) for table in tables])
        result = fold(key_codes(keys), markers, copies)
        new = np.arange(len(rows)) >= carried
        null = np.zeros(len(rows), np.bool_)
        for column in keys.columns:
            null |= column.is_null().to_numpy(zero_copy_only=False)
        self._note(ObservationKind.NULL_KEY, new & null, files, rows)
        self._note(ObservationKind.INSERT_OF_EXISTING_KEY, new & (markers == INSERT) & result.known, files, rows)
        self._note(ObservationKind.UPDATE_OF_MISSING_KEY, new & (markers == UPDATE) & ~result.known, files, rows)
        self._note(ObservationKind.DELETE_OF_MISSING_KEY, new & (markers == DELETE) & ~result.known, files, rows)
        self._live = LiveRows(files[result.rows], rows[result.rows], result.copies)
        self._live_keys = keys.take(result.rows)

    def _note(self, kind: ObservationKind, found: npt.NDArray[np.bool_], files: Integers, rows: Integers) -> None:
        indexes = np.flatnonzero(found)
        places = [
            Place(self.files[files[index]].path, int(rows[index])) for index in indexes[: self._observations.keep]
        ]
        self._observations.add(kind, places, count=len(indexes))
