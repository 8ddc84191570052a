"""``resync`` as a person sees it: a bar over the phases, then over the rows that fill the table."""

from __future__ import annotations

from typing import assert_never

from rich.console import Console
from rich.progress import Progress, TaskID

from connectors.errors import BridgeError
from connectors.landing_zone.ledger.state import LedgerState, TableState, TableStatus
from connectors.landing_zone.requests import Action
from connectors.source_database.database import SourceDatabase
from connectors.source_database.row_count import count_rows
from streaming.lifecycle.asking import Asking, Outcome
from streaming.lifecycle.asking_view import SILENCE, progress_bar
from streaming.lifecycle.resyncing import RESTART, is_rebuilt
from streaming.settings import BridgeSettings
from streaming.source_options import database_location


def resync_table(
    asking: Asking, table: str, settings: BridgeSettings, console: Console, *, restart: bool, wait: bool
) -> Outcome:
    """Let the table be rebuilt; returns when it streams again or is parked, or at once without ``wait``.

    A rebuild that is under way is joined, unless ``restart`` begins anew.

    Raises:
        UnknownTableError: the ledger does not know the table.
        KeyboardInterrupt: the waiting was ended; the request stays, and so does what it has begun.
    """
    request = asking.submit(Action.RESYNC, table, {RESTART: "yes"} if restart else None)
    before = asking.state.tables[table]
    if not wait:
        return Outcome(request, None, before, done=False)
    expected = _expected_rows(settings, before)
    with progress_bar(console) as bar:
        task = bar.add_task(f"waiting for the driver to rebuild {table}", total=None)
        answer = asking.answer(request, lambda: console.print(SILENCE, style="yellow"))
        if answer.accepted:
            asking.follow(
                table, lambda state: not is_rebuilt(state), lambda state: _show(bar, task, table, state, expected)
            )
    settled = asking.state.tables[table]
    done = answer.accepted and settled.status is not TableStatus.PARKED
    return Outcome(request, answer, settled, done=done)


def phase_text(table: TableState) -> str:
    """What is done with a table that is being rebuilt."""
    rebuild = table.rebuild
    match table.status:
        case TableStatus.DELETING:
            if rebuild is not None and rebuild.deleted_ms:
                return "waiting until the replicator has dropped the table"
            return "removing the folder"
        case TableStatus.CLEARED:
            return "asking Debezium for a snapshot"
        case TableStatus.FILLING:
            return "rows of the snapshot are landing"
        case TableStatus.CATCHING_UP:
            return "catching up from Kafka"
        case TableStatus.PARKED:
            return "parked"
        case TableStatus.LOADING | TableStatus.STREAMING:
            return "done"
        case _:
            assert_never(table.status)


def _show(bar: Progress, task: TaskID, name: str, state: LedgerState, expected: int | None) -> None:
    table = state.tables[name]
    emptied = table.status in (TableStatus.DELETING, TableStatus.CLEARED)
    rows = 0 if emptied else sum(table.rows.values())
    total = max(expected, rows) if table.status is TableStatus.FILLING and expected is not None else None
    bar.update(task, description=f"{name}: {phase_text(table)}", total=total, completed=rows)


def _expected_rows(settings: BridgeSettings, table: TableState) -> int | None:
    """How many rows the source has, where the settings tell how to ask it; only the bar needs it."""
    location = database_location(settings)
    if location is None:
        return None
    database, schema, name = table.source
    try:
        return count_rows(SourceDatabase(location), schema or database, name)
    except BridgeError:
        return None
