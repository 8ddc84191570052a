"""Comparing a table while both sides move: lag is never taken for a difference, and no difference is missed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connectors.landing_zone.row_marker import RowMarker
from connectors.source_database.catalog import SourceColumn
from connectors.source_database.column_types import postgresql_type
from connectors.source_database.position import LogPosition
from streaming.plan import TableOptions
from streaming.policies import OnMissingKey
from streaming.reconciling.mirror import UnreadableMirrorError, later_rows
from streaming.reconciling.outcome import Cell, Difference, DifferenceKind, TableOutcome, Verdict
from streaming.reconciling.rows import landed_rows
from tests.support.records import Table
from tests.unit.reconciling.moving import Moving, moving
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row

ROWS = [ORDERS.create(row(key, f"n{key}"), lsn=key) for key in range(1, 6)]
NAMES: dict[int, str | None] = {key: f"n{key}" for key in range(1, 6)}


def said(outcome: TableOutcome) -> tuple[Verdict, dict[str, int], int]:
    return outcome.verdict, {kind.name: count for kind, count in outcome.counts.items()}, outcome.undecided


@pytest.fixture
def world(tmp_path: Path) -> Moving:
    return moving(tmp_path, ROWS, rows=dict(NAMES))


def test_equal_tables_are_equal_at_the_first_look(world: Moving) -> None:
    outcome = world.compare()
    assert said(outcome) == (Verdict.EQUAL, {}, 0)
    assert (outcome.source_rows, outcome.mirrored_rows, outcome.ranges, outcome.ranges_differing) == (5, 5, 3, 0)
    assert (world.moments, world.read) == (1, [])


def test_every_kind_of_difference_is_found_with_its_values(world: Moving) -> None:
    del world.rows[2]
    world.rows |= {4: "other", 5: None, 9: "new"}
    outcome = world.compare()
    assert said(outcome) == (Verdict.DIFFERENT, {"CHANGED": 2, "MISSING": 1, "EXTRA": 1}, 0)
    assert sorted(outcome.shown, key=lambda one: one.key) == [
        Difference(DifferenceKind.EXTRA, (("id", "2"),), (), 0, 1),
        Difference(DifferenceKind.CHANGED, (("id", "4"),), (Cell("name", "other", "n4"),), 1, 1),
        Difference(DifferenceKind.CHANGED, (("id", "5"),), (Cell("name", None, "n5"),), 1, 1),
        Difference(DifferenceKind.MISSING, (("id", "9"),), (), 1, 0),
    ]
    assert (outcome.position, outcome.evidence) == ("0/64", "acknowledged")


def test_only_ranges_that_differ_are_looked_into(world: Moving) -> None:
    world.rows[4] = "other"
    outcome = world.compare()
    assert (outcome.ranges, outcome.ranges_differing) == (3, 1)
    [range_] = outcome.differing
    assert (range_.first, range_.last, range_.source_rows, range_.mirrored_rows) == ((3,), (4,), 2, 2)
    assert range_.source_checksum != range_.mirrored_checksum
    assert world.read == [["4"], ["4"]]


def test_no_more_differences_are_shown_than_asked_for(world: Moving) -> None:
    world.rows.clear()
    outcome = world.compare(shown=2)
    assert (len(outcome.shown), outcome.counts) == (2, {DifferenceKind.EXTRA: 5})


def test_a_row_that_changed_after_the_mirror_was_read_is_read_again_when_its_event_has_landed(world: Moving) -> None:
    def world_moves(moment: int) -> None:
        if moment == 0:
            world.rows[3] = "later"

    def event_lands() -> None:
        if world.moments == 2 and world.head.tables["public.orders"].sequence == 1:
            world.land(ORDERS.update(row(3, "later"), lsn=90))

    world.before_reading, world.before_looking = world_moves, event_lands
    outcome = world.compare()
    assert said(outcome) == (Verdict.EQUAL, {}, 0)
    assert outcome.number == 2


def test_a_mirror_that_was_ahead_of_the_snapshot_is_equal_when_read_again(world: Moving) -> None:
    world.rows[3] = "before"

    def world_moves(moment: int) -> None:
        if moment == 1:
            world.rows[3] = "n3"

    world.before_reading = world_moves
    assert said(world.compare()) == (Verdict.EQUAL, {}, 0)
    assert world.moments == 2


def test_a_row_that_goes_back_and_forth_is_not_a_difference_whatever_is_seen_of_it(world: Moving) -> None:
    """The database is read at A, the mirror at B, and the row is B in between: nothing but the events tells."""
    world.rows[3] = "A"

    def event_lands() -> None:
        world.land(ORDERS.update(row(3, "A"), lsn=90), ORDERS.update(row(3, "n3"), lsn=95))

    world.before_looking, world.reach.position = event_lands, LogPosition(0, 100)
    outcome = world.compare(rounds=3)
    assert said(outcome) == (Verdict.UNDECIDED, {}, 1)
    assert outcome.reason == "still moving: their rows change faster than they can be compared"


def test_a_deleted_row_is_equal_when_its_delete_has_landed(world: Moving) -> None:
    del world.rows[3]
    world.reach.position = LogPosition(0, 100)
    world.before_looking = lambda: world.land(ORDERS.delete(row(3), lsn=90))
    assert said(world.compare()) == (Verdict.EQUAL, {}, 0)


def test_what_is_not_proven_to_be_covered_is_undecided(world: Moving) -> None:
    world.rows[3] = "later"
    world.reach.sent = world.reach.position = None
    outcome = world.compare()
    assert said(outcome) == (Verdict.UNDECIDED, {}, 1)
    assert outcome.reason.startswith("nothing tells whether the connector has read the log up to 0/64")
    assert world.seconds >= 10


class TestSilence:
    """The server has sent its log, and nothing comes: the connector has nothing more, or can't deliver what it has."""

    @pytest.fixture(autouse=True)
    def _silent(self, world: Moving) -> None:
        world.reach.position = None

    def test_a_row_that_is_late_in_the_connector_is_undecided_and_not_a_difference(self, world: Moving) -> None:
        world.rows[3] = "later"
        outcome = world.compare()
        assert said(outcome) == (Verdict.UNDECIDED, {}, 1)
        assert outcome.reason == (
            "the connector was sent every change and its topics are silent, but nothing tells whether it has delivered "
            "all of them: set source.connect, and the connector's heartbeat.interval.ms and heartbeat.action.query"
        )
        assert (world.moments, world.seconds) == (3, 2.0), "a moment of silence each time, not the whole wait"

    def test_the_connectors_word_is_waited_for_where_it_tells_how_far_it_is(self, world: Moving) -> None:
        world.rows[3] = "later"
        world.reach.position = LogPosition(0, 50)
        outcome = world.compare(wait=8.0)
        assert said(outcome) == (Verdict.UNDECIDED, {}, 1)
        assert outcome.reason == (
            "the connector has acknowledged 0/32, not 0/64: wait longer, or set its heartbeat.interval.ms and "
            "heartbeat.action.query"
        )
        assert world.seconds == 9.0

    def test_a_word_that_comes_after_the_silence_proves_the_difference(self, world: Moving) -> None:
        world.rows[3] = "forged"
        world.reach.position = LogPosition(0, 50)

        def acknowledges() -> None:
            if world.seconds > 4:
                world.reach.position = LogPosition(0, 100)

        world.passing = acknowledges
        outcome = world.compare()
        assert (said(outcome), outcome.evidence) == ((Verdict.DIFFERENT, {"CHANGED": 1}, 0), "acknowledged")

    def test_an_event_that_comes_after_the_silence_settles_the_row(self, world: Moving) -> None:
        world.rows[3] = "later"
        world.reach.position = LogPosition(0, 50)

        def delivers() -> None:
            if world.seconds > 4 and world.reach.position != LogPosition(0, 100):
                world.land(ORDERS.update(row(3, "later"), lsn=90))
                world.reach.position = LogPosition(0, 100)

        world.passing = delivers
        assert said(world.compare()) == (Verdict.EQUAL, {}, 0)

    def test_what_has_landed_meanwhile_needs_no_proof(self, world: Moving) -> None:
        world.rows[3] = "later"

        def event_lands() -> None:
            if world.head.tables["public.orders"].sequence == 1:
                world.land(ORDERS.update(row(3, "later"), lsn=90))

        world.before_looking = event_lands
        outcome = world.compare()
        assert (said(outcome), outcome.evidence) == ((Verdict.EQUAL, {}, 0), "silence")

    def test_a_last_round_that_was_silent_says_so(self, world: Moving) -> None:
        world.rows[3] = "later"
        assert world.compare(rounds=1).reason == (
            "the topics are silent, which proves nothing, and no round was left to wait for more: raise --rounds"
        )


