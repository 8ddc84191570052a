"""The settings of now decide whether a table that an event has parked is rebuilt."""

from __future__ import annotations

import pytest

from streaming.lifecycle.asked_rebuilds import settings_ask
from streaming.plan import TableOptions
from streaming.policies import OnDrop, OnKeyChange, OnResnapshot, OnTruncate, OnTypeChange

ASKING = TableOptions(
    on_truncate=OnTruncate.REBUILD,
    on_resnapshot=OnResnapshot.REBUILD,
    on_type_change=OnTypeChange.REBUILD,
    on_key_change=OnKeyChange.REBUILD,
    on_drop=OnDrop.DROP,
)
PARKING = TableOptions(
    on_truncate=OnTruncate.PARK,
    on_resnapshot=OnResnapshot.PARK,
    on_type_change=OnTypeChange.PARK,
    on_key_change=OnKeyChange.PARK,
    on_drop=OnDrop.KEEP,
)


@pytest.mark.parametrize(
    "reason", ["truncate", "recreated", "second_snapshot", "type_changed", "key_changed", "dropped"]
)
def test_each_policy_decides_about_its_own_reason(reason: str) -> None:
    assert settings_ask(reason, ASKING)
    assert not settings_ask(reason, PARKING)


def test_what_no_policy_decides_about_goes_on() -> None:
    assert settings_ask("something_else", PARKING)
