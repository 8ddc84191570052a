"""``cdc-bridge check``: everything that can be known before running."""

from __future__ import annotations

import typer

from streaming.commands.arguments import ConfigArgument
from streaming.console import JsonOption, print_json, results


def check(config: ConfigArgument, as_json: JsonOption = False) -> None:
    """Look at everything that can be known before running: settings, Java, Kafka, storage, ledger.

    Each line says ok, warning or problem, and what to do. Nothing is written but proof files in the storage's scratch
    folder, which are removed again; the ledger is not claimed. Exit code 1 if there is any problem.
    """
    from streaming.checks.check import Verdict
    from streaming.checks.every import check_all
    from streaming.checks.view import show_checks
    from streaming.logs import log_nothing

    log_nothing()
    checks = list(check_all(config)) if as_json else show_checks(check_all(config), results())
    if as_json:
        print_json([one.values() for one in checks])
    if any(one.verdict is Verdict.PROBLEM for one in checks):
        raise typer.Exit(1)
