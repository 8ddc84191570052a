"""The demo's closing table, and what to look at next."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from connectors.command_lines import command_line
from streaming.demo.judge import TableVerdict
from streaming.demo.run import SETTINGS_FILE, ZONE_FOLDER, DemoOutcome
from streaming.reporting.rows_view import landed_text
from streaming.wording import count_text, seconds_text

_WIDE = 100


def show_outcome(outcome: DemoOutcome, console: Console) -> None:
    """Print the verdict about every table, then the next steps."""
    console.print(Text("The landing zone against the truth", style="bold"))
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("table", no_wrap=True)
    for name in ("files", "last"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("rows landed", no_wrap=True)
    table.add_column("replayed", justify="right", no_wrap=True)
    table.add_column("verdict")
    for one in outcome.tables:
        cells = (f"{one.files:,}", f"{one.last_number:,}", _landed_cell(one, console.width), f"{one.replayed:,}")
        table.add_row(escape(one.table), *cells, verdict_text(one))
    console.print(table)
    for one in outcome.tables:
        for example in one.examples:
            console.print(Text(f"{one.table} {example}", style="red"))
    total = sum(one.replayed for one in outcome.tables)
    landed = (
        f"{count_text(outcome.records, 'record')} in Kafka, {count_text(outcome.run.rows.total(), 'row')} in "
        f"{count_text(outcome.run.files, 'file')}, {count_text(total, 'row')} after replay, "
        f"{seconds_text(outcome.seconds)} in all"
    )
    result = "Every row is as it should be" if outcome.equal else "The landing zone is NOT what it should be"
    console.print(Text(f"{result}: {landed}.", style="bold green" if outcome.equal else "bold red"))
    console.print(Text(fewer_rows_text(outcome)), end="")
    console.print(Text(next_steps(outcome)), soft_wrap=True)


def fewer_rows_text(outcome: DemoOutcome) -> str:
    """Why fewer rows landed than there are records, as a line; empty where that cannot be told.

    In the demo every record but a tombstone carries one row, so the difference is the number of tombstones unless
    something went wrong.
    """
    tombstones = outcome.records - outcome.run.rows.total()
    if not outcome.equal or tombstones <= 0:
        return ""
    verb = "is a tombstone, which carries" if tombstones == 1 else "are tombstones, which carry"
    return f"{tombstones:,} of the records {verb} no row: one follows each delete event.\n"


def _landed_cell(one: TableVerdict, width: int) -> str:
    """The rows per marker; two counts a line on a narrow console, so that none of them is torn from its name."""
    counts = landed_text(one.rows_per_marker).split(" · ")
    size = 2 if width < _WIDE else len(counts)
    return "\n".join(" · ".join(counts[at : at + size]) for at in range(0, len(counts), size))


def verdict_text(one: TableVerdict) -> Text:
    """``equal``, or what differs."""
    if one.equal:
        return Text("equal", style="green")
    stopped = f"; replay stopped: {one.stopped}" if one.stopped else ""
    return Text(f"{one.missing:,} missing, {one.extra:,} extra of {one.expected:,}{stopped}", style="bold red")


def next_steps(outcome: DemoOutcome) -> str:
    """What to look at next."""
    if outcome.folder is None:
        return "Run it with --keep demo-output to look at the files afterwards."
    folder = outcome.folder
    return "\n".join(
        [
            f"Everything is in {folder}; Kafka has stopped. Look at it with:",
            f"  {command_line('verify {}', folder / ZONE_FOLDER)}",
            f"  {command_line('replay {} --table public.orders', folder / ZONE_FOLDER)}",
            f"  {command_line('ledger log {}', folder / SETTINGS_FILE)}",
        ]
    )
