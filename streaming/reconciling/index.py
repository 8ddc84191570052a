"""The mirrored rows by the hash of their key, to be met by the database's rows whatever their order.

A key range is a stretch of rows in the database's own key order. Its landed rows are found by their keys, so that no
collation has to be the same on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streaming.reconciling.columns import ColumnPlan
from streaming.reconciling.rows import ComparedRows, Hashes, Row, landed_rows, landed_slices

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class KeyRange:
    """Consecutive rows of the database, and the landed rows that have their keys.

    Attributes:
        first, last: key of its first and last row; of all compared columns where the table has no key.
        source_checksum, mirrored_checksum: sums of the rows' hashes; equal for equal rows in any order.
        differing: rows of the range that do not meet an equal one.
    """

    first: Row
    last: Row
    source_rows: int
    mirrored_rows: int
    source_checksum: int
    mirrored_checksum: int
    differing: int

    @property
    def equal(self) -> bool:
        """Whether count and checksum agree on both sides."""
        same_rows = self.source_rows == self.mirrored_rows and self.source_checksum == self.mirrored_checksum
        return same_rows and not self.differing


class MirrorIndex:
    """Landed rows of one table, found by hash. Holds 24 bytes per row beside the table itself."""

    def __init__(self, plan: ColumnPlan, table: pa.Table) -> None:
        self._plan = plan
        self._table = table
        identities: list[Hashes] = [np.zeros(0, np.uint64)]
        contents: list[Hashes] = [np.zeros(0, np.uint64)]
        for rows in landed_slices(plan, table):
            identities.append(rows.identity)
            contents.append(rows.content)
        identity = np.concatenate(identities)
        self._order = np.argsort(identity, kind="stable")
        self._identity = identity[self._order]
        self._content = np.concatenate(contents)[self._order]
        self._met = np.zeros(len(identity), np.int64)

    def meet(self, rows: ComparedRows) -> tuple[KeyRange, Integers]:
        """Compare a range with the landed rows of its keys.

        Returns:
            the range, and the indexes of its rows that do not meet exactly one landed row that is equal.
        """
        begin = np.searchsorted(self._identity, rows.identity, "left")
        end = np.searchsorted(self._identity, rows.identity, "right")
        found = end > begin
        np.add.at(self._met, begin[found], 1)
        landed = np.zeros(len(rows), np.uint64)
        landed[found] = self._content[begin[found]]
        # Rows that are there several times are judged when all have been met.
        equal = found & (landed == rows.content)
        differing = np.flatnonzero(~equal)
        with np.errstate(over="ignore"):
            checksums = int(rows.content.sum(dtype=np.uint64)), int(landed.sum(dtype=np.uint64))
        width = len(self._plan.identity)
        range_ = KeyRange(
            first=rows.row(0)[:width],
            last=rows.row(len(rows) - 1)[:width],
            source_rows=len(rows),
            mirrored_rows=int(found.sum()),
            source_checksum=checksums[0],
            mirrored_checksum=checksums[1],
            differing=len(differing),
        )
        return range_, differing

    def unmet(self) -> Hashes:
        """The keys, by hash, of landed rows that the database's rows have not met as often as they are there."""
        if not len(self._identity):
            return self._identity
        firsts = np.flatnonzero(np.concatenate([[True], self._identity[1:] != self._identity[:-1]]))
        counts = np.diff(np.append(firsts, len(self._identity)))
        unmet: Hashes = self._identity[firsts[self._met[firsts] != counts]]
        return unmet

    def rows_of(self, identities: Sequence[int]) -> dict[int, list[Row]]:
        """The landed rows of each key, by its hash; without those that have none."""
        wanted = np.array(identities, np.uint64)
        begin = np.searchsorted(self._identity, wanted, "left")
        end = np.searchsorted(self._identity, wanted, "right")
        places = [self._order[first:last] for first, last in zip(begin, end, strict=True)]
        owners = np.repeat(wanted, end - begin)
        taken = landed_rows(self._plan, self._table.take(pa.array(np.concatenate([[], *places]).astype(np.int64))))
        found: dict[int, list[Row]] = {}
        for index, owner in enumerate(owners.tolist()):
            found.setdefault(owner, []).append(taken.row(index))
        return found
