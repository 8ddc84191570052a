"""The newest version is asked whose it is: one that a dead driver of another ledger wrote late never counts."""

from __future__ import annotations

import pytest

from connectors.landing_zone.errors import FencedError, LedgerCorruptError
from connectors.landing_zone.ledger.follow import Follower
from connectors.landing_zone.ledger.history import prune, state_at
from connectors.landing_zone.ledger.version_file import path_of, version_numbers
from tests.unit.landing_zone.ledger_builders import NOON_MS, WEEK_MS, claimed, fill, offsets_only, opened
from tests.unit.landing_zone.memory_storage import MemoryStorage

LONG_AFTER = NOON_MS + WEEK_MS


def ledger_of(count: int) -> MemoryStorage:
    state = MemoryStorage()
    fill(claimed(state), count)
    return state


def test_versions_that_late_requests_wrote_right_below_those_that_are_kept_are_nobodys() -> None:
    state = MemoryStorage()
    fill(claimed(state, "run-1"), 199)
    late = {path_of(number): state.files.pop(path_of(number)) for number in (198, 199)}
    ledger = claimed(state, "run-2")
    for offset in range(197, 1_250):
        ledger.commit(offsets_only(offset, offset + 1))
    known = opened(state).state
    prune(state, now_ms=LONG_AFTER)
    assert version_numbers(state)[0] == 200
    state.files.update(late)

    assert opened(state).state == known
    assert [state_at(state, number).version for number in (200, 201, 1_250)] == [200, 201, 1_250]


@pytest.mark.parametrize("number", [3, 100], ids=["changes", "a snapshot"])
def test_a_version_that_a_dead_driver_of_another_ledger_has_written_late_is_told_and_never_counted(number: int) -> None:
    state = MemoryStorage()
    fill(claimed(state, "run-1"), number)
    late = state.files[path_of(number)]
    state.files.clear()
    other = claimed(state, "run-2")
    fill(other, number - 1)
    follower = Follower(state)
    state.files[path_of(number)] = late

    with pytest.raises(FencedError, match=f"run-1 on host-of-run-1, by version {number}"):
        fill(other, number)
    assert path_of(number) in state.files
    for read in (lambda: opened(state), follower.advance):
        with pytest.raises(LedgerCorruptError, match=f"Version {number} of the ledger, by run-1 on host-of-run-1"):
            read()

    del state.files[path_of(number)]
    assert opened(state).state.version == number - 1


@pytest.mark.parametrize("damaged", range(1, 6))
def test_a_claim_counts_although_what_is_below_it_cannot_be_read(damaged: int) -> None:
    state = ledger_of(5)
    known = claimed(state, "run-2").state
    state.files[path_of(damaged)] = b"{"

    assert opened(state).state == known


def test_a_claim_counts_although_no_whole_state_is_left_below_it() -> None:
    state = ledger_of(5)
    known = claimed(state, "run-2").state
    for number in range(1, 4):
        state.delete(path_of(number))

    assert opened(state).state == known


def test_a_whole_state_counts_although_what_is_right_below_it_cannot_be_read() -> None:
    state = ledger_of(200)
    known = opened(state).state
    state.files[path_of(199)] = b"{"

    assert opened(state).state == known


def test_a_claim_counts_above_a_version_that_another_driver_of_its_ledger_has_written_late() -> None:
    state = MemoryStorage()
    fill(claimed(state, "run-1"), 5)
    late = state.files.pop(path_of(5))
    fill(claimed(state, "run-2"), 5)
    known = claimed(state, "run-3").state
    state.files[path_of(5)] = late

    assert opened(state).state == known
