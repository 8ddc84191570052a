"""What is in files whose bytes do not show it: Parquet, and what gzip, zstd, LZ4 or zip have packed."""

from __future__ import annotations

import io
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq

_PARQUET, _ZIP = b"PAR1", b"PK\x03\x04"
_STREAMS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}
"""Codecs by how their streams begin."""


def unpacked(content: bytes) -> bytes:
    """The values of all columns and the metadata of a Parquet file, the content of another; empty for any other.

    Raises:
        ValueError: it begins as such a file and is none.
    """
    if content.startswith(_PARQUET):
        return _parquet(content)
    if content.startswith(_ZIP):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return b"\n".join(name.encode() + b"\n" + archive.read(name) for name in archive.namelist())
    for start, codec in _STREAMS.items():
        if content.startswith(start):
            with pa.CompressedInputStream(pa.BufferReader(content), codec) as stream:
                return bytes(stream.read())
    return b""


def _parquet(content: bytes) -> bytes:
    with pq.ParquetFile(pa.BufferReader(content)) as file:
        schema = file.schema_arrow.to_string(
            truncate_metadata=False, show_field_metadata=True, show_schema_metadata=True
        )
        groups = [str(file.metadata.row_group(number).to_dict()) for number in range(file.metadata.num_row_groups)]
        told = [schema, str(file.metadata.metadata), *groups, str(file.read().to_pylist())]
    return "\n".join(told).encode()
