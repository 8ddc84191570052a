"""Parts of the status page that more than one of its sections uses."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Tone(enum.StrEnum):
    """How a reader at night should take it."""

    CALM = "calm"
    GOOD = "good"
    BUSY = "busy"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True)
class Card:
    """One figure; ``line`` is how it went, as (milliseconds since 1970, value)."""

    label: str
    value: str
    note: str
    tone: Tone = Tone.CALM
    line: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True)
class Notice:
    """Something that a person should know; ``more`` names where more about it is written."""

    tone: Tone
    title: str
    text: str
    remedy: str = ""
    more: str = ""
