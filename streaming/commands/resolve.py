"""``cdc-bridge resolve``: a committed file that could not get its number."""

from __future__ import annotations

from typing import Annotated

import typer

from streaming.commands.arguments import ConfigArgument, TableArgument
from streaming.console import JsonOption, print_json, results
from streaming.resolving.decision import Decision


def resolve(
    config: ConfigArgument,
    table: TableArgument,
    decide: Annotated[
        Decision | None,
        typer.Option(
            "--decide",
            help="What you vouch for where the zone cannot show it: the lost file was read (consumed); the other file "
            "was not read, and is moved aside (set-foreign-aside); it stays, and the bridge's rows land behind it "
            "(keep-foreign).",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what is there and what would come of it; write nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Bring a committed file to its number that is lost, or whose number somebody else took. Stop the bridge first.

    A lost file is made again from Kafka, and published if its rows are those that were committed. Where nothing proves
    what is right, it says what may be decided. Nothing is deleted or written over. Safe to end and to run again. A
    bridge that runs is fenced and ends. Exit code 1 if somebody has to decide, or if the table stands still for another
    reason.
    """
    from streaming.logs import log_nothing
    from streaming.resolving.view import needs_person, resolve_table, show, values
    from streaming.settings import load_settings

    log_nothing()
    done = resolve_table(load_settings(config), table, decide, look_only=dry_run)
    if as_json:
        print_json(values(done))
    else:
        show(done, results())
    if needs_person(done):
        raise typer.Exit(1)
