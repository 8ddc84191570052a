"""What a load has shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.bench.wide_events import Judgement


@dataclass(frozen=True)
class Outcome:
    """The figures of one load and what is wrong with them.

    Attributes:
        figures: by what they are of, as text for people.
        failures: sentences; empty if everything is as promised.
    """

    load: str
    figures: Mapping[str, str]
    failures: tuple[str, ...] = ()

    def text(self) -> str:
        lines = [f"{self.load}: {'FAILED' if self.failures else 'as promised'}"]
        lines += [f"  {name:<22} {figure}" for name, figure in self.figures.items()]
        lines += [f"  FAILED: {failure}" for failure in self.failures]
        return "\n".join(lines)


def judgement_failures(judgement: Judgement) -> tuple[str, ...]:
    """What rows that differ from the records make of a load."""
    if judgement.right:
        return ()
    return (f"{judgement.lost} lost, {judgement.doubled} doubled, {judgement.disordered} out of order",)


def judgement_text(judgement: Judgement) -> str:
    return (
        f"{judgement.records:,} records, {judgement.lost} lost, {judgement.doubled} doubled, "
        f"{judgement.disordered} out of order"
    )