def test_a_database_that_does_not_tell_its_position_decides_nothing(world: Moving) -> None:
    world.rows[3] = "later"
    world.lsn = 0
    outcome = world.compare()
    assert said(outcome) == (Verdict.UNDECIDED, {}, 1)
    assert outcome.reason.startswith("the database does not tell its log position")
    assert world.seconds == 0


def test_proven_and_undecided_differences_stand_beside_each_other(world: Moving) -> None:
    world.rows |= {2: "forged", 3: "moves"}
    world.reach.position = LogPosition(0, 100)
    world.before_looking = lambda: world.land(ORDERS.update(row(3, "again"), lsn=90))
    outcome = world.compare(rounds=2)
    assert said(outcome) == (Verdict.DIFFERENT, {"CHANGED": 1}, 1)
    assert outcome.reason.startswith("still moving")


def test_a_row_that_the_mirror_has_twice_is_found(tmp_path: Path) -> None:
    world = moving(tmp_path, ROWS, rows=dict(NAMES))
    file = tmp_path / "zone/public.schema/orders/00000000000000000001.parquet"
    rows = pq.read_table(file)
    doubled = pa.concat_tables([rows, rows.slice(2, 1)])
    markers = pa.array([0] * 6, pa.int32())
    pq.write_table(doubled.set_column(doubled.column_names.index("__rowMarker__"), "__rowMarker__", markers), file)
    outcome = world.compare()
    assert said(outcome) == (Verdict.DIFFERENT, {"COUNT": 1}, 0)
    assert outcome.shown[0].values() == {
        "kind": "not as many rows",
        "key": {"id": "3"},
        "cells": [],
        "source_rows": 1,
        "mirrored_rows": 2,
    }


