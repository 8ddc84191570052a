"""``cdc-bridge ledger``: the transaction history."""

from __future__ import annotations

from typing import Annotated

import typer

from streaming.commands.arguments import ConfigArgument
from streaming.console import JsonOption, print_json, results

app = typer.Typer(
    no_args_is_help=True,
    help="The ledger's history: what was committed, when and by whom.",
    epilog="Example: cdc-bridge ledger log bridge.yaml --limit 5",
)


@app.command(epilog="Example: cdc-bridge ledger log bridge.yaml --limit 5")
def log(
    config: ConfigArgument,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many versions.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show the newest versions of the ledger, newest first: offsets, files, new columns, parked tables."""
    from streaming.logs import log_nothing
    from streaming.reporting.history import history
    from streaming.reporting.history_view import show_log
    from streaming.settings import load_settings
    from streaming.zones.reading import state_storage

    log_nothing()
    entries = history(state_storage(load_settings(config)), limit)
    if as_json:
        print_json([entry.values() for entry in entries])
    else:
        show_log(entries, results())


@app.command(epilog="Example: cdc-bridge ledger show bridge.yaml --version 42")
def show(
    config: ConfigArgument,
    version: Annotated[int | None, typer.Option("--version", min=1, help="The version; the newest by default.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show one version of the ledger in full."""
    from streaming.logs import log_nothing
    from streaming.reporting.history import entry_of
    from streaming.reporting.history_view import show_version
    from streaming.settings import load_settings
    from streaming.zones.reading import head_state, state_storage

    log_nothing()
    state = state_storage(load_settings(config))
    entry = entry_of(state, head_state(state).version if version is None else version)
    if as_json:
        print_json(entry.values())
    else:
        show_version(entry, results())


@app.command(epilog="Example: cdc-bridge ledger rebuild bridge.yaml --dry-run")
def rebuild(
    config: ConfigArgument,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what it would be; write nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make a lost or damaged ledger again from the landing zone. Stop every bridge of this zone first.

    It rests on the newest copy of the ledger's state that is left, and on what each table's last file says of itself. A
    table of which they do not prove what has landed stands still afterwards, with its remedy; nothing in the tables'
    folders is touched. Exit code 1 if a table needs a person.
    """
    from streaming.logs import log_nothing
    from streaming.settings import load_settings
    from streaming.zones.rebuilding_ledger import needs_person, rebuild_ledger, show_rebuild

    log_nothing()
    done = rebuild_ledger(load_settings(config), look_only=dry_run)
    if as_json:
        print_json(done.values())
    else:
        show_rebuild(done, results())
    if any(needs_person(one) for one in done.rebuilt.tables):
        raise typer.Exit(1)
