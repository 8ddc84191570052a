"""Writing one Parquet landing file, row group by row group.

Memory holds two row groups: one is encoded, in a thread of its own, while the rows of the next one come. What was
written can be read back, get another column or a marker in the middle of the work: the part on disk is then closed as a
segment, and :meth:`ParquetFileWriter.close` cuts and encodes the rows of all segments once more, group by group.
Since row groups and encodings depend on the rows alone, the result is the file that would have been written in one go,
byte for byte.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from connectors.landing_zone.behind import Behind
from connectors.landing_zone.digest import RowDigest
from connectors.landing_zone.encoding import Compression, OpenParquet
from connectors.landing_zone.errors import NullKeyError
from connectors.landing_zone.landing_file import UNMARKED, FinishedFile, Markers, disk_errors
from connectors.landing_zone.row_groups import ROW_GROUP_BYTES, ROW_GROUP_ROWS, RowGroups, contiguous
from connectors.landing_zone.row_marker import COLUMN, RowMarker, file_schema
from connectors.landing_zone.schema import PinnedSchema

MAX_ROW_GROUP_ROWS = 1 << 20


class ParquetFileWriter:
    """A :class:`~connectors.landing_zone.landing_file.LandingFileWriter` of Parquet.

    Args:
        path: where the file grows; segments lie beside it while they are needed. Its folder has to exist.
        schema: the file's columns; ``__rowMarker__`` follows them, last, if ``marked``.
        compression: see :class:`~connectors.landing_zone.encoding.Compression`.
        compression_level: for the codecs that have levels.
        row_group_rows: rows per row group, at most 1,048,576.
        row_group_bytes: bytes of a row group's values in Arrow; it ends sooner where they would exceed this.
    """

    def __init__(
        self,
        path: Path,
        schema: PinnedSchema,
        *,
        marked: bool,
        compression: Compression | str = Compression.ZSTD,
        compression_level: int | None = 1,
        row_group_rows: int = ROW_GROUP_ROWS,
        row_group_bytes: int = ROW_GROUP_BYTES,
    ) -> None:
        if not 1 <= row_group_rows <= MAX_ROW_GROUP_ROWS:
            raise ValueError(f"row_group_rows has to be from 1 to {MAX_ROW_GROUP_ROWS}, not {row_group_rows}")
        self._path = path
        self._schema = schema
        self._marked = marked
        self._arrow = file_schema(schema.arrow(), marked=marked)
        self._compression = Compression(compression)
        self._level = compression_level
        self._cutting = (row_group_rows, row_group_bytes)
        self._groups = RowGroups(*self._cutting)
        self._behind = Behind("encode")
        self._digest = RowDigest(self._arrow)
        self._per_marker = np.zeros(max(RowMarker) + 1, dtype=np.int64)
        self._unmarked_rows = 0
        # What rows of unmarked segments got when the file was marked.
        self._given: RowMarker | None = None
        self._segments: list[Path] = []
        self._writer: OpenParquet | None = None
        self._over = False

    @property
    def schema(self) -> PinnedSchema:
        return self._schema

    @property
    def marked(self) -> bool:
        return self._marked

    @property
    def row_count(self) -> int:
        return self._unmarked_rows + int(self._per_marker.sum())

    def write(self, rows: pa.RecordBatch, markers: Markers | None) -> None:
        self._require_open()
        batch = self._in_file_schema(rows, markers)
        self._count(len(rows), markers)
        for group in self._groups.add(batch):
            self._behind.do(partial(self._take_in, group))

    def widen(self, schema: PinnedSchema) -> None:
        """See :meth:`LandingFileWriter.widen`.

        Raises:
            ValueError: ``schema`` does not begin with the columns of the file, or adds a key column.
        """
        self._require_open()
        old = self._schema.columns
        if schema.columns[: len(old)] != old or any(column.key for column in schema.columns[len(old) :]):
            raise ValueError("a file's columns can only be followed by further columns that are no keys")
        if len(schema.columns) > len(old):
            self._seal()
            self._schema = schema
            self._change_schema()
            self._digest.widen(self._arrow)

    def mark(self, marker: RowMarker) -> None:
        """See :meth:`LandingFileWriter.mark`.

        Raises:
            ValueError: the file is marked already.
        """
        self._require_open()
        if self._marked:
            raise ValueError("the file's rows are marked already")
        self._seal()
        self._marked = True
        self._given = marker
        self._per_marker[marker] = self._unmarked_rows
        self._unmarked_rows = 0
        self._change_schema()
        self._digest.mark(marker)

    def read_back(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        self._require_open()
        self._seal()
        wanted = pa.schema([self._arrow.field(name) for name in columns])
        return self._read(tuple(self._segments), self._groups.waiting, wanted)

    def close(self, footer: Mapping[str, str]) -> FinishedFile:
        """See :meth:`LandingFileWriter.close`; entries of ``footer`` are written in the order of their keys."""
        self._require_open()
        self._behind.wait()
        if self._segments:
            self._seal()
            self._join(self._read(tuple(self._segments), (), self._arrow))
        for group in self._groups.drain():
            self._take_in(group)
        with disk_errors(self._path):
            if self._writer is None:
                self._writer = self._open(pa.RecordBatch.from_pylist([], schema=self._arrow))
            self._writer.add_metadata(dict(sorted(footer.items())))
            self._close_writer()
            self._remove_segments()
            finished = self._finished()
        self._over = True
        return finished

    def abandon(self) -> None:
        self._over = True
        with contextlib.suppress(Exception):
            self._behind.wait()
        with contextlib.suppress(OSError):
            self._close_writer()
        # What made the caller give up is not to be hidden by what its disk says now; a later start sweeps.
        with contextlib.suppress(OSError):
            self._remove_segments()
            self._path.unlink(missing_ok=True)

    def __enter__(self) -> ParquetFileWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._over:
            self.abandon()

    def _in_file_schema(self, rows: pa.RecordBatch, markers: Markers | None) -> pa.RecordBatch:
        expected = self._schema.arrow()
        found = rows.schema
        # Usually they are equal altogether, which takes no lists; rows need not say which columns are required.
        if not found.equals(expected) and (found.names, found.types) != (expected.names, expected.types):
            raise ValueError(f"rows of {rows.schema} do not fit a file of {self._arrow}")
        if (markers is not None) != self._marked:
            raise ValueError(f"a {'marked' if self._marked else 'marker-free'} file got rows of the other kind")
        columns = rows.columns
        for name in self._schema.key_columns:
            keys = rows.column(name)
            if keys.null_count:
                raise NullKeyError(
                    f"a row has no value in the key column {name!r}",
                    remedy="declare key columns that are never null for this table (tables.overrides[].keys), and "
                    "restart; what has landed with other keys needs `cdc-bridge resync CONFIG TABLE` then",
                    column=name,
                    row=self.row_count + keys.is_null().index(True).as_py() + 1,
                    file=self._path.name,
                )
        if markers is not None:
            if len(markers) != len(rows):
                raise ValueError(f"{len(markers)} markers for {len(rows)} rows")
            # A copy: rows wait here while the caller may use its array again.
            columns = [*columns, pa.array(markers.astype(np.int32, copy=True))]
        return pa.RecordBatch.from_arrays(columns, schema=self._arrow)

    def _count(self, rows: int, markers: Markers | None) -> None:
        if markers is None:
            self._unmarked_rows += rows
            return
        if not len(markers):
            return
        if markers.min() < 0 or markers.max() >= len(self._per_marker):
            raise ValueError("a row marker is 0, 1, 2 or 4")
        counts = np.bincount(markers, minlength=len(self._per_marker))
        if counts[3]:
            raise ValueError("a row marker is 0, 1, 2 or 4")
        self._per_marker += counts

    def _change_schema(self) -> None:
        self._arrow = file_schema(self._schema.arrow(), marked=self._marked)
        self._groups.replace(lambda batch: _project(batch, self._arrow, self._given))

    def _open(self, first_rows: pa.RecordBatch) -> OpenParquet:
        return OpenParquet(self._path, first_rows, self._compression, self._level)

    def _take_in(self, group: pa.RecordBatch) -> None:
        self._digest.update(group)
        self._encode(group)

    def _encode(self, group: pa.RecordBatch) -> None:
        with disk_errors(self._path):
            if self._writer is None:
                self._writer = self._open(group)
            self._writer.write(group)

    def _join(self, landed: Iterator[pa.RecordBatch]) -> None:
        """Cut and encode all rows again, from the first one on; those of segments have been digested before."""
        waiting, self._groups = self._groups.waiting, RowGroups(*self._cutting)
        for batch in landed:
            for group in self._groups.add(batch):
                self._encode(group)
        for batch in waiting:
            self._digest.update(batch)
            for group in self._groups.add(batch):
                self._encode(group)
        for group in self._groups.drain():
            self._encode(group)

    def _seal(self) -> None:
        """Close what is on disk as a segment that can be read; rows that wait stay in memory."""
        self._behind.wait()
        if self._writer is None:
            return
        with disk_errors(self._path):
            self._close_writer()
            segment = self._path.with_name(f"{self._path.name}.segment-{len(self._segments) + 1}")
            self._path.replace(segment)
            self._segments.append(segment)

    def _read(
        self, segments: tuple[Path, ...], waiting: tuple[pa.RecordBatch, ...], wanted: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        for segment in segments:
            with disk_errors(self._path), pq.ParquetFile(str(segment)) as source:
                there = source.schema_arrow.names
                # One column at least, for the number of rows.
                present = [name for name in wanted.names if name in there] or there[:1]
                for number in range(source.num_row_groups):
                    table = source.read_row_group(number, columns=present, use_threads=False)
                    yield _project(contiguous(table.to_batches()), wanted, self._given)
        for batch in waiting:
            yield _project(batch, wanted, self._given)

    def _finished(self) -> FinishedFile:
        per_marker = {str(marker): int(rows) for marker, rows in enumerate(self._per_marker) if rows}
        with self._path.open("rb") as body:
            sha256 = hashlib.file_digest(body, "sha256").hexdigest()
        return FinishedFile(
            path=self._path,
            sha256=sha256,
            logical=self._digest.hexdigest(),
            bytes=self._path.stat().st_size,
            rows={UNMARKED: self._unmarked_rows} if self._unmarked_rows else per_marker,
            row_count=self.row_count,
        )

    def _close_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def _remove_segments(self) -> None:
        for segment in self._segments:
            segment.unlink(missing_ok=True)
        self._segments = []

    def _require_open(self) -> None:
        if self._over:
            raise ValueError(f"the file {self._path.name} is finished or given up")


def _project(rows: pa.RecordBatch, wanted: pa.Schema, given: RowMarker | None) -> pa.RecordBatch:
    """The columns of ``wanted``; NULL, and for a marker ``given``, where ``rows`` has no such column."""
    present = set(rows.schema.names)
    columns = [
        rows.column(field.name)
        if field.name in present
        else pa.array(np.full(len(rows), given, dtype=np.int32))
        if field.name == COLUMN
        else pa.nulls(len(rows), field.type)
        for field in wanted
    ]
    return pa.RecordBatch.from_arrays(columns, schema=wanted)
