"""Rules that one file can break, alone or against the table's earlier files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from connectors.landing_zone.replay.content import PUT_BACK, ROW_MARKER, Content, ParquetContent
from connectors.landing_zone.replay.history import LEGAL_MARKERS
from connectors.landing_zone.replay.table_metadata import TableMetadata
from connectors.landing_zone.verify.findings import Finding, Rule, problem, warning

COMPRESSIONS = frozenset({"UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD"})
MARKER_TYPES = frozenset({"INT32", "INT32 Int(bitWidth=32, isSigned=true)"})
REBUILD = (
    "`cdc-bridge resync CONFIG TABLE` for a table of the bridge; whatever else writes this zone has to begin its "
    "folder anew: a type or a key cannot change otherwise"
)


@dataclass(frozen=True)
class Column:
    """A column as it is stored: Parquet's physical and logical type as text, and whether it must have values."""

    name: str
    type: str
    required: bool
    nested: bool


def stored_columns(content: Content, metadata: TableMetadata) -> list[Column]:
    """The file's columns in order; of text, as the ``SchemaDefinition`` declares them."""
    if not isinstance(content, ParquetContent):
        declared = {column.name: column for column in (metadata.text.columns if metadata.text else None) or ()}
        return [
            Column(field.name, str(field.type), field.name in declared and not declared[field.name].nullable, False)
            for field in content.schema
        ]
    parquet = content.parquet.schema
    leaves = {leaf.path: leaf for leaf in (parquet.column(place) for place in range(len(parquet)))}
    columns = []
    for field in content.schema:
        leaf = leaves.get(field.name)
        if leaf is None or pa.types.is_nested(field.type):
            columns.append(Column(field.name, str(field.type), False, True))
            continue
        length = f"({leaf.length})" if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY" else ""
        logical = "" if str(leaf.logical_type) == "None" else f" {leaf.logical_type}"
        columns.append(
            Column(field.name, f"{leaf.physical_type}{length}{logical}", leaf.max_definition_level == 0, False)
        )
    return columns


def check_columns(
    columns: list[Column], known: Mapping[str, Column], metadata: TableMetadata, table: str, file: str
) -> Iterator[Finding]:
    """Names, types and order of a file's columns; ``known`` are those of the earlier files, as each was first."""
    names = [column.name for column in columns]
    if ROW_MARKER in names[:-1]:
        message = f"{ROW_MARKER} is column {names.index(ROW_MARKER) + 1} of {len(names)}, not the last"
        yield problem(Rule.MARKER_POSITION, table, file, message, "write the row marker as the last column")
    folded = {name.casefold(): name for name in known}
    for column in columns:
        if column.name == ROW_MARKER:
            if metadata.text is None and column.type not in MARKER_TYPES:
                message = f"{ROW_MARKER} is stored as {column.type}, not as INT32"
                yield problem(Rule.MARKER_TYPE, table, file, message, "write the row marker as INT32")
            continue
        if column.nested:
            message = f"column {column.name} is of the complex type {column.type}"
            yield problem(Rule.COLUMN_TYPE, table, file, message, "write complex values as JSON text")
        if column.required and column.name not in metadata.keys:
            message = f"column {column.name} is required although it is no key column: deletes carry keys only"
            remedy = "declare every column but the keys as nullable; " + REBUILD
            yield problem(Rule.COLUMN_REQUIRED, table, file, message, remedy)
        other = folded.setdefault(column.name.casefold(), column.name)
        if other != column.name:
            message = f"columns {other} and {column.name} differ in case only"
            yield problem(Rule.COLUMN_NAME, table, file, message, "rename one of them")
        first = known.get(column.name)
        if first is not None and first.type != column.type:
            message = f"column {column.name} is stored as {column.type}, in earlier files as {first.type}"
            yield problem(Rule.COLUMN_CHANGED, table, file, message, REBUILD)
        if metadata.text and metadata.text.columns and column.name not in {c.name for c in metadata.text.columns}:
            message = f"column {column.name} is not in the SchemaDefinition"
            yield problem(Rule.COLUMN_UNDECLARED, table, file, message, "text files cannot add columns; " + REBUILD)
    for key in metadata.keys:
        if key not in names:
            remedy = "name the key columns in keyColumns exactly as in the files"
            yield problem(Rule.KEY_MISSING, table, file, f"the key column {key} is missing", remedy)


def check_compression(content: Content, table: str, file: str) -> Iterator[Finding]:
    """The codecs of a Parquet file's column chunks."""
    if not isinstance(content, ParquetContent):
        return
    footer = content.parquet.metadata
    groups = (footer.row_group(group) for group in range(footer.num_row_groups))
    used = {group.column(place).compression for group in groups for place in range(footer.num_columns)}
    for codec in sorted(used - COMPRESSIONS):
        yield problem(
            Rule.COMPRESSION, table, file, f"the file is compressed with {codec}", "use none, Snappy, GZIP or ZSTD"
        )


@dataclass
class RowCounts:
    """What the rows of a file are: per marker (``""`` for none), and NULLs where none may be."""

    markers: Counter[str]
    illegal: Counter[str]
    nulls: Counter[str]

    @property
    def present(self) -> dict[str, int]:
        """Rows per marker, illegal ones included, without markers that do not occur."""
        return {marker: count for marker, count in (self.markers + self.illegal).items() if count}


def count_rows(content: Content, columns: list[Column], metadata: TableMetadata) -> RowCounts:
    """Decode every row of the file, so that damage anywhere shows.

    Raises:
        UnreadableFileError: a row group cannot be decoded.
    """
    counts = RowCounts(Counter(), Counter(), Counter())
    names = [column.name for column in columns]
    watched = [c.name for c in columns if c.name in metadata.keys or (c.required and metadata.text is not None)]
    for group, rows in enumerate(content.group_rows):
        table = content.read(group, names)
        for name in watched:
            counts.nulls[name] += table.column(name).null_count
        if ROW_MARKER not in names:
            counts.markers[""] += rows
            continue
        tally: Any = pc.value_counts(table.column(ROW_MARKER))
        for entry in tally.to_pylist():
            marker, count = entry["values"], entry["counts"]
            legal = marker is None or (marker in LEGAL_MARKERS and not isinstance(marker, (bool, float)))
            (counts.markers if legal else counts.illegal)["" if marker is None else str(marker)] += count
    return counts


def check_rows(
    counts: RowCounts, columns: list[Column], metadata: TableMetadata, table: str, file: str
) -> Iterator[Finding]:
    """Marker values, and NULLs in key and required columns."""
    for marker, count in sorted(counts.illegal.items()):
        message = f"{count} rows have the row marker {marker}"
        yield problem(Rule.MARKER_VALUE, table, file, message, f"use 0, 1, 2 or 4; {PUT_BACK}")
    missing = counts.markers[""]
    if missing and ROW_MARKER in (column.name for column in columns):
        message = (
            f"{missing} rows have NULL as row marker and count as {'upserts' if metadata.upsert_default else 'inserts'}"
        )
        yield warning(Rule.MARKER_VALUE, table, file, message, "write a marker in every row, or leave the column out")
    for name, count in sorted(counts.nulls.items()):
        if count and name in metadata.keys:
            message = f"the key column {name} is NULL in {count} rows"
            yield problem(Rule.KEY_NULL, table, file, message, "write the whole key in every row, deletes included")
        elif count:
            message = f"column {name} is NULL in {count} rows, the SchemaDefinition says that it is not nullable"
            yield problem(Rule.COLUMN_REQUIRED, table, file, message, "declare every column but the keys as nullable")
