"""How a command ends that has asked the driver for something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from streaming.console import print_json, results

if TYPE_CHECKING:
    from streaming.lifecycle.asking import Outcome


def conclude(outcome: Outcome | None, *, as_json: bool) -> None:
    """Show what became of the request.

    Args:
        outcome: None when the person has ended the waiting.

    Raises:
        typer.Exit: 130 when the waiting was ended; 1 when the request is refused, or has failed.
    """
    from streaming.lifecycle.asking_view import show_outcome

    if outcome is None:
        raise typer.Exit(130)
    if as_json:
        print_json(outcome.values())
    else:
        show_outcome(outcome, results())
    if outcome.failed:
        raise typer.Exit(1)
