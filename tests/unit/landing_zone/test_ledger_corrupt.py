"""A ledger with a version that is missing or cannot be read names it, and what to do."""

from __future__ import annotations

import pytest

from connectors.landing_zone.errors import LedgerCorruptError
from connectors.landing_zone.ledger.version_file import path_of
from tests.unit.landing_zone.ledger_builders import claimed, fill, offsets_only, opened
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
