from __future__ import annotations

from dataclasses import replace as with_fields

import pytest
from msgspec.structs import replace

from connectors.landing_zone.errors import InvalidDraftError, OffsetGapError, TopicRecreatedError
from connectors.landing_zone.ledger.draft import Draft, check
from connectors.landing_zone.ledger.state import (
    LandedFile,
    LedgerState,
    PlannedTopic,
    TableState,
    TableStatus,
    TopicOffsets,
)
from tests.unit.landing_zone.ledger_builders import ORDERS, landed, offsets_only, planned, table

DEFECT = (
    "Remedy: restart the bridge: nothing was written, and the batch is planned anew from where the ledger ends; if it "
    "stops here again, `cdc-bridge ledger log CONFIG` shows what was recorded last; after an upgrade go back to the "
    "release before"
)
RESTART = "Remedy: set the streaming checkpoint aside and restart, so that reading begins where the ledger ends"
STATE = LedgerState(
    ledger_id="L",
    version=7,
    epoch=1,
    writer="run-1",
    topics={"orders": TopicOffsets("T1", {0: 10})},
    tables={ORDERS: table(3)},
    schemas={"s": "{}"},
)


def draft_of(file: LandedFile, after: TableState | None = None) -> Draft:
    return Draft(planned=planned(10, 12), files={ORDERS: file}, tables={} if after is None else {ORDERS: after})


@pytest.mark.parametrize(
    "draft",
    [
        Draft(),
        offsets_only(10, 10),
        offsets_only(10, 12),
        offsets_only(4, 12),
        offsets_only(4, 10),
        Draft(planned={"orders": PlannedTopic("T1", {1: (0, 600)})}),
        Draft(planned=planned(70, 80, topic="items", id="T9")),
        draft_of(landed(4)),
        draft_of(landed(4), table(3)),
        draft_of(landed(4), table(4)),
        Draft(tables={ORDERS: replace(table(3), tainted=True)}),
        Draft(files={"public.items": landed(1, name="items")}, tables={"public.items": table(name="items")}),
    ],
)
def test_a_draft_that_continues_the_ledger_is_accepted(draft: Draft) -> None:
    check(draft, STATE)


def test_a_range_that_begins_above_the_recorded_offset_is_a_gap() -> None:
    with pytest.raises(OffsetGapError) as caught:
        check(offsets_only(12, 20), STATE)
    assert str(caught.value) == (
        "The batch begins at offset 12, but 10 is the next one to land: 2 offsets would be left out "
        f"[topic=orders, partition=0, offset=10]. {RESTART}; "
        "if Kafka no longer has these offsets, that start says so, and what to do"
    )


def test_a_partition_that_was_added_to_a_known_topic_begins_at_0() -> None:
    with pytest.raises(OffsetGapError, match="begins at offset 500, but 0 is the next one to land"):
        check(Draft(planned={"orders": PlannedTopic("T1", {1: (500, 600)})}), STATE)


def test_another_topic_of_the_same_name_is_refused() -> None:
    with pytest.raises(TopicRecreatedError) as caught:
        check(Draft(planned=planned(0, 5, id="T2")), STATE)
    assert str(caught.value) == (
        "The topic was deleted and created again: its offsets no longer mean what the ledger recorded "
        "[topic=orders, recorded_id=T1, found_id=T2]. Remedy: leave the topic out (kafka.topics, or "
        "a kafka.pattern that does not match it), which parks its tables; if the new one continues the old one, carry "
        "its tables with a second bridge: another name, landing zone and state, and a snapshot of its own"
    )


def test_a_range_that_ends_below_the_recorded_offset_is_refused() -> None:
    with pytest.raises(InvalidDraftError) as caught:
        check(offsets_only(4, 9), STATE)
    assert str(caught.value) == (
        f"The batch's range [4, 9) ends below the recorded offset 10 [topic=orders, partition=0, offset=10]. {RESTART}"
    )


