"""The ledger's versions: what a claim and a commit write, and what they leave as they found it."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from connectors.landing_zone.ledger.copying import SNAPSHOT_COPY
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import LedgerState, TopicOffsets, Version, VersionKind
from connectors.landing_zone.ledger.version_file import read_version
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
from tests.unit.landing_zone.memory_storage import MemoryStorage


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
