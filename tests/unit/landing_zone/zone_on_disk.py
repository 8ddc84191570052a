"""Builds landing zones by hand, with nothing of the bridge's own writing code."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from connectors.landing_zone.replay import Place, ReplayedTable, Zone, open_zone, replay
from connectors.landing_zone.storage.local import LocalStorage

EMPLOYEE = pa.schema([("EmployeeID", pa.string()), ("EmployeeLocation", pa.string()), ("__rowMarker__", pa.int32())])
UNMARKED = EMPLOYEE.remove(2)


@dataclass(frozen=True)
class TableOnDisk:
    """One table folder that a test fills."""

    root: Path
    folder: str

    @property
    def path(self) -> Path:
        return self.root / self.folder

    def name(self, number: int, extension: str = "parquet") -> str:
        return f"{number:020d}.{extension}"

    def metadata(self, document: object) -> TableOnDisk:
        text = document if isinstance(document, str) else json.dumps(document)
        (self.path / "_metadata.json").write_text(text)
        return self

    def file(self, number: int, rows: pa.Table, *, where: str = "", **options: Any) -> TableOnDisk:
        """Numbered Parquet file; ``where`` is a cleanup folder."""
        target = self.path / where / self.name(number)
        target.parent.mkdir(exist_ok=True)
        pq.write_table(rows, target, **options)
        return self

    def rows(self, number: int, *rows: Sequence[Any], schema: pa.Schema = EMPLOYEE, **options: Any) -> TableOnDisk:
        """Numbered Parquet file of rows given as tuples in the order of ``schema``."""
        return self.file(number, table_of(schema, *rows), **options)

    def text(self, number: int, body: bytes, extension: str = "csv") -> TableOnDisk:
        (self.path / self.name(number, extension)).write_bytes(body)
        return self

    def replay(self, **options: Any) -> ReplayedTable:
        return replay(self.zone().table(self.folder), **options)

    def zone(self) -> Zone:
        return open_zone(LocalStorage(self.root))


def table_of(schema: pa.Schema, *rows: Sequence[Any]) -> pa.Table:
    return pa.table([[row[place] for row in rows] for place in range(len(schema))], schema=schema)


def make_table(root: Path, folder: str, metadata: Mapping[str, object] | None = None) -> TableOnDisk:
    """A folder with the given metadata; without any when it is None."""
    table = TableOnDisk(root, folder)
    table.path.mkdir(parents=True)
    return table if metadata is None else table.metadata(metadata)


def employees(root: Path, **metadata: object) -> TableOnDisk:
    """The table of the format's own examples."""
    return make_table(root, "dbo.schema/Employees", {"keyColumns": ["EmployeeID"], **metadata})


def content(replayed: ReplayedTable) -> list[tuple[Any, ...]]:
    """The rows of a replayed table."""
    return [tuple(row.values()) for row in replayed.table.to_pylist()]


def place(number: int, row: int | None = None, folder: str = "dbo.schema/Employees") -> Place:
    """A row, or the whole, of the Parquet file with this number."""
    return Place(f"{folder}/{number:020d}.parquet", row)
