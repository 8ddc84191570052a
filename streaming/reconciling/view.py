"""Showing a comparison to a person: a bar while it goes on, a table of differences for each table that has some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as ProgressBar
from rich.table import Table
from rich.text import Text

from connectors.landing_zone.replay import Progress
from streaming.reconciling.outcome import Difference, DifferenceKind, TableOutcome, Verdict
from streaming.reconciling.table import Steps
from streaming.wording import count_text, seconds_text

_STYLES = {Verdict.EQUAL: "green", Verdict.UNDECIDED: "yellow", Verdict.DIFFERENT: "bold red"}
_CELL = 60

NO_TABLE = "There is no table yet: nothing was compared."


class ComparisonProgress:
    """A bar over what is done with one table after the other; only on a terminal."""

    def __init__(self, console: Console, tables: int) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        self.bar = ProgressBar(*columns, console=console, disable=not console.is_terminal, transient=True)
        self._tables = self.bar.add_task("tables", total=tables)
        self._step = self.bar.add_task("", total=None)

    @property
    def steps(self) -> Steps:
        """What listens to the comparison."""
        return Steps(on_replay=self._on_replay, on_rows=self._on_rows, on_wait=self._on_wait)

    def aside_for(self, outcomes: Iterable[TableOutcome]) -> Iterator[TableOutcome]:
        """Each outcome, the bar being away while it is shown."""
        for outcome in outcomes:
            self.bar.advance(self._tables)
            if not self.bar.disable:
                self.bar.stop()
            yield outcome
            if not self.bar.disable:
                self.bar.start()

    def _on_replay(self, step: Progress) -> None:
        self._show(f"{escape(step.table)}: landing files, {step.stage}", step.done, step.total)

    def _on_rows(self, table: str, rows: int, expected: int) -> None:
        self._show(f"{escape(table)}: rows of the database", rows, max(rows, expected))

    def _on_wait(self, table: str, what: str) -> None:
        self._show(f"{escape(table)}: {what}", 0, None)

    def _show(self, text: str, done: int, total: int | None) -> None:
        self.bar.update(self._step, description=text, completed=done, total=total)


def show_outcomes(outcomes: Iterable[TableOutcome], console: Console) -> list[TableOutcome]:
    """Print each outcome as soon as it is there, and a sum; returns them."""
    done: list[TableOutcome] = []
    for outcome in outcomes:
        done.append(outcome)
        _show(outcome, console)
    console.print(Text(_sum(done), style="bold"))
    return done


def _show(outcome: TableOutcome, console: Console) -> None:
    rows = f"{count_text(outcome.source_rows, 'row')} in {outcome.source}, {outcome.mirrored_rows:,} mirrored"
    ranges = f"{count_text(outcome.ranges, 'key range')}, {outcome.ranges_differing:,} looked into"
    detail = f"{rows}; {ranges}; {seconds_text(outcome.seconds)}" if outcome.compared else ""
    console.print(
        Text.assemble(
            (f"{outcome.verdict:<10}", _STYLES[outcome.verdict]), (outcome.name, "bold"), f"  {detail}".rstrip()
        )
    )
    for line in _remarks(outcome):
        console.print(Text(f"          {line}"))
    if outcome.shown:
        console.print(_differences(outcome))


def _remarks(outcome: TableOutcome) -> Iterator[str]:
    if outcome.counts:
        found = ", ".join(f"{count:,} {kind.value}" for kind, count in outcome.counts.items())
        yield f"keys that differ: {found} (at {outcome.position}, proven by {outcome.evidence})"
    if outcome.undecided:
        yield f"{count_text(outcome.undecided, 'key')} undecided: {outcome.reason}"
    elif outcome.reason:
        yield outcome.reason
    yield from outcome.notes
    for column in outcome.left_out:
        yield f"not compared: {column.name}: {column.reason}"


def _differences(outcome: TableOutcome) -> Table:
    table = Table()
    for name in ("key", "column", "source", "mirror"):
        table.add_column(name, overflow="fold")
    for one in outcome.shown:
        for cells in _lines(one):
            table.add_row(*(escape(cell) for cell in cells))
    more = sum(outcome.counts.values()) - len(outcome.shown)
    table.caption = count_text(more, "more key") if more > 0 else None
    return table


def _lines(one: Difference) -> Iterator[tuple[str, str, str, str]]:
    key = ", ".join(f"{name}={_cell(value)}" for name, value in one.key)
    match one.kind:
        case DifferenceKind.CHANGED:
            for cell in one.cells:
                yield key, cell.column, _cell(cell.source), _cell(cell.mirrored)
                key = ""
        case DifferenceKind.MISSING | DifferenceKind.EXTRA | DifferenceKind.COUNT:
            yield key, one.kind.value, count_text(one.source_rows, "row"), count_text(one.mirrored_rows, "row")


def _cell(text: str | None) -> str:
    if text is None:
        return "NULL"
    return text if len(text) <= _CELL else f"{text[: _CELL - 3]}..."


def _sum(outcomes: list[TableOutcome]) -> str:
    counts = {verdict: sum(one.verdict is verdict for one in outcomes) for verdict in Verdict}
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict) if outcomes else NO_TABLE
