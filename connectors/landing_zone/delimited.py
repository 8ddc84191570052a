"""Writing one delimited-text landing file.

Rows wait in a Parquet file beside it, which already knows how to read back, to mark and to digest them; closing turns
it into text, some thousand rows at a time. So the logical digest of a text file is that of a Parquet file with the same
rows, and memory stays bounded. Slower than Parquet by far; tables choose it for a reader that wants text.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from connectors.landing_zone.delimited_format import DelimitedFormat
from connectors.landing_zone.errors import TextSchemaChangeError
from connectors.landing_zone.landing_file import FinishedFile, Markers, disk_errors
from connectors.landing_zone.parquet import ParquetFileWriter
from connectors.landing_zone.row_groups import ROW_GROUP_ROWS
from connectors.landing_zone.row_marker import RowMarker
from connectors.landing_zone.schema import PinnedSchema
from connectors.landing_zone.text_encoding import header, lines

LINES_AT_ONCE = 8_192
_GZIP_LEVEL = 6


class DelimitedFileWriter:
    """A :class:`~connectors.landing_zone.landing_file.LandingFileWriter` of delimited text.

    Args:
        path: where the file is written; its rows wait beside it, in ``<name>.rows``.
        schema: the file's columns; ``__rowMarker__`` follows them, last, if ``marked``.
        text: separators, quotes and the rest.
        row_group_rows: rows that memory holds at most.
    """

    def __init__(
        self,
        path: Path,
        schema: PinnedSchema,
        *,
        marked: bool,
        text: DelimitedFormat,
        row_group_rows: int = ROW_GROUP_ROWS,
    ) -> None:
        self._path = path
        self._text = text
        self._rows_path = path.with_name(f"{path.name}.rows")
        self._rows = ParquetFileWriter(self._rows_path, schema, marked=marked, row_group_rows=row_group_rows)
        self._over = False

    @property
    def schema(self) -> PinnedSchema:
        return self._rows.schema

    @property
    def marked(self) -> bool:
        return self._rows.marked

    @property
    def row_count(self) -> int:
        return self._rows.row_count

    def write(self, rows: pa.RecordBatch, markers: Markers | None) -> None:
        self._rows.write(rows, markers)

    def widen(self, schema: PinnedSchema) -> None:
        """Text tables keep the columns that their metadata declares.

        Raises:
            TextSchemaChangeError: ``schema`` has further columns (landing-zone format: schema evolution is not
                supported for delimited text).
        """
        known = {column.name for column in self.schema.columns}
        further = [column.name for column in schema.columns if column.name not in known]
        if further:
            raise TextSchemaChangeError(
                f"a delimited-text table cannot take the new column {further[0]!r}",
                remedy="leave the column out (columns.exclude), or set file_format to parquet and "
                "`cdc-bridge resync CONFIG TABLE`",
                column=further[0],
                file=self._path.name,
            )

    def mark(self, marker: RowMarker) -> None:
        self._rows.mark(marker)

    def read_back(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return self._rows.read_back(columns)

    def close(self, footer: Mapping[str, str]) -> FinishedFile:
        """See :meth:`LandingFileWriter.close`; ``footer`` is left out, the ledger alone knows the place of the file."""
        rows = self._rows.close({})
        with disk_errors(self._path):
            self._write_text()
            with self._path.open("rb") as body:
                sha256 = hashlib.file_digest(body, "sha256").hexdigest()
            self._rows_path.unlink()
            size = self._path.stat().st_size
        self._over = True
        return replace(rows, path=self._path, sha256=sha256, bytes=size)

    def abandon(self) -> None:
        self._over = True
        self._rows.abandon()
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)

    def __enter__(self) -> DelimitedFileWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._over:
            self.abandon()

    def _write_text(self) -> None:
        with self._path.open("wb") as body:
            if not self._text.gzip:
                self._write_lines(body)
                return
            # Neither a name nor a time in the header: equal rows give equal bytes.
            with gzip.GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=body, mtime=0) as packed:
                self._write_lines(packed)

    def _write_lines(self, body: BinaryIO | gzip.GzipFile) -> None:
        with pq.ParquetFile(str(self._rows_path)) as source:
            body.write(header(source.schema_arrow.names, self._text))
            for batch in source.iter_batches(batch_size=LINES_AT_ONCE, use_threads=False):
                body.write(lines(batch, self._text))
