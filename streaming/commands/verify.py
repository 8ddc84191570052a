"""``cdc-bridge verify``: the rules of the format over a landing zone."""

from __future__ import annotations

import typer

from streaming.commands.arguments import StateOption, ZoneArgument
from streaming.console import JsonOption, people, print_json, results


def verify(zone: ZoneArgument, state: StateOption = None, as_json: JsonOption = False) -> None:
    """Check every file of a landing zone against the format's rules, and against the ledger where it is found.

    Numbers, metadata, columns, types, markers, keys, and from the ledger each file's digest and rows. Exit code 1 if
    there is any problem.
    """
    from streaming.logs import log_nothing
    from streaming.zones.replay_view import FileProgress
    from streaming.zones.verifying import show_verified, verify_place

    log_nothing()
    progress = FileProgress(people())
    with progress.bar:
        verified = verify_place(zone, state, lambda step: progress.advance(step.table, "verify", step.done, step.total))
    if as_json:
        print_json(verified.values())
    else:
        show_verified(verified, results())
    if not verified.sound:
        raise typer.Exit(1)
