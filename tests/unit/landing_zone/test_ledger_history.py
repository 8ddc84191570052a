from __future__ import annotations

import pytest

from connectors.landing_zone.errors import LedgerCorruptError, VersionNotKeptError
from connectors.landing_zone.ledger.history import KEPT_MS, prune, read_version, state_at, versions
from connectors.landing_zone.ledger.version_file import path_of, version_numbers
from tests.unit.landing_zone.ledger_builders import NOON_MS, claimed, fill, ticking
from tests.unit.landing_zone.memory_storage import Crash, Fault, MemoryStorage

HOUR_MS = 3600 * 1000
LONG_AFTER = NOON_MS + 10_000 * HOUR_MS


def ledger_of(versions: int) -> MemoryStorage:
    """A ledger with a version every hour, from noon on."""
    state = MemoryStorage()
    fill(claimed(state, now_ms=ticking(HOUR_MS)), versions)
    return state


def test_versions_come_newest_first() -> None:
    state = ledger_of(70)

    assert [version.version for version in versions(state)] == list(range(70, 0, -1))
    assert [version.version for version in versions(state, limit=2)] == [70, 69]
    assert list(versions(MemoryStorage())) == []


def test_every_earlier_state_can_be_had() -> None:
    state = MemoryStorage()
    ledger = claimed(state)
    states = {1: ledger.state}
    for version in range(2, 206):
        fill(ledger, version)
        states[version] = ledger.state

    assert {version: state_at(state, version) for version in states} == states


def test_a_version_reads_as_it_was_written() -> None:
    assert read_version(ledger_of(3), 2).planned["orders"].partitions == {0: (1, 2)}


@pytest.mark.parametrize("number", [0, 4])
def test_a_version_that_is_not_there_says_which_are(number: int) -> None:
    state = ledger_of(3)
    for ask in (read_version, state_at):
        with pytest.raises(VersionNotKeptError) as caught:
            ask(state, number)
        assert str(caught.value) == (
            f"Version {number} of the ledger is not there: versions 1 to 3 are kept [state=memory:///zone]. "
            "Remedy: ask for a version from 1 to 3"
        )


def test_a_pruned_version_names_the_oldest_kept() -> None:
    state = ledger_of(1200)
    prune(state, now_ms=LONG_AFTER)

    with pytest.raises(VersionNotKeptError, match="versions 200 to 1200 are kept"):
        state_at(state, 199)


def test_an_empty_ledger_has_no_versions() -> None:
    with pytest.raises(VersionNotKeptError) as caught:
        state_at(MemoryStorage(), 1)
    assert str(caught.value) == (
        "Version 1 of the ledger is not there: the ledger has no versions [state=memory:///zone]. "
        "Remedy: `cdc-bridge run CONFIG --once` begins it"
    )


def test_pruning_keeps_a_thousand_versions_and_begins_with_a_snapshot() -> None:
    state = ledger_of(1250)
    newest = state_at(state, 1250)

    assert prune(state, now_ms=LONG_AFTER) == tuple(range(1, 200))

    assert version_numbers(state) == list(range(200, 1251))
    assert state_at(state, 200).version == 200
    assert state_at(state, 1250) == newest
    assert prune(state, now_ms=LONG_AFTER) == ()


@pytest.mark.parametrize(("size", "kept_from"), [(1098, 1), (1099, 100), (1199, 200)])
def test_pruning_leaves_no_fewer_than_a_thousand(size: int, kept_from: int) -> None:
    state = ledger_of(size)
    prune(state, now_ms=LONG_AFTER)
    assert version_numbers(state)[0] == kept_from


def test_pruning_keeps_seven_days() -> None:
    state = ledger_of(1500)
    written_at_300 = NOON_MS + 299 * HOUR_MS

    prune(state, now_ms=written_at_300 + KEPT_MS - 1)
    assert version_numbers(state)[0] == 200

    prune(state, now_ms=written_at_300 + KEPT_MS)
    assert version_numbers(state)[0] == 300


def test_pruning_goes_on_where_it_ended_and_never_takes_long_at_once() -> None:
    state = ledger_of(1_650)
    removed = [prune(state, now_ms=LONG_AFTER) for _ in range(4)]

    assert [(numbers[0], numbers[-1]) for numbers in removed[:3]] == [(1, 199), (200, 399), (400, 599)]
    assert removed[3] == ()
    assert version_numbers(state) == list(range(600, 1_651))


def test_a_crash_while_pruning_leaves_no_hole() -> None:
    state = ledger_of(1200)
    deletes = 0

    def die_at_the_third(request: object) -> Fault | None:
        nonlocal deletes
        deletes += getattr(request, "method", "") == "delete"
        return Fault.CRASH_AFTER if deletes == 3 else None

    with pytest.raises(Crash):
        prune(MemoryStorage(state.disk, die_at_the_third), now_ms=LONG_AFTER)

    assert version_numbers(state) == list(range(4, 1201))
    assert prune(state, now_ms=LONG_AFTER) == tuple(range(4, 200))


def test_an_empty_ledger_has_nothing_to_prune() -> None:
    assert prune(MemoryStorage(), now_ms=LONG_AFTER) == ()


def test_a_ledger_without_any_snapshot_is_corrupt() -> None:
    state = ledger_of(5)
    state.delete(path_of(1))

    with pytest.raises(LedgerCorruptError) as caught:
        state_at(state, 5)
    assert str(caught.value) == (
        "No version from 2 to 5 of the ledger holds the whole state "
        "[file=ledger/00000000000000000002.json, state=memory:///zone]. Remedy: put the missing or damaged versions "
        "back from a backup of the state storage; without one, stop every bridge of this zone and "
        "`cdc-bridge ledger rebuild CONFIG`"
    )


def test_damage_below_the_last_snapshot_stops_nobody() -> None:
    state = ledger_of(150)
    for number in (99, 60):
        state.put(path_of(number), b"damaged")

    assert state_at(state, 150).version == 150
    with pytest.raises(LedgerCorruptError, match="Version 99 of the ledger cannot be read"):
        state_at(state, 99)


def test_a_version_that_vanishes_while_it_is_read_is_reported() -> None:
    state = ledger_of(3)

    def vanish(request: object) -> None:
        if getattr(request, "method", "") == "read":
            state.disk.files.pop(path_of(3), None)

    with pytest.raises(LedgerCorruptError, match="Version 3 of the ledger cannot be read: it vanished"):
        list(versions(MemoryStorage(state.disk, vanish)))
