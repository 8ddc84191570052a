"""Showing replayed tables to a person, with a progress bar while they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as ProgressBar
from rich.table import Table
from rich.text import Text

from connectors.landing_zone.replay import Progress
from streaming.reporting.rows_view import landed_text
from streaming.wording import count_text
from streaming.zones.replaying import Replayed

MAX_COLUMNS = 8
_CELL = 40
_NARROWEST = 15


class FileProgress:
    """A bar over the files of one table after the other; only on a terminal."""

    def __init__(self, console: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("files"))
        self.bar = ProgressBar(*columns, console=console, disable=not console.is_terminal, transient=True)
        self._task = self.bar.add_task("", total=None)

    def advance(self, table: str, what: str, done: int, total: int) -> None:
        """Show ``done`` of ``total`` files of a table."""
        self.bar.start()
        self.bar.update(self._task, description=f"{what} {escape(table)}", completed=done, total=total)

    def aside_for(self, results: Iterable[Replayed]) -> Iterator[Replayed]:
        """Each result, the bar being away while it is shown: it would take the result for lines of its own."""
        for result in results:
            self._hide()
            yield result
        self._hide()

    def _hide(self) -> None:
        if not self.bar.disable:
            self.bar.stop()

    def on_replay(self, step: Progress) -> None:
        """Listens to a replay."""
        self.advance(step.table, step.stage.value, step.done, step.total)


def show_replayed(replayed: Iterable[Replayed], console: Console, rows: int) -> bool:
    """Print each table; returns False when one of them could not be replayed to its end."""
    complete, count = True, 0
    for one in replayed:
        count += 1
        content = one.content
        files = count_text(len(content.files), "file")
        console.print(
            Text.assemble(
                (content.name, "bold"),
                f"  {count_text(content.table.num_rows, 'row')} after {files}, the last one {content.last_number}: ",
                landed_text(content.rows_per_marker),
            )
        )
        if one.written is not None:
            console.print(Text(f"  written to {one.written}"))
        elif content.table.num_rows and rows:
            console.print(_preview(one, rows, console.width))
        for observation in content.observations:
            style = "red" if observation.stops else "yellow"
            detail = f": {observation.detail}" if observation.detail else ""
            console.print(Text(f"  {observation.kind} ({observation.count:,}){detail}", style=style))
        complete = complete and content.stopped is None
    if not count:
        console.print("There is no table to replay.")
    return complete


def _preview(one: Replayed, rows: int, width: int) -> Table:
    content = one.content.table
    names = content.schema.names[: max(1, min(MAX_COLUMNS, width // _NARROWEST))]
    table = Table()
    for name in names:
        table.add_column(escape(name), overflow="fold")
    for row in content.select(names).slice(0, rows).to_pylist():
        table.add_row(*(escape(_cell(row[name])) for name in names))
    left = [
        *([count_text(content.num_rows - rows, "more row")] if content.num_rows > rows else []),
        *(
            [count_text(len(content.schema.names) - len(names), "more column")]
            if len(names) < content.num_columns
            else []
        ),
    ]
    table.caption = ", ".join(left) or None
    return table


def _cell(value: object) -> str:
    text = "NULL" if value is None else str(value)
    return text if len(text) <= _CELL else f"{text[: _CELL - 3]}..."
