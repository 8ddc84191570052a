"""Versions that a driver prunes while another process reads the ledger or sleeps: no damage, no way round the fence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from connectors.landing_zone.errors import FencedError, LedgerCorruptError, StorageError
from connectors.landing_zone.ledger.history import prune, versions
from connectors.landing_zone.ledger.remains import newest_copy
from connectors.landing_zone.ledger.version_file import path_of, read_kept_version, version_numbers
from connectors.landing_zone.removal import remove_folder
from tests.unit.landing_zone.ledger_builders import (
    NOON_MS,
    ORDERS,
    ORDERS_FOLDER,
    WEEK_MS,
    claimed,
    fill,
    opened,
)
from tests.unit.landing_zone.memory_storage import Disk, MemoryStorage, Request

LONG_AFTER = NOON_MS + WEEK_MS


def ledger_of(count: int) -> MemoryStorage:
    state = MemoryStorage()
    fill(claimed(state), count)
    return state


def pruning_before(number: int, disk: Disk) -> Callable[[Request], None]:
    """Another driver prunes right before version ``number`` is read."""

    def hook(request: Request) -> None:
        if (request.method, request.path) == ("read", path_of(number)):
            prune(MemoryStorage(disk), now_ms=LONG_AFTER)

    return hook


def test_a_list_of_versions_ends_where_the_rest_is_pruned_meanwhile() -> None:
    state = ledger_of(1200)
    state.hook = pruning_before(150, state.disk)

    listed = [version.version for version in versions(state, threads=1)]

    assert listed == list(range(1200, 150, -1))


def test_of_two_drivers_that_prune_one_leaves_it_to_the_other() -> None:
    state = ledger_of(1200)
    state.hook = pruning_before(100, state.disk)

    assert prune(state, now_ms=LONG_AFTER) == ()
    assert version_numbers(MemoryStorage(state.disk)) == list(range(200, 1201))


def test_a_version_that_was_pruned_after_it_was_listed_is_no_damage() -> None:
    state = ledger_of(1200)
    prune(state, now_ms=LONG_AFTER)

    with pytest.raises(StorageError) as caught:
        read_kept_version(state, 5)

    assert str(caught.value) == (
        "Version 5 of the ledger was pruned after it was listed [file=ledger/00000000000000000005.json, "
        "state=memory:///zone]. Remedy: nothing: the ledger is read again"
    )


def test_a_pruned_version_that_a_late_request_writes_again_is_no_damage() -> None:
    """A driver dies while it prunes; the request that then arrives is of one that died before version 100 was there."""
    state = ledger_of(1200)
    files, body = state.disk.files, state.disk.files[path_of(100)]

    def hook(request: Request) -> None:
        if (request.method, request.path) == ("read", path_of(100)) and path_of(1) in files:
            for number in range(1, 101):
                del files[path_of(number)]
        elif request.method == "list" and path_of(1) not in files:
            files[path_of(100)] = body

    state.hook = hook

    assert prune(state, now_ms=LONG_AFTER) == tuple(range(1, 200))
    assert version_numbers(MemoryStorage(state.disk)) == list(range(200, 1201))


def test_a_version_that_a_late_request_wrote_keeps_nobody_from_the_newest_state_of_a_damaged_ledger() -> None:
    state = ledger_of(1200)
    late, ledger_id = state.files[path_of(5)], opened(state).state.ledger_id
    prune(state, now_ms=LONG_AFTER)
    state.put(path_of(5), late)
    for number in range(203, 1201):
        state.put(path_of(number), b"{")

    found = newest_copy(MemoryStorage(), state, ledger_id)

    assert found is not None
    assert found.version == 202


def test_a_version_that_vanishes_otherwise_is_damage() -> None:
    state = ledger_of(3)
    del state.files[path_of(3)]

    with pytest.raises(LedgerCorruptError, match="Version 3 of the ledger cannot be read: it vanished after"):
        read_kept_version(state, 3)


def test_a_fence_holds_although_the_next_version_was_pruned() -> None:
    """The folder that a sleeper was about to remove is the present owner's by then."""
    state = MemoryStorage()
    sleeper = claimed(state, "run-1")
    fill(claimed(state, "run-2"), 1200)
    prune(state, now_ms=LONG_AFTER)
    zone = MemoryStorage()
    zone.put(f"{ORDERS_FOLDER}/_metadata.json", b"{}")

    with pytest.raises(FencedError, match="run-2 on host-of-run-2, by version 1200"):
        remove_folder(zone, ORDERS, ORDERS_FOLDER, sleeper.check_fence)

    assert f"{ORDERS_FOLDER}/_metadata.json" in zone.files


