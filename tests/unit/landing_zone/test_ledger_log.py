from __future__ import annotations

from dataclasses import replace as with_fields

import msgspec
import pytest
from msgspec.structs import replace

from connectors.landing_zone.errors import (
    EarlierAttemptError,
    FencedError,
    InvalidDraftError,
    LedgerCorruptError,
    StorageError,
)
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.history import prune
from connectors.landing_zone.ledger.log import CLAIM_ATTEMPTS, SNAPSHOT_COPY
from connectors.landing_zone.ledger.state import LedgerState, TopicOffsets, Version, VersionKind
from connectors.landing_zone.ledger.version_file import path_of, read_version
from tests.unit.landing_zone.ledger_builders import (
    NOON_MS,
    ORDERS,
    batch,
    claimed,
    fill,
    landed,
    noon,
    offsets_only,
    opened,
    planned,
    table,
)
from tests.unit.landing_zone.memory_storage import Fault, Hook, MemoryStorage, Request

WEEK_MS = 7 * 24 * 3600 * 1000


def on_first(method: str, path: str, *faults: Fault) -> Hook:
    """``faults``, one after the other, for the first requests of ``method`` for ``path``."""
    left = list(faults)

    def hook(request: Request) -> Fault | None:
        return left.pop(0) if left and (request.method, request.path) == (method, path) else None

    return hook


def test_an_empty_state_storage_is_a_ledger_at_version_0() -> None:
    assert opened(MemoryStorage()).state == LedgerState(ledger_id="", version=0, epoch=0, writer="")


def test_a_first_claim_makes_the_ledgers_id_and_writes_the_whole_state() -> None:
    state = MemoryStorage()

    after = opened(state).claim("run-1", "pod-7")

    assert len(after.ledger_id) == 36
    assert after == LedgerState(ledger_id=after.ledger_id, version=1, epoch=1, writer="run-1")
    assert read_version(state, 1) == Version(
        version=1,
        kind=VersionKind.CLAIM,
        epoch=1,
        writer="run-1",
        host="pod-7",
        attempt=1,
        based_on=0,
        written_ms=NOON_MS,
        snapshot=after,
    )


def test_a_later_claim_raises_the_epoch_and_keeps_id_and_state() -> None:
    state = MemoryStorage()
    first = claimed(state, "run-1")
    before = first.commit(batch(1, 0, 3))

    after = claimed(state, "run-2").state

    assert after == replace(before, version=3, epoch=2, writer="run-2")


def test_a_version_is_json_that_a_person_can_read() -> None:
    state = MemoryStorage()
    claimed(state)

    text = state.files["ledger/00000000000000000001.json"].decode()

    assert text.startswith('{\n "version": 1,\n "kind": "claim",\n "epoch": 1,\n "writer": "run-1",')


def test_a_commit_binds_offsets_number_and_content() -> None:
    state = MemoryStorage()
    ledger = claimed(state)
    file = landed(1)

    after = ledger.commit(batch(1, 0, 3))

    assert after == LedgerState(
        ledger_id=after.ledger_id,
        version=2,
        epoch=1,
        writer="run-1",
        commits=1,
        topics={"orders": TopicOffsets("T1", {0: 3})},
        tables={ORDERS: table(1, sha256=file.sha256)},
        schemas={"s": "{}"},
        pending={ORDERS: file},
    )
    assert opened(state).state == after


def test_confirmed_files_are_left_out_of_the_next_versions_pending() -> None:
    state = MemoryStorage()
    ledger = claimed(state)
    ledger.commit(batch(1, 0, 3))

    assert ledger.confirm([ORDERS]).pending == {}
    assert opened(state).state.pending == {ORDERS: landed(1)}

    ledger.commit(offsets_only(3, 4))
    assert opened(state).state.pending == {}


def test_files_not_confirmed_stay_pending_through_commits_and_claims() -> None:
    state = MemoryStorage()
    ledger = claimed(state)
    ledger.commit(batch(1, 0, 3))
    ledger.commit(offsets_only(3, 4))

    assert claimed(state, "run-2").state.pending == {ORDERS: landed(1)}


def test_a_batch_is_not_committed_before_the_zone_is_claimed() -> None:
    with pytest.raises(InvalidDraftError) as caught:
        opened(MemoryStorage()).commit(offsets_only(0, 1))
    assert str(caught.value) == (
        "A batch was committed by a driver that has not claimed the zone [state=memory:///zone]. "
        "Remedy: claim the ledger first; this is a defect of the caller"
    )


def test_a_driver_whose_version_another_one_has_taken_is_fenced() -> None:
    state = MemoryStorage()
    first = claimed(state, "run-1")
    claimed(state, "run-2")

    with pytest.raises(FencedError) as caught:
        first.commit(batch(1, 0, 3))

    assert str(caught.value) == (
        "Another driver owns this landing zone: run-2 on host-of-run-2, by version 2 of the ledger, "
        "written 2026-01-01T12:00:00+00:00 [state=memory:///zone, epoch=2]. "
        "Remedy: leave the zone to that driver; if it is not running any more, start this one again: it will claim "
        "the zone and go on where the ledger ends"
    )


