"""A ledger of 100,000 versions: how long its slowest opening takes, of several, and how long it takes to prune it."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.history import KEPT_MS, prune
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import PlannedTopic, TableState
from connectors.landing_zone.ledger.version_file import version_numbers
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.protocol import Storage
from tests.load.outcome import Outcome

TABLES = 20
OPENED = 5
LIMIT_S = 1.0
"""What no opening may take longer than, by the issue that asks for it."""
FIRST_MS = 1_700_000_000_000
APART_MS = 10_000
"""When the first version is written, and how much later each next one, by a clock that waits for nothing."""


def long_ledger(folder: Path, *, versions: int = 100_000) -> Outcome:
    """Write so many versions; then open and prune the ledger."""
    state = LocalStorage(folder)
    ledger = written(state, versions)
    opened = []
    for _ in range(OPENED):
        begin = time.monotonic()
        head = Ledger.open(state, now_ms=lambda: 0).state
        opened.append(time.monotonic() - begin)
        assert head == ledger.state

    newest_ms, rounds, begin = FIRST_MS + versions * APART_MS, 0, time.monotonic()
    while prune(state, now_ms=newest_ms + KEPT_MS):
        rounds += 1
    pruning = time.monotonic() - begin
    assert Ledger.open(state, now_ms=lambda: 0).state == ledger.state
    return used(versions, opened, rounds, pruning, len(version_numbers(state)))


def written(state: Storage, versions: int) -> Ledger:
    """A ledger of so many versions, by its own commits, each :data:`APART_MS` after the one before."""
    clock = itertools.count(FIRST_MS, APART_MS)
    ledger = Ledger.open(state, now_ms=lambda: next(clock))
    ledger.claim("load", "here")
    ledger.commit(Draft(planned={}, tables={f"public.t{number:02d}": _table(number) for number in range(TABLES)}))
    began = time.monotonic()
    for offset in range(versions - 2):
        ledger.commit(Draft(planned={"orders": PlannedTopic("T1", {0: (offset, offset + 1)})}))
        if offset % 10_000 == 0:
            print(f"  {offset:,} versions written, {time.monotonic() - began:.0f} s", flush=True)
    return ledger


def used(versions: int, opened: Sequence[float], rounds: int, pruning: float, left: int) -> Outcome:
    """What opening and pruning come to.

    Args:
        opened: seconds of each opening; the slowest one is judged.
        rounds: of pruning, which took ``pruning`` seconds together and have left ``left`` versions.
    """
    slowest = max(opened)
    failures = {
        f"opened in {slowest:.2f} s, not in {LIMIT_S:.0f} s": slowest > LIMIT_S,
        f"{left:,} versions are left, not 1,000 to 1,100": not 1_000 <= left <= 1_100,
    }
    return Outcome(
        f"a ledger of {versions:,} versions",
        {
            "opened in": f"{slowest:.2f} s, the slowest of {len(opened)} (median {statistics.median(opened):.2f})",
            "pruned": f"to {left:,} versions in {rounds} rounds of {pruning / max(1, rounds):.2f} s",
        },
        failures=tuple(failure for failure, failed in failures.items() if failed),
    )


def _table(number: int) -> TableState:
    name = f"t{number:02d}"
    return TableState(source=("shop", "public", name), folder=f"public.schema/{name}", schema="s")
