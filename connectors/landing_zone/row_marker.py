"""The row marker: what a row of a landing file does to the mirrored table.

The contract's last column, ``__rowMarker__``, says per row whether it inserts, updates, deletes or upserts
(landing-zone format, "Format requirements"). Its type is not documented; 32-bit integers are what publishers write.
"""

from __future__ import annotations

import enum

import pyarrow as pa

COLUMN = "__rowMarker__"
FIELD = pa.field(COLUMN, pa.int32(), nullable=False)


class RowMarker(enum.IntEnum):
    """Values of the marker column. ``INSERT`` inserts again when the key is there: it never looks for it."""

    INSERT = 0
    UPDATE = 1
    DELETE = 2
    UPSERT = 4


def file_schema(columns: pa.Schema, *, marked: bool) -> pa.Schema:
    """The schema of a landing file: ``columns`` as they are, and the marker column last where rows are marked."""
    return columns.append(FIELD) if marked else columns
