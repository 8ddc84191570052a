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


def held(upto: int, *, claims: int, commits: int = 0) -> MemoryStorage:
    """A ledger: its first driver's versions up to a number, the claims of others, and commits of the last one."""
    state = MemoryStorage()
    driver = claimed(state, "lost-1")
    fill(driver, upto)
    for number in range(claims):
        driver = claimed(state, f"lost-{number + 2}")
    for offset in range(upto - 1, upto - 1 + commits):
        driver.commit(offsets_only(offset, offset + 1))
    return state


LATE = {
    "a claim as version 2": (1, 1, 0, 2),
    "a claim as version 3": (2, 1, 0, 3),
    "a claim as version 4": (3, 1, 0, 4),
    "a claim above a commit": (5, 1, 0, 5),
    "two claims": (4, 2, 0, 5),
    "a claim above a commit with the whole state": (200, 1, 0, 200),
    "two claims, the first in place of a commit with the whole state": (199, 2, 0, 200),
    "a commit with the whole state above another commit": (100, 0, 0, 99),
    "the same, a hundred versions later": (200, 0, 0, 199),
    "a claim and its driver's commit": (5, 1, 1, 6),
    "a claim and seven commits": (5, 1, 7, 6),
    "a commit with the whole state and the next one": (101, 0, 0, 100),
}
"""What a lost ledger held, as of :func:`held`, and from which number on its versions come late."""


@pytest.mark.parametrize(("upto", "claims", "commits", "number"), LATE.values(), ids=LATE)
def test_late_versions_of_a_lost_ledger_are_told_from_the_lowest_one_on(
    upto: int, claims: int, commits: int, number: int
) -> None:
    lost = held(upto, claims=claims, commits=commits)
    state = ledger_of(number - 1)
    known = opened(state).state
    late = [one for one in version_numbers(lost) if one >= number]
    for one in late:
        state.put(path_of(one), lost.read(path_of(one)))

    with pytest.raises(LedgerCorruptError, match=f"Version {number} of the ledger, by lost-") as told:
        opened(state)

    assert told.value.facts["file"] == path_of(number)
    assert "move this file and those of higher numbers out of it" in told.value.remedy
    for one in late:
        state.delete(path_of(one))
    assert opened(state).state == known


@pytest.mark.parametrize("damaged", range(2, 6))
def test_a_late_claim_is_told_although_one_below_it_cannot_be_read(damaged: int) -> None:
    state = ledger_of(5)
    state.put(path_of(6), held(5, claims=1).read(path_of(6)))
    state.put(path_of(damaged), b"{")

    with pytest.raises(LedgerCorruptError, match="Version 6 of the ledger, by lost-2"):
        opened(state)