@pytest.mark.parametrize(("start", "end"), [(-2, 12), (8, 7)])
def test_a_range_that_is_none_is_refused(start: int, end: int) -> None:
    with pytest.raises(InvalidDraftError):
        check(Draft(planned=planned(start, end, topic="items")), STATE)


def test_a_table_with_a_pending_file_gets_no_new_number() -> None:
    with pytest.raises(InvalidDraftError) as caught:
        check(draft_of(landed(4)), replace(STATE, pending={ORDERS: landed(3)}))
    assert str(caught.value) == (
        "The table gets file 4 although file 3 is not known to be published "
        "[table=public.orders, file=public.schema/orders/00000000000000000003.parquet]. "
        "Remedy: publish and confirm the pending file first; a restart does it"
    )


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (landed(3), "File 3 of generation 1 of public.orders"),
        (landed(5), "File 5 of generation 1 of public.orders"),
        (replace(landed(4), generation=2), "File 4 of generation 2 of public.orders"),
        (replace(landed(4), table="public.items"), "File 4 of generation 1 of public.items"),
    ],
)
def test_a_file_that_is_not_the_tables_next_one_is_refused(file: LandedFile, said: str) -> None:
    with pytest.raises(InvalidDraftError) as caught:
        check(draft_of(file), STATE)
    assert str(caught.value) == (
        f"{said} is not the next one: generation 1 ends with 3 [table=public.orders, file={file.target}]. {DEFECT}"
    )


def test_a_first_file_needs_the_tables_state() -> None:
    draft = Draft(files={"public.items": landed(1, name="items")})
    with pytest.raises(InvalidDraftError, match="File 1 belongs to a table without a state"):
        check(draft, STATE)


def test_a_files_schema_is_recorded_before_or_with_it() -> None:
    draft = draft_of(replace(landed(4), schema="s2"))
    check(with_fields(draft, schemas={"s2": "{}"}), STATE)

    with pytest.raises(InvalidDraftError, match="The schema s2 of file 4 is not recorded"):
        check(draft, STATE)


@pytest.mark.parametrize("after", [table(4), table(2), replace(table(3), generation=2)])
def test_a_table_keeps_its_number_without_a_file(after: TableState) -> None:
    with pytest.raises(InvalidDraftError) as caught:
        check(Draft(tables={ORDERS: after}), STATE)
    assert str(caught.value) == (
        "The table would go from generation 1, number 3 to "
        f"generation {after.generation}, number {after.sequence} without a file [table=public.orders]. {DEFECT}"
    )


def test_a_new_table_begins_at_0_until_it_has_a_file() -> None:
    check(Draft(tables={"public.items": table(0, name="items")}), STATE)
    with pytest.raises(InvalidDraftError):
        check(Draft(tables={"public.items": table(1, name="items")}), STATE)


DELETING = replace(table(3), status=TableStatus.DELETING)
NEXT_GENERATION = replace(table(0), status=TableStatus.CLEARED, generation=2)


def test_a_generation_ends_when_its_folder_was_being_deleted() -> None:
    check(Draft(tables={ORDERS: NEXT_GENERATION}), replace(STATE, tables={ORDERS: DELETING}))


def test_a_generation_ends_in_no_other_way() -> None:
    with pytest.raises(InvalidDraftError, match="from generation 1, number 3 to generation 2, number 0 without a file"):
        check(Draft(tables={ORDERS: NEXT_GENERATION}), STATE)


def test_a_generation_does_not_end_while_a_file_of_it_is_pending() -> None:
    pending = {ORDERS: landed(3)}
    with pytest.raises(InvalidDraftError, match="from generation 1, number 3 to generation 2"):
        check(Draft(tables={ORDERS: NEXT_GENERATION}), replace(STATE, tables={ORDERS: DELETING}, pending=pending))


def test_a_pending_file_is_given_up_only_with_its_folder() -> None:
    state = replace(STATE, pending={ORDERS: landed(3)})
    check(Draft(tables={ORDERS: DELETING}, dropped=(ORDERS,)), state)
    with pytest.raises(InvalidDraftError, match="given up although its folder stays"):
        check(Draft(dropped=(ORDERS,)), state)
