"""Reading a bridge's status, and showing it to a person."""

from __future__ import annotations

import time
from dataclasses import dataclass

from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from connectors.errors import BridgeError
from connectors.kafka.topics import Admin, TopicDescription, describe_present
from connectors.landing_zone.ledger.state import LedgerState, TableStatus
from streaming.checks.patience import patiently
from streaming.console import error_values
from streaming.doubt import MAYBE_STALE, MAYBE_STALE_REMEDY
from streaming.kafka_options import kafka_config, subscription
from streaming.mirroring.look import look, mirroring_source
from streaming.mirroring.view import MirroredTable, MirroringView
from streaming.printable import one_line
from streaming.renamed import columns_text
from streaming.reporting.mirroring_view import mirroring_values, show_mirroring, show_trouble, table_text
from streaming.reporting.rows_view import landed_text
from streaming.reporting.status import StatusReport, TableReport, status_of
from streaming.settings import BridgeSettings
from streaming.wording import count_text, moment_text, seconds_text
from streaming.zones.reading import head_state, state_storage, unpublished, zone_storage

KAFKA_SECONDS = 10.0
FABRIC_SECONDS = 10.0
_CLIENT_PART = 0.8
"""Of that, what the clients get: they can say more about what is wrong than the clock."""

_COLOURS = {
    TableStatus.LOADING: "cyan",
    TableStatus.STREAMING: "green",
    TableStatus.PARKED: "yellow",
    TableStatus.CATCHING_UP: "cyan",
    TableStatus.DELETING: "magenta",
    TableStatus.CLEARED: "magenta",
    TableStatus.FILLING: "cyan",
}


@dataclass(frozen=True)
class Status:
    """A report, and what is beside it.

    Attributes:
        kafka_error: why Kafka's side of it is missing, or that of some topics, if it is.
        mirroring: what becomes of the files; None where that is not looked at, or not known.
        fabric_error: why it is not known.
    """

    report: StatusReport
    kafka_error: BridgeError | None
    mirroring: MirroringView | None = None
    fabric_error: BridgeError | None = None

    def values(self) -> dict[str, object]:
        """Plain values for a program."""
        return {
            **self.report.values(),
            "kafka_error": None if self.kafka_error is None else error_values(self.kafka_error),
            "fabric": None if self.mirroring is None else mirroring_values(self.mirroring),
            "fabric_error": None if self.fabric_error is None else error_values(self.fabric_error),
        }


