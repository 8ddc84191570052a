"""What is known of mirroring, for a program and for a person."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from connectors.errors import BridgeError
from connectors.fabric.status import MirroringError
from streaming.console import error_values
from streaming.mirroring.trouble import Trouble
from streaming.mirroring.view import ANSWERED, MirroredTable, MirroringView
from streaming.wording import count_text, moment_text


def mirroring_values(view: MirroringView) -> dict[str, object]:
    """Plain values for a program."""
    database = view.database
    return {
        "looked_ms": view.looked_ms,
        "via": None if view.told.via is None else view.told.via.value,
        "state": None if database is None else database.state,
        "error": None if database is None else _error_values(database.error),
        "heartbeat_ms": None if database is None else database.heartbeat_ms,
        "trouble": _trouble_values(view.trouble),
        "failure": _failure_values(view.told.failure),
        "folder_failure": _failure_values(view.folder_failure),
        "tables": {name: _table_values(table) for name, table in view.tables.items()},
    }


def show_mirroring(view: MirroringView, console: Console) -> None:
    """Print how the mirrored database stands for a person."""
    console.print(Text.assemble(("Mirrored database", "bold"), f"  {database_text(view)}"))
    if view.trouble is not None:
        console.print(_trouble_text("", view.trouble), style="yellow", markup=False)
    for failure in (view.told.failure, view.folder_failure):
        if failure is not None:
            console.print(f"Fabric: {failure.message}\nWhat to do: {failure.remedy}", style="yellow", markup=False)


def show_trouble(name: str, trouble: Trouble, console: Console) -> None:
    """Print what is wrong with a table's mirroring for a person."""
    console.print(_trouble_text(f"{name}: ", trouble), style="yellow", markup=False)


def database_text(view: MirroringView) -> str:
    """``Running (Fabric's REST API)``."""
    if view.not_begun:
        return "has not begun: the replicator has written no status yet"
    if view.database is None or view.told.via is None:
        return "unknown"
    return f"{view.database.state} ({ANSWERED[view.told.via]})"


def table_text(table: MirroredTable) -> str:
    """``up to file 15 of 17, Replicating, last worked on at ...``; empty where nothing is known."""
    return ", ".join(_parts(table))


def _parts(table: MirroredTable) -> Iterator[str]:
    progress, told = table.progress, table.told
    if progress is not None:
        if progress.number >= progress.published:
            yield "all files"
        else:
            waits = count_text(progress.published - progress.number, "file waits", "files wait")
            yield f"up to file {progress.number:,}, {waits}" if progress.number else f"none yet, {waits}"
    if told is not None:
        yield told.state
        if told.synced_ms:
            yield f"last worked on at {moment_text(told.synced_ms)}"


def _trouble_text(subject: str, trouble: Trouble) -> str:
    return f"{subject}{trouble.title}: {trouble.message}\nWhat to do: {trouble.remedy}"


def _table_values(table: MirroredTable) -> dict[str, object]:
    told, progress = table.told, table.progress
    first = None if progress is None else progress.first
    return {
        "state": None if told is None else told.state,
        "error": None if told is None else _error_values(told.error),
        "processed_rows": None if told is None else told.rows,
        "last_sync_ms": None if told is None else told.synced_ms,
        "last_published": None if progress is None else progress.published,
        "last_mirrored": None if progress is None else progress.number,
        "waiting_since_ms": None if progress is None else progress.stands_since_ms,
        "first_waiting": None if first is None else first.path,
        "missing_number": None if progress is None else progress.missing,
        "blocked": None if progress is None else table.blocked,
        "trouble": _trouble_values(table.trouble),
    }


def _trouble_values(trouble: Trouble | None) -> dict[str, str] | None:
    if trouble is None:
        return None
    return {
        "cause": trouble.cause.value,
        "title": trouble.title,
        "message": trouble.message,
        "remedy": trouble.remedy,
    }


def _error_values(error: MirroringError | None) -> dict[str, str] | None:
    return None if error is None else {"code": error.code, "message": error.message}


def _failure_values(failure: BridgeError | None) -> dict[str, object] | None:
    return None if failure is None else error_values(failure)
