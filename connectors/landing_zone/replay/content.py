"""What is in a landing file: its columns, and its rows a row group at a time."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from connectors.landing_zone.errors import InvalidZoneError
from connectors.landing_zone.replay.table_metadata import TableMetadata, TextFormat, TextType
from connectors.landing_zone.replay.text_rows import MalformedTextError, read_rows
from connectors.landing_zone.replay.text_types import typed

ROW_MARKER = "__rowMarker__"
MOST_TEXT_BYTES = 2**30
"""Of a text file once it is decompressed: a file of a few megabytes could fill any memory."""
_CHUNK_BYTES = 2**20


class UnreadableFileError(InvalidZoneError):
    """A landing file that is not what its table's metadata says; the replicator stops at it."""


class Content(Protocol):
    """A landing file that was opened.

    Attributes:
        schema: of all its columns, the row marker included; dictionaries are shown as their values' type.
        group_rows: number of rows per row group.
    """

    @property
    def schema(self) -> pa.Schema: ...

    @property
    def group_rows(self) -> Sequence[int]: ...

    def read(self, group: int, columns: Sequence[str]) -> pa.Table:
        """``columns`` (at least one) of a row group, in the order asked for.

        Raises:
            UnreadableFileError: what is there cannot be decoded.
        """
        ...


def open_content(body: bytes, metadata: TableMetadata, path: str) -> Content:
    """The content of a file whose bytes are ``body``; ``path`` is named in errors.

    Raises:
        UnreadableFileError: empty, cut short, or not in the format of the table's metadata.
    """
    if not body:
        raise _unreadable("the file has zero bytes", path)
    if metadata.text is None:
        return ParquetContent(body, path)
    return TextContent(body, metadata.text, path)


PUT_BACK = (
    "put the right content back under the same name from a copy; without one, `cdc-bridge resync CONFIG TABLE` fills a "
    "table of the bridge anew, and whatever else writes this zone has to publish the file again"
)
"""A wrong file of any zone, be it the bridge's or another tool's."""


def _unreadable(message: str, path: str) -> UnreadableFileError:
    return UnreadableFileError(message, remedy=f"{PUT_BACK}; the files behind it wait", file=path)


class ParquetContent:
    """A Parquet file of any compression."""

    def __init__(self, body: bytes, path: str) -> None:
        self._path = path
        try:
            self.parquet = pq.ParquetFile(pa.BufferReader(_copied(body)))
            arrow = self.parquet.schema_arrow
        except (pa.ArrowException, ValueError, OSError) as error:
            raise _unreadable(f"the file is not valid Parquet: {error}", path) from error
        if len(set(arrow.names)) != len(arrow.names):
            raise _unreadable("the file has two columns of one name", path)
        self.schema = pa.schema([(field.name, _plain(field.type)) for field in arrow])

    @cached_property
    def group_rows(self) -> tuple[int, ...]:
        metadata = self.parquet.metadata
        return tuple(metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))

    def read(self, group: int, columns: Sequence[str]) -> pa.Table:
        try:
            table = self.parquet.read_row_group(group, columns=list(columns)).select(list(columns))
        except (pa.ArrowException, ValueError, OSError) as error:
            raise _unreadable(f"row group {group} cannot be decoded: {error}", self._path) from error
        return table.cast(pa.schema([self.schema.field(name) for name in columns]))


class TextContent:
    """A delimited-text file, plain, gzip or zstd: one row group."""

    def __init__(self, body: bytes, dialect: TextFormat, path: str) -> None:
        try:
            text = _decompressed(body).decode(dialect.encoding).removeprefix("\ufeff")
            rows = read_rows(text, dialect)
        except (zlib.error, EOFError, OSError, pa.ArrowException, UnicodeError, MalformedTextError) as error:
            raise _unreadable(
                f"the file is not the delimited text that the metadata describes: {error}", path
            ) from error
        types = {column.name: column.type for column in dialect.columns or ()}
        for place, name in enumerate(rows.column_names):
            kind = TextType.INT32 if name == ROW_MARKER else types.get(name, TextType.STRING)
            try:
                rows = rows.set_column(place, name, typed(rows.column(place), kind))
            except ValueError as error:
                raise _unreadable(f"column {name} holds a value that is no {kind}: {error}", path) from error
        self._rows = rows
        self.schema = rows.schema
        self.group_rows = (rows.num_rows,)

    def read(self, group: int, columns: Sequence[str]) -> pa.Table:
        return self._rows.select(list(columns))


def _copied(body: bytes) -> pa.Buffer:
    """In Arrow's own memory.

    Its threads let go of a file some time after it was read. If that gives memory back to Python while the interpreter
    ends, the process aborts.
    """
    copy = pa.allocate_buffer(len(body))
    memoryview(copy).cast("B")[:] = body
    return copy


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _decompressed(body: bytes) -> bytes | bytearray:
    if body.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as file:
            return _bounded(file.read)
    if body.startswith(b"\x28\xb5\x2f\xfd"):
        with pa.input_stream(io.BytesIO(body), compression="zstd") as stream:
            return _bounded(stream.read)
    return body


def _bounded(read: Callable[[int], bytes]) -> bytearray:
    """All that ``read`` gives, refused as soon as it is too much."""
    text = bytearray()
    while chunk := read(_CHUNK_BYTES):
        text += chunk
        if len(text) > MOST_TEXT_BYTES:
            raise MalformedTextError(f"it is more than {MOST_TEXT_BYTES} bytes when it is decompressed")
    return text
