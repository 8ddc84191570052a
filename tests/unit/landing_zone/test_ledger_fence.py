"""Only the last driver that claimed a ledger writes to it; the others are told who that is."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from connectors.landing_zone.errors import FencedError, InvalidDraftError
from connectors.landing_zone.ledger.apply import Stamp
from connectors.landing_zone.ledger.history import prune
from connectors.landing_zone.ledger.log import CLAIM_ATTEMPTS
from connectors.landing_zone.ledger.lost import rebuilt_ledger
from connectors.landing_zone.ledger.owner import ensure_owner
from connectors.landing_zone.ledger.remains import put_in_place
from connectors.landing_zone.ledger.version_file import path_of, version_numbers
from tests.unit.landing_zone.ledger_builders import NOON_MS, WEEK_MS, batch, claimed, fill, offsets_only, opened
from tests.unit.landing_zone.memory_storage import MemoryStorage, Request


def test_a_batch_is_not_committed_before_the_zone_is_claimed() -> None:
    with pytest.raises(InvalidDraftError) as caught:
        opened(MemoryStorage()).commit(offsets_only(0, 1))
    assert str(caught.value) == (
        "A batch was committed by a driver that has not claimed the zone [state=memory:///zone]. "
        "Remedy: claim the ledger first; this is a defect of the caller"
    )


def test_a_driver_whose_version_another_one_has_taken_is_fenced() -> None:
    state = MemoryStorage()
    first = claimed(state, "run-1")
    claimed(state, "run-2")

    with pytest.raises(FencedError) as caught:
        first.commit(batch(1, 0, 3))

    assert str(caught.value) == (
        "Another driver owns this landing zone: run-2 on host-of-run-2, by version 2 of the ledger, "
        "written 2026-01-01T12:00:00+00:00 [state=memory:///zone, epoch=2]. "
        "Remedy: leave the zone to that driver, whose commits `cdc-bridge status CONFIG` shows; if it is not running "
        "any more, start this one again: it will claim the zone and go on where the ledger ends"
    )


def test_a_fence_can_be_checked_without_writing() -> None:
    state = MemoryStorage()
    first = claimed(state, "run-1")
    first.check_fence()
    claimed(state, "run-2")

    with pytest.raises(FencedError, match="run-2 on host-of-run-2, by version 2"):
        first.check_fence()


def test_a_lost_claim_is_repeated_above_the_winner() -> None:
    state = MemoryStorage()
    loser = opened(state)
    winner = claimed(state, "run-1").state

    assert loser.claim("run-2", "host") == replace(winner, version=2, epoch=2, writer="run-2")


def test_a_driver_that_loses_every_claim_is_fenced() -> None:
    state = MemoryStorage()

    def another_claims_first(request: Request) -> None:
        if request.method == "put_if_absent":
            claimed(MemoryStorage(state.disk), f"rival-{request.number}")

    with pytest.raises(FencedError, match=f"by version {CLAIM_ATTEMPTS} of the ledger"):
        opened(MemoryStorage(state.disk, another_claims_first)).claim("run-1", "host")


def test_a_driver_that_slept_until_its_slot_was_pruned_is_fenced_and_leaves_no_trace() -> None:
    state = MemoryStorage()
    sleeper = claimed(state, "run-1")
    awake = claimed(state, "run-2")
    fill(awake, 1200)
    prune(state, now_ms=NOON_MS + WEEK_MS)
    files = dict(state.files)

    with pytest.raises(FencedError, match="run-2 on host-of-run-2, by version 1200"):
        sleeper.commit(batch(1, 0, 3))

    assert state.files == files


def test_a_driver_that_opened_an_empty_ledger_and_slept_for_ages_cannot_claim() -> None:
    state = MemoryStorage()
    sleeper = opened(state)
    fill(claimed(state, "run-2"), 1200)
    prune(state, now_ms=NOON_MS + WEEK_MS)
    files = dict(state.files)

    with pytest.raises(FencedError, match="run-2 on host-of-run-2, by version 1200"):
        sleeper.claim("run-1", "host")

    assert state.files == files


def test_a_driver_that_is_fenced_while_its_slot_is_pruned_is_still_fenced() -> None:
    state = MemoryStorage()
    first = claimed(state, "run-1")
    fill(claimed(state, "run-2"), 1200)

    def prune_before_reading(request: Request) -> None:
        if request.method == "read" and request.path == path_of(2):
            prune(MemoryStorage(state.disk), now_ms=NOON_MS + WEEK_MS)

    state.hook = prune_before_reading
    with pytest.raises(FencedError, match="by version 1200 of the ledger"):
        first.commit(offsets_only(0, 1))


def test_a_driver_that_wakes_up_after_the_ledger_was_made_again_is_fenced_and_leaves_no_hole() -> None:
    state, zone = MemoryStorage(), MemoryStorage()
    sleeper = claimed(state, "run-1")
    ensure_owner(zone, sleeper.state.ledger_id, "shop")
    state.delete(path_of(1))
    made = rebuilt_ledger(zone, None, work=Path())
    put_in_place(state, made.state, Stamp("rebuild", "host", 1, NOON_MS))

    with pytest.raises(FencedError, match="rebuild on host, by version 1000001"):
        sleeper.commit(batch(1, 0, 3))

    assert version_numbers(state) == [1_000_001]
    assert claimed(state, "run-2").state.version == 1_000_002
