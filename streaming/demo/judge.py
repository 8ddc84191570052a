"""Comparing what a replay of the landing zone contains with what the generator knows to be true: row by row, typed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from connectors.landing_zone.replay import ReplayedTable, open_zone, replay
from connectors.landing_zone.storage.protocol import Storage
from streaming.demo.columns import Value
from streaming.demo.shop import Row

EXAMPLES = 3
"""Differing rows that are shown of each table."""


@dataclass(frozen=True)
class TableVerdict:
    """One table.

    Attributes:
        files, last_number, rows_per_marker, replayed: of the landing zone; 0 and empty for a table that is not there.
        expected: rows that the table has in truth.
        missing: rows that should be there and are not; ``extra``: rows that are there and should not be.
        examples: some of both, as text.
    """

    table: str
    files: int
    last_number: int
    rows_per_marker: Mapping[str, int]
    replayed: int
    expected: int
    missing: int
    extra: int
    examples: tuple[str, ...]
    stopped: str | None = None

    @property
    def equal(self) -> bool:
        """Whether the table's content is the truth."""
        return not self.missing and not self.extra and self.stopped is None


def judge(zone: Storage, truth: Mapping[str, Sequence[Row]]) -> list[TableVerdict]:
    """The verdict about every table that the truth names.

    Raises:
        InvalidZoneError: a table's metadata cannot be read.
    """
    found = {table.name: table for table in open_zone(zone).tables()}
    empty = ReplayedTable("", pa.table({}), (), 0, {}, ())
    return [
        compare(name, replay(found[name]) if name in found else empty, rows) for name, rows in sorted(truth.items())
    ]


def compare(name: str, replayed: ReplayedTable, rows: Sequence[Row]) -> TableVerdict:
    """Compare as multisets of rows: equal columns, equal values, equal types."""
    expected = Counter(_identity(row) for row in rows)
    content = replayed.table.to_pylist() if replayed.table.num_columns else []
    actual = Counter(_identity(row) for row in content)
    missing, extra = expected - actual, actual - expected
    examples = [f"missing: {_shown(one)}" for one in list(missing)[:EXAMPLES]]
    examples += [f"extra: {_shown(one)}" for one in list(extra)[:EXAMPLES]]
    stopped = replayed.stopped
    return TableVerdict(
        table=name,
        files=len(replayed.files),
        last_number=replayed.last_number,
        rows_per_marker=replayed.rows_per_marker,
        replayed=len(content),
        expected=len(rows),
        missing=missing.total(),
        extra=extra.total(),
        examples=tuple(examples),
        stopped=None if stopped is None else f"{stopped.kind}: {stopped.detail}",
    )


def _identity(row: Mapping[str, Value]) -> tuple[tuple[str, str, Value], ...]:
    # Python takes 1, 1.0 and True for equal; rows of the mirror must not.
    return tuple(sorted(((name, type(value).__name__, value) for name, value in row.items()), key=lambda cell: cell[0]))


def _shown(identity: tuple[tuple[str, str, Value], ...]) -> str:
    return ", ".join(f"{name}={value!r}" for name, _, value in identity)
