"""What comparing a table came to."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from connectors.source_database.catalog import SourceColumn
from streaming.reconciling.columns import ColumnPlan, LeftOutColumn
from streaming.reconciling.index import KeyRange
from streaming.reconciling.rows import Row
from streaming.wording import json_row


class Verdict(enum.StrEnum):
    """UNDECIDED: rows differ, and it is not proven that this is more than lag, or the table cannot be compared."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNDECIDED = "undecided"


class DifferenceKind(enum.StrEnum):
    """MISSING and EXTRA are from the mirror's side; COUNT: the same key, not as many rows."""

    CHANGED = "changed"
    MISSING = "missing in the mirror"
    EXTRA = "extra in the mirror"
    COUNT = "not as many rows"


@dataclass(frozen=True)
class Cell:
    """A column in which a row differs; texts, None for NULL."""

    column: str
    source: str | None
    mirrored: str | None


@dataclass(frozen=True)
class Difference:
    """A key whose rows differ.

    Attributes:
        key: names and texts of the key columns; of all compared columns where the table has no key.
        cells: the columns that differ; none unless it is CHANGED.
        source_rows, mirrored_rows: how many rows have the key.
    """

    kind: DifferenceKind
    key: tuple[tuple[str, str | None], ...]
    cells: tuple[Cell, ...]
    source_rows: int
    mirrored_rows: int

    def values(self) -> dict[str, object]:
        """Plain values for a program."""
        return {
            "kind": self.kind.value,
            "key": dict(self.key),
            "cells": [{"column": one.column, "source": one.source, "mirrored": one.mirrored} for one in self.cells],
            "source_rows": self.source_rows,
            "mirrored_rows": self.mirrored_rows,
        }


@dataclass(frozen=True)
class TableOutcome:
    """One table.

    Attributes:
        name: in the landing zone; ``source``: in the database.
        reason: why it is undecided, or empty.
        source_rows, mirrored_rows: as first counted, each at its own moment.
        ranges: key ranges that were compared; ``differing``: those that differed at first sight, as many as are shown.
        counts: differences that are proven, by kind; ``shown``: the first of them.
        undecided: keys that differ and may be lag.
        position: the place in the source's log that the mirror was proven to cover; ``evidence``: by what.
        number: the last landing file that was looked at.
        seconds: that it took.
    """

    name: str
    source: str
    verdict: Verdict
    reason: str = ""
    source_rows: int = 0
    mirrored_rows: int = 0
    ranges: int = 0
    ranges_differing: int = 0
    differing: tuple[KeyRange, ...] = ()
    counts: Mapping[DifferenceKind, int] = field(default_factory=dict)
    shown: tuple[Difference, ...] = ()
    undecided: int = 0
    compared: tuple[str, ...] = ()
    left_out: tuple[LeftOutColumn, ...] = ()
    notes: tuple[str, ...] = ()
    position: str = ""
    evidence: str = ""
    number: int = 0
    seconds: float = 0.0

    def values(self) -> dict[str, object]:
        """Plain values for a program."""
        return {
            "table": self.name,
            "source": self.source,
            "verdict": self.verdict.value,
            "reason": self.reason,
            "source_rows": self.source_rows,
            "mirrored_rows": self.mirrored_rows,
            "ranges": self.ranges,
            "ranges_differing": self.ranges_differing,
            "first_differing_ranges": [_range_values(self.compared, one) for one in self.differing],
            "differences": {kind.value: count for kind, count in self.counts.items()},
            "shown": [one.values() for one in self.shown],
            "undecided_keys": self.undecided,
            "compared_columns": list(self.compared),
            "not_compared_columns": {one.name: one.reason for one in self.left_out},
            "notes": list(self.notes),
            "position": self.position,
            "evidence": self.evidence,
            "last_number": self.number,
            "seconds": round(self.seconds, 3),
        }


def unless_unproven(outcome: TableOutcome, columns: Sequence[SourceColumn]) -> TableOutcome:
    """The outcome, but undecided where it would be equal and these columns hold values that were not compared."""
    if not columns or outcome.verdict is not Verdict.EQUAL:
        return outcome
    named = ", ".join(column.name for column in columns)
    return replace(
        outcome,
        verdict=Verdict.UNDECIDED,
        reason=f"what was compared is equal, but these columns hold values that could not be compared: {named}",
    )


def differs(source: Sequence[Row], mirrored: Sequence[Row]) -> bool:
    """Whether two bags of rows differ; NaN equals NaN."""
    return Counter(map(_comparable, source)) != Counter(map(_comparable, mirrored))


def counted(found: Sequence[Difference]) -> dict[DifferenceKind, int]:
    """How many differences there are of each kind that there is."""
    return {kind: count for kind in DifferenceKind if (count := sum(one.kind is kind for one in found))}


def difference(plan: ColumnPlan, source: Sequence[Row], mirrored: Sequence[Row]) -> Difference:
    """The difference between the rows of one key, which are not equal."""
    row = (source or mirrored)[0]
    names = [column.name for column in plan.compared]
    key = tuple((column.name, _text(row[names.index(column.name)])) for column in plan.identity)
    cells: tuple[Cell, ...] = ()
    if not mirrored:
        kind = DifferenceKind.MISSING
    elif not source:
        kind = DifferenceKind.EXTRA
    elif len(source) == len(mirrored) == 1:
        kind = DifferenceKind.CHANGED
        pairs = zip(names, source[0], mirrored[0], _comparable(source[0]), _comparable(mirrored[0]), strict=True)
        cells = tuple(Cell(name, _text(ours), _text(theirs)) for name, ours, theirs, a, b in pairs if a != b)
    else:
        kind = DifferenceKind.COUNT
    return Difference(kind, key, cells, len(source), len(mirrored))


def _comparable(row: Row) -> tuple[object, ...]:
    return tuple("NaN" if isinstance(cell, float) and cell != cell else cell for cell in row)


def _text(cell: object) -> str | None:
    if cell is None:
        return None
    return cell.hex() if isinstance(cell, bytes) else str(cell)


def _range_values(columns: Sequence[str], one: KeyRange) -> dict[str, object]:
    names = columns[: len(one.first)]
    return {
        "first": json_row(dict(zip(names, one.first, strict=True))),
        "last": json_row(dict(zip(names, one.last, strict=True))),
        "source_rows": one.source_rows,
        "mirrored_rows": one.mirrored_rows,
        "source_checksum": f"{one.source_checksum:016x}",
        "mirrored_checksum": f"{one.mirrored_checksum:016x}",
    }
