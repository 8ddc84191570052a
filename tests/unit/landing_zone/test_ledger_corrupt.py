"""A ledger with a version that is missing or cannot be read names it, and what to do."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from connectors.landing_zone.errors import LedgerCorruptError
from connectors.landing_zone.ledger.apply import Stamp
from connectors.landing_zone.ledger.history import prune
from connectors.landing_zone.ledger.remains import put_in_place
from connectors.landing_zone.ledger.version_file import VERSIONS_AHEAD, path_of
from tests.unit.landing_zone.ledger_builders import NOON_MS, claimed, fill, offsets_only, opened
from tests.unit.landing_zone.memory_storage import MemoryStorage


def test_a_driver_whose_predecessor_vanished_for_no_reason_reports_the_loss_and_keeps_its_version() -> None:
    state = MemoryStorage()
    ledger = claimed(state)
    fill(ledger, 3)
    state.delete(path_of(3))

    with pytest.raises(LedgerCorruptError, match="Version 3 of the ledger is missing between 2 and 4"):
        ledger.commit(offsets_only(3, 4))

    assert path_of(4) in state.files


def test_a_missing_version_is_named() -> None:
    state = MemoryStorage()
    fill(claimed(state), 4)
    state.delete(path_of(3))

    with pytest.raises(LedgerCorruptError) as caught:
        opened(state)
    assert str(caught.value) == (
        "Version 3 of the ledger is missing between 2 and 4 "
        "[file=ledger/00000000000000000003.json, state=memory:///zone]. "
        "Remedy: put the missing or damaged versions back from a backup of the state storage; without one, stop every "
        "bridge of this zone and `cdc-bridge ledger rebuild CONFIG`; "
        "nothing is published until then"
    )


def test_a_late_version_of_a_driver_of_the_lost_ledger_stops_nobody_who_goes_on_with_the_new_one() -> None:
    state = MemoryStorage()
    fill(claimed(state), 4)
    put_in_place(state, replace(opened(state).state, version=4 + VERSIONS_AHEAD), Stamp("rebuild", "host", 1, NOON_MS))
    state.put(path_of(5), b"written by a driver that slept meanwhile")

    ledger = claimed(state, "run-2")
    for offset in range(4, 104):
        ledger.commit(offsets_only(offset, offset + 1))

    assert opened(state).state == ledger.state
    assert prune(state, now_ms=NOON_MS) == ()
    assert path_of(5) in state.files


def test_what_a_rebuild_that_was_cut_off_has_left_of_the_old_ledger_stops_the_start() -> None:
    state = MemoryStorage()
    fill(claimed(state), 4)
    put_in_place(state, replace(opened(state).state, version=4 + VERSIONS_AHEAD), Stamp("rebuild", "host", 1, NOON_MS))
    for number in (3, 4):
        state.put(path_of(number), b"not removed yet")

    with pytest.raises(LedgerCorruptError, match="Version 1000004 of the ledger is missing between 4 and 1000005"):
        opened(state)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "Input data was truncated"),
        (b'{"version": 3}', "Object missing required field `kind`"),
    ],
)
def test_an_unreadable_version_is_named(body: bytes, why: str) -> None:
    state = MemoryStorage()
    fill(claimed(state), 3)
    state.put(path_of(3), body)

    with pytest.raises(LedgerCorruptError) as caught:
        opened(state)
    assert str(caught.value) == (
        f"Version 3 of the ledger cannot be read: {why} "
        "[file=ledger/00000000000000000003.json, state=memory:///zone]. "
        "Remedy: put the missing or damaged versions back from a backup of the state storage; without one, stop every "
        "bridge of this zone and `cdc-bridge ledger rebuild CONFIG`; "
        "nothing is published until then"
    )


def test_a_version_under_another_ones_name_is_corrupt() -> None:
    state = MemoryStorage()
    fill(claimed(state), 3)
    state.put(path_of(3), state.files[path_of(2)])

    with pytest.raises(LedgerCorruptError, match="it says it is version 2, based on 1"):
        opened(state)


def test_files_that_are_no_versions_are_left_alone() -> None:
    state = MemoryStorage()
    ledger = claimed(state)
    state.put("ledger/notes.txt", b"mine")

    assert opened(state).state == ledger.state
