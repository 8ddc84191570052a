"""The commands that ask the driver for something, as a person sees them: a spinner, a bar, and how it ended."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from connectors.landing_zone.ledger.state import LedgerState, TableState, TableStatus
from connectors.landing_zone.requests import Action, Request
from streaming.driver.resuming import seen_reason
from streaming.lifecycle.asking import Asking, Outcome
from streaming.lifecycle.catching_up import offsets_behind
from streaming.settings import BridgeSettings
from streaming.zones.reading import state_storage

SILENCE = (
    "No answer yet, and the ledger does not move: if no bridge is running, the request waits for its next start. "
    "Ctrl-C ends the waiting, not the request."
)


def asking_of(settings: BridgeSettings) -> Asking:
    """The letter box and the ledger of these settings' bridge."""
    return Asking(state_storage(settings))


def pause_table(asking: Asking, table: str, console: Console, *, wait: bool) -> Outcome:
    """Let the table stand still; returns when the driver has answered, or at once without ``wait``.

    Raises:
        UnknownTableError: the ledger does not know the table.
        KeyboardInterrupt: the waiting was ended; the request stays.
    """
    request = asking.submit(Action.PAUSE, table)
    if not wait:
        return Outcome(request, None, asking.state.tables[table], done=False)
    with progress_bar(console) as bar:
        bar.add_task(f"waiting for the driver to pause {table}", total=None)
        answer = asking.answer(request, lambda: console.print(SILENCE, style="yellow"))
    return Outcome(request, answer, asking.state.tables[table], done=answer.accepted)


def resume_table(asking: Asking, table: str, console: Console, *, wait: bool) -> Outcome:
    """Let the table go on; returns when it has joined the stream or is parked again, or at once without ``wait``.

    Raises:
        UnknownTableError: the ledger does not know the table.
        KeyboardInterrupt: the waiting was ended; the request stays, and so does what it has begun.
    """
    request = asking.submit(Action.RESUME, table, seen_reason(asking.state.tables.get(table)))
    if not wait:
        return Outcome(request, None, asking.state.tables[table], done=False)
    with progress_bar(console) as bar:
        task = bar.add_task(f"waiting for the driver to resume {table}", total=None)
        answer = asking.answer(request, lambda: console.print(SILENCE, style="yellow"))
        if answer.accepted:
            behind = offsets_behind(asking.state.tables[table], asking.state)
            bar.update(task, description=f"{table} catches up", total=behind)
            asking.follow(
                table,
                _settled,
                lambda state: bar.update(task, completed=_caught_up(table, state, behind)),
            )
    settled = asking.state.tables[table]
    return Outcome(request, answer, settled, done=answer.accepted and settled.status is not TableStatus.PARKED)


def show_outcome(outcome: Outcome, console: Console) -> None:
    """Say how it ended."""
    answer, table = outcome.answer, outcome.table
    if answer is None:
        console.print(f"Asked to {outcome.request.action.value} {escape(outcome.request.table)}; not waiting for it.")
    elif not answer.accepted:
        console.print(f"[red]Refused:[/] {escape(answer.message)}\n[bold]What to do:[/] {escape(answer.remedy)}")
    elif outcome.done:
        console.print(f"{escape(answer.message)}{_standing(outcome.request, table)}")
    elif table is not None and table.parked is not None:
        console.print(
            f"[yellow]{escape(outcome.request.table)} is parked ({table.parked.reason}):[/] "
            f"{escape(table.parked.message)}\n[bold]What to do:[/] {escape(table.parked.remedy)}"
        )


def progress_bar(console: Console) -> Progress:
    """A bar with a spinner on a terminal; nothing anywhere else."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def interrupted(console: Console) -> None:
    """Say what ending the waiting has done, and what not."""
    console.print("Not waiting any longer. The request stays: the driver carries it out when it comes to it.")


def waited(ask: Callable[[], Outcome], console: Console) -> Outcome | None:
    """The outcome, or None when the person has ended the waiting."""
    try:
        return ask()
    except KeyboardInterrupt:
        interrupted(console)
        return None


def _settled(table: TableState) -> bool:
    """Whether the table has come to an end of what a resume has begun; a rebuild that is asked for begins first."""
    about_to_be_rebuilt = table.parked is not None and table.parked.rebuild is not None
    return table.status is not TableStatus.CATCHING_UP and not about_to_be_rebuilt


def _caught_up(table: str, state: LedgerState, behind: int) -> int:
    """Of so many offsets at the beginning; the stream may add to them meanwhile."""
    known = state.tables[table]
    return behind if known.status is not TableStatus.CATCHING_UP else max(0, behind - offsets_behind(known, state))


def _standing(request: Request, table: TableState | None) -> str:
    if request.action is Action.RESUME and table is not None:
        return f"; it is {table.status.value}, file {table.sequence:,}"
    return ""
