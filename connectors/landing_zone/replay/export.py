"""A replayed table as files that other programs read."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import assert_never

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from connectors.errors import Terminal
from connectors.landing_zone.replay.replayed import ReplayedTable

_TAKES_ALL = "`cdc-bridge replay ZONE --to parquet FOLDER` takes every type"


class ExportFormat(enum.StrEnum):
    PARQUET = "parquet"
    CSV = "csv"
    DELTA = "delta"


class ExportError(Terminal):
    """A replayed table cannot be written in the format that was asked for."""


def export(replayed: ReplayedTable, fmt: ExportFormat, directory: Path) -> Path:
    """Write the table into ``directory``, made if needed, replacing an earlier export of it.

    Returns:
        ``<name>.parquet``, ``<name>.csv`` (NULL is empty, an empty text is ``""``), or for a Delta table the folder
        ``<name>``.

    Raises:
        ExportError: the package ``deltalake`` is missing, a column's type has no place in the format, or the
            directory cannot be written.
    """
    format_ = ExportFormat(fmt)
    target = directory / (replayed.name if format_ is ExportFormat.DELTA else f"{replayed.name}.{format_}")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        match format_:
            case ExportFormat.PARQUET | ExportFormat.CSV:
                partial = target.with_name(f".{target.name}.partial")
                if format_ is ExportFormat.PARQUET:
                    pq.write_table(replayed.table, partial, compression="zstd")
                else:
                    pa.csv.write_csv(replayed.table, partial)
                partial.replace(target)
            case ExportFormat.DELTA:
                _write_delta(replayed, target)
            case _:
                assert_never(format_)
    except (pa.ArrowException, OSError) as error:
        raise ExportError(
            f"the table cannot be written as {format_}: {error}",
            remedy=f"check the directory, or choose another format: {_TAKES_ALL}",
            table=replayed.name,
            file=target,
        ) from error
    return target


def _write_delta(replayed: ReplayedTable, target: Path) -> None:
    try:
        import deltalake
    except ImportError as error:
        raise ExportError(
            "writing Delta tables needs the package deltalake",
            remedy=f"pip install deltalake, or export to csv or parquet: {_TAKES_ALL}",
            table=replayed.name,
        ) from error
    try:
        deltalake.write_deltalake(str(target), replayed.table, mode="overwrite", schema_mode="overwrite")
    except Exception as error:  # what the package raises for a type that Delta lacks is no subclass
        raise ExportError(
            f"the table cannot be written as delta: {error}",
            remedy=f"choose another format: {_TAKES_ALL}",
            table=replayed.name,
            file=target,
        ) from error
