"""Which row marker a landed row gets, and when a natural insert is proven to be one."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from connectors.debezium.events import Op, SnapshotKind
from connectors.debezium.merge_keys import PositionCarry
from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.landing_zone.ledger.state import SnapshotIdentity, TableStatus
from streaming.landing.carry import loaded_position
from streaming.plan import BatchPlan, TableOptions
from streaming.policies import Markers, OnTruncate, OnUnavailable
from tests.unit.streaming.events import MARKER, MISSING, Event, following, land, landed, plan, row, rows


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
        behind = rows([Event("c", row(number), lsn=lsn) for number, lsn in ((5, 8), (6, 9), (7, 11))], first_offset=1)
        later = land(tmp_path, behind, state=known.state, batch_plan=following(known, first))
        assert [line[MARKER] for line in landed(tmp_path, later)] == [4, 4, 0], "though each is above the one before"

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
        options = TableOptions(on_unavailable=OnUnavailable.DEAD_LETTER)
        histories = {
            "first batch": [Event("c", row(key), lsn=key) for key in (1, 2, 3)],
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

    def test_natural_proves_nothing_where_a_truncate_lets_the_rows_stay(self, tmp_path: Path) -> None:
        events = [Event("c", row(1), lsn=1), Event("c", row(2), lsn=2), Event("t", lsn=3), Event("c", row(2), lsn=4)]
        options = TableOptions(on_truncate=OnTruncate.IGNORE)
        whole = land(tmp_path, events, options=options, markers=Markers.NATURAL)
        cut = land(tmp_path, *[[event] for event in events], options=options, markers=Markers.NATURAL)
        assert [line[MARKER] for line in landed(tmp_path, whole)] == [4, 4, 4]
        assert landed(tmp_path, cut) == landed(tmp_path, whole)

    @pytest.mark.parametrize("second", ["run-b", None])
    def test_natural_proves_nothing_in_another_connector_run(self, tmp_path: Path, second: str | None) -> None:
        first = [Event("c", row(1), lsn=1, run="run-a"), Event("c", row(2), lsn=2, run="run-a")]
        events = [*first, Event("c", row(3), lsn=3, run=second), Event("c", row(4), lsn=4, run="run-a")]
        whole = land(tmp_path, events, markers=Markers.NATURAL)
        cut = land(tmp_path, *[[event] for event in events], markers=Markers.NATURAL)
        assert [line[MARKER] for line in landed(tmp_path, whole)] == [4, 0, 4, 4]
        assert landed(tmp_path, cut) == landed(tmp_path, whole)

    def test_natural_proves_nothing_where_no_record_names_its_run(self, tmp_path: Path) -> None:
        events = [Event("c", row(key), lsn=key, run=None) for key in (1, 2)]
        result = land(tmp_path, events, markers=Markers.NATURAL)
        assert [line[MARKER] for line in landed(tmp_path, result)] == [4, 4]

    def test_natural_goes_on_in_the_run_that_loaded_the_table(self, tmp_path: Path) -> None:
        batches = [[Event("r", row(1), lsn=10, run="run-a")], [Event("c", row(2), lsn=11, run="run-a")]]
        result = land(tmp_path, *batches, markers=Markers.NATURAL)
        assert [line[MARKER] for line in landed(tmp_path, result)] == [4, 0]
        other = [batches[0], [Event("c", row(2), lsn=11, run="run-b")]]
        result = land(tmp_path, *other, markers=Markers.NATURAL)
        assert [line[MARKER] for line in landed(tmp_path, result)] == [4, 4]

    def test_a_table_in_which_no_row_is_new_knows_where_it_was_loaded(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("r", row(1), lsn=100)], options=TableOptions(soft_delete="is_gone"))
        assert (result.state.tainted, loaded_position(result.state)[1]) == (True, 100)

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
