"""Showing checks to a person, each as soon as it is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from streaming.checks.check import Check, Verdict
from streaming.wording import count_text

_STYLES = {Verdict.OK: "green", Verdict.WARNING: "yellow", Verdict.PROBLEM: "bold red"}


def show_checks(checks: Iterable[Check], console: Console) -> list[Check]:
    """Print one line per check, its remedy below it, and a summary; returns the checks.

    Checks in a row that have the same remedy, such as the problems of a settings file, share it below the last.
    """
    done: list[Check] = []
    remedy = ""
    for check in checks:
        if check.remedy != remedy:
            _show_remedy(remedy, console)
        remedy = check.remedy
        done.append(check)
        console.print(
            Text.assemble((f"{check.verdict:<8}", _STYLES[check.verdict]), (f"{check.subject}: ", "bold"), check.detail)
        )
    _show_remedy(remedy, console)
    console.print(Text(checks_text(done), style="bold"))
    return done


def _show_remedy(remedy: str, console: Console) -> None:
    if remedy:
        console.print(Text(f"        What to do: {remedy}"))


def checks_text(checks: Iterable[Check]) -> str:
    """``14 ok, 1 warning, 0 problems``."""
    counts = Counter(check.verdict for check in checks)
    warnings = count_text(counts[Verdict.WARNING], "warning")
    return f"{counts[Verdict.OK]} ok, {warnings}, {count_text(counts[Verdict.PROBLEM], 'problem')}"
