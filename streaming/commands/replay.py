"""``cdc-bridge replay``: what the mirrored tables contain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streaming.commands.arguments import StateOption, ZoneArgument
from streaming.console import JsonOption, people, print_json, results


def replay(
    zone: ZoneArgument,
    table: Annotated[str | None, typer.Option("--table", help="One table, as schema.table; all by default.")] = None,
    as_of: Annotated[int | None, typer.Option("--as-of", min=0, help="After this file of the one table.")] = None,
    version: Annotated[
        int | None, typer.Option("--version", min=1, help="All tables as of this version of the ledger.")
    ] = None,
    state: StateOption = None,
    to: Annotated[
        tuple[str, Path] | None,
        typer.Option("--to", metavar="FORMAT DIR", help="Write the tables as parquet, csv or delta into DIR."),
    ] = None,
    rows: Annotated[int, typer.Option("--rows", min=0, help="Rows to show of each table.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Show or export what the mirrored tables contain, by reading the landing zone's files.

    The whole landing-zone format is understood, whoever wrote the files. With --version all tables are as of one
    moment, a consistent snapshot. Exit code 1 if a table's files cannot be applied to the end.
    """
    if as_of is not None and table is None:
        raise typer.BadParameter("file numbers are a table's own: name it with --table", param_hint="--as-of")
    if as_of is not None and version is not None:
        raise typer.BadParameter("give one of --as-of and --version", param_hint="--version")
    from connectors.landing_zone.replay import ExportFormat
    from streaming.logs import log_nothing
    from streaming.zones.replay_view import FileProgress, show_replayed
    from streaming.zones.replaying import ReplayRequest, replay_zone

    formats = [form.value for form in ExportFormat]
    if to is not None and to[0] not in formats:
        raise typer.BadParameter(f"{to[0]} is not one of {', '.join(formats)}", param_hint="--to")
    log_nothing()
    target = None if to is None else (ExportFormat(to[0]), to[1])
    request = ReplayRequest(zone=zone, table=table, as_of=as_of, version=version, state=state, to=target)
    progress = FileProgress(people())
    with progress.bar:
        replayed = progress.aside_for(replay_zone(request, progress.on_replay))
        if as_json:
            tables = [(one.values(rows), one.content.stopped is None) for one in replayed]
            print_json([values for values, _ in tables])
            complete = all(done for _, done in tables)
        else:
            complete = show_replayed(replayed, results(), rows)
    if not complete:
        raise typer.Exit(1)
