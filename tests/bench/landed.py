"""What a contender has landed: judged against what was produced, and compared with what another one landed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars

from tests.bench.contender import SCHEMA_FOLDER
from tests.bench.template import Int64s
from tests.bench.topics import TopicSet
from tests.bench.traffic import Expected

ID, REVISION, MARKER = "id", "revision", "__rowMarker__"
UPSERT, DELETE = 4, 2
_MODULUS = 1 << 64


@dataclass(frozen=True)
class Landed:
    """What is in a zone.

    Attributes:
        digest: of all rows of all tables with their markers, whatever their order: 16 hexadecimal digits. Comparable
            within a process.
    """

    rows: int
    files: int
    bytes: int
    digest: str


def inspect(zone: Path, topic_set: TopicSet) -> Landed:
    """Judge the zone's rows.

    Raises:
        SystemExit: a row is missing, there is one too many, or a row's changes are out of order.
    """
    rows = files = size = digest = 0
    for table in topic_set.tables:
        paths = sorted((zone / SCHEMA_FOLDER / table.name).glob("*.parquet"))
        content = polars.concat([normal(polars.read_parquet(path)) for path in paths]) if paths else polars.DataFrame()
        wrong = complaint(content, table.expected(topic_set.asked)) if paths else "nothing landed"
        if wrong:
            raise SystemExit(f"{zone}: {table.name}: {wrong}")
        rows += len(content)
        files += len(paths)
        size += sum(path.stat().st_size for path in paths)
        digest = (digest + _digest(content)) % _MODULUS
    return Landed(rows, files, size, f"{digest:016x}")


def normal(content: polars.DataFrame) -> polars.DataFrame:
    """The rows with types that do not depend on who wrote them; rows of a file without markers are upserts."""
    if MARKER not in content.columns:
        content = content.with_columns(polars.lit(UPSERT).alias(MARKER))
    return content.select(_normal(name, kind) for name, kind in sorted(content.schema.items()))


def complaint(content: polars.DataFrame, expected: Expected) -> str:
    """What is wrong with a table's rows, in the order in which they landed; empty for nothing."""
    if len(content) != expected.rows:
        return f"{len(content)} rows landed instead of {expected.rows}"
    deletes = content[MARKER].to_numpy() == DELETE
    ids = content[ID].to_numpy()
    revisions = content[REVISION].fill_null(-1).to_numpy()
    if not np.array_equal(np.sort(ids[deletes]), expected.deletes):
        return "other rows are deleted than should be"
    if not np.array_equal(np.sort(revisions[~deletes]), expected.upserts):
        return "rows are missing and others doubled"
    if _backwards(ids[~deletes], revisions[~deletes]):
        return "a row's changes are out of order"
    return ""


def _backwards(ids: Int64s, revisions: Int64s) -> bool:
    by_row = np.argsort(ids, kind="stable")
    return bool(np.any((np.diff(revisions[by_row]) < 0) & (np.diff(ids[by_row]) == 0)))


def _normal(name: str, kind: polars.DataType) -> polars.Expr:
    column = polars.col(name)
    if kind.is_integer():
        return column.cast(polars.Int64)
    if isinstance(kind, polars.Datetime):
        return column.dt.timestamp("us")
    if kind.is_decimal():
        return column.cast(polars.String)
    return column


def _digest(content: polars.DataFrame) -> int:
    """Sum of the rows' hashes: the same for the same rows in another order, and for no others."""
    hashes: np.ndarray = content.select(sorted(content.columns)).hash_rows(seed=1).to_numpy()
    return int(np.add.reduce(hashes, dtype=np.uint64))
