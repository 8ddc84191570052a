"""How a Parquet file's columns are encoded: the same way for equal rows.

Dictionary encoding halves the speed and enlarges the file where values hardly repeat, and shrinks it where they do, so
it is chosen per column from the file's first rows. Minima and maxima of texts cost a tenth of the speed and nobody
skips by them, so only the other types have them. The file holds no serialised Arrow schema, no time, no random name:
its bytes depend on the rows, the settings and the versions of the Parquet library and of numpy.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from connectors.landing_zone.row_groups import take_at_most
from connectors.landing_zone.schema import is_text

SAMPLE_ROWS = 8_192
"""Rows from the file's start (of its first row group) that decide."""

_TINY_ROWS = 2
_TINY_BYTES = 64
_REPEATS = 4
_MANY_ROWS = SAMPLE_ROWS // 2
_MOSTLY_PRESENT = 7 / 8
_MOSTLY_DIFFERENT = 0.87
_BUFFER_BYTES = 1 << 16


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

    Of many rows an eighth, drawn from all over the sample, is looked at first: where hardly any value repeats there,
    the others are not. Booleans never do it (they take one bit anyway), nor do columns without any value in the sample.
    """
    sample = first_rows.slice(0, SAMPLE_ROWS)
    drawn = _drawn(len(sample)) if len(sample) >= _MANY_ROWS else None
    chosen: list[str] = []
    for name, column in zip(sample.schema.names, sample.columns, strict=True):
        values = len(column) - column.null_count
        # Fewer values than _REPEATS repeat too rarely, whatever they are: small files need not be counted.
        most = values // _REPEATS
        if not most or pa.types.is_boolean(column.type) or (drawn is not None and _hardly_repeat(column.take(drawn))):
            continue
        if _are_at_most(most, column):
            chosen.append(name)
    return chosen


def is_tiny(first_rows: pa.RecordBatch) -> bool:
    """Whether a file of these rows is smaller without compression: two rows at most, of some 64 bytes a column at most.

    What a codec puts around each column's page is more than it saves there, and setting it up takes half of the time:
    one row of 17 columns takes 3,185 bytes and 0.8 ms with ZSTD, 3,027 bytes and 0.4 ms without.
    """
    return 0 < len(first_rows) <= _TINY_ROWS and take_at_most(first_rows, _TINY_BYTES * first_rows.num_columns)


class OpenParquet:
    """A Parquet file that grows row group by row group.

    The library writes the header and the page of each column by themselves, some hundred bytes at a time: small files
    take less time with a buffer between, whose size changes none of the bytes.

    Args:
        first_rows: its first row group, which is not written yet: its schema is the file's.

    Raises:
        OSError: the file cannot be made; or, from any method, it cannot be written.
    """

    def __init__(
        self, path: Path, first_rows: pa.RecordBatch, compression: Compression, compression_level: int | None
    ) -> None:
        self._sink = fs.LocalFileSystem().open_output_stream(str(path), compression=None, buffer_size=_BUFFER_BYTES)
        try:
            self._writer = _writer(self._sink, first_rows, compression, compression_level)
        except BaseException:
            self._sink.close()
            raise

    def write(self, group: pa.RecordBatch) -> None:
        """Append a row group."""
        self._writer.write_table(pa.Table.from_batches([group]), row_group_size=len(group))

    def add_metadata(self, entries: Mapping[str, str]) -> None:
        """Have the footer say these as well, in their order."""
        self._writer.add_key_value_metadata(dict(entries))

    def close(self) -> None:
        """Write the footer; also where that fails, the file is closed then."""
        try:
            self._writer.close()
        finally:
            self._sink.close()


def _writer(
    sink: pa.NativeFile, first_rows: pa.RecordBatch, compression: Compression, compression_level: int | None
) -> pq.ParquetWriter:
    if is_tiny(first_rows):
        compression = Compression.NONE
    # A dictionary, since the library's type hints know no lists of columns.
    per_column: dict[str, Any] = {
        "use_dictionary": dictionary_columns(first_rows),
        "write_statistics": [field.name for field in first_rows.schema if not is_text(field.type)],
    }
    return pq.ParquetWriter(
        sink,
        first_rows.schema,
        version="2.6",
        data_page_version="1.0",
        compression=compression.value,
        compression_level=compression_level if compression.has_levels else None,
        store_schema=False,
        **per_column,
    )


def _are_at_most(most: int, column: pa.Array[Any]) -> bool:
    """Whether there are so many different values at most."""
    # Counting takes the time, and half of the values tell where they hardly repeat, even with some nulls.
    return all(_distinct(column.slice(0, rows)) <= most for rows in (2 * most + 1, len(column)))


def _hardly_repeat(values: pa.Array[Any]) -> bool:
    """Whether an eighth of the rows, drawn from all of them, says that the values repeat less than four times.

    Of values that all come four times, 83 to 85 of 100 differ there, of those that come more often fewer.
    """
    present = len(values) - values.null_count
    return bool(present >= len(values) * _MOSTLY_PRESENT and _distinct(values) > present * _MOSTLY_DIFFERENT)


@lru_cache(maxsize=64)
def _drawn(rows: int) -> pa.Array[Any]:
    """The places of an eighth of so many rows, ascending, the same ones each time: as good as at random."""
    chances = np.random.Generator(np.random.PCG64(0)).random(rows)
    return pa.array(np.sort(np.argsort(chances)[: rows // 8]))


def _distinct(column: pa.Array[Any]) -> int:
    # The library's count_distinct says the same and takes twice as long.
    return len(pc.unique(column)) - bool(column.null_count)
