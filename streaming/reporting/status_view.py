"""Reading a bridge's status, and showing it to a person."""

from __future__ import annotations

import time
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from connectors.errors import BridgeError
from connectors.kafka.topics import Admin, TopicDescription, describe_topics
from connectors.landing_zone.ledger.state import TableStatus
from streaming.console import error_values
from streaming.kafka_options import kafka_config, subscription
from streaming.reporting.rows_view import landed_text
from streaming.reporting.status import StatusReport, TableReport, status_of
from streaming.settings import BridgeSettings
from streaming.wording import count_text, moment_text, seconds_text
from streaming.zones.reading import head_state, state_storage, unpublished, zone_storage

KAFKA_SECONDS = 10.0
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
    """A report, and why Kafka's side of it is missing, if it is."""

    report: StatusReport
    kafka_error: BridgeError | None

    def values(self) -> dict[str, object]:
        """Plain values for a program."""
        error = None if self.kafka_error is None else error_values(self.kafka_error)
        return {**self.report.values(), "kafka_error": error}


def read_status(settings: BridgeSettings) -> Status:
    """The status now, from the ledger and Kafka; a Kafka that does not answer only leaves the lag unknown.

    Raises:
        LedgerCorruptError: the ledger cannot be read.
        SettingsError: a secret's file cannot be read.
        StorageError, StorageDeniedError: a storage cannot be read.
    """
    state = head_state(state_storage(settings))
    waiting = unpublished(zone_storage(settings), state)
    present: dict[str, TopicDescription] | None = None
    failure = None
    try:
        present = describe_topics(Admin(kafka_config(settings), timeout=KAFKA_SECONDS), subscription(settings))
    except BridgeError as error:
        failure = error
    return Status(status_of(state, present, time.time_ns() // 1_000_000, waiting), failure)


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
        for table in report.tables:
            console.print(_table_text(table))
            if table.status is TableStatus.PARKED:
                console.print(_parked_text(table), style="yellow", markup=False)
        if report.counters:
            console.print(", ".join(f"{name}: {count:,}" for name, count in report.counters.items()), style="dim")
    if status.kafka_error is not None:
        console.print(
            f"Kafka: {status.kafka_error.message}\nWhat to do: {status.kafka_error.remedy}",
            style="yellow",
            markup=False,
        )


def _table_text(table: TableReport) -> Text:
    """A table's state and lag on one line, what has landed of it below."""
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
    text.append(f"\n  {file}: {landed_text(table.rows)}" if table.rows else f"\n  {file}")
    return text.append(f"\n  {', '.join(newest)}") if newest else text


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
    return (
        f"{table.name} is parked ({parked.reason}) at {where}: {parked.message}; "
        f"{count_text(parked.skipped, 'record')} passed over since\nWhat to do: {parked.remedy}"
    )
