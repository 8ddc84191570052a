"""The micro-batches of a run as its own log tells them, and which of them count."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

_TOLERANCE = 0.2
"""How far a batch that counts may be from its nominal size: the last one gets what is left."""


@dataclass(frozen=True)
class Batch:
    """One line of the log.

    Attributes:
        at: when it was told, seconds since 1970.
        seconds: of the bridge's own, from its plan to its last file; stages, steps: what they went to.
    """

    at: float
    offsets: int
    files: int
    seconds: float
    stages: dict[str, float]
    steps: dict[str, float]


@dataclass(frozen=True)
class Counted:
    """A batch that counts, and the seconds since the one before was told: all that it took, Spark's own share too."""

    batch: Batch
    period: float


@dataclass(frozen=True)
class Told:
    """What a run's log says: when it had claimed the zone and knew its offsets, and its batches."""

    ready: float
    batches: tuple[Batch, ...]


def told(lines: Iterable[str]) -> Told:
    """What the lines of a log in JSON say; other lines are passed over.

    Raises:
        ValueError: nothing says that the run was ready.
    """
    ready: float | None = None
    batches: list[Batch] = []
    for line in lines:
        facts = _facts(line)
        if "waiting" in facts and ready is None:
            ready = _moment(facts)
        if "stages" in facts and facts.get("catching_up") is None:
            batches.append(
                Batch(
                    _moment(facts),
                    facts["offsets"],
                    facts["files"],
                    facts["seconds"],
                    facts["stages"],
                    facts["steps"],
                )
            )
    if ready is None:
        raise ValueError("the log does not say that the run has begun")
    return Told(ready, tuple(batches))


def counted(batches: Sequence[Batch], nominal: int, warming: int) -> list[Counted]:
    """The batches of about the nominal size behind the first ones.

    Args:
        nominal: offsets of a micro-batch; warming: how many do not count.

    Raises:
        ValueError: fewer than two are left.
    """
    chosen = [
        Counted(after, after.at - before.at)
        for number, (before, after) in enumerate(pairwise(batches), start=1)
        if number >= warming and abs(after.offsets - nominal) <= _TOLERANCE * nominal
    ]
    if len(chosen) < 2:
        sizes = [batch.offsets for batch in batches]
        raise ValueError(f"of {len(batches)} micro-batches {len(chosen)} count: they have {sizes} offsets of {nominal}")
    return chosen


def _facts(line: str) -> dict[str, Any]:
    try:
        facts = json.loads(line)
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


def _moment(facts: dict[str, Any]) -> float:
    return datetime.fromisoformat(facts["time"]).timestamp()
