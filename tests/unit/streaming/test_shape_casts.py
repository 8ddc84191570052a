"""Columns cast to another type, and what becomes of values that do not fit."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from connectors.debezium.schema import ConnectType, Field, RowSchema
from streaming.landing.rows import OrderedRows
from streaming.plan import TableOptions
from streaming.policies import Markers, OnCastFailure, OnUnavailable, TableMode
from tests.unit.streaming.events import MARKER, MISSING, Event, land, row, rows
from tests.unit.streaming.shaped import only, stop_of, with_images


class TestCasts:
    OPTIONS = TableOptions(casts=(("name", "decimal(5,2)"), ("doc", "bool")))
    EVENTS = (
        Event("c", row(1, "1.5", "yes")),
        Event("c", row(2, "lots", "perhaps")),
        Event("c", row(3, "2", None)),
    )

    def test_a_value_that_does_not_fit_is_null_and_counted(self, tmp_path: Path) -> None:
        result = land(tmp_path, self.EVENTS, options=self.OPTIONS)
        assert only(tmp_path, result, "id", "name", "doc") == [
            (1, Decimal("1.50"), True),
            (2, None, None),
            (3, Decimal("2.00"), None),
        ]
        assert result.counts == {"cast_failures": 2}

    def test_it_parks_the_table_where_the_policy_says_so(self, tmp_path: Path) -> None:
        options = replace(self.OPTIONS, on_cast_failure=OnCastFailure.PARK)
        result = land(tmp_path, self.EVENTS, options=options)
        assert only(tmp_path, result, "id") == [(1,)]
        assert stop_of(result) == (
            "cast_failure",
            "a value does not fit the type that the settings cast it to: name (decimal(5,2)), doc (bool)",
            "change the type under casts, or set policies.on_cast_failure to null to land such values as NULL; "
            "then restart, and `cdc-bridge resume CONFIG TABLE`",
            1,
        )

    def test_it_sets_the_event_aside_where_the_policy_says_so(self, tmp_path: Path) -> None:
        options = replace(self.OPTIONS, on_cast_failure=OnCastFailure.DEAD_LETTER)
        result = land(tmp_path, self.EVENTS, options=options, markers=Markers.NATURAL)
        assert only(tmp_path, result, "id") == [(1,), (3,)]
        assert result.left_out == {"cast_failure": 1}
        assert (result.state.dead_letters, result.state.tainted) == (1, True)

    @pytest.mark.parametrize(
        ("stops", "reason"),
        [
            ({"on_unavailable": OnUnavailable.PARK}, "unavailable_value"),
            ({"on_unavailable": OnUnavailable.NULL, "added": (("n", "cast(doc as int)"),)}, "expression"),
        ],
    )
    def test_no_event_behind_the_stop_is_a_dead_letter(
        self, tmp_path: Path, stops: dict[str, Any], reason: str
    ) -> None:
        events = [
            Event("c", row(1, "x", "1")),
            Event("c", row(2, "2", "2")),
            Event("u", row(3, "3", MISSING if reason == "unavailable_value" else "bad")),
            Event("c", row(4, "x", "4")),
        ]
        options = TableOptions(casts=(("name", "int32"),), on_cast_failure=OnCastFailure.DEAD_LETTER, **stops)
        result = land(tmp_path, events, options=options)
        parked = result.state.parked
        assert parked is not None
        assert (parked.reason, parked.offset, parked.skipped) == (reason, 2, 2)
        assert (only(tmp_path, result, "id"), result.left_out) == ([(2,)], {"cast_failure": 1})
        assert (result.state.dead_letters, result.state.tainted) == (1, True)

    def test_an_unavailable_value_behind_the_stop_is_no_dead_letter(self, tmp_path: Path) -> None:
        events = [Event("c", row(1, "1")), Event("c", row(2, "bad")), Event("u", row(3, "3", MISSING))]
        options = TableOptions(on_unavailable=OnUnavailable.DEAD_LETTER, added=(("n", "cast(name as int)"),))
        result = land(tmp_path, events, options=options)
        assert result.state.parked is not None
        assert (result.state.parked.offset, result.state.parked.skipped) == (1, 2)
        assert (result.left_out, result.state.dead_letters, result.state.tainted) == ({}, 0, False)

    def test_a_batch_of_nothing_but_misfits_lands_nothing(self, tmp_path: Path) -> None:
        options = replace(self.OPTIONS, on_cast_failure=OnCastFailure.DEAD_LETTER)
        result = land(tmp_path, self.EVENTS[1:2], options=options)
        assert result.file is None
        assert result.left_out == {"cast_failure": 1}

    def test_a_key_that_does_not_fit_parks_whatever_the_policy(self, tmp_path: Path) -> None:
        result = land(
            tmp_path, [Event("c", row(1)), Event("c", row(70_000))], options=TableOptions(casts=(("id", "int16"),))
        )
        assert only(tmp_path, result, "id") == [(1,)]
        assert stop_of(result)[0] == "cast_failure"

    @pytest.mark.parametrize("other", ["007", "+7", " 7", "7.0"])
    def test_a_cast_never_makes_one_key_of_two(self, tmp_path: Path, other: str) -> None:
        schema = RowSchema(
            (Field("id", ConnectType.STRING, optional=False), Field("name", ConnectType.STRING)), ("id",)
        )
        events = [Event("c", {"id": "7", "name": "seven"}), Event("d", {"id": other})]
        result = land(tmp_path, rows(events, schema=schema), options=TableOptions(casts=(("id", "int32"),)))
        assert only(tmp_path, result, "id", MARKER) == [(7, 4)]
        assert stop_of(result) == (
            "cast_failure",
            "a key does not fit the type that the settings cast it to, or would not be told from another one there "
            "(as 7 and 007): id (int32)",
            "take the key column out of casts, or choose a type that keeps its values apart; restart, and "
            "`cdc-bridge resync CONFIG TABLE` if anything of it has landed, else `cdc-bridge resume CONFIG TABLE`",
            1,
        )

    def test_an_old_key_that_does_not_fit_is_told_as_a_cast(self, tmp_path: Path) -> None:
        schema = RowSchema(
            (Field("id", ConnectType.STRING, optional=False), Field("name", ConnectType.STRING)), ("id",)
        )
        events = [
            Event("c", {"id": "7", "name": "seven"}),
            Event("u", {"id": "8", "name": "x"}, old_key={"id": "007"}),
        ]
        result = land(tmp_path, rows(events, schema=schema), options=TableOptions(casts=(("id", "int32"),)))
        assert only(tmp_path, result, "id", MARKER) == [(7, 4)]
        assert stop_of(result) == (
            "cast_failure",
            "a key does not fit the type that the settings cast it to, or would not be told from another one there "
            "(as 7 and 007): id (int32)",
            "take the key column out of casts, or choose a type that keeps its values apart; restart, and "
            "`cdc-bridge resync CONFIG TABLE` if anything of it has landed, else `cdc-bridge resume CONFIG TABLE`",
            1,
        )

    def test_keys_are_cast_in_deletes_and_old_keys_too(self, tmp_path: Path) -> None:
        events = [Event("u", row(2), old_key={"id": 1}), Event("d", {"id": 2})]
        result = land(tmp_path, events, options=TableOptions(casts=(("id", "string"),)))
        assert only(tmp_path, result, "id", MARKER) == [("1", 2), ("2", 4), ("2", 2)]


class TestRowsBeforeAKeyChange:
    """They land with soft deletes and in a history, so their values are cast as those of any row."""

    OPTIONS = TableOptions(casts=(("name", "int32"),), soft_delete="_deleted")
    EVENTS = (Event("c", row(7, "7")), Event("u", row(2, "5"), old_key={"id": 1}))

    def events(self) -> OrderedRows:
        return with_images(rows(self.EVENTS), id=[1], name=["x"], doc=["d"])

    @pytest.mark.parametrize("shape", [{}, {"soft_delete": "", "mode": TableMode.HISTORY}])
    def test_a_value_that_does_not_fit_parks_the_table_where_the_policy_says_so(
        self, tmp_path: Path, shape: dict[str, Any]
    ) -> None:
        result = land(
            tmp_path, self.events(), options=replace(self.OPTIONS, on_cast_failure=OnCastFailure.PARK, **shape)
        )
        assert only(tmp_path, result, "id") == [(7,)]
        reason, message, _, offset = stop_of(result)
        assert (reason, offset) == ("cast_failure", 1)
        assert message == "a value does not fit the type that the settings cast it to: name (int32)"

    def test_it_is_null_and_counted(self, tmp_path: Path) -> None:
        result = land(tmp_path, self.events(), options=self.OPTIONS)
        assert only(tmp_path, result, "id", "name", "_deleted") == [(7, 7, False), (1, None, True), (2, 5, False)]
        assert result.counts == {"cast_failures": 1}

    def test_it_sets_the_event_aside_where_the_policy_says_so(self, tmp_path: Path) -> None:
        options = replace(self.OPTIONS, on_cast_failure=OnCastFailure.DEAD_LETTER)
        result = land(tmp_path, self.events(), options=options)
        assert only(tmp_path, result, "id") == [(7,)]
        assert result.left_out == {"cast_failure": 1}

    def test_it_is_nothing_to_a_table_in_which_only_its_key_lands(self, tmp_path: Path) -> None:
        options = replace(self.OPTIONS, soft_delete="", on_cast_failure=OnCastFailure.PARK)
        result = land(tmp_path, self.events(), options=options)
        assert only(tmp_path, result, "id", "name") == [(7, 7), (1, None), (2, 5)]
        assert (result.state.parked, result.counts) == (None, {})
