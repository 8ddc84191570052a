"""``cdc-bridge resync``: rebuild one table."""

from __future__ import annotations

from typing import Annotated

import typer

from streaming.commands.arguments import ConfigArgument, NoWaitOption, TableArgument
from streaming.commands.requested import conclude
from streaming.console import JsonOption, people


def resync(
    config: ConfigArgument,
    table: TableArgument,
    restart: Annotated[
        bool,
        typer.Option(
            "--restart",
            help="Begin anew even if a rebuild of the table is under way, or if a history goes that no snapshot brings "
            "back.",
        ),
    ] = False,
    no_wait: NoWaitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Rebuild one table while all others go on: remove its folder, ask Debezium for a snapshot, land it.

    Safe to end and to run again: it joins the rebuild under way. The mirrored table is empty, then incomplete, until
    the snapshot has landed. Needs source.signals. Without a running bridge the request waits for its next start. Exit
    code 1 if it is refused, or if the table is parked.
    """
    from streaming.lifecycle.asking_view import asking_of, waited
    from streaming.lifecycle.resync_view import resync_table
    from streaming.logs import log_nothing
    from streaming.settings import load_settings

    log_nothing()
    settings = load_settings(config)
    asking = asking_of(settings)
    outcome = waited(
        lambda: resync_table(asking, table, settings, people(), restart=restart, wait=not no_wait), people()
    )
    conclude(outcome, as_json=as_json)
