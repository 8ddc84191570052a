"""What a campaign of kills came to, by kind, and the table of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from tests.crash.comparing import Differences


@dataclass
class Tally:
    """One kind of kill.

    Attributes:
        runs: zones that were filled under kills and compared with the undisturbed one.
        calm: runs in which every start had finished before it was to be killed; they are compared as well, and are not
            among ``runs``.
        kills: starts or processes killed, by the step in which they were.
        points: by the failpoint or request that they were killed at.
        failed: what was wrong, run by run.
    """

    runs: int = 0
    calm: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    points: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    doubled: int = 0
    other: int = 0
    failed: list[str] = field(default_factory=list)

    def add(self, name: str, found: Differences) -> None:
        """One run's comparison.

        Args:
            name: by which a person finds the run again.
        """
        self.lost += found.lost
        self.doubled += found.doubled
        self.other += len(found.other)
        if found:
            self.failed.append(f"{name}: {found.lost} lost, {found.doubled} doubled, {'; '.join(found.other)}")


def shared_out(runs: int, shares: Sequence[float]) -> list[int]:
    """Whole runs by share, which are as many as asked for: the largest remainders are rounded up.

    Args:
        shares: that come to 1.
    """
    exact = [runs * share for share in shares]
    whole = [int(each + 1e-9) for each in exact]
    by_remainder = sorted(range(len(shares)), key=lambda place: whole[place] - exact[place])
    for place in by_remainder[: runs - sum(whole)]:
        whole[place] += 1
    return whole


def show(tallies: Mapping[str, Tally], console: Console) -> bool:
    """Print the tables; True if nothing was wrong in any run."""
    kinds = Table(
        "kind", *("runs", "kills", "lost", "doubled", "other differences"), title="Kills and what they changed"
    )
    for kind, tally in tallies.items():
        kinds.add_row(
            kind,
            *map(str, (tally.runs, tally.kills.total(), tally.lost, tally.doubled, tally.other)),
            end_section=False,
        )
    every = list(tallies.values())
    totals = (
        sum(tally.runs for tally in every),
        sum(tally.kills.total() for tally in every),
        sum(tally.lost for tally in every),
        sum(tally.doubled for tally in every),
        sum(tally.other for tally in every),
    )
    kinds.add_section()
    kinds.add_row("all", *map(str, totals))
    console.print(kinds)
    for title, counted in (
        ("Kills by step", sum((tally.kills for tally in every), Counter[str]())),
        ("Kills by failpoint", sum((tally.points for tally in every), Counter[str]())),
    ):
        shown = Table(title.removeprefix("Kills by "), "kills", title=title)
        for name, times in counted.most_common():
            shown.add_row(name, str(times))
        console.print(shown)
    for tally in every:
        for failure in tally.failed:
            console.print(f"DIFFERENT {failure}", style="red", markup=False)
    return not any(tally.failed for tally in every)
