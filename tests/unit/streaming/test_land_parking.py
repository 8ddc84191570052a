"""What parks a table, what has landed before it, and where each partition resumes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from connectors.debezium.schema import ConnectType, Field, RowSchema
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.storage.local import LocalStorage
from streaming.landing.land import TableLander
from streaming.landing.stops.stop import LONGEST_MESSAGE, Stop
from streaming.plan import BatchPlan, TableOptions, TableResult
from streaming.policies import FileFormat, OnMissingKey, OnResnapshot, OnTruncate, OnTypeChange, OnUnavailable
from tests.unit.streaming.events import (
    MARKER,
    MISSING,
    ORDERS,
    SCHEMA,
    Event,
    following,
    land,
    landed,
    new_table,
    plan,
    row,
    rows,
)


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

    def test_a_stop_does_not_keep_all_names_that_a_source_gives(self, tmp_path: Path) -> None:
        wide = tuple(Field(f"k{place}" * 60, ConnectType.INT64) for place in range(300))
        schema = RowSchema((*SCHEMA.fields, *wide), key=tuple(field.name for field in wide))
        values = {field.name: 1 for field in wide}
        changed = rows([Event("c", row(2) | values)], schema=schema, first_offset=1)
        parked = land(tmp_path, [Event("c", row(1))], changed).state.parked
        assert parked is not None
        assert parked.message.startswith(f"the key columns changed from (id) to ({('k0' * 60)[:100]}..., k1")
        assert parked.message.endswith("... and 290 more); a mirrored table's key never can")
        assert len(parked.message) < 2_000

    def test_a_message_that_names_ever_so_much_is_cut(self) -> None:
        stop = Stop.at(rows([Event("c", row(1))]), 0, "unexpected", "m" * 5_000, "wait")
        assert stop.message == "m" * LONGEST_MESSAGE + " ..."

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

    def test_a_row_that_could_not_be_found_again_says_how_the_table_goes_on(self, tmp_path: Path) -> None:
        keyless, append = RowSchema(SCHEMA.fields), TableOptions(on_missing_key=OnMissingKey.APPEND)
        stops = {
            "keyless": land(tmp_path, rows([Event("c", row(1))], schema=keyless)),
            "lost key": land(
                tmp_path,
                [Event("c", row(1))],
                rows([Event("c", row(2))], schema=keyless, first_offset=1),
                options=append,
            ),
            "append": land(tmp_path, rows([Event("u", row(1))], schema=keyless), options=append),
            "null": land(tmp_path, [Event("c", {"name": "x"})]),
        }
        said = {name: result.state.parked.remedy for name, result in stops.items() if result.state.parked is not None}
        assert said == {
            "keyless": "declare the table's key columns in the settings, or set policies.on_missing_key to append, "
            "restart the bridge, and `cdc-bridge resume CONFIG TABLE`",
            "lost key": "declare the table's key columns in the settings, restart the bridge, and "
            "`cdc-bridge resume CONFIG TABLE`; or `cdc-bridge resync CONFIG TABLE`, as a table that appends, or with "
            "the key restored at the source",
            "append": "declare the table's key columns in the settings and restart the bridge, or make the source send "
            "inserts only; then `cdc-bridge resync CONFIG TABLE`",
            "null": "declare key columns for the table in the settings that are never NULL, restart the bridge, and "
            "`cdc-bridge resync CONFIG TABLE`, or `cdc-bridge resume CONFIG TABLE` if nothing of it has landed",
        }

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