def test_a_row_that_the_database_does_not_find_by_its_own_key_is_never_settled(world: Moving) -> None:
    world.rows |= {4: "other", 9: "never landed"}
    world.lost = {9}
    outcome = world.compare()
    assert said(outcome) == (Verdict.DIFFERENT, {"CHANGED": 1}, 1)
    world.rows[4] = "n4"
    outcome = world.compare()
    assert said(outcome) == (Verdict.UNDECIDED, {}, 1)
    assert outcome.reason == "the database does not find 1 differing row by its own key"


def test_a_column_with_values_that_cannot_be_compared_keeps_the_table_from_being_equal(world: Moving) -> None:
    plan = replace(world.plan(), unproven=(SourceColumn("note", postgresql_type("text")),))
    assert said(world.compare(plan=plan)) == (Verdict.EQUAL, {}, 0)
    world.holding = {"note"}
    outcome = world.compare(plan=plan)
    assert said(outcome) == (Verdict.UNDECIDED, {}, 0)
    assert outcome.reason == (
        "what was compared is equal, but these columns hold values that could not be compared: note"
    )
    world.rows[4] = "other"
    assert said(world.compare(plan=plan)) == (Verdict.DIFFERENT, {"CHANGED": 1}, 0)


def test_a_table_without_key_is_compared_as_a_bag_of_rows(tmp_path: Path) -> None:
    keyless = Table(TOPIC, key=())
    options = TableOptions(on_missing_key=OnMissingKey.APPEND)
    records = [keyless.create(row(key, "same"), lsn=key) for key in (1, 1, 2)]
    world = moving(tmp_path, records, rows={1: "same", 2: "same", 3: "new"}, defaults=options)
    outcome = world.compare()
    assert said(outcome) == (Verdict.DIFFERENT, {"MISSING": 1, "COUNT": 1}, 0)
    assert world.read == []


