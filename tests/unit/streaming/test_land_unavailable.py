"""Values that the source did not send: filled from an earlier row of the key, or left to the policy."""

from __future__ import annotations

from pathlib import Path

from streaming.plan import TableOptions
from streaming.policies import OnUnavailable
from tests.unit.streaming.events import MARKER, MISSING, Event, land, landed, row


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