def test_a_fence_can_be_checked_without_writing() -> None:
    state = MemoryStorage()
    first = claimed(state, "run-1")
    first.check_fence()
    claimed(state, "run-2")

    with pytest.raises(FencedError, match="run-2 on host-of-run-2, by version 2"):
        first.check_fence()


def test_a_lost_claim_is_repeated_above_the_winner() -> None:
    state = MemoryStorage()
    loser = opened(state)
    winner = claimed(state, "run-1").state

    assert loser.claim("run-2", "host") == replace(winner, version=2, epoch=2, writer="run-2")


def test_a_driver_that_loses_every_claim_is_fenced() -> None:
    state = MemoryStorage()

    def another_claims_first(request: Request) -> None:
        if request.method == "put_if_absent":
            claimed(MemoryStorage(state.disk), f"rival-{request.number}")

    with pytest.raises(FencedError, match=f"by version {CLAIM_ATTEMPTS} of the ledger"):
        opened(MemoryStorage(state.disk, another_claims_first)).claim("run-1", "host")


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


def test_a_driver_that_slept_until_its_slot_was_pruned_is_fenced_and_leaves_no_trace() -> None:
    state = MemoryStorage()
    sleeper = claimed(state, "run-1")
    awake = claimed(state, "run-2")
    fill(awake, 1200)
    prune(state, now_ms=NOON_MS + WEEK_MS)
    files = dict(state.files)

    with pytest.raises(FencedError, match="run-2 on host-of-run-2, by version 1200"):
        sleeper.commit(batch(1, 0, 3))

    assert state.files == files


def test_a_driver_that_opened_an_empty_ledger_and_slept_for_ages_cannot_claim() -> None:
    state = MemoryStorage()
    sleeper = opened(state)
    fill(claimed(state, "run-2"), 1200)
    prune(state, now_ms=NOON_MS + WEEK_MS)
    files = dict(state.files)

    with pytest.raises(FencedError, match="run-2 on host-of-run-2, by version 1200"):
        sleeper.claim("run-1", "host")

    assert state.files == files


def test_a_late_write_far_below_the_kept_versions_does_not_spoil_the_ledger() -> None:
    state = MemoryStorage()
    awake = claimed(state, "run-2")
    stray = state.files[path_of(1)]
    fill(awake, 1200)
    prune(state, now_ms=NOON_MS + WEEK_MS)
    state.put(path_of(1), stray)

    assert opened(state).state == awake.state


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
        "Remedy: put the file back from a backup of the state storage, or rebuild the ledger from the landing zone; "
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
        "Remedy: put the file back from a backup of the state storage, or rebuild the ledger from the landing zone; "
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


def test_every_hundredth_version_holds_the_whole_state_and_copies_go_to_the_zone() -> None:
    state, zone = MemoryStorage(), MemoryStorage()
    ledger = opened(state, zone=zone)
    ledger.claim("run-1", "host")
    at_claim = msgspec.json.decode(zone.files[SNAPSHOT_COPY], type=LedgerState)

    fill(ledger, 101)

    assert at_claim.version == 1
    assert [n for n in range(1, 102) if read_version(state, n).snapshot is not None] == [1, 100]
    assert msgspec.json.decode(zone.files[SNAPSHOT_COPY], type=LedgerState) == read_version(state, 100).snapshot
    assert opened(state).state == ledger.state


def test_a_copy_that_cannot_be_written_does_not_undo_the_commit(caplog: pytest.LogCaptureFixture) -> None:
    zone = MemoryStorage(hook=lambda request: Fault.FAIL)
    ledger = opened(MemoryStorage(), zone=zone)

    assert ledger.claim("run-1", "host").version == 1
    assert "the copy of the ledger's snapshot was not written, the next one will be" in caplog.text


def test_commits_are_counted_and_claims_are_not() -> None:
    state = MemoryStorage()
    fill(claimed(state, "run-1"), 3)
    claimed(state, "run-2")
    ledger = claimed(state, "run-3")

    after = ledger.commit(Draft(planned=planned(3, 4)))

    assert (after.version, after.commits) == (6, 3)
    assert read_version(state, 6).commits == 3


def test_the_clock_is_asked_once_per_version() -> None:
    times = iter([NOON_MS, NOON_MS + 5])
    state = MemoryStorage()
    fill(claimed(state, now_ms=lambda: next(times)), 2)

    assert [read_version(state, n).written_ms for n in (1, 2)] == [noon(), noon() + 5]


def test_a_driver_that_is_fenced_while_its_slot_is_pruned_is_still_fenced() -> None:
    state = MemoryStorage()
    first = claimed(state, "run-1")
    fill(claimed(state, "run-2"), 1200)

    def prune_before_reading(request: Request) -> None:
        if request.method == "read" and request.path == path_of(2):
            prune(MemoryStorage(state.disk), now_ms=NOON_MS + WEEK_MS)

    state.hook = prune_before_reading
    with pytest.raises(FencedError, match="by version 1200 of the ledger"):
        first.commit(offsets_only(0, 1))
