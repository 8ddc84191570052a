"""Values that were not sent: what fills them never depends on how the batch was cut, and is never out of date."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.debezium.schema import ConnectType, Field, RowSchema
from streaming.demo.workload import Record
from streaming.landing.rows import OrderedRows
from streaming.plan import TableOptions, TableResult
from streaming.policies import OnCastFailure, OnTypeChange, OnUnavailable, TableMode
from tests.support.records import Table
from tests.unit.streaming import events as builders
from tests.unit.streaming.events import MISSING, SCHEMA, Event, following, land, landed, plan, row, rows
from tests.unit.streaming.test_batches import Batches

ID, NAME = Field("id", ConnectType.INT64, optional=False), Field("name", ConnectType.STRING)
WITHOUT_DOC = RowSchema((ID, NAME), key=("id",))
BYTES_DOC = RowSchema((ID, NAME, Field("doc", ConnectType.BYTES)), key=("id",))
INT_DOC = RowSchema((ID, NAME, Field("doc", ConnectType.INT32)), key=("id",))


@pytest.fixture(autouse=True)
def bytes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(builders.ARROW, ConnectType.BYTES, pa.binary())


def parked(result: TableResult) -> tuple[str, int]:
    assert result.state.parked is not None
    return result.state.parked.reason, result.state.parked.offset


def docs(folder: Path, result: TableResult, column: str = "doc") -> list[Any]:
    return [line[column] for line in landed(folder, result)]


def whole_and_cut(
    folder: Path, batch: Sequence[Event], options: TableOptions | None = None
) -> tuple[TableResult, TableResult]:
    """The same events in one slice, and each in one of its own."""
    whole = land(folder / "whole", batch, options=options)
    return whole, land(folder / "cut", *[[event] for event in batch], options=options)


def same(whole: TableResult, cut: TableResult) -> bool:
    """Whether both made the same file and stand at the same place."""
    files = [None if result.file is None else result.file.sha256 for result in (whole, cut)]
    return files[0] == files[1] and whole.state.parked == cut.state.parked


class TestColumnsInAnotherForm:
    def following_ints(self, folder: Path, policy: OnTypeChange, *slices: OrderedRows) -> TableResult:
        """A table whose doc was a number in the batch before."""
        first = plan(folder, options=TableOptions(on_type_change=policy))
        known = land(folder, rows([Event("c", row(9, doc=1))], schema=INT_DOC), batch_plan=first)
        return land(folder, *slices, state=known.state, batch_plan=following(known, first))

    @pytest.mark.parametrize("doc", ["5", "abc"])
    def test_one_that_ignores_its_new_type_is_filled_with_what_was_sent(self, tmp_path: Path, doc: str) -> None:
        both = [Event("u", row(1, doc=doc)), Event("u", row(1, "b", MISSING))]
        whole = self.following_ints(tmp_path / "whole", OnTypeChange.IGNORE, rows(both, first_offset=1))
        cut = self.following_ints(
            tmp_path / "cut",
            OnTypeChange.IGNORE,
            rows(both[:1], first_offset=1),
            rows(both[1:], first_offset=2),
        )
        assert same(whole, cut)
        assert docs(tmp_path / "cut", cut) == ([5, 5] if doc == "5" else [None, None])

    def test_bytes_that_land_as_text_are_not_spelled_twice(self, tmp_path: Path) -> None:
        cut = self.following_ints(
            tmp_path,
            OnTypeChange.TO_STRING,
            rows([Event("u", row(1, doc=b"\x01\x02\x03"))], schema=BYTES_DOC, first_offset=1),
            rows([Event("u", row(1, "b", MISSING))], schema=BYTES_DOC, first_offset=2),
        )
        texts = [{value for name, value in line.items() if name.startswith("doc")} for line in landed(tmp_path, cut)]
        assert texts == [{None, "AQID"}, {None, "AQID"}]

    def test_a_replaced_column_of_a_history_is_not_filled_from_the_one_before(self, tmp_path: Path) -> None:
        options = TableOptions(mode=TableMode.HISTORY, on_type_change=OnTypeChange.NEW_COLUMN)
        result = land(
            tmp_path,
            [Event("c", row(1, doc="old"))],
            rows([Event("u", row(2, doc=b"x"))], schema=BYTES_DOC, first_offset=1),
            rows([Event("u", row(1, "b", MISSING))], schema=BYTES_DOC, first_offset=2),
            options=options,
        )
        assert parked(result) == ("unavailable_value", 2)

    def test_a_history_with_a_masked_key_still_tells_its_rows_apart(self, tmp_path: Path) -> None:
        by_name = RowSchema(SCHEMA.fields, key=("name",))
        options = TableOptions(mode=TableMode.HISTORY, mask=("name",))
        slices = [
            rows([Event("c", row(1, "a", "of a"))], schema=by_name),
            rows([Event("c", row(2, "b", "of b"))], schema=by_name, first_offset=1),
            rows([Event("u", row(1, "a", MISSING))], schema=by_name, first_offset=2),
        ]
        assert docs(tmp_path, land(tmp_path, *slices, options=options)) == ["of a", "of b", "of a"]


class TestColumnsThatWereNotThere:
    def test_a_row_without_the_column_is_not_one_with_null(self, tmp_path: Path) -> None:
        result = land(
            tmp_path,
            rows([Event("u", {"id": 1, "name": "a"})], schema=WITHOUT_DOC),
            rows([Event("u", row(1, "b", MISSING))], first_offset=1),
        )
        assert parked(result) == ("unavailable_value", 1)

    def test_a_value_from_before_such_a_row_is_forgotten(self, tmp_path: Path) -> None:
        filling = [[Event("u", row(7, doc="x")), Event("u", row(7, doc=MISSING))]]
        for before in ([], filling):
            folder = tmp_path / str(len(before))
            start = sum(len(part) for part in before)
            result = land(
                folder,
                *before,
                rows([Event("u", row(1, doc="old"))], first_offset=start),
                rows([Event("u", {"id": 1, "name": "a"})], schema=WITHOUT_DOC, first_offset=start + 1),
                rows([Event("u", row(1, "b", MISSING))], first_offset=start + 2),
            )
            assert parked(result) == ("unavailable_value", start + 2)

    def test_a_row_of_another_key_without_the_column_takes_nothing_away(self, tmp_path: Path) -> None:
        result = land(
            tmp_path,
            rows([Event("u", row(1, doc="kept"))]),
            rows([Event("u", {"id": 2, "name": "a"})], schema=WITHOUT_DOC, first_offset=1),
            rows([Event("u", row(1, "b", MISSING))], first_offset=2),
        )
        assert docs(tmp_path, result) == ["kept", None, "kept"]


class TestDeletedRows:
    @pytest.mark.parametrize(
        "options", [TableOptions(soft_delete="_deleted"), TableOptions(mode=TableMode.HISTORY), TableOptions()]
    )
    @pytest.mark.parametrize("op", ["c", "u"])
    def test_fill_nothing_however_they_are_cut(self, tmp_path: Path, options: TableOptions, op: str) -> None:
        batch = [Event("c", row(2)), Event("d", row(2)), Event(op, row(2, "moved", MISSING))]
        whole, cut = whole_and_cut(tmp_path, batch, options)
        assert parked(whole) == ("unavailable_value", 2)
        assert same(whole, cut)

    def test_a_created_row_takes_nothing_from_the_one_that_had_its_key(self, tmp_path: Path) -> None:
        whole, cut = whole_and_cut(tmp_path, [Event("c", row(2)), Event("c", row(2, "moved", MISSING))])
        assert parked(whole) == ("unavailable_value", 1)
        assert same(whole, cut)


class TestEventsLeftOut:
    LETTERS = TableOptions(
        casts=(("name", "int32"),),
        on_cast_failure=OnCastFailure.DEAD_LETTER,
    )

    def test_the_value_before_a_dead_letter_fills_nothing_behind_it(self, tmp_path: Path) -> None:
        batch = [Event("c", row(1, "1", "old")), Event("u", row(1, "x", "NEW")), Event("u", row(1, "3", MISSING))]
        whole, cut = whole_and_cut(tmp_path, batch, self.LETTERS)
        assert parked(whole) == ("unavailable_value", 2)
        assert whole.left_out == cut.left_out == {"cast_failure": 1}
        assert same(whole, cut)

    def test_a_value_from_behind_the_dead_letter_does(self, tmp_path: Path) -> None:
        moves = [Event("c", row(5, "5", "far")), Event("u", row(6, "6", "far"), old_key={"id": 5})]
        batch = [
            *moves,
            Event("u", row(1, "x", "lost")),
            Event("u", row(1, "2", "new")),
            Event("u", row(1, "3", MISSING)),
            Event("u", row(6, "4", MISSING)),
        ]
        whole, cut = whole_and_cut(tmp_path, batch, self.LETTERS)
        assert docs(tmp_path / "cut", cut) == ["far", None, "far", "new", "new", "far"]
        assert same(whole, cut)

    def test_a_dead_letter_that_moved_a_row_makes_both_keys_unknown(self, tmp_path: Path) -> None:
        moved = Event("u", row(2, "x", MISSING), old_key={"id": 1})
        for key in (1, 2):
            batch = [Event("c", row(1, "1")), Event("c", row(2, "1")), moved, Event("u", row(key, "3", MISSING))]
            whole, cut = whole_and_cut(tmp_path / str(key), batch, self.LETTERS)
            assert parked(whole) == ("unavailable_value", 3)
            assert same(whole, cut)

    def test_no_letter_is_written_behind_the_value_that_parks_the_table(self, tmp_path: Path) -> None:
        batch = [Event("c", row(9, "1")), Event("u", row(1, "1", MISSING)), Event("c", row(3, "x"))]
        result = land(tmp_path, batch, options=self.LETTERS)
        assert parked(result) == ("unavailable_value", 1)
        assert result.left_out == {}

    def test_misfits_behind_the_value_that_parks_the_table_are_not_counted(self, tmp_path: Path) -> None:
        options = TableOptions(casts=(("name", "int32"),))
        result = land(tmp_path, [Event("u", row(1, "1", MISSING)), Event("c", row(3, "x"))], options=options)
        assert result.counts == {}

    def test_a_record_that_is_no_event_makes_every_key_of_the_batch_unknown(self, tmp_path: Path) -> None:
        orders = Table("shop.orders")
        placeholder = "__debezium_unavailable_value"
        first, second = orders.create({"id": 1, "name": "old"}, 1), orders.update({"id": 1, "name": placeholder}, 3)
        filled = Batches(tmp_path / "filled")
        filled.land(first, second)
        assert [line["name"] for line in filled.job.rows("public.orders")] == ["old"]
        spoiled = Batches(tmp_path / "spoiled")
        spoiled.land(first, Record("shop.orders", 0, b'{"id": 1}', b"{", ()), second)
        stopped = spoiled.job.ledger.state.tables["public.orders"].parked
        assert stopped is not None
        assert (stopped.reason, stopped.offset) == ("unavailable_value", 2)


EVENTS = st.lists(
    st.one_of(
        st.builds(
            lambda key, name, doc, op: Event(op, row(key, name, doc)),
            st.integers(1, 3),
            st.sampled_from(["1", "x"]),
            st.sampled_from(["a", "b", None, MISSING]),
            st.sampled_from(["c", "u", "u"]),
        ),
        st.builds(lambda key: Event("d", {"id": key}), st.integers(1, 3)),
        st.builds(
            lambda key, step, doc: Event("u", row(key % 3 + 1, "1", doc), old_key={"id": (key + step) % 3 + 1}),
            st.integers(0, 2),
            st.integers(1, 2),
            st.sampled_from(["m", MISSING]),
        ),
    ),
    min_size=1,
    max_size=9,
)
SHAPES = (
    TableOptions(on_unavailable=OnUnavailable.DEAD_LETTER),
    TableOptions(on_unavailable=OnUnavailable.NULL),
    TableOptions(soft_delete="_deleted"),
    TableOptions(mode=TableMode.HISTORY, on_unavailable=OnUnavailable.DEAD_LETTER),
    TableOptions(
        casts=(("name", "int32"),),
        on_cast_failure=OnCastFailure.DEAD_LETTER,
        on_unavailable=OnUnavailable.DEAD_LETTER,
    ),
)


class TestCuts:
    @settings(max_examples=60, deadline=None)
    @given(batch=EVENTS, cuts=st.sets(st.integers(1, 8)), options=st.sampled_from(SHAPES))
    def test_what_lands_is_the_same_however_the_events_are_cut(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        batch: list[Event],
        cuts: set[int],
        options: TableOptions,
    ) -> None:
        folder = tmp_path_factory.mktemp("cuts")
        bounds = sorted({0, len(batch), *(cut for cut in cuts if cut < len(batch))})
        whole = land(folder / "whole", batch, options=options)
        cut = land(folder / "cut", *[batch[start:stop] for start, stop in itertools.pairwise(bounds)], options=options)
        assert same(whole, cut)
        assert (whole.left_out, whole.state.tainted) == (cut.left_out, cut.state.tainted)
