"""The demo's closing table, and what to look at next."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from streaming.demo.judge import TableVerdict
from streaming.demo.run import SETTINGS_FILE, ZONE_FOLDER, DemoOutcome
from streaming.wording import MARKERS, count_text, marker_cells, marker_text, seconds_text


def show_outcome(outcome: DemoOutcome, console: Console) -> None:
    """Print the verdict about every table, then the next steps."""
    table = Table(title="The landing zone against the truth", title_justify="left")
    table.add_column("table", no_wrap=True)
    for name in ("files", *map(marker_text, MARKERS), "last", "replayed"):
        table.add_column(name, justify="right")
    table.add_column("truth")
    for one in outcome.tables:
        cells = (f"{one.files:,}", *marker_cells(one.rows_per_marker), f"{one.last_number:,}", f"{one.replayed:,}")
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
    console.print(Text(next_steps(outcome)))


def verdict_text(one: TableVerdict) -> Text:
    """``equal``, or what differs."""
    if one.equal:
        return Text(f"equal, {count_text(one.expected, 'row')}", style="green")
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
            f"  cdc-bridge verify {folder / ZONE_FOLDER}",
            f"  cdc-bridge replay {folder / ZONE_FOLDER} --table public.orders",
            f"  cdc-bridge status {folder / SETTINGS_FILE}",
            f"  cdc-bridge ledger log {folder / SETTINGS_FILE}",
        ]
    )
