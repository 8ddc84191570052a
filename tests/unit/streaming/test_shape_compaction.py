"""Last states: of the rows that a key has in one file only the last one stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from connectors.debezium.schema import ConnectType, Field, RowSchema
from streaming.plan import TableOptions
from streaming.policies import Compaction, FileFormat, Markers, OnMissingKey
from tests.unit.streaming.events import MARKER, MISSING, SCHEMA, Event, land, landed, new_table, row, rows
from tests.unit.streaming.shaped import only

LAST_STATES = TableOptions(compaction=Compaction.LAST_STATE)


class TestCompaction:
    def states(self, zone: Path, events: Sequence[Event], **changes: Any) -> list[tuple[Any, ...]]:
        options = changes.pop("options", LAST_STATES)
        cuts = [[events], [[event] for event in events]]
        found = []
        for cut in cuts:
            result = land(zone, *cut, options=options, **changes)
            found.append(only(zone, result, "id", "name", MARKER))
            assert result.counts.get("compacted", 0) + len(found[-1]) >= len(events)
        assert found[0] == found[1], "however the events are cut"
        return found[0]

    def test_only_the_last_row_of_each_key_stays(self, tmp_path: Path) -> None:
        events = [
            Event("c", row(1, "a")),
            Event("c", row(2, "b")),
            Event("u", row(1, "c")),
            Event("u", row(2, "d")),
            Event("u", row(1, "e")),
        ]
        assert self.states(tmp_path, events) == [(2, "d", 1), (1, "e", 1)]

    def test_delete_and_insert_become_an_upsert(self, tmp_path: Path) -> None:
        assert self.states(tmp_path, [Event("d", {"id": 1}), Event("c", row(1, "new"))]) == [(1, "new", 4)]

    def test_insert_and_delete_become_a_delete_and_never_nothing(self, tmp_path: Path) -> None:
        assert self.states(tmp_path, [Event("c", row(1)), Event("d", {"id": 1})]) == [(1, None, 2)]

    def test_a_key_change_is_a_delete_of_one_key_and_an_upsert_of_another(self, tmp_path: Path) -> None:
        events = [Event("c", row(1)), Event("u", row(2, "b"), old_key={"id": 1}), Event("c", row(1, "c"))]
        assert self.states(tmp_path, events) == [(2, "b", 4), (1, "c", 4)]
        assert self.states(tmp_path, events[:2]) == [(1, None, 2), (2, "b", 4)]

    def test_an_insert_that_lost_its_delete_looks_for_the_key(self, tmp_path: Path) -> None:
        events = [
            Event("c", row(9), lsn=1),
            Event("c", row(1), lsn=2),
            Event("d", {"id": 1}, lsn=3),
            Event("c", row(1, "new"), lsn=4),
            Event("c", row(2), lsn=5),
        ]
        assert self.states(tmp_path, events, markers=Markers.NATURAL) == [(9, "a", 4), (1, "new", 4), (2, "a", 0)]

    def test_a_load_keeps_having_no_markers(self, tmp_path: Path) -> None:
        events = [Event("r", row(1)), Event("r", row(2)), Event("r", row(1, "again"))]
        result = land(tmp_path, events, options=LAST_STATES)
        assert landed(tmp_path, result) == [row(2), row(1, "again")]
        assert result.counts == {"compacted": 1}
        assert result.file is not None
        assert (result.file.rows, result.state.rows) == ({"": 2}, {"": 2})
        assert result.file.ranges == {"shop.public.orders": {0: (0, 2)}}, "the file stands for all of its events"

    def test_composite_keys_and_columns_that_come_later(self, tmp_path: Path) -> None:
        schema = RowSchema((*SCHEMA.fields, Field("extra", ConnectType.STRING)), key=("id", "name"))
        narrow = RowSchema(SCHEMA.fields, key=("id", "name"))
        result = land(
            tmp_path,
            rows([Event("c", row(1, "a")), Event("c", row(1, "b"))], schema=narrow),
            rows([Event("u", row(1, "a", "z") | {"extra": "e"})], schema=schema, first_offset=2),
            options=LAST_STATES,
        )
        assert only(tmp_path, result, "id", "name", "doc", "extra") == [(1, "b", "d", None), (1, "a", "z", "e")]

    def test_text_files_are_compacted_too(self, tmp_path: Path) -> None:
        options = replace(LAST_STATES, file_format=FileFormat.DELIMITED)
        state = msgspec.structs.replace(new_table(), extension="csv", column_separator=",")
        result = land(tmp_path, [Event("c", row(1)), Event("u", row(1, "b"))], options=options, state=state)
        assert result.file is not None
        assert result.file.rows == {"1": 1}
        assert (tmp_path / result.file.staged).read_text().splitlines()[1:] == ["1,b,d,1"]

    def test_a_table_without_a_key_lands_every_row(self, tmp_path: Path) -> None:
        keyless = RowSchema(SCHEMA.fields, key=())
        options = replace(LAST_STATES, on_missing_key=OnMissingKey.APPEND)
        events = rows([Event("c", row(1)), Event("c", row(1))], schema=keyless)
        assert only(tmp_path, land(tmp_path, events, options=options), "id") == [(1,), (1,)]

    def test_values_that_were_not_sent_are_filled_before(self, tmp_path: Path) -> None:
        events = [[Event("c", row(1))], [Event("u", row(1, "b", MISSING))], [Event("u", row(1, "c", MISSING))]]
        assert landed(tmp_path, land(tmp_path, *events, options=LAST_STATES)) == [row(1, "c") | {MARKER: 1}]

    def test_no_local_file_is_left_behind(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
        land(tmp_path, [Event("c", row(1)), Event("u", row(1, "b"))], options=LAST_STATES)
        left = [path.name for path in tmp_path.rglob("*") if path.is_file()]
        assert len(left) == 1, left
