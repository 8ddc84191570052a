"""``cdc-bridge adopt``: a landing zone that no ledger knows."""

from __future__ import annotations

from typing import Annotated

import typer

from streaming.commands.arguments import ConfigArgument
from streaming.console import JsonOption, print_json, results


def adopt(
    config: ConfigArgument,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what it would be; write nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Take over a landing zone that another tool has filled, or whose ledger is gone for ever. Stop both first.

    Numbers, keys and columns are taken from the folders; tables with a key go on as upserts, from where kafka.starting
    says. Nothing is renumbered, written over or removed. A table whose folder leaves a doubt stands still afterwards,
    with its remedy. Exit code 1 if a table needs a person. Where a copy of the ledger is left, `ledger rebuild` knows
    more.
    """
    import time

    from streaming.logs import log_nothing
    from streaming.settings import load_settings
    from streaming.zones.adopting import show_adoption
    from streaming.zones.rebuilding_ledger import needs_person
    from streaming.zones.seen_sources import adopt as adopt_zone

    log_nothing()
    done = adopt_zone(load_settings(config), look_only=dry_run, now_ms=lambda: time.time_ns() // 1_000_000)
    if as_json:
        print_json(done.values())
    else:
        show_adoption(done, results())
    if any(needs_person(one) for one in done.tables):
        raise typer.Exit(1)
