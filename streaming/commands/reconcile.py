"""``cdc-bridge reconcile``: is the mirror what the database is?"""

from __future__ import annotations

from typing import Annotated

import typer

from streaming.commands.arguments import ConfigArgument
from streaming.console import EndedError, JsonOption, people, print_json, results

EQUAL, DIFFERENT, NOT_KNOWN = 0, 1, 2
"""Exit codes."""


def reconcile(
    config: ConfigArgument,
    table: Annotated[
        list[str] | None, typer.Option("--table", help="A table, as schema.table; may be repeated. All by default.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Differences to show of each table.")] = 20,
    wait: Annotated[
        float, typer.Option("--wait", min=0, help="Seconds to wait, each time, for the mirror to catch up.")
    ] = 120.0,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="How often differing rows are read again.")] = 5,
    settle: Annotated[
        float, typer.Option("--settle", min=0, help="Seconds without a record after which the topics count as silent.")
    ] = 5.0,
    as_json: JsonOption = False,
) -> None:
    """Compare the source database with the landing zone, row by row, while both go on.

    Rows that differ are read again from both sides until they agree, or are proven to differ although the mirror has
    everything up to then. Nothing is written anywhere. Exit code 0 if all tables are equal, 1 if any differs, 2 if it
    cannot be known of some table, if there is no table to compare, or an error.
    """
    from connectors.errors import BridgeError
    from streaming.logs import log_nothing
    from streaming.reconciling.outcome import Verdict
    from streaming.reconciling.reconcile import prepare
    from streaming.reconciling.reconcile import reconcile as compare
    from streaming.reconciling.table import Limits
    from streaming.reconciling.view import ComparisonProgress, show_outcomes
    from streaming.settings import load_settings

    log_nothing()
    try:
        limits = Limits(wait=wait, rounds=rounds, shown=limit)
        work = prepare(load_settings(config), table or [], limits, settle=settle)
        progress = ComparisonProgress(people(), len(work.tables))
        with progress.bar:
            outcomes = progress.aside_for(compare(work, progress.steps))
            done = list(outcomes) if as_json else show_outcomes(outcomes, results())
    except BridgeError as error:
        raise EndedError(error, NOT_KNOWN) from error
    if as_json:
        print_json([one.values() for one in done])
    verdicts = {one.verdict for one in done}
    if Verdict.DIFFERENT in verdicts:
        raise typer.Exit(DIFFERENT)
    if not verdicts or Verdict.UNDECIDED in verdicts:
        raise typer.Exit(NOT_KNOWN)
