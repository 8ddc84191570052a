"""Showing the ledger's versions to a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from connectors.landing_zone.ledger.state import VersionKind
from streaming.reporting.history import HistoryEntry
from streaming.reporting.rows_view import landed_text
from streaming.wording import count_text, moment_text, size_text


def show_log(entries: Sequence[HistoryEntry], console: Console) -> None:
    """One paragraph per version, in the order given."""
    if not entries:
        console.print("The ledger is empty: the bridge has not run yet.")
    for entry in entries:
        console.print(_brief(entry))


def show_version(entry: HistoryEntry, console: Console) -> None:
    """Everything about one version."""
    console.print(Group(_headline(entry), *_indented(_offsets(entry)), *_indented(_files(entry)), *_changes(entry)))
    if entry.pending:
        console.print(f"  still to be published from earlier versions: {', '.join(entry.pending)}", markup=False)
    if entry.counters:
        console.print("  " + ", ".join(f"{name}: {count:,}" for name, count in entry.counters.items()), style="dim")
    if not entry.complete:
        console.print("  The version before is not kept: new tables and columns cannot be told.", style="dim")


def _brief(entry: HistoryEntry) -> RenderableType:
    topics = [
        Text(f"  {topic}: {_spans(partitions)}", style="dim") for topic, partitions in sorted(entry.moved.items())
    ]
    beside = " (beside the stream)" if entry.beside else ""
    files = [
        Text(f"  {file.table}: file {file.sequence:,}, {landed_text(file.rows)}, {size_text(file.bytes)}{beside}")
        for file in entry.files
    ]
    return Group(_headline(entry), *topics, *files, *_changes(entry))


def _headline(entry: HistoryEntry) -> Text:
    match entry.kind:
        case VersionKind.CLAIM:
            what = f"claim of epoch {entry.epoch}"
        case VersionKind.COMMIT:
            what = f"commit: {count_text(entry.offsets, 'offset')}, {count_text(len(entry.files), 'file')}"
    return Text.assemble(
        (f"version {entry.version}", "bold"),
        f"  {moment_text(entry.written_ms)}  {entry.writer} on {entry.host}  {what}",
    )


def _changes(entry: HistoryEntry) -> list[Text]:
    lines = [Text(f"  new table {name}", style="green") for name in entry.new_tables]
    lines += [Text(f"  new column {one.table}: {one.name} ({one.type})", style="green") for one in entry.new_columns]
    for name, parked in sorted(entry.parked.items()):
        where = f"{parked.topic}/{parked.partition}/{parked.offset}"
        text = f"  parked {name} ({parked.reason}) at {where}: {parked.message}\n  What to do: {parked.remedy}"
        lines.append(Text(text, style="yellow"))
    lines += [
        Text(f"  {status.value.replace('_', ' ')}: {name}", style="cyan") for name, status in entry.under_way.items()
    ]
    lines += [Text(f"  decided {name}: {words}", style="yellow") for name, words in sorted(entry.decided.items())]
    return lines + [Text(f"  goes on: {name}", style="green") for name in entry.resumed]


def _spans(partitions: Mapping[int, tuple[int, int]]) -> str:
    return ", ".join(f"{partition} [{start:,} to {end:,})" for partition, (start, end) in partitions.items())


def _offsets(entry: HistoryEntry) -> Table | None:
    if not entry.moved:
        return None
    table = _table("topic", "partition", "from", "to", "offsets")
    for topic, partitions in sorted(entry.moved.items()):
        for partition, (start, end) in partitions.items():
            table.add_row(escape(topic), str(partition), f"{start:,}", f"{end:,}", f"{end - start:,}")
    return table


def _files(entry: HistoryEntry) -> Table | None:
    if not entry.files:
        return None
    table = _table("table", "file", "rows", "size", "sha256")
    for file in entry.files:
        table.add_row(
            escape(file.table), str(file.sequence), landed_text(file.rows), size_text(file.bytes), file.sha256[:16]
        )
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, no_wrap=name != "rows")
    return table


def _indented(table: Table | None) -> list[RenderableType]:
    return [] if table is None else [Padding(table, (0, 0, 0, 2))]
