"""A ledger of 100,000 versions: how long it takes to open it, and to prune it."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.history import KEPT_MS, prune
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import PlannedTopic, TableState
from connectors.landing_zone.ledger.version_file import version_numbers
from connectors.landing_zone.storage.local import LocalStorage
from tests.load.outcome import Outcome

TABLES = 20
OPENED = 5
LIMIT_S = 1.0
"""What opening may take, by the issue that asks for it."""


def long_ledger(folder: Path, *, versions: int = 100_000) -> Outcome:
    """Write so many versions by the ledger's own commits, an hour's worth of seconds apart in no time; then use it."""
    state = LocalStorage(folder)
    clock = iter(range(1_700_000_000_000, 1_700_000_000_000 + 10_000 * (2 * versions), 10_000))
    ledger = Ledger.open(state, now_ms=lambda: next(clock))
    ledger.claim("load", "here")
    ledger.commit(Draft(planned={}, tables={f"public.t{number:02d}": _table(number) for number in range(TABLES)}))
    began = time.monotonic()
    for offset in range(versions - 2):
        ledger.commit(Draft(planned={"orders": PlannedTopic("T1", {0: (offset, offset + 1)})}))
        if offset % 10_000 == 0:
            print(f"  {offset:,} versions written, {time.monotonic() - began:.0f} s", flush=True)
    opened = []
    for _ in range(OPENED):
        begin = time.monotonic()
        head = Ledger.open(state, now_ms=lambda: 0).state
        opened.append(time.monotonic() - begin)
        assert head == ledger.state

    rounds, begin = 0, time.monotonic()
    while prune(state, now_ms=next(clock) + KEPT_MS):
        rounds += 1
    pruning = time.monotonic() - begin
    left = len(version_numbers(state))
    assert Ledger.open(state, now_ms=lambda: 0).state == ledger.state
    seconds = statistics.median(opened)
    return Outcome(
        f"a ledger of {versions:,} versions",
        {
            "opened in": f"{seconds:.2f} s (median of {OPENED}, worst {max(opened):.2f})",
            "pruned": f"to {left:,} versions in {rounds} rounds of {pruning / max(1, rounds):.2f} s",
        },
        failures=tuple(
            failure
            for failure, failed in {
                f"opened in {seconds:.2f} s, not in {LIMIT_S:.0f} s": seconds > LIMIT_S,
                f"{left:,} versions are left, not 1,000 to 1,100": not 1_000 <= left <= 1_100,
            }.items()
            if failed
        ),
    )


def _table(number: int) -> TableState:
    name = f"t{number:02d}"
    return TableState(source=("shop", "public", name), folder=f"public.schema/{name}", schema="s")