def test_files_that_cannot_be_applied_are_an_error_with_the_way_to_look(world: Moving, tmp_path: Path) -> None:
    (tmp_path / "zone/public.schema/orders/00000000000000000001.parquet").write_bytes(b"none")
    with pytest.raises(UnreadableMirrorError, match="cannot be applied to file 1: unreadable file") as caught:
        world.compare()
    assert caught.value.remedy == "`cdc-bridge verify ZONE` says what is wrong with which file"


def test_the_connectors_acknowledged_position_proves_what_has_landed_by_then(world: Moving) -> None:
    world.rows[3] = "forged"
    world.reach.sent, world.reach.position = None, LogPosition(0, 100)
    outcome = world.compare()
    assert (said(outcome), outcome.evidence) == ((Verdict.DIFFERENT, {"CHANGED": 1}, 0), "acknowledged")
    assert world.seconds == 0


def test_a_tables_own_later_events_prove_it_too(world: Moving) -> None:
    world.rows[3] = "forged"
    world.land(ORDERS.update(row(1, "n1"), lsn=200))
    outcome = world.compare()
    assert (said(outcome), outcome.evidence) == ((Verdict.DIFFERENT, {"CHANGED": 1}, 0), "events")


def test_too_many_keys_are_followed_in_part_and_never_called_equal(
    world: Moving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streaming.reconciling.table.MOST_CANDIDATES", 2)
    world.rows = dict.fromkeys(range(1, 6), "other")
    outcome = world.compare()
    assert said(outcome) == (Verdict.DIFFERENT, {"CHANGED": 2}, 3)
    assert outcome.reason == "more than 2 keys differ; 3 were not followed"


def test_files_that_are_gone_for_good_have_their_own_remedy(world: Moving, tmp_path: Path) -> None:
    world.land(ORDERS.update(row(1, "n1"), lsn=20))
    (tmp_path / "zone/public.schema/orders/00000000000000000001.parquet").unlink()
    with pytest.raises(UnreadableMirrorError, match="cannot be applied to file 2: gap, file 1 is missing") as caught:
        world.compare()
    assert caught.value.remedy.startswith("the replicator removes files seven days after it has applied them")


def test_rows_that_the_settings_delete_softly_are_gone(tmp_path: Path) -> None:
    world = moving(tmp_path, ROWS, rows={1: "n1", 2: "n2"})
    file = tmp_path / "zone/public.schema/orders/00000000000000000001.parquet"
    rows = pq.read_table(file)
    gone = pa.array([False, None, True, True, True])
    pq.write_table(rows.add_column(2, "_deleted", gone), file)
    plan = replace(world.plan(), deleted="_deleted")
    assert said(world.compare(plan=plan)) == (Verdict.EQUAL, {}, 0)
    state = world.head.tables["public.orders"]
    every = [int(one) for one in landed_rows(plan, pq.read_table(file)).identity]
    markers = [one.marker for one in later_rows(world.job.zone, "public.orders", state, plan, 0, every)]
    assert markers == [RowMarker.UPSERT, RowMarker.UPSERT, RowMarker.DELETE, RowMarker.DELETE, RowMarker.DELETE]
