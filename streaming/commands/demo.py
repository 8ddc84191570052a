"""``cdc-bridge demo``: the whole bridge on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streaming.console import JsonOption, people, print_json, results


def demo(
    rows: Annotated[int, typer.Option("--rows", min=1, help="Rows of each table's snapshot.")] = 2_000,
    changes: Annotated[int, typer.Option("--changes", min=0, help="Changes after it, over all tables.")] = 20_000,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Keep everything in DIR, to be looked at afterwards.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Start Kafka, produce a shop's change events, land them, and compare the result with the truth, row by row.

    Exit code 1 if any row differs. The job that runs is the one that `cdc-bridge run --once` runs.
    """
    from streaming.demo.run import run_demo
    from streaming.demo.view import show_outcome

    outcome = run_demo(people(), rows=rows, changes=changes, keep=keep)
    if as_json:
        print_json(outcome.values())
    else:
        show_outcome(outcome, results())
    if not outcome.equal:
        raise typer.Exit(1)
