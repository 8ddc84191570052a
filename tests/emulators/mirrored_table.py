"""What the replicator makes of a table's files, row by row, and what it refuses.

Sources: Microsoft's landing-zone format and best practices (row markers, nullable columns, the marker as last column,
key columns that never change), and reports of users (a file of 0 bytes, a type that changed).
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

MARKER = "__rowMarker__"
INSERT, UPDATE, DELETE, UPSERT = 0, 1, 2, 4

Row = dict[str, Any]


class Rejected(Exception):
    """A file or metadata that the replicator does not take."""


class MirroredTable:
    """One mirrored table.

    Args:
        metadata: content of its ``_metadata.json``.

    Raises:
        Rejected: it is not JSON.
    """

    def __init__(self, metadata: bytes) -> None:
        self._metadata = _metadata(metadata)
        self._keys: tuple[str, ...] = tuple(self._metadata.get("keyColumns", ()))
        self._columns: dict[str, pa.DataType] = {}
        self._rows: dict[tuple[Any, ...], list[Row]] = {}
        self._keyless = 0

    def require_same(self, metadata: bytes) -> None:
        """Return if key columns are what they were; they can never be changed.

        Raises:
            Rejected: they are others.
        """
        keys = tuple(_metadata(metadata).get("keyColumns", ()))
        if keys != self._keys:
            raise Rejected(f"InputValidationError: key columns {list(self._keys)} became {list(keys)}")

    def rows(self) -> list[Row]:
        """All rows with all columns, in no order."""
        empty = dict.fromkeys(self._columns)
        return [empty | row for rows in self._rows.values() for row in rows]

    def apply(self, body: bytes) -> None:
        """Take a file in, top to bottom.

        Raises:
            Rejected: nothing of it was applied.
        """
        if not body:
            raise Rejected("Invalid: Parquet file size is 0 bytes")
        try:
            table = pq.read_table(io.BytesIO(body))
        except pa.ArrowInvalid as error:
            raise Rejected(f"Invalid: {error}") from error
        self._merge(table.schema)
        markers = self._markers(table)
        content = table.drop_columns([MARKER]) if MARKER in table.column_names else table
        for row, marker in zip(content.to_pylist(), markers, strict=True):
            self._apply(row, marker)

    def _merge(self, schema: pa.Schema) -> None:
        names = schema.names
        if MARKER in names and (names[-1] != MARKER or schema.field(MARKER).type != pa.int32()):
            raise Rejected(f"{MARKER} is not the last column, of 32 bits")
        for name in self._keys:
            if name not in names:
                raise Rejected(f"SchemaMergeFailure: key column {name!r} is missing")
        for field in schema:
            known = self._columns.get(field.name, field.type)
            if field.name != MARKER and known != field.type:
                raise Rejected(
                    f"SchemaMergeFailure: Type mismatch for column {field.name!r}. Incoming type: '{field.type}', "
                    f"existing type: '{known}'"
                )
            if field.name not in (MARKER, *self._keys) and not field.nullable:
                raise Rejected(f"SchemaMergeFailure: column {field.name!r} is not nullable")
        self._columns |= {field.name: field.type for field in schema if field.name != MARKER}

    def _markers(self, table: pa.Table) -> list[int]:
        upserts = str(self._metadata.get("isUpsertDefaultRowMarker", False)).lower() == "true"
        if MARKER not in table.column_names:
            return [UPSERT if upserts else INSERT] * table.num_rows
        markers: list[int] = table.column(MARKER).to_pylist()
        if not self._keys and {UPDATE, DELETE} & set(markers):
            raise Rejected("updates and deletes need key columns")
        return markers

    def _apply(self, row: Row, marker: int) -> None:
        key = self._key(row)
        match marker:
            case 0:
                self._rows.setdefault(key, []).append(row)
            case 1 | 4:
                self._rows[key] = [row]
            case 2:
                self._rows.pop(key, None)
            case _:
                raise Rejected(f"{MARKER} {marker}")

    def _key(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        if self._keys:
            return tuple(row[name] for name in self._keys)
        self._keyless += 1
        return (self._keyless,)


def _metadata(body: bytes) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(body)
    except ValueError as error:
        raise Rejected("Exception reading the metadata file: _metadata.json") from error
    return content
