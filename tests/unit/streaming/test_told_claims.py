"""What a start tells of a zone that it has claimed, also when it gets no further."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.landing_zone.ledger.owner import OWNER_FILE, ensure_owner
from connectors.landing_zone.ledger.state import LedgerState
from streaming.driver.startup import open_zone
from tests.unit.landing_zone.ledger_builders import ORDERS, batch, claimed
from tests.unit.landing_zone.memory_storage import Crash, Fault, MemoryStorage
from tests.unit.streaming.landed_shop import job


def test_files_that_wait_for_their_number_are_told_before_they_are_rolled_forward(tmp_path: Path) -> None:
    """A start that the storage holds up at that point would otherwise tell nothing at all, again and again."""
    zone, state = MemoryStorage(), MemoryStorage()
    begun = claimed(state)
    ensure_owner(zone, begun.state.ledger_id, "shop")
    begun.commit(batch(1, 0, 5))
    zone.hook = lambda request: Fault.CRASH_BEFORE if request.path == OWNER_FILE and request.writes else None
    told: list[LedgerState] = []

    with pytest.raises(Crash):
        open_zone(
            zone,
            state,
            job(tmp_path),
            source="shop",
            writer="run-2",
            host="here",
            partner=b"{}",
            threads=1,
            told=told.append,
        )

    [known] = told
    assert (known.epoch, known.version, set(known.pending)) == (2, 3, {ORDERS})
