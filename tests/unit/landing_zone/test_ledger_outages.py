"""A ledger whose storage loses answers, lags or fails: what was written counts once."""

from __future__ import annotations

from dataclasses import replace as with_fields

import pytest
from msgspec.structs import replace

from connectors.landing_zone.errors import EarlierAttemptError, FencedError, StorageError
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.history import prune
from connectors.landing_zone.ledger.state import TopicOffsets
from connectors.landing_zone.ledger.version_file import path_of
from tests.unit.landing_zone.ledger_builders import NOON_MS, ORDERS, WEEK_MS, batch, claimed, fill, landed, opened
from tests.unit.landing_zone.memory_storage import Fault, MemoryStorage, on_first


def test_a_version_that_the_listing_does_not_show_yet_is_found() -> None:
    class Lagging(MemoryStorage):
        def list(self, folder: str) -> list:
            return super().list(folder)[:-2]

    state = MemoryStorage()
    ledger = claimed(state)
    fill(ledger, 5)

    assert opened(Lagging(state.disk)).state == ledger.state


def test_a_commit_whose_answer_was_lost_is_committed() -> None:
    state = MemoryStorage(hook=on_first("put_if_absent", path_of(2), Fault.LOSE_ANSWER))

    after = claimed(state).commit(batch(1, 0, 3))

    assert after.version == 2
    assert opened(state).state == after


def outage_during_commit(state: MemoryStorage, *faults: Fault) -> None:
    state.hook = on_first("put_if_absent", path_of(2), *faults)


def test_the_same_batch_committed_again_after_an_outage_keeps_the_attempt_that_was_written() -> None:
    state = MemoryStorage()
    ledger = claimed(state)
    outage_during_commit(state, Fault.LOSE_ANSWER, *[Fault.FAIL] * 4)
    with pytest.raises(StorageError):
        ledger.commit(batch(1, 0, 3))
    again = batch(1, 0, 3)
    restaged = with_fields(again, files={ORDERS: replace(again.files[ORDERS], staged="_scratchPad/other")})

    after = ledger.commit(restaged)

    assert after.pending == {ORDERS: landed(1)}
    assert opened(state).state == after


def test_another_batch_after_an_outage_is_refused_once_the_first_turns_out_to_be_written() -> None:
    state = MemoryStorage()
    ledger = claimed(state)
    outage_during_commit(state, Fault.LOSE_ANSWER, *[Fault.FAIL] * 4)
    with pytest.raises(StorageError):
        ledger.commit(batch(1, 0, 3))

    with pytest.raises(EarlierAttemptError) as caught:
        ledger.commit(batch(1, 0, 9, b"more rows"))

    assert str(caught.value) == (
        "An earlier commit of this driver, whose answer was lost, is version 2 of the ledger "
        "[file=ledger/00000000000000000002.json, state=memory:///zone]. "
        "Remedy: nothing is lost: the batch is planned again from the offsets recorded there"
    )
    assert ledger.state == opened(state).state
    assert ledger.state.topics == {"orders": TopicOffsets("T1", {0: 3})}


def test_a_driver_does_not_fence_itself_by_a_version_whose_answer_was_lost() -> None:
    state = MemoryStorage()
    ledger = claimed(state)
    outage_during_commit(state, Fault.LOSE_ANSWER, *[Fault.FAIL] * 4)
    with pytest.raises(StorageError):
        ledger.commit(batch(1, 0, 3))

    with pytest.raises(EarlierAttemptError, match="is version 2 of the ledger"):
        ledger.check_fence()

    assert ledger.state == opened(state).state
    ledger.check_fence()
    claimed(state, "run-2")
    with pytest.raises(FencedError, match="run-2 on host-of-run-2, by version 3"):
        ledger.check_fence()


def test_a_driver_is_fenced_by_another_one_behind_its_own_version_whose_answer_was_lost() -> None:
    state = MemoryStorage()
    ledger = claimed(state)
    outage_during_commit(state, Fault.LOSE_ANSWER, *[Fault.FAIL] * 4)
    with pytest.raises(StorageError):
        ledger.commit(batch(1, 0, 3))
    claimed(state, "run-2")

    with pytest.raises(EarlierAttemptError):
        ledger.check_fence()
    with pytest.raises(FencedError, match="run-2 on host-of-run-2, by version 3"):
        ledger.check_fence()


def test_a_version_without_offsets_counts_as_committed_only_if_it_is_the_same() -> None:
    state = MemoryStorage()
    ledger = claimed(state)
    outage_during_commit(state, Fault.LOSE_ANSWER, *[Fault.FAIL] * 4)
    with pytest.raises(StorageError):
        ledger.commit(Draft(merging=("orders",)))
    assert ledger.commit(Draft(merging=("orders",))).merging == ("orders",)

    state.hook = on_first("put_if_absent", path_of(3), Fault.LOSE_ANSWER, *[Fault.FAIL] * 4)
    with pytest.raises(StorageError):
        ledger.commit(Draft(merging=("items",)))
    with pytest.raises(EarlierAttemptError):
        ledger.commit(Draft(merging=("returns",)))
    assert ledger.state.merging == ("items", "orders")


def test_a_late_write_far_below_the_kept_versions_does_not_spoil_the_ledger() -> None:
    state = MemoryStorage()
    awake = claimed(state, "run-2")
    stray = state.files[path_of(1)]
    fill(awake, 1200)
    prune(state, now_ms=NOON_MS + WEEK_MS)
    state.put(path_of(1), stray)

    assert opened(state).state == awake.state


def test_a_copy_that_cannot_be_written_does_not_undo_the_commit(caplog: pytest.LogCaptureFixture) -> None:
    zone = MemoryStorage(hook=lambda request: Fault.FAIL if request.writes else None)
    ledger = opened(MemoryStorage(), zone=zone)

    assert ledger.claim("run-1", "host").version == 1
    assert "the copy of the ledger's state was not written, the next version's will be" in caplog.text
