"""Waiting for dead letters to land, as a person sees it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from streaming.dead_letters.asking import ReplayOutcome, replay_letters
from streaming.dead_letters.coordinates import Coordinates
from streaming.lifecycle.asking import Asking
from streaming.lifecycle.asking_view import SILENCE, interrupted, progress_bar


def replay_with_progress(
    asking: Asking, letters: Sequence[Coordinates], console: Console, *, wait: bool
) -> ReplayOutcome | None:
    """Ask the driver and wait under a bar; None when the person has ended the waiting."""
    with progress_bar(console) as bar:
        task = bar.add_task("waiting for the driver to replay", total=len(letters))
        try:
            return replay_letters(
                asking,
                letters,
                lambda answered: bar.update(task, completed=answered),
                lambda: console.print(SILENCE, style="yellow"),
                wait=wait,
            )
        except KeyboardInterrupt:
            interrupted(console)
            return None