def read_status(settings: BridgeSettings) -> Status:
    """The status now, from the ledger, Kafka and Fabric; one of the last two that does not answer is only told of.

    Raises:
        LedgerCorruptError: the ledger cannot be read.
        SettingsError: a secret's file cannot be read.
        StorageError, StorageDeniedError: a storage cannot be read.
    """
    state = head_state(state_storage(settings))
    waiting = unpublished(zone_storage(settings), state)
    present: dict[str, TopicDescription] | None = None
    failure: BridgeError | None = None
    try:
        admin = Admin(kafka_config(settings), timeout=KAFKA_SECONDS)
        found, failure = describe_present(admin, subscription(settings))
        present = found if found or failure is None else None
    except BridgeError as error:
        failure = error
    mirroring, fabric_failure = None, None
    try:
        mirroring = _mirroring(settings, state, waiting)
    except BridgeError as error:
        fabric_failure = error
    report = status_of(state, present, time.time_ns() // 1_000_000, waiting)
    return Status(report, failure, mirroring, fabric_failure)


def _mirroring(settings: BridgeSettings, state: LedgerState, waiting: frozenset[str]) -> MirroringView | None:
    """One look at mirroring, waited for in bounded time; None where the settings want none.

    Args:
        waiting: tables whose pending file is not published yet; those of others only lack the ledger's confirmation.
    """
    source = mirroring_source(settings, seconds=FABRIC_SECONDS * _CLIENT_PART)
    if source is None or state.version == 0:
        return None
    published = replace(state, pending={name: state.pending[name] for name in waiting})
    return patiently(
        "fabric", lambda: look(source, published, None, time.time_ns() // 1_000_000), seconds=FABRIC_SECONDS
    )


def show_status(status: Status, console: Console) -> None:
    """Print the status for a person."""
    report = status.report
    if report.version == 0:
        console.print("The ledger is empty: the bridge has not run yet.")
    else:
        waiting = "unknown" if report.waiting is None else count_text(report.waiting, "offset")
        console.print(
            f"Ledger version {report.version:,}, epoch {report.epoch}, writer {report.writer}; waiting: {waiting}"
        )
        if status.mirroring is not None:
            show_mirroring(status.mirroring, console)
        for table in report.tables:
            mirrored = None if status.mirroring is None else status.mirroring.tables.get(table.name)
            console.print(_table_text(table, mirrored))
            if table.status is TableStatus.PARKED:
                console.print(_parked_text(table), style="yellow", markup=False)
            if table.doubtful:
                doubt = f"{table.name}: {MAYBE_STALE}\nWhat to do: {MAYBE_STALE_REMEDY}"
                console.print(doubt, style="yellow", markup=False)
            if mirrored is not None and mirrored.trouble is not None:
                show_trouble(table.name, mirrored.trouble, console)
        if report.counters:
            console.print(", ".join(f"{name}: {count:,}" for name, count in report.counters.items()), style="dim")
    for whose, error in (("Kafka", status.kafka_error), ("Fabric", status.fabric_error)):
        if error is not None:
            console.print(f"{whose}: {error.message}\nWhat to do: {error.remedy}", style="yellow", markup=False)


def _table_text(table: TableReport, mirrored: MirroredTable | None) -> Text:
    """A table's state and lag on one line, what has landed of it below, and what has been taken in of that."""
    file = f"file {table.last_number:,}" if table.last_number else "no file"
    if table.pending is not None:
        file += " (pending)"
    newest = [
        *([f"newest change {moment_text(table.source_ms)}"] if table.source_ms else []),
        *([f"position {table.position}"] if table.position else []),
    ]
    standing = (table.status.value.replace("_", " "), _COLOURS[table.status])
    text = Text.assemble((table.name, "bold"), "  ", standing, f"  behind: {_behind_text(table)}")
    if table.dropped:
        text.append("  dropped at the source", style="yellow")
    if table.renamed:
        text.append(f"  renamed to {one_line(table.renamed)} at the source", style="yellow")
    text.append(f"\n  {file}: {landed_text(table.rows)}" if table.rows else f"\n  {file}")
    if newest:
        text.append(f"\n  {', '.join(newest)}")
    if table.renamed_columns:
        columns = one_line(columns_text(table.renamed_columns))
        text.append(f"\n  columns renamed at the source: {columns}", style="yellow")
    taken_in = "" if mirrored is None else table_text(mirrored)
    return text.append(f"\n  mirrored: {taken_in}") if taken_in else text


def _behind_text(table: TableReport) -> str:
    if table.lag_offsets is None:
        return "unknown"
    if table.lag_offsets == 0:
        return "nothing"
    seconds = "" if table.lag_seconds is None else f", {seconds_text(table.lag_seconds)}"
    return f"{count_text(table.lag_offsets, 'offset')}{seconds}"


def _parked_text(table: TableReport) -> str:
    if table.parked is None:
        return ""
    parked = table.parked
    where = f"{parked.topic}/{parked.partition}/{parked.offset}"
    text = (
        f"{table.name} is parked ({parked.reason}) at {where}: {parked.message}; "
        f"{count_text(parked.skipped, 'record')} passed over since\nWhat to do: {parked.remedy}"
    )
    while parked.beneath is not None:
        parked = parked.beneath
        text += f"\nThen it still stands still ({parked.reason}): {parked.message}"
    return text
