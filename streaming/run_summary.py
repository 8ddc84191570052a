"""What a run has done, as values, as a line and as a table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from rich.markup import escape
from rich.table import Table

from connectors.landing_zone.ledger.state import LedgerState, Parked, TableStatus
from streaming.driver.batch import BatchReport
from streaming.reporting.parked import parked_values
from streaming.wording import count_text, rows_text, seconds_text, size_text

ON_THE_WAY = frozenset(TableStatus) - {TableStatus.LOADING, TableStatus.STREAMING, TableStatus.PARKED}
"""Statuses of a table that is catching up or being rebuilt, so that it is still behind when the run ends."""


@dataclass
class RunSummary:
    """What a run has done.

    Attributes:
        offsets: length of the ranges that were carried, over all partitions.
        rows: landed, per marker.
        version: the ledger's last version of this run; None when nothing was new.
        parked: tables that this run parked and that still stand still at its end, and why.
        under_way: tables that are on their way back at its end, and how far they are.
        stopped: a signal or its caller ended it.
        seconds: from the query's first start to the end of the run; starting Spark is not counted.
    """

    batches: int = 0
    offsets: int = 0
    files: int = 0
    bytes: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    tables: set[str] = field(default_factory=set)
    version: int | None = None
    parked: dict[str, Parked] = field(default_factory=dict)
    under_way: dict[str, TableStatus] = field(default_factory=dict)
    failures: int = 0
    lag_failures: int = 0
    stopped: bool = False
    seconds: float = 0.0

    def add(self, report: BatchReport) -> None:
        """Count a micro-batch or a chunk of a catch-up; a batch whose range held nothing new counts for nothing."""
        if report.version is None:
            return
        self.batches += report.carried
        if not report.table:
            self.offsets += report.offsets
        self.files += len(report.files)
        self.bytes += sum(file.bytes for file in report.files.values())
        for file in report.files.values():
            self.rows.update(file.rows)
        self.tables.update(report.files)
        self.version = report.version
        self.parked.update(report.stops)

    def end(self, state: LedgerState) -> None:
        """Take note of where the tables stand at the end."""
        standing = {name: state.tables[name].parked for name in self.parked if name in state.tables}
        self.parked = {
            name: parked
            for name, parked in standing.items()
            if parked is not None and state.tables[name].status is TableStatus.PARKED
        }
        self.under_way = {name: table.status for name, table in state.tables.items() if table.status in ON_THE_WAY}

    def values(self) -> dict[str, object]:
        """Plain values for a program."""
        return {
            "batches": self.batches,
            "offsets": self.offsets,
            "files": self.files,
            "bytes": self.bytes,
            "rows": dict(sorted(self.rows.items())),
            "tables": sorted(self.tables),
            "version": self.version,
            "parked": {name: parked_values(parked) for name, parked in sorted(self.parked.items())},
            "under_way": {name: status.value for name, status in sorted(self.under_way.items())},
            "retried_failures": self.failures,
            "failed_group_commits": self.lag_failures,
            "stopped": self.stopped,
            "seconds": round(self.seconds, 3),
        }


def summary_text(summary: RunSummary) -> str:
    """One line about a whole run."""
    if not summary.batches:
        text = "nothing new to land"
    else:
        text = (
            f"landed {count_text(summary.rows.total(), 'row')} of {count_text(summary.offsets, 'offset')} in "
            f"{count_text(summary.files, 'file')} of {count_text(len(summary.tables), 'table')}, "
            f"{count_text(summary.batches, 'batch', 'batches')}, {seconds_text(summary.seconds)}"
        )
    parked = f"; parked: {', '.join(sorted(summary.parked))}" if summary.parked else ""
    under_way = f"; still under way: {_under_way_text(summary)}" if summary.under_way else ""
    return f"{text}{parked}{under_way}{'; stopped as asked' if summary.stopped else ''}"


def summary_table(summary: RunSummary) -> Table:
    """A run's summary for a person."""
    table = Table(title="Stopped as asked" if summary.stopped else "Done", show_header=False, title_justify="left")
    table.add_row("micro-batches", f"{summary.batches:,}")
    table.add_row("offsets", f"{summary.offsets:,}")
    table.add_row("rows", f"{summary.rows.total():,}  {rows_text(summary.rows)}".rstrip())
    table.add_row(
        "files", f"{summary.files:,} of {count_text(len(summary.tables), 'table')}, {size_text(summary.bytes)}"
    )
    table.add_row("ledger version", "unchanged" if summary.version is None else str(summary.version))
    table.add_row("time", seconds_text(summary.seconds))
    if summary.failures:
        table.add_row("failures retried", f"{summary.failures:,}")
    if summary.lag_failures:
        table.add_row("failed group commits", f"{summary.lag_failures:,}")
    if summary.under_way:
        table.add_row("still under way", escape(_under_way_text(summary)))
    for name, parked in sorted(summary.parked.items()):
        table.add_row(f"[yellow]parked[/] {escape(name)}", escape(f"{parked.message}\nWhat to do: {parked.remedy}"))
    return table


def _under_way_text(summary: RunSummary) -> str:
    return ", ".join(f"{name} ({status.value.replace('_', ' ')})" for name, status in sorted(summary.under_way.items()))
