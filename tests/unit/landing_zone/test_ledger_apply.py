from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from connectors.landing_zone.ledger.apply import Stamp, apply, claim_version, commit_version
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import (
    KEPT_RUNS,
    LedgerState,
    Parked,
    PlannedTopic,
    TableStatus,
    TopicOffsets,
    Version,
    VersionKind,
)
from tests.unit.landing_zone.ledger_builders import ORDERS, landed, table

STAMP = Stamp(writer="run-2", host="pod-7", attempt=9, written_ms=1234)
STATE = LedgerState(
    ledger_id="L",
    version=7,
    epoch=2,
    writer="run-2",
    commits=5,
    topics={"orders": TopicOffsets("T1", {0: 10, 1: 4})},
    tables={ORDERS: table(3), "public.items": table(8, name="items")},
    schemas={"s": "{}"},
    pending={"public.items": landed(8, name="items")},
    merging=("orders",),
    counters={"dead_letters": 1, "skipped.tombstone": 2},
)
WIDER = replace(landed(4), schema="s2")
DRAFT = Draft(
    planned={"orders": PlannedTopic("T1", {1: (4, 9)}), "items": PlannedTopic("T2", {0: (5, 5)})},
    files={ORDERS: WIDER},
    tables={ORDERS: replace(table(3), schema="s2", late=1), "public.items": table(8, name="items")},
    schemas={"s": "{}", "s2": "{}"},
    merging=("items", "orders"),
    counters={"skipped.tombstone": 3, "skipped.heartbeat": 1, "late": 0},
)
COMMITTED = Version(
    version=8,
    kind=VersionKind.COMMIT,
    epoch=2,
    writer="run-2",
    host="pod-7",
    attempt=9,
    based_on=7,
    written_ms=1234,
    commits=6,
    planned=dict(DRAFT.planned),
    files={ORDERS: WIDER},
    tables={ORDERS: replace(table(4, sha256=landed(4).sha256), schema="s2", late=1)},
    schemas={"s2": "{}"},
    pending={"public.items": landed(8, name="items"), ORDERS: WIDER},
    merging=("items",),
    counters={"skipped.tombstone": 3, "skipped.heartbeat": 1},
)


def test_a_commit_version_holds_what_changes() -> None:
    assert commit_version(STATE, DRAFT, STAMP) == COMMITTED


def test_a_commit_is_added_to_the_state_before() -> None:
    assert apply(STATE, COMMITTED) == LedgerState(
        ledger_id="L",
        version=8,
        epoch=2,
        writer="run-2",
        commits=6,
        topics={"orders": TopicOffsets("T1", {0: 10, 1: 9}), "items": TopicOffsets("T2", {0: 5})},
        tables={**STATE.tables, **COMMITTED.tables},
        schemas={"s": "{}", "s2": "{}"},
        pending=COMMITTED.pending,
        merging=("items", "orders"),
        counters={"dead_letters": 1, "skipped.heartbeat": 1, "skipped.tombstone": 5},
    )


def test_a_table_that_the_draft_does_not_mention_takes_number_and_digest_from_its_file() -> None:
    version = commit_version(STATE, Draft(files={ORDERS: landed(4)}), STAMP)

    assert version.tables == {ORDERS: table(4, sha256=landed(4).sha256)}


def test_a_claim_changes_nothing_but_version_epoch_and_writer() -> None:
    version = claim_version(STATE, Stamp("run-3", "pod-8", 1, 99), new_id="unused")

    after = replace(STATE, version=8, epoch=3, writer="run-3")
    assert version == Version(
        version=8,
        kind=VersionKind.CLAIM,
        epoch=3,
        writer="run-3",
        host="pod-8",
        attempt=1,
        based_on=7,
        written_ms=99,
        commits=5,
        pending=STATE.pending,
        snapshot=after,
    )
    assert apply(STATE, version) == after


def test_the_snapshot_of_every_hundredth_version_is_the_state_after_it() -> None:
    state = replace(STATE, version=99)

    version = commit_version(state, DRAFT, STAMP)

    assert version.snapshot == apply(state, version)


def test_a_leader_epoch_holds_for_the_offset_that_it_was_seen_with() -> None:
    state = replace(STATE, topics={"orders": TopicOffsets("T1", {0: 10, 1: 4, 2: 7}, {0: 3, 1: 3, 2: 3})})

    def after(*planned: PlannedTopic) -> dict[int, int]:
        """The epochs after versions with these ranges."""
        reached = state
        for plan in planned:
            reached = apply(reached, commit_version(reached, Draft(planned={"orders": plan}), STAMP))
        return reached.topics["orders"].epochs

    assert after(PlannedTopic("T1", {0: (10, 12), 1: (4, 4)}, {0: 5})) == {0: 5, 1: 3, 2: 3}
    assert after(PlannedTopic("T1", {0: (10, 12), 1: (4, 4)})) == {1: 3, 2: 3}
    assert after(PlannedTopic("T1", {0: (10, 12)}), PlannedTopic("T1", {0: (12, 13)}, {0: 6})) == {0: 6, 1: 3, 2: 3}
    assert after(PlannedTopic("T2", {0: (0, 0)}, {0: 1})) == {0: 1}


