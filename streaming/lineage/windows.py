"""What a run has landed between two lineage events, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from connectors.landing_zone.ledger.state import NOTHING_LANDED, LandedFile, LedgerState
from streaming.driver.batch import BatchReport

TABLES_IN_AN_EVENT = 100
"""More tables than these become several events, so that none grows beyond what a server takes."""


@dataclass(frozen=True)
class Landed:
    """What landed in one table.

    Attributes:
        rows, bytes, files: how much.
        topics: those that the rows came from.
    """

    rows: int = 0
    bytes: int = 0
    files: int = 0
    topics: frozenset[str] = frozenset()

    def and_file(self, file: LandedFile) -> Landed:
        """This and one more file."""
        return Landed(
            self.rows + sum(file.rows.values()),
            self.bytes + file.bytes,
            self.files + 1,
            self.topics | file.ranges.keys(),
        )


@dataclass(frozen=True)
class Window:
    """What a run has landed since its last event.

    Attributes:
        state: what the ledger knew at the end of it.
        versions: the first and the last version of the ledger in it; None without any.
        tables: by their names; those without a new file are left out.
    """

    state: LedgerState = NOTHING_LANDED
    versions: tuple[int, int] | None = None
    tables: Mapping[str, Landed] = field(default_factory=dict)

    def parts(self) -> Iterator[Window]:
        """The same in windows of at most :data:`TABLES_IN_AN_EVENT` tables; at least one."""
        if len(self.tables) <= TABLES_IN_AN_EVENT:
            yield self
            return
        names = sorted(self.tables)
        for begin in range(0, len(names), TABLES_IN_AN_EVENT):
            some = names[begin : begin + TABLES_IN_AN_EVENT]
            yield Window(self.state, self.versions, {name: self.tables[name] for name in some})


class OpenWindow:
    """The window that is under way. Not thread-safe: whoever tells it holds a lock."""

    def __init__(self) -> None:
        self._state = NOTHING_LANDED
        self._versions: tuple[int, int] | None = None
        self._tables: dict[str, Landed] = {}

    def know(self, state: LedgerState) -> None:
        """What the ledger knows now."""
        self._state = state

    def add(self, report: BatchReport) -> None:
        """Count a micro-batch or a chunk of a catch-up; one that became no version counts for nothing."""
        if report.version is None:
            return
        first, _ = self._versions or (report.version, report.version)
        self._versions = (first, report.version)
        for table, file in report.files.items():
            self._tables[table] = self._tables.get(table, Landed()).and_file(file)

    def close(self) -> Window:
        """The window so far; the next one begins."""
        window = Window(self._state, self._versions, self._tables)
        self._versions, self._tables = None, {}
        return window
