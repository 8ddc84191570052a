"""Writes the budget of docs/performance.md from a profile: ``python -m tests.bench.profile_page PAGE FLAME_GRAPH``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from tests.bench.flame import flame_graph, tree
from tests.bench.machine import Machine
from tests.bench.page import between
from tests.bench.profile_budget import Budget, Profile, budget, unmatched, walls
from tests.bench.profile_stacks import Kind, Stacks, collapsed
from tests.bench.profile_stages import ABOUT, Part, part_of
from tests.bench.results import BUILT, FOLDER

FILE = FOLDER / "profile.json"
STACKS = BUILT / "stacks"
MARKS = "<!-- budget: begin, written by `make bench-profile` -->", "<!-- budget: end -->"


@dataclass(frozen=True)
class Profiled:
    """Profiles of one workload in two sizes on one machine."""

    machine: Machine
    when: str
    about: str
    profiles: tuple[Profile, ...]

    @property
    def larger(self) -> Profile:
        """The first of the larger size."""
        return max(self.profiles, key=lambda each: each.records)


def section(profiled: Profiled, graph: str) -> str:
    """Everything between the marks.

    Args:
        graph: path of the flame graph, as the page links to it.
    """
    found, larger = budget(profiled.profiles), profiled.larger
    sizes = sorted({each.records for each in profiled.profiles})
    runs = sum(each.records == larger.records for each in profiled.profiles)
    seen = ", ".join(
        f"{larger.sampled.get(kind, 0.0):.1f} of the {larger.kernel.get(kind, 0.0):.1f} s of {kind}" for kind in Kind
    )
    return "\n\n".join(
        [
            f"Measured on {profiled.when} at commit `{profiled.machine.commit}`: {profiled.machine.text()}. "
            f"{profiled.about}, {sizes[0]:,} and {sizes[1]:,} records, {runs} run{'s' if runs > 1 else ''} of each "
            "under both profilers.",
            f"[![Flame graph of the processor's time, by stage]({graph})]({graph})",
            budget_table(found),
            f"Samples stand for {seen}, of {larger.cpu:.1f} s that the kernel counted for the larger size. No pattern "
            f"knows {unmatched(larger):.1%} of them.",
            wall_table(profiled.profiles),
        ]
    )


def budget_table(found: Budget) -> str:
    """Microseconds of the processor for each record, and seconds of start-up, by stage; the last line is their sum."""
    kinds = [*Kind, None]
    lines = [
        f"| stage | {' | '.join(kind or 'other' for kind in kinds)} | together | start-up, s | |",
        f"|---|{'---|' * (len(kinds) + 3)}",
    ]
    for line in found.lines:
        cells = [f"{line.warm[kind]:.2f}" if kind in line.warm else "" for kind in kinds]
        lines.append(
            f"| {line.part} | {' | '.join(cells)} | {line.total:.2f} | {line.start:.2f} | {ABOUT[line.part]} |"
        )
    sums = [sum(line.warm.get(kind, 0.0) for line in found.lines) for kind in kinds]
    lines.append(
        f"| **sum** | {' | '.join(f'{some:.2f}' for some in sums)} | **{found.warm:.2f}** | **{found.start:.2f}** "
        "| what the kernel counted |"
    )
    return "\n".join(lines)


def wall_table(profiles: tuple[Profile, ...]) -> str:
    """The bridge's own histograms of the same runs."""
    lines = ["| histogram | | seconds in the larger size | microseconds per event, warm |", "|---|---|---|---|"]
    for of, name in (("stages", "bridge_stage_seconds"), ("steps", "bridge_task_seconds")):
        for each, (took, warm) in walls(profiles, of).items():
            lines.append(f"| `{name}` | {each} | {took:.2f} | {warm:.2f} |")
    return "\n".join(lines)


def svg(profiled: Profiled, stacks: Mapping[Kind, Stacks]) -> str:
    """The flame graph of the larger size."""
    larger = profiled.larger
    roots = {
        kind: tree(kind, stacks[kind], partial(part_of, kind=kind), larger.kernel.get(kind, 0.0)) for kind in stacks
    }
    subtitle = (
        f"{larger.records:,} records, with start-up: {sum(root.total for root in roots.values()):.1f} seconds of the "
        f"processor on {profiled.machine.cores} cores of {profiled.machine.processor}"
    )
    return flame_graph("Where the processor's time goes", subtitle, roots, tuple(Part))


def main(page: Path, graph: Path) -> None:
    """Write page and flame graph from what ``make bench-profile`` has left."""
    profiled = msgspec.json.decode(FILE.read_bytes(), type=Profiled)
    stacks = {kind: collapsed((STACKS / f"{kind.name.lower()}.collapsed").read_text()) for kind in Kind}
    graph.write_text(svg(profiled, stacks), encoding="utf-8")
    written = section(profiled, graph.relative_to(page.parent).as_posix())
    page.write_text(between(page.read_text(encoding="utf-8"), written, MARKS), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
