"""``cdc-bridge run``: the streaming job."""

from __future__ import annotations

from typing import Annotated

import typer

from streaming.commands.arguments import ConfigArgument
from streaming.console import JsonOption, people, print_json, results


def run(
    config: ConfigArgument,
    once: Annotated[bool, typer.Option("--once", help="Land what is in the topics now, then stop.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Carry change events from Kafka into the landing zone.

    SIGTERM or Ctrl-C finishes the micro-batch in hand and exits with 0; a second one ends at once. A failure that
    passes by itself is retried; any other ends the job with exit code 1 and says what to do.
    """
    from streaming.run_summary import summary_table
    from streaming.running import run_and_tell
    from streaming.settings import load_settings

    summary = run_and_tell(load_settings(config), people(), once=once)
    console = results()
    if as_json:
        print_json(summary.values())
    elif console.is_terminal:
        console.print(summary_table(summary))
