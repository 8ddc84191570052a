"""Soft deletes: a deleted row stays and says so."""

from __future__ import annotations

from pathlib import Path

from streaming.plan import TableOptions
from streaming.policies import Markers
from tests.unit.streaming.events import MARKER, Event, land, landed, row, rows
from tests.unit.streaming.shaped import only, with_images

SOFT = TableOptions(soft_delete="_deleted")


class TestSoftDelete:
    def test_a_delete_is_an_upsert_of_the_row_before_that_says_so(self, tmp_path: Path) -> None:
        events = [Event("c", row(1)), Event("u", row(1, "b")), Event("d", row(1, "b")), Event("d", {"id": 2})]
        result = land(tmp_path, events, options=SOFT)
        assert landed(tmp_path, result) == [
            row(1) | {"_deleted": False, MARKER: 4},
            row(1, "b") | {"_deleted": False, MARKER: 1},
            row(1, "b") | {"_deleted": True, MARKER: 4},
            row(2, None, None) | {"_deleted": True, MARKER: 4},
        ]

    def test_a_row_that_comes_back_is_not_deleted_any_more(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("d", row(1)), Event("c", row(1, "new"))], options=SOFT)
        assert only(tmp_path, result, "name", "_deleted", MARKER) == [("a", True, 4), ("new", False, 4)]

    def test_a_key_change_keeps_the_old_row_as_deleted(self, tmp_path: Path) -> None:
        moved = Event("u", row(2, "b"), old_key={"id": 1})
        partial = land(tmp_path, [moved], options=SOFT)
        assert landed(tmp_path, partial) == [
            row(1, None, None) | {"_deleted": True, MARKER: 4},
            row(2, "b") | {"_deleted": False, MARKER: 4},
        ]
        full = land(tmp_path, with_images(rows([moved]), id=[1], name=["a"], doc=["d"]), options=SOFT)
        assert landed(tmp_path, full)[0] == row(1) | {"_deleted": True, MARKER: 4}

    def test_natural_markers_never_insert_where_a_deleted_row_may_be(self, tmp_path: Path) -> None:
        events = [Event("c", row(key), lsn=key) for key in (1, 2)]
        result = land(tmp_path, events, options=SOFT, markers=Markers.NATURAL)
        assert only(tmp_path, result, MARKER) == [(4,), (4,)]

    def test_rows_of_the_loading_snapshot_are_not_deleted(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("r", row(1))], options=SOFT)
        assert landed(tmp_path, result) == [row(1) | {"_deleted": False}]

    def test_a_column_of_the_source_keeps_its_name(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("d", row(1))], options=TableOptions(soft_delete="doc"))
        assert only(tmp_path, result, "doc", "doc_") == [("d", True)]
