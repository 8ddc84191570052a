"""``cdc-bridge explain``: what the bridge makes of single records."""

from __future__ import annotations

from typing import Annotated

import typer

from streaming.commands.arguments import ConfigArgument
from streaming.console import JsonOption, print_json, results


def explain(
    config: ConfigArgument,
    topic: Annotated[str, typer.Option("--topic", help="The topic.")],
    partition: Annotated[int | None, typer.Option("--partition", min=0, help="The partition; all by default.")] = None,
    offset: Annotated[int | None, typer.Option("--offset", min=0, help="One record.")] = None,
    last: Annotated[int | None, typer.Option("--last", min=1, help="The last K offsets of each partition.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what the bridge makes of real records: table, key, operation, markers, typed row.

    Of a record that would be skipped, set aside, or park its table it says why and what to do. Records that have landed
    are judged against what the ledger knew then. Nothing is written. Without --offset the last 5 are shown.
    """
    if offset is not None and last is not None:
        raise typer.BadParameter("give one of --offset and --last", param_hint="--last")
    from streaming.explaining.explain import Asked
    from streaming.explaining.explain import explain as explained
    from streaming.explaining.view import show_explanations
    from streaming.logs import log_nothing
    from streaming.settings import load_settings

    log_nothing()
    explanations = explained(load_settings(config), Asked(topic, partition, offset, 5 if last is None else last))
    if as_json:
        print_json([one.values() for one in explanations])
    else:
        show_explanations(explanations, results())
