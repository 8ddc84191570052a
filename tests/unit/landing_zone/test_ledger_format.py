"""A ledger that a newer release has written is refused, not misread; one of the first release has format 1."""

from __future__ import annotations

import json
from typing import Any

import pytest

from connectors.landing_zone.errors import LedgerFormatError
from connectors.landing_zone.ledger.history import read_version, versions
from connectors.landing_zone.ledger.state import FORMAT
from connectors.landing_zone.ledger.version_file import path_of
from tests.unit.landing_zone.ledger_builders import claimed, fill, offsets_only, opened
from tests.unit.landing_zone.memory_storage import MemoryStorage


def rewrite(state: MemoryStorage, number: int, **changes: Any) -> None:
    """Change members of a version; None takes one away."""
    version = json.loads(state.files[path_of(number)]) | changes
    kept = {name: value for name, value in version.items() if value is not None}
    state.put(path_of(number), json.dumps(kept).encode())


def test_every_version_says_its_format() -> None:
    state = MemoryStorage()
    fill(claimed(state), 2)
    assert [json.loads(state.files[path_of(number)])["format"] for number in (1, 2)] == [FORMAT, FORMAT]


def test_a_version_of_a_newer_format_is_refused_before_anything_else_of_it_is_read() -> None:
    state = MemoryStorage()
    fill(claimed(state), 3)
    rewrite(state, 3, format=FORMAT + 1, kind="something new", based_on=None)
    before = dict(state.files)

    with pytest.raises(LedgerFormatError) as caught:
        opened(state)

    assert str(caught.value) == (
        f"Version 3 of the ledger is written in format {FORMAT + 1}, and this release knows none above {FORMAT} "
        "[file=ledger/00000000000000000003.json, state=memory:///zone]. "
        "Remedy: go on with the release that wrote it, or a newer one (`cdc-bridge version` is this one's); nothing "
        "was changed"
    )
    with pytest.raises(LedgerFormatError):
        read_version(state, 3)
    with pytest.raises(LedgerFormatError):
        list(versions(state))
    assert state.files == before


def test_a_driver_that_a_newer_release_has_taken_the_zone_from_publishes_nothing_more() -> None:
    state = MemoryStorage()
    ledger = claimed(state)
    fill(ledger, 2)
    newer = opened(state)
    newer.claim("newer", "elsewhere")
    rewrite(state, newer.state.version, format=FORMAT + 1)
    before = dict(state.files)

    with pytest.raises(LedgerFormatError):
        ledger.commit(offsets_only(2, 3))

    assert state.files == before


def test_a_version_that_says_no_format_is_one_of_the_first_release() -> None:
    state = MemoryStorage()
    fill(claimed(state), 3)
    wanted = opened(state).state
    for number in range(1, 4):
        rewrite(state, number, format=None)
    assert opened(state).state == wanted
    assert read_version(state, 3).format == 1
