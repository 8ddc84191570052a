"""``cdc-bridge pause``: let one table stand still."""

from __future__ import annotations

import typer

from streaming.commands.arguments import ConfigArgument, NoWaitOption, TableArgument
from streaming.console import JsonOption, people, print_json, results


def pause(
    config: ConfigArgument, table: TableArgument, no_wait: NoWaitOption = False, as_json: JsonOption = False
) -> None:
    """Let one table stand still while all others go on.

    What passes by meanwhile stays in Kafka, and `resume` lands it. Without a running bridge the request waits for its
    next start. Exit code 1 if it is refused.
    """
    from streaming.lifecycle.asking_view import asking_of, pause_table, show_outcome, waited
    from streaming.logs import log_nothing
    from streaming.settings import load_settings

    log_nothing()
    asking = asking_of(load_settings(config))
    outcome = waited(lambda: pause_table(asking, table, people(), wait=not no_wait), people())
    if outcome is None:
        raise typer.Exit(130)
    if as_json:
        print_json(outcome.values())
    else:
        show_outcome(outcome, results())
    if outcome.failed:
        raise typer.Exit(1)
