"""What ``docs/guarantees.md`` promises: its sentences, and the tests that each names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "guarantees.md"
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_TEST = re.compile(r"`(test_\w+)`")


@dataclass(frozen=True)
class Promise:
    """One row of the page: what is promised, in words without links, and the functions that prove it."""

    sentence: str
    tests: tuple[str, ...]


def promises() -> tuple[Promise, ...]:
    """Every row of the page that names tests, in its order."""
    rows = [line.split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    found = [Promise(_LINK.sub(r"\1", row[1]).strip(), tuple(_TEST.findall(row[2]))) for row in rows]
    return tuple(promise for promise in found if promise.tests)