def test_a_fence_holds_for_a_driver_that_opened_an_empty_ledger_and_slept_for_ages() -> None:
    state = MemoryStorage()
    sleeper = opened(state)
    fill(claimed(state, "run-2"), 1200)
    prune(state, now_ms=LONG_AFTER)

    with pytest.raises(FencedError, match="run-2 on host-of-run-2, by version 1200"):
        sleeper.check_fence()


def test_a_ledger_that_is_lost_between_the_write_of_a_version_and_the_look_at_its_place_is_told_as_lost() -> None:
    state = MemoryStorage()
    driver = claimed(state)

    def lose(request: Request) -> None:
        if (request.method, request.path) == ("read", path_of(1)):
            state.files.clear()

    state.hook = lose
    with pytest.raises(LedgerCorruptError) as caught:
        fill(driver, 2)

    assert str(caught.value) == (
        "The ledger is gone: version 1 was its newest one [state=memory:///zone]. Remedy: put the missing or damaged "
        "versions back from a backup of the state storage; without one, stop every bridge of this zone and "
        "`cdc-bridge ledger rebuild CONFIG`; nothing is published until then"
    )


def test_a_ledger_that_is_lost_while_a_driver_claims_it_is_told_as_lost_and_none_is_begun_in_its_place() -> None:
    state = MemoryStorage()
    starting = opened(state)
    claimed(state, "run-2")

    def lose(request: Request) -> None:
        if request.method == "list":
            state.files.clear()

    state.hook = lose
    with pytest.raises(LedgerCorruptError, match="The ledger is gone: version 1 was its newest one"):
        starting.claim("run-1", "host")

    assert state.files == {}


@pytest.mark.parametrize("upto", [1, 99], ids=["a version of changes", "a version with a snapshot"])
def test_a_driver_that_slept_while_the_ledger_was_lost_is_told_so_and_leaves_no_version_in_its_place(upto: int) -> None:
    state = MemoryStorage()
    sleeper = claimed(state, "run-1")
    fill(sleeper, upto)
    claimed(state, "run-2")
    state.files.clear()

    with pytest.raises(LedgerCorruptError, match=f"The ledger is gone: version {upto} was its newest one"):
        fill(sleeper, upto + 1)

    assert state.files == {}


def test_a_start_that_slept_while_the_ledger_was_lost_is_told_so_and_begins_none_in_its_place() -> None:
    state = MemoryStorage()
    fill(claimed(state, "run-1"), 3)
    starting = opened(state)
    claimed(state, "run-2")
    state.files.clear()

    with pytest.raises(LedgerCorruptError, match="The ledger is gone: version 3 was its newest one"):
        starting.claim("run-3", "host")

    assert state.files == {}


@pytest.mark.parametrize("upto", [1, 2, 3, 99], ids=["before", "as far", "further", "a snapshot next"])
def test_a_driver_that_wakes_up_in_another_ledger_changes_nothing_there(upto: int) -> None:
    """Somebody has emptied the state storage, and another ledger has begun there."""
    state = MemoryStorage()
    sleeper = claimed(state, "run-1")
    fill(sleeper, upto)
    state.files.clear()
    other = claimed(state, "run-2")
    fill(other, min(upto, 2))
    before = dict(state.files)

    with pytest.raises(FencedError, match="run-2 on host-of-run-2, by version"):
        fill(sleeper, upto + 1)

    assert state.files == before
    fill(other, 5)
    assert opened(state).state.version == 5


def test_a_start_that_wakes_up_in_another_ledger_claims_nothing_there() -> None:
    state = MemoryStorage()
    fill(claimed(state, "run-1"), 2)
    starting = opened(state)
    state.files.clear()
    fill(claimed(state, "run-2"), 2)
    before = dict(state.files)

    with pytest.raises(FencedError, match="run-2 on host-of-run-2, by version 2"):
        starting.claim("run-3", "host")

    assert state.files == before
