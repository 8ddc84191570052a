"""Landing one table's rows: markers, schema, policies, and what parks a table."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from connectors.debezium.events import Op, SnapshotKind
from connectors.debezium.merge_keys import PositionCarry
from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.debezium.schema import ConnectType, Field, RowSchema
from connectors.landing_zone.ledger.state import SnapshotIdentity, TableStatus
from connectors.landing_zone.storage.local import LocalStorage
from streaming.land import TableLander
from streaming.plan import BatchPlan, TableOptions, TableResult
from streaming.policies import (
    FileFormat,
    Markers,
    MetadataColumn,
    OnMissingKey,
    OnResnapshot,
    OnTruncate,
    OnTypeChange,
    OnUnavailable,
)
from streaming.rows import concat
from tests.unit.streaming.events import MISSING, ORDERS, SCHEMA, Event, land, landed, new_table, plan, rows

MARKER = "__rowMarker__"


def row(key: int, name: str | None = "a", doc: object = "d") -> dict[str, object]:
    return {"id": key, "name": name, "doc": doc}


def following(result: TableResult, batch_plan: BatchPlan) -> BatchPlan:
    """The plan of the next batch: it knows what the result has made of the table."""
    return BatchPlan(
        **{
            **batch_plan.__dict__,
            "commit": batch_plan.commit + 1,
            "unique": "next",
            "tables": {result.table: result.state},
            "schemas": {**batch_plan.schemas, **result.schemas},
            "streamed_runs": frozenset(result.state.streamed_runs),
        }
    )


class TestMarkers:
    def test_rows_of_the_loading_snapshot_land_without_marker(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("r", row(1), lsn=5), Event("r", row(2), lsn=5)])
        assert landed(tmp_path, result) == [row(1), row(2)]
        assert result.state.status is TableStatus.LOADING
        assert result.state.snapshot == SnapshotIdentity("postgresql", "run-1", f"{5:016x}{5:016x}")

    def test_creates_updates_and_deletes_get_4_1_and_2(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("c", row(1)), Event("u", row(1, "b")), Event("d", {"id": 1})])
        assert landed(tmp_path, result) == [
            row(1) | {MARKER: 4},
            row(1, "b") | {MARKER: 1},
            row(1, None, None) | {MARKER: 2},
        ]
        assert result.state.status is TableStatus.STREAMING

    def test_key_change_becomes_delete_then_upsert_side_by_side(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("c", row(1)), Event("u", row(2), old_key={"id": 1}), Event("c", row(3))])
        assert [(line["id"], line["name"], line[MARKER]) for line in landed(tmp_path, result)] == [
            (1, "a", 4),
            (1, None, 2),
            (2, "a", 4),
            (3, "a", 4),
        ]

    def test_a_load_that_turns_into_streaming_in_one_batch_is_marked_throughout(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("r", row(1))], [Event("u", row(1, "b"), lsn=1)])
        assert [line[MARKER] for line in landed(tmp_path, result)] == [4, 1]

    def test_incremental_snapshot_rows_are_upserts(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("r", row(1), snapshot=SnapshotKind.INCREMENTAL)])
        assert [line[MARKER] for line in landed(tmp_path, result)] == [4]

    def test_natural_inserts_only_above_the_high_water(self, tmp_path: Path) -> None:
        first = plan(tmp_path, markers=Markers.NATURAL)
        known = land(tmp_path, [Event("c", row(1), lsn=10)], batch_plan=first)
        assert [line[MARKER] for line in landed(tmp_path, known)] == [4], "nothing is proven before the first event"
        result = land(
            tmp_path,
            rows(
                [
                    Event("c", row(1), lsn=10),
                    Event("c", row(2), lsn=11),
                    Event("c", row(3), lsn=11),
                    Event("c", row(4), lsn=12),
                ],
                first_offset=1,
            ),
            state=known.state,
            batch_plan=following(known, first),
        )
        assert [line[MARKER] for line in landed(tmp_path, result)] == [4, 0, 4, 0]

    def test_natural_proves_nothing_after_the_sources_log_was_reset(self, tmp_path: Path) -> None:
        first = plan(tmp_path, markers=Markers.NATURAL)
        known = land(tmp_path, [Event("c", row(1), lsn=10)], batch_plan=first)
        reset = PositionCarry(epoch=1, phase=1, high=(3, 3), below=0)
        events = rows([Event("c", row(2), lsn=4), Event("c", row(3), lsn=5)], first_offset=1, carry=reset)
        result = land(tmp_path, events, state=known.state, batch_plan=following(known, first))
        assert [line[MARKER] for line in landed(tmp_path, result)] == [4, 4]
        assert result.state.tainted

    def test_natural_never_inserts_into_a_tainted_table(self, tmp_path: Path) -> None:
        first = plan(tmp_path, markers=Markers.NATURAL)
        known = land(tmp_path, [Event("c", row(1), lsn=10)], batch_plan=first)
        tainted = msgspec.structs.replace(known.state, tainted=True)
        result = land(tmp_path, [Event("c", row(2), lsn=11)], state=tainted, batch_plan=following(known, first))
        assert [line[MARKER] for line in landed(tmp_path, result)] == [4]

    def test_natural_bytes_do_not_depend_on_how_the_events_were_cut(self, tmp_path: Path) -> None:
        options = TableOptions(on_truncate=OnTruncate.IGNORE, on_unavailable=OnUnavailable.DEAD_LETTER)
        histories = {
            "first batch": [Event("c", row(key), lsn=key) for key in (1, 2, 3)],
            "ignored truncate": [Event("c", row(1), lsn=1), Event("c", row(2), lsn=2), Event("t", lsn=3)],
            "left out": [
                Event("c", row(1), lsn=1),
                Event("c", row(2), lsn=2),
                Event("u", row(9, doc=MISSING), lsn=3),
                Event("c", row(3), lsn=4),
            ],
            "blocking snapshot": [Event("c", row(1), lsn=1), Event("c", row(2), lsn=2), Event("r", row(1), lsn=3)],
        }
        for what, events in histories.items():
            whole = land(tmp_path, events, options=options, markers=Markers.NATURAL)
            cut = land(tmp_path, *[[event] for event in events], options=options, markers=Markers.NATURAL)
            assert [line[MARKER] for line in landed(tmp_path, whole)][:2] == [4, 0], what
            assert landed(tmp_path, cut) == landed(tmp_path, whole), what

    def test_natural_never_inserts_what_the_loading_snapshot_may_have_held(self, tmp_path: Path) -> None:
        result = land(
            tmp_path,
            [Event("r", row(1), lsn=100)],
            [Event("c", row(1), lsn=50), Event("c", row(2), lsn=101)],
            markers=Markers.NATURAL,
        )
        assert [line[MARKER] for line in landed(tmp_path, result)] == [4, 4, 0]

    def test_natural_never_inserts_what_the_snapshot_of_an_earlier_batch_may_have_held(self, tmp_path: Path) -> None:
        first = plan(tmp_path, markers=Markers.NATURAL)
        known = land(tmp_path, [Event("r", row(1), lsn=100)], batch_plan=first)
        second = following(known, first)
        known = land(tmp_path, rows([Event("u", row(1), lsn=40)], first_offset=1), state=known.state, batch_plan=second)
        carry = PositionCarry(0, 1, (40, 40), 0)
        result = land(
            tmp_path,
            rows([Event("c", row(1), lsn=50), Event("c", row(2), lsn=101)], first_offset=2, carry=carry),
            state=known.state,
            batch_plan=following(known, second),
        )
        assert [line[MARKER] for line in landed(tmp_path, result)] == [4, 0]

    def test_natural_proves_nothing_after_a_blocking_snapshot(self, tmp_path: Path) -> None:
        result = land(
            tmp_path,
            [Event("c", row(1), lsn=1), Event("r", row(2), lsn=20), Event("c", row(2), lsn=10)],
            markers=Markers.NATURAL,
        )
        assert [line[MARKER] for line in landed(tmp_path, result)] == [4, 4, 4]
        assert result.state.tainted

    def test_natural_proves_nothing_where_the_settings_leave_deletes_out(self, tmp_path: Path) -> None:
        rules = TableRules(tables=(("*", TableDecoding(excluded_operations=(Op.DELETE,))),))
        result = land(
            tmp_path,
            [Event("c", row(1), lsn=1), Event("c", row(1), lsn=2)],
            markers=Markers.NATURAL,
            decode=DecodeOptions(rules=rules),
        )
        assert [line[MARKER] for line in landed(tmp_path, result)] == [4, 4]
        assert result.state.tainted


class TestParking:
    def parked(self, result: TableResult) -> tuple[str, int, dict[str, dict[int, int]], int]:
        assert result.state.status is TableStatus.PARKED
        assert result.state.parked is not None
        parked = result.state.parked
        return parked.reason, parked.offset, parked.resume, parked.skipped

    def test_a_truncate_parks_at_its_event_and_what_came_before_lands(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("c", row(1)), Event("t"), Event("c", row(2))], [Event("c", row(3))])
        assert [line["id"] for line in landed(tmp_path, result)] == [1]
        assert self.parked(result) == ("truncate", 1, {"shop.public.orders": {0: 1}}, 3)

    def test_an_ignored_truncate_taints_the_table(self, tmp_path: Path) -> None:
        options = TableOptions(on_truncate=OnTruncate.IGNORE)
        result = land(tmp_path, [Event("c", row(1)), Event("t"), Event("c", row(2))], options=options)
        assert [line["id"] for line in landed(tmp_path, result)] == [1, 2]
        assert (result.state.tainted, result.notes) == (True, ("ignored 1 truncate event(s)",))

    def test_a_second_initial_snapshot_parks_while_loading_and_later(self, tmp_path: Path) -> None:
        loading = land(tmp_path, [Event("r", row(1)), Event("r", row(2), run="run-2")])
        assert self.parked(loading)[:2] == ("second_snapshot", 1)
        streaming = land(tmp_path, [Event("r", row(1)), Event("c", row(2)), Event("r", row(1), run="run-2")])
        assert self.parked(streaming)[:2] == ("second_snapshot", 2)

    def test_a_second_initial_snapshot_is_upserted_where_the_policy_says_so(self, tmp_path: Path) -> None:
        options = TableOptions(on_resnapshot=OnResnapshot.UPSERT)
        result = land(tmp_path, [Event("r", row(1)), Event("r", row(2), run="run-2")], options=options)
        assert [line[MARKER] for line in landed(tmp_path, result)] == [4, 4]

    def test_a_blocking_snapshot_of_a_run_that_streams_is_upserted(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("r", row(1)), Event("c", row(2)), Event("r", row(1))])
        assert [line[MARKER] for line in landed(tmp_path, result)] == [4, 4, 4]
        other_table = plan(tmp_path)
        other_table = BatchPlan(**{**other_table.__dict__, "streamed_runs": frozenset({"run-7"})})
        result = land(tmp_path, [Event("r", row(1), run="run-7")], batch_plan=other_table)
        assert [line[MARKER] for line in landed(tmp_path, result)] == [4]

    def test_snapshot_rows_without_run_id_are_upserts_before_and_park_after_streaming(self, tmp_path: Path) -> None:
        before = land(tmp_path, [Event("r", row(1), run=None)])
        assert [line[MARKER] for line in landed(tmp_path, before)] == [4]
        after = land(tmp_path, [Event("c", row(1), run=None), Event("r", row(1), run=None)])
        assert self.parked(after)[:2] == ("ambiguous_snapshot", 1)

    def test_a_type_that_the_column_cannot_hold_parks_and_nothing_of_it_lands(self, tmp_path: Path) -> None:
        text_id = RowSchema((Field("id", ConnectType.INT64), Field("name", ConnectType.INT64)), key=("id",))
        changed = rows([Event("c", {"id": 2, "name": 5})], schema=text_id, first_offset=1)
        result = land(tmp_path, [Event("c", row(1))], changed)
        assert [line["id"] for line in landed(tmp_path, result)] == [1]
        assert self.parked(result) == ("type_changed", 1, {"shop.public.orders": {0: 1}}, 1)

    def test_a_type_change_gets_a_column_of_its_own_where_the_policy_says_so(self, tmp_path: Path) -> None:
        schema = RowSchema((Field("id", ConnectType.INT64), Field("name", ConnectType.INT64)), key=("id",))
        changed = rows([Event("c", {"id": 2, "name": 5})], schema=schema, first_offset=1)
        options = TableOptions(on_type_change=OnTypeChange.NEW_COLUMN)
        result = land(tmp_path, [Event("c", row(1))], changed, options=options)
        assert [(line["name"], line["name__2"]) for line in landed(tmp_path, result)] == [("a", None), (None, 5)]
        assert result.notes == (
            "new column name__2 (int64) instead of name",
            "doc is gone from the rows: it stays, NULL in every row that changes from now on",
        )

    def test_a_changed_key_parks(self, tmp_path: Path) -> None:
        schema = RowSchema(SCHEMA.fields, key=("name",))
        changed = rows([Event("c", row(2))], schema=schema, first_offset=1)
        assert self.parked(land(tmp_path, [Event("c", row(1))], changed))[:2] == ("key_changed", 1)

    def test_a_table_without_key_parks_before_anything_lands(self, tmp_path: Path) -> None:
        result = land(tmp_path, rows([Event("c", row(1))], schema=RowSchema(SCHEMA.fields)))
        assert (result.file, self.parked(result)[:2]) == (None, ("missing_key", 0))

    def test_a_table_without_key_appends_until_an_update_comes(self, tmp_path: Path) -> None:
        schema = RowSchema(SCHEMA.fields)
        options = TableOptions(on_missing_key=OnMissingKey.APPEND)
        events = rows([Event("c", row(1)), Event("c", row(1)), Event("u", row(1, "b"))], schema=schema)
        result = land(tmp_path, events, options=options)
        assert [(line["id"], line[MARKER]) for line in landed(tmp_path, result)] == [(1, 0), (1, 0)]
        assert self.parked(result)[:2] == ("change_without_key", 2)

    def test_a_null_in_the_key_parks(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("c", row(1)), Event("c", {"name": "x"})])
        assert [line["id"] for line in landed(tmp_path, result)] == [1]
        assert self.parked(result)[:2] == ("null_key", 1)

    def test_a_null_in_the_key_before_its_change_parks(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("c", row(1)), Event("u", row(2), old_key={"id": None})])
        assert [line["id"] for line in landed(tmp_path, result)] == [1]
        assert self.parked(result)[:2] == ("null_key", 1)

    @pytest.mark.parametrize("run", ["run-1", "run-2"])
    def test_a_table_without_key_never_appends_a_snapshot_twice(self, tmp_path: Path, run: str) -> None:
        options = TableOptions(on_missing_key=OnMissingKey.APPEND, on_resnapshot=OnResnapshot.UPSERT)
        events = [Event("c", row(1)), Event("r", row(1), run=run)]
        result = land(tmp_path, rows(events, schema=RowSchema(SCHEMA.fields)), options=options)
        assert [line["id"] for line in landed(tmp_path, result)] == [1]
        assert self.parked(result)[:2] == ("second_snapshot", 1)

    def test_a_parked_table_counts_and_lands_nothing_in_later_batches(self, tmp_path: Path) -> None:
        first = plan(tmp_path)
        stopped = land(tmp_path, [Event("t"), Event("c", row(1))], batch_plan=first)
        later = land(tmp_path, [Event("c", row(2))], state=stopped.state, batch_plan=following(stopped, first))
        assert (later.file, self.parked(later)) == (None, ("truncate", 0, {"shop.public.orders": {0: 0}}, 3))

    def test_every_partition_resumes_at_its_first_row_behind_the_event_that_parks(self, tmp_path: Path) -> None:
        both = plan(tmp_path, partitions=(0, 1, 2))
        lander = TableLander(both, ORDERS, "public.orders", new_table(), LocalStorage(tmp_path), direct=False)
        lander.add(rows([Event("c", row(1), lsn=1), Event("t", lsn=2), Event("c", row(2), lsn=3)]))
        lander.add(rows([Event("c", row(3), lsn=4), Event("c", row(4), lsn=5)], partition=1, first_offset=70))
        lander.add(rows([Event("c", row(5), lsn=6)], first_offset=3))
        stopped = lander.finish()
        assert self.parked(stopped) == ("truncate", 1, {"shop.public.orders": {0: 1, 1: 70, 2: 1_000}}, 5)

    def test_a_partition_that_came_after_a_table_was_parked_resumes_at_its_first_row(self, tmp_path: Path) -> None:
        first = plan(tmp_path)
        stopped = land(tmp_path, [Event("t")], batch_plan=first)
        later = land(
            tmp_path,
            rows([Event("c", row(2))], partition=1, first_offset=5),
            rows([Event("c", row(2))], partition=1, first_offset=6),
            rows([Event("c", row(2))], partition=0, first_offset=1_000),
            state=stopped.state,
            batch_plan=following(stopped, first),
        )
        assert self.parked(later) == ("truncate", 0, {"shop.public.orders": {0: 0, 1: 5}}, 4)

    def test_events_left_out_before_the_one_that_parks_do_not_move_the_place_to_resume(self, tmp_path: Path) -> None:
        ignored = TableOptions(on_truncate=OnTruncate.IGNORE)
        result = land(tmp_path, [Event("t"), Event("c", row(1)), Event("u", row(2, doc=MISSING))], options=ignored)
        assert [line["id"] for line in landed(tmp_path, result)] == [1]
        assert self.parked(result) == ("unavailable_value", 2, {"shop.public.orders": {0: 2}}, 1)
        left_out = TableOptions(on_unavailable=OnUnavailable.DEAD_LETTER)
        result = land(
            tmp_path, [Event("u", row(2, doc=MISSING)), Event("c", row(1)), Event("c", {"name": "x"})], options=left_out
        )
        assert self.parked(result) == ("null_key", 2, {"shop.public.orders": {0: 2}}, 1)

    def test_a_snapshot_without_run_id_may_come_in_any_number_of_pieces(self, tmp_path: Path) -> None:
        first = plan(tmp_path)
        known = land(tmp_path, [Event("r", row(1), run=None)], [Event("r", row(2), run=None)], batch_plan=first)
        assert known.state.status is TableStatus.STREAMING
        events = rows([Event("r", row(3), run=None), Event("c", row(4), run=None)], first_offset=2)
        later = land(tmp_path, events, state=known.state, batch_plan=following(known, first))
        assert [line["id"] for line in landed(tmp_path, later)] == [3, 4]
        again = rows([Event("r", row(1), run=None)], first_offset=4)
        stopped = land(tmp_path, again, state=later.state, batch_plan=following(later, following(known, first)))
        assert self.parked(stopped)[:2] == ("ambiguous_snapshot", 4)

    def test_a_second_snapshot_is_one_even_if_other_tables_have_streamed_since(self, tmp_path: Path) -> None:
        first = plan(tmp_path)
        known = land(tmp_path, [Event("r", row(1)), Event("c", row(2))], batch_plan=first)
        behind = following(known, first)
        behind = BatchPlan(**{**behind.__dict__, "streamed_runs": frozenset({"run-1", "run-2"})})
        again = rows([Event("r", row(1), run="run-2")], first_offset=2)
        assert self.parked(land(tmp_path, again, state=known.state, batch_plan=behind))[:2] == ("second_snapshot", 2)

    def test_a_snapshot_of_a_table_that_has_streamed_without_one_parks(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("c", row(1)), Event("r", row(2), run="run-2")])
        assert self.parked(result)[:2] == ("second_snapshot", 1)

    def test_a_changed_column_separator_parks(self, tmp_path: Path) -> None:
        text = TableOptions(file_format=FileFormat.DELIMITED, column_separator=",")
        first = plan(tmp_path, options=text)
        state = msgspec.structs.replace(new_table(), extension="csv", column_separator=",")
        known = land(tmp_path, [Event("c", row(1))], state=state, batch_plan=first)
        changed = plan(tmp_path, options=TableOptions(file_format=FileFormat.DELIMITED, column_separator=";"))
        result = land(
            tmp_path,
            rows([Event("c", row(2))], first_offset=1),
            state=known.state,
            batch_plan=following(known, changed),
        )
        assert self.parked(result)[:2] == ("file_format_changed", 1)


class TestNaturalAfterSoftDelete:
    def test_a_row_that_soft_delete_kept_is_not_inserted_again_once_the_setting_is_gone(self, tmp_path: Path) -> None:
        keeping = plan(tmp_path, options=TableOptions(soft_delete="_deleted"), markers=Markers.NATURAL)
        kept = land(tmp_path, [Event("c", row(1), lsn=10), Event("d", {"id": 1}, lsn=11)], batch_plan=keeping)
        assert kept.state.tainted
        later = following(kept, plan(tmp_path, markers=Markers.NATURAL))
        events = rows([Event("c", row(1), lsn=12)], first_offset=2, carry=PositionCarry(0, 1, (11, 11), 0))
        again = land(
            tmp_path,
            events,
            state=kept.state,
            batch_plan=BatchPlan(**{**later.__dict__, "schemas": following(kept, keeping).schemas}),
        )
        assert [line[MARKER] for line in landed(tmp_path, again)] == [4]


class TestUnavailableValues:
    def test_a_changed_key_takes_the_value_of_its_old_one(self, tmp_path: Path) -> None:
        moved = Event("u", row(2, doc=MISSING), old_key={"id": 1})
        result = land(
            tmp_path,
            [Event("c", row(2, doc="other")), Event("u", row(3, doc=MISSING), old_key={"id": 2})],
            [Event("c", row(1, doc="mine")), moved, Event("u", row(2, "b", MISSING))],
        )
        lines = [line for line in landed(tmp_path, result) if line[MARKER] != 2]
        assert [(line["id"], line["doc"]) for line in lines] == [
            (2, "other"),
            (3, "other"),
            (1, "mine"),
            (2, "mine"),
            (2, "mine"),
        ]

    def test_the_value_of_a_row_that_moved_away_is_nobody_elses(self, tmp_path: Path) -> None:
        result = land(
            tmp_path,
            [Event("c", row(9)), Event("u", row(9, doc=MISSING))],
            [Event("c", row(2, doc="other")), Event("u", row(3, doc="o"), old_key={"id": 2})],
            [Event("u", row(2, doc=MISSING), old_key={"id": 1})],
        )
        assert result.state.parked is not None
        assert result.state.parked.reason == "unavailable_value"

    def test_a_column_that_does_not_land_may_be_missing(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("u", row(2, doc=MISSING))], options=TableOptions(exclude=("doc",)))
        assert landed(tmp_path, result) == [{"id": 2, "name": "a", MARKER: 1}]

    def test_a_value_of_an_earlier_row_of_the_key_in_the_batch_fills_the_gap(self, tmp_path: Path) -> None:
        result = land(
            tmp_path,
            [Event("c", row(1, doc="long")), Event("c", row(2, doc="other"))],
            [Event("u", row(1, "b", MISSING)), Event("u", row(1, "c", MISSING))],
        )
        assert [line["doc"] for line in landed(tmp_path, result)] == ["long", "other", "long", "long"]

    def test_a_deleted_key_has_no_earlier_value(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("c", row(1)), Event("d", {"id": 1})], [Event("c", row(1, doc=MISSING))])
        assert result.state.parked is not None
        assert (result.state.parked.reason, result.state.parked.offset) == ("unavailable_value", 2)

    def test_without_an_earlier_value_the_table_parks(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("c", row(1)), Event("u", row(2, doc=MISSING)), Event("c", row(3))])
        assert [line["id"] for line in landed(tmp_path, result)] == [1]
        assert result.state.parked is not None
        assert (result.state.parked.reason, result.state.parked.skipped) == ("unavailable_value", 2)

    def test_the_policy_null_lands_null(self, tmp_path: Path) -> None:
        result = land(
            tmp_path, [Event("u", row(2, doc=MISSING))], options=TableOptions(on_unavailable=OnUnavailable.NULL)
        )
        assert [line["doc"] for line in landed(tmp_path, result)] == [None]

    def test_the_policy_dead_letter_leaves_the_event_out_and_taints(self, tmp_path: Path) -> None:
        options = TableOptions(on_unavailable=OnUnavailable.DEAD_LETTER)
        result = land(
            tmp_path, [Event("c", row(1)), Event("u", row(2, doc=MISSING)), Event("c", row(3))], options=options
        )
        assert [line["id"] for line in landed(tmp_path, result)] == [1, 3]
        assert (result.state.tainted, result.state.dead_letters) == (True, 1)


class TestColumns:
    def test_a_new_column_half_way_is_null_in_the_rows_before(self, tmp_path: Path) -> None:
        wider = RowSchema((*SCHEMA.fields, Field("size", ConnectType.INT32)), key=("id",))
        result = land(
            tmp_path, [Event("c", row(1))], rows([Event("c", row(2) | {"size": 7})], schema=wider, first_offset=1)
        )
        assert [line["size"] for line in landed(tmp_path, result)] == [None, 7]
        assert result.notes == ("new column size (int32)",)

    def test_a_column_that_is_gone_stays_and_is_null(self, tmp_path: Path) -> None:
        narrower = RowSchema(SCHEMA.fields[:2], key=("id",))
        result = land(tmp_path, [Event("c", row(1))], rows([Event("c", row(2))], schema=narrower, first_offset=1))
        assert [line["doc"] for line in landed(tmp_path, result)] == ["d", None]

    def test_columns_are_chosen_and_masked_but_never_the_key(self, tmp_path: Path) -> None:
        options = TableOptions(include=("name",), mask=("*",))
        result = land(tmp_path, [Event("c", row(1)), Event("c", row(2, None))], options=options)
        assert landed(tmp_path, result) == [
            {"id": 1, "name": "****", MARKER: 4},
            {"id": 2, "name": None, MARKER: 4},
        ]

    def test_metadata_columns_describe_the_event(self, tmp_path: Path) -> None:
        options = TableOptions(include=("id",), metadata_columns=tuple(MetadataColumn))
        result = land(tmp_path, [Event("u", row(2), lsn=9, offset=41, old_key={"id": 1})], options=options)
        both = landed(tmp_path, result)
        assert [(line["id"], line[MARKER]) for line in both] == [(1, 2), (2, 4)]
        for line in both:
            assert line["_cdc_op"] == "u"
            assert line["_cdc_source_ts"].timestamp() == pytest.approx(1.009)
            assert line["_cdc_position"] == f"{1 << 24:016x}{9:016x}{9:016x}"
            assert (line["_cdc_kafka_topic"], line["_cdc_kafka_partition"], line["_cdc_kafka_offset"]) == (
                "shop.public.orders",
                0,
                41,
            )


class TestState:
    def test_the_file_is_numbered_and_its_ranges_and_rows_are_recorded(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("c", row(1), offset=3), Event("d", {"id": 1}, offset=8)])
        assert result.file is not None
        assert (result.file.sequence, result.file.target) == (1, "public.schema/orders/00000000000000000001.parquet")
        assert result.file.ranges == {"shop.public.orders": {0: (3, 8)}}
        assert result.file.rows == {"2": 1, "4": 1}
        assert (result.state.sequence, result.state.rows, result.state.sha256) == (
            1,
            {"2": 1, "4": 1},
            result.file.sha256,
        )

    def test_bytes_do_not_depend_on_how_the_events_were_cut(self, tmp_path: Path) -> None:
        events = [Event("r", row(1)), Event("r", row(2)), Event("c", row(3), lsn=1), Event("u", row(1, "x"), lsn=2)]
        whole = land(tmp_path, events)
        cut = land(tmp_path, *[[event] for event in events])
        assert whole.file is not None
        assert cut.file is not None
        assert (cut.file.sha256, cut.file.logical) == (whole.file.sha256, whole.file.logical)

    def test_rows_behind_another_partition_count_as_late(self, tmp_path: Path) -> None:
        both = plan(tmp_path, partitions=(0, 1))
        first = land(tmp_path, rows([Event("c", row(1), lsn=50)], partition=1), batch_plan=both)
        second = land(
            tmp_path,
            rows([Event("c", row(2), lsn=40), Event("c", row(3), lsn=60)], partition=0),
            state=first.state,
            batch_plan=following(first, both),
        )
        assert second.state.late == 1

    def test_rows_of_a_new_partition_behind_another_count_as_late(self, tmp_path: Path) -> None:
        both = plan(tmp_path, partitions=(0, 1))
        first = land(tmp_path, rows([Event("c", row(1), lsn=50)], partition=0), batch_plan=both)
        lander = TableLander(
            following(first, both), ORDERS, "public.orders", first.state, LocalStorage(tmp_path), direct=False
        )
        late = rows([Event("c", row(2), lsn=40), Event("c", row(3), lsn=45)], partition=1)
        own = rows([Event("c", row(4), lsn=60)], partition=0, first_offset=1)
        lander.add(concat([own, late]).take(np.array([1, 2, 0])))
        assert lander.finish().state.late == 2
        lander = TableLander(
            following(first, both), ORDERS, "public.orders", first.state, LocalStorage(tmp_path), direct=False
        )
        lander.add(concat([own, late]))
        assert lander.finish().state.late == 2