def test_the_offsets_of_an_earlier_release_have_no_leader_epochs() -> None:
    assert msgspec.json.decode(b'{"id": "T1", "partitions": {"0": 10}}', type=TopicOffsets) == TopicOffsets(
        "T1", {0: 10}
    )


@pytest.mark.parametrize("number", [7, 9])
def test_only_the_next_version_can_be_applied(number: int) -> None:
    with pytest.raises(ValueError, match=f"version {number} does not follow 7"):
        apply(STATE, replace(COMMITTED, version=number))


def test_a_version_gives_up_pending_files_and_remembers_handled_requests() -> None:
    state = replace(STATE, pending={ORDERS: landed(3)}, tables={ORDERS: table(3)}, handled=("a",))
    deleting = replace(table(3), status=TableStatus.DELETING)
    draft = Draft(tables={ORDERS: deleting}, dropped=(ORDERS,), handled=("b",))
    after = apply(state, commit_version(state, draft, STAMP))
    assert (after.pending, after.handled, after.tables[ORDERS].status) == ({}, ("a", "b"), TableStatus.DELETING)


def test_a_version_holds_the_runs_that_are_new_or_have_a_newer_record() -> None:
    state = replace(STATE, runs={"shop": {"a": 10, "b": 20}, "mall": {"x": 5}})
    version = commit_version(state, Draft(runs={"shop": {"a": 9, "b": 21, "c": 3}, "mall": {"x": 5}}), STAMP)
    assert version.runs == {"shop": {"b": 21, "c": 3}}
    assert apply(state, version).runs == {"shop": {"a": 10, "b": 21, "c": 3}, "mall": {"x": 5}}


def test_the_state_keeps_the_runs_with_the_newest_records() -> None:
    runs = {f"run-{number:02d}": number for number in range(1, KEPT_RUNS + 3)}
    after = apply(STATE, commit_version(STATE, Draft(runs={"shop": runs}), STAMP))
    assert after.runs == {"shop": {run: at for run, at in runs.items() if at > 2}}


def test_a_version_holds_no_more_runs_than_the_state_keeps() -> None:
    state = replace(STATE, runs={"shop": {"old": 7}})
    runs = {f"run-{number:04d}": number for number in range(1, 1_000)}
    version = commit_version(state, Draft(runs={"shop": runs}), STAMP)
    assert version.runs == {"shop": {run: at for run, at in runs.items() if at >= 1_000 - KEPT_RUNS}}
    assert apply(state, version).runs == version.runs


def test_the_state_keeps_the_schemas_that_tables_and_pending_files_have() -> None:
    wider = Draft(tables={ORDERS: replace(table(3), schema="s2")}, schemas={"s2": "{}"})
    state = replace(STATE, tables={ORDERS: table(3)}, pending={ORDERS: landed(3)})
    waiting = apply(state, commit_version(state, wider, STAMP))
    assert waiting.schemas == {"s": "{}", "s2": "{}"}
    published = replace(waiting, pending={})
    after = apply(published, commit_version(published, Draft(), STAMP))
    assert after.schemas == {"s2": "{}"}
    back = Draft(tables={ORDERS: table(3)}, schemas={"s": "{}"})
    assert apply(after, commit_version(after, back, STAMP)).schemas == {"s": "{}"}


def test_what_a_parked_table_is_to_be_told_names_it() -> None:
    remedy = "`cdc-bridge resync CONFIG TABLE`; or restore the key and `cdc-bridge resume CONFIG TABLE`"
    parked = Parked("key_changed", "m", remedy, "orders", 0, 3)
    tables = {name: replace(table(3), parked=parked) for name in ("public.orders", "a b")}
    version = commit_version(STATE, Draft(tables=tables), STAMP)
    said = {name: each.parked.remedy for name, each in version.tables.items() if each.parked is not None}
    assert said == {
        "public.orders": "`cdc-bridge resync CONFIG public.orders`; or restore the key and "
        "`cdc-bridge resume CONFIG public.orders`",
        "a b": "`cdc-bridge resync CONFIG 'a b'`; or restore the key and `cdc-bridge resume CONFIG 'a b'`",
    }
