"""An error that the lander does not foresee stops the table, not the query; errors of the machine pass through."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from connectors.errors import Terminal
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.storage.local import LocalStorage
from streaming.landing import table_writer
from streaming.landing.files import TableFile
from streaming.plan import TableOptions, TableResult
from streaming.policies import OnCastFailure
from streaming.task.guarded import GuardedLander
from tests.unit.streaming.events import ORDERS, Event, landed, new_table, plan, rows

FIRST = [Event("c", {"id": 1, "name": "7"}), Event("c", {"id": 2, "name": "bad"})]
SECOND = [Event("c", {"id": 3, "name": "8"}), Event("c", {"id": 4, "name": "9"})]
LETTERS = TableOptions(casts=(("name", "int32"),), on_cast_failure=OnCastFailure.DEAD_LETTER)


def guarded(zone: Path, *, direct: bool = True) -> GuardedLander:
    partitions = (0,) if direct else (0, 1, 2)
    batch_plan = plan(zone, options=LETTERS, partitions=partitions)
    return GuardedLander(batch_plan, ORDERS, "public.orders", new_table(), LocalStorage(zone), direct=direct)


def fails_from(
    monkeypatch: pytest.MonkeyPatch, call: int, error: Exception, where: Any = table_writer, name: str = "mark"
) -> None:
    """Let the function raise from its n-th call on."""
    whole, calls = getattr(where, name), [0]

    def breaking(*args: Any, **named: Any) -> Any:
        calls[0] += 1
        if calls[0] >= call:
            raise error
        return whole(*args, **named)

    monkeypatch.setattr(where, name, breaking)


def land_all(lander: GuardedLander, *slices: Sequence[Event]) -> TableResult:
    offset = 5
    for events in slices:
        lander.add(rows(events, first_offset=offset))
        offset += len(events)
    return lander.finish()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (1, pa.ArrowInvalid("no room\nfor it")),
        (2, pa.ArrowTypeError("no room")),
        (2, KeyError("no room")),
        (2, ValueError("no room")),
        (1, ZeroDivisionError("no room")),
        (2, AttributeError("no room")),
        (1, RecursionError("no room")),
    ],
)
def test_an_unforeseen_error_parks_the_table_before_the_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int, error: Exception
) -> None:
    fails_from(monkeypatch, call, error)
    lander = guarded(tmp_path)
    result = land_all(lander, FIRST, SECOND)
    parked = result.state.parked
    assert parked is not None
    assert (parked.reason, parked.offset, parked.resume) == ("unexpected", 5, {"shop.public.orders": {0: 5}})
    assert (result.file, result.events, parked.skipped, lander.left_out) == (None, 4, 4, [])
    assert (result.state.status, result.state.sequence) == (TableStatus.PARKED, 0)
    assert parked.message.startswith(
        f"landing the table's events failed in a way that the bridge does not foresee: {type(error).__name__} at "
    )
    assert "no room" not in parked.message, "what an error says may quote a row, and the status page shows the message"
    assert parked.remedy == (
        "change the option of the table that is at fault (a cast, an added column), or leave out the column whose "
        "values are (columns.exclude), and restart the bridge; then `cdc-bridge resume CONFIG TABLE`"
    )


def test_an_unforeseen_error_at_the_files_end_parks_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fails_from(monkeypatch, 1, pa.ArrowInvalid("no room"), TableFile, "stage")
    result = land_all(guarded(tmp_path), FIRST, SECOND)
    assert result.state.parked is not None
    assert (result.state.parked.offset, result.state.parked.skipped, result.file) == (5, 4, None)


def test_a_merged_table_resumes_at_the_first_event_of_each_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails_from(monkeypatch, 2, TypeError("no room"))
    lander = guarded(tmp_path, direct=False)
    for partition, offset in ((1, 20), (0, 10), (1, 21)):
        lander.add(rows(SECOND[:1], partition=partition, first_offset=offset))
    parked = lander.finish().state.parked
    assert parked is not None
    assert (parked.partition, parked.offset, parked.skipped) == (1, 20, 3)
    assert parked.resume == {"shop.public.orders": {0: 10, 1: 20, 2: 1_000}}


@pytest.mark.parametrize(
    "error",
    [
        Terminal("the zone is closed", remedy="open it"),
        OSError("disk full"),
        MemoryError("none left"),
        pa.ArrowMemoryError("none left"),
        pa.ArrowCancelled("ended"),
    ],
)
def test_errors_on_purpose_and_of_the_machine_pass_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    fails_from(monkeypatch, 1, error)
    with pytest.raises(type(error)) as raised:
        land_all(guarded(tmp_path), FIRST)
    assert raised.value is error


def test_without_an_error_everything_lands(tmp_path: Path) -> None:
    lander = guarded(tmp_path)
    result = land_all(lander, FIRST, SECOND)
    assert [row["id"] for row in landed(tmp_path, result)] == [1, 3, 4]
    assert [record.offset for record in lander.left_out] == [6]
