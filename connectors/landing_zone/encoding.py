"""How a Parquet file's columns are encoded: the same way for equal rows.

Dictionary encoding halves the speed and enlarges the file where values hardly repeat, and shrinks it where they do, so
it is chosen per column from the file's first rows. Minima and maxima of texts cost a tenth of the speed and nobody
skips by them, so only the other types have them. The file holds no serialised Arrow schema, no time, no random name:
its bytes depend on the rows, the settings and the version of the Parquet library.
"""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from connectors.landing_zone.schema import is_text

SAMPLE_ROWS = 8_192
"""Rows from the file's start (of its first row group) that decide."""

_REPEATS = 4


class Compression(enum.StrEnum):
    """Codecs that the contract allows for Parquet (landing-zone format, "Data file and format")."""

    ZSTD = "zstd"
    SNAPPY = "snappy"
    GZIP = "gzip"
    NONE = "none"

    @property
    def has_levels(self) -> bool:
        return self in (Compression.ZSTD, Compression.GZIP)


def dictionary_columns(first_rows: pa.RecordBatch) -> list[str]:
    """Columns whose values repeat at least four times on average within the first :data:`SAMPLE_ROWS` rows.

    Booleans never do it (they take one bit anyway), nor do columns without any value in the sample.
    """
    sample = first_rows.slice(0, SAMPLE_ROWS)
    chosen: list[str] = []
    for name, column in zip(sample.schema.names, sample.columns, strict=True):
        values = len(column) - column.null_count
        # Fewer values than that repeat too rarely, whatever they are: small files need not be counted.
        if values >= _REPEATS and not pa.types.is_boolean(column.type) and _distinct(column) * _REPEATS <= values:
            chosen.append(name)
    return chosen


def open_parquet(
    path: Path, first_rows: pa.RecordBatch, compression: Compression, compression_level: int | None
) -> pq.ParquetWriter:
    """A writer for a file with the schema of ``first_rows``, its first row group (which is not written yet).

    Raises:
        OSError: the file cannot be made.
    """
    # A dictionary, since the library's type hints know no lists of columns.
    per_column: dict[str, Any] = {
        "use_dictionary": dictionary_columns(first_rows),
        "write_statistics": [field.name for field in first_rows.schema if not is_text(field.type)],
    }
    return pq.ParquetWriter(
        str(path),
        first_rows.schema,
        version="2.6",
        data_page_version="1.0",
        compression=compression.value,
        compression_level=compression_level if compression.has_levels else None,
        store_schema=False,
        **per_column,
    )


def _distinct(column: pa.Array[Any]) -> int:
    return int(pc.count_distinct(column, mode="only_valid").as_py())
