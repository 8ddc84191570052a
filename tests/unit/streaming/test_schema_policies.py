"""What becomes of a table whose source changes its columns, by policy, and what is told about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.debezium.schema import ConnectType, Field, RowSchema
from connectors.landing_zone.ledger.state import RebuildKind
from streaming.landing.rows import OrderedRows
from streaming.plan import TableOptions, TableResult
from streaming.policies import (
    FileFormat,
    OnKeyChange,
    OnMissingKey,
    OnResnapshot,
    OnTruncate,
    OnTypeChange,
    OnUnavailable,
)
from tests.unit.streaming.events import MARKER, MISSING, SCHEMA, Event, following, land, landed, plan, row, rows

ID, NAME, DOC = SCHEMA.fields
NUMBER = Field("name", ConnectType.INT64)
SIZE = Field("size", ConnectType.INT32)


def changed(*events: Event, fields: tuple[Field, ...], offset: int = 1, key: tuple[str, ...] = ("id",)) -> OrderedRows:
    """Events from offset ``offset`` on whose rows have these columns."""
    return rows(list(events), schema=RowSchema(fields, key=key), first_offset=offset)


def rebuild(result: TableResult) -> tuple[str, RebuildKind | None]:
    assert result.state.parked is not None
    return result.state.parked.reason, result.state.parked.rebuild


class TestTypeChange:
    def test_the_text_column_takes_the_new_types_values_and_every_later_one(self, tmp_path: Path) -> None:
        options = TableOptions(on_type_change=OnTypeChange.TO_STRING)
        numbers = (ID, SIZE, DOC)
        result = land(
            tmp_path,
            changed(Event("c", {"id": 1, "size": 7}), fields=numbers, offset=0),
            changed(Event("c", {"id": 2, "size": "wide"}), fields=(ID, Field("size", ConnectType.STRING), DOC)),
            changed(Event("c", {"id": 3, "size": 2**40}), fields=(ID, Field("size", ConnectType.INT64), DOC), offset=2),
            changed(Event("c", {"id": 4, "size": 8}), fields=numbers, offset=3),
            options=options,
        )
        assert [(line["size"], line["size__2"]) for line in landed(tmp_path, result)] == [
            (7, None),
            (None, "wide"),
            (None, str(2**40)),
            (None, "8"),
        ]
        assert result.notes == ("new column size__2 (string) instead of size",)

    def test_a_text_column_goes_on_as_it_is(self, tmp_path: Path) -> None:
        options = TableOptions(on_type_change=OnTypeChange.TO_STRING)
        numbers = changed(Event("c", {"id": 2, "name": 5}), fields=(ID, NUMBER, DOC))
        result = land(tmp_path, [Event("c", row(1))], numbers, options=options)
        assert [line["name"] for line in landed(tmp_path, result)] == ["a", "5"]
        assert result.notes == ()

    def test_a_change_that_is_ignored_keeps_what_fits_and_counts_the_rest(self, tmp_path: Path) -> None:
        options = TableOptions(on_type_change=OnTypeChange.IGNORE)
        texts = (ID, Field("size", ConnectType.STRING), DOC)
        events = [Event("c", {"id": key, "size": size}) for key, size in ((2, "5"), (3, "many"), (4, None), (5, "9.5"))]
        first = plan(tmp_path, options=options)
        known = land(
            tmp_path,
            changed(Event("c", {"id": 1, "size": 7}), fields=(ID, SIZE, DOC), offset=0),
            changed(*events, fields=texts),
            batch_plan=first,
        )
        assert [line["size"] for line in landed(tmp_path, known)] == [7, 5, None, None, None]
        assert (known.counts, known.state.ignored_values, known.state.tainted) == ({"ignored_values": 2}, 2, False)
        assert known.notes == ("2 value(s) of size are no int32 and landed as NULL (policies.on_type_change: ignore)",)
        later = changed(Event("c", {"id": 6, "size": "x"}), fields=texts, offset=9)
        result = land(tmp_path, later, state=known.state, batch_plan=following(known, first))
        assert (result.counts, result.state.ignored_values) == ({"ignored_values": 1}, 3)

    @pytest.mark.parametrize(
        ("policy", "kind"), [(OnTypeChange.PARK, None), (OnTypeChange.REBUILD, RebuildKind.SNAPSHOT)]
    )
    def test_a_change_that_cannot_be_followed_parks_and_asks_for_a_rebuild_where_the_policy_does(
        self, tmp_path: Path, policy: OnTypeChange, kind: RebuildKind | None
    ) -> None:
        numbers = changed(Event("c", {"id": 2, "name": 5}), fields=(ID, NUMBER, DOC))
        result = land(tmp_path, [Event("c", row(1))], numbers, options=TableOptions(on_type_change=policy))
        assert rebuild(result) == ("type_changed", kind)
        assert result.state.parked is not None
        assert (result.state.parked.message, result.state.parked.remedy) == (
            "the column 'name' changed its type from string to int64, which the mirrored column cannot hold",
            "`cdc-bridge resync CONFIG TABLE`; or choose another policies.on_type_change (new_column, to_string, "
            "ignore) and `cdc-bridge resume CONFIG TABLE`",
        )

    @pytest.mark.parametrize("policy", [OnTypeChange.TO_STRING, OnTypeChange.NEW_COLUMN])
    def test_a_delimited_table_parks_rather_than_get_a_column(self, tmp_path: Path, policy: OnTypeChange) -> None:
        options = TableOptions(on_type_change=policy, file_format=FileFormat.DELIMITED)
        result = land(
            tmp_path,
            changed(Event("c", {"id": 1, "size": 7}), fields=(ID, SIZE, DOC), offset=0),
            changed(Event("c", {"id": 2, "size": "x"}), fields=(ID, Field("size", ConnectType.STRING), DOC)),
            options=options,
        )
        assert rebuild(result) == ("type_changed", None)

    @pytest.mark.parametrize("cut", [False, True])
    def test_a_value_from_before_the_change_never_fills_a_gap_behind_it(self, tmp_path: Path, cut: bool) -> None:
        options = TableOptions(on_type_change=OnTypeChange.TO_STRING, on_unavailable=OnUnavailable.DEAD_LETTER)
        texts = (ID, Field("size", ConnectType.STRING))
        behind = [
            Event("u", {"id": 1, "size": MISSING}),
            Event("u", {"id": 1, "size": "new"}),
            Event("u", {"id": 1, "size": MISSING}),
        ]
        parts = [behind] if not cut else [[event] for event in behind]
        result = land(
            tmp_path,
            changed(Event("c", {"id": 1, "size": 7}), fields=(ID, SIZE), offset=0),
            *(changed(*part, fields=texts, offset=1 + place) for place, part in enumerate(parts)),
            options=options,
        )
        assert [(line["size"], line["size__2"], line[MARKER]) for line in landed(tmp_path, result)] == [
            (7, None, 4),
            (None, "new", 1),
            (None, "new", 1),
        ]
        assert result.state.dead_letters == 1


class TestKeyChange:
    @pytest.mark.parametrize(
        ("policy", "kind"), [(OnKeyChange.PARK, None), (OnKeyChange.REBUILD, RebuildKind.SNAPSHOT)]
    )
    @pytest.mark.parametrize("key", [("name",), ("id", "name")])
    def test_other_key_columns_park_and_ask_for_a_rebuild_where_the_policy_does(
        self, tmp_path: Path, key: tuple[str, ...], policy: OnKeyChange, kind: RebuildKind | None
    ) -> None:
        other = changed(Event("c", row(2)), fields=SCHEMA.fields, key=key)
        result = land(tmp_path, [Event("c", row(1))], other, options=TableOptions(on_key_change=policy))
        assert rebuild(result) == ("key_changed", kind)

    def test_another_type_of_the_key_is_another_key(self, tmp_path: Path) -> None:
        options = TableOptions(on_key_change=OnKeyChange.REBUILD, on_type_change=OnTypeChange.TO_STRING)
        texts = changed(Event("c", {"id": "two", "name": "b"}), fields=(Field("id", ConnectType.STRING), NAME))
        assert rebuild(land(tmp_path, [Event("c", row(1))], texts, options=options)) == (
            "key_changed",
            RebuildKind.SNAPSHOT,
        )

    def test_a_key_that_is_gone_asks_for_a_rebuild_only_where_tables_without_key_land(self, tmp_path: Path) -> None:
        keyless = changed(Event("c", row(2)), fields=SCHEMA.fields, key=())
        for missing, expected in (
            (OnMissingKey.APPEND, ("missing_key", RebuildKind.SNAPSHOT)),
            (OnMissingKey.PARK, ("missing_key", None)),
        ):
            options = TableOptions(on_key_change=OnKeyChange.REBUILD, on_missing_key=missing)
            assert rebuild(land(tmp_path, [Event("c", row(1))], keyless, options=options)) == expected

    def test_a_table_gets_its_first_key_by_a_rebuild_and_else_goes_on_appending(self, tmp_path: Path) -> None:
        keyless = changed(Event("c", row(1)), fields=SCHEMA.fields, key=(), offset=0)
        keyed = changed(Event("c", row(2)), fields=SCHEMA.fields)
        append = TableOptions(on_missing_key=OnMissingKey.APPEND)
        assert [line["id"] for line in landed(tmp_path, land(tmp_path, keyless, keyed, options=append))] == [1, 2]
        options = TableOptions(on_missing_key=OnMissingKey.APPEND, on_key_change=OnKeyChange.REBUILD)
        assert rebuild(land(tmp_path, keyless, keyed, options=options)) == ("key_changed", RebuildKind.SNAPSHOT)


class TestOtherRebuilds:
    @pytest.mark.parametrize(("policy", "kind"), [(OnTruncate.PARK, None), (OnTruncate.REBUILD, RebuildKind.KAFKA)])
    def test_a_truncate(self, tmp_path: Path, policy: OnTruncate, kind: RebuildKind | None) -> None:
        result = land(tmp_path, [Event("c", row(1)), Event("t")], options=TableOptions(on_truncate=policy))
        assert rebuild(result) == ("truncate", kind)

    @pytest.mark.parametrize(("policy", "kind"), [(OnResnapshot.PARK, None), (OnResnapshot.REBUILD, RebuildKind.KAFKA)])
    def test_a_second_snapshot(self, tmp_path: Path, policy: OnResnapshot, kind: RebuildKind | None) -> None:
        events = [Event("r", row(1)), Event("c", row(2), lsn=1), Event("r", row(1), run="run-2", lsn=2)]
        result = land(tmp_path, events, options=TableOptions(on_resnapshot=policy))
        assert rebuild(result) == ("second_snapshot", kind)


class TestNotes:
    def test_a_column_that_is_gone_is_told_once_and_so_is_its_return(self, tmp_path: Path) -> None:
        first = plan(tmp_path)
        gone = land(
            tmp_path,
            [Event("c", row(1))],
            changed(Event("c", row(2)), Event("c", row(3)), fields=(ID, NAME)),
            batch_plan=first,
        )
        assert gone.notes == ("doc is gone from the rows: it stays, NULL in every row that changes from now on",)
        assert gone.state.gone == ("doc",)
        still = land(
            tmp_path,
            changed(Event("c", row(4)), fields=(ID, NAME), offset=5),
            state=gone.state,
            batch_plan=following(gone, first),
        )
        assert (still.notes, still.state.gone) == ((), ("doc",))
        back = land(
            tmp_path,
            changed(Event("c", row(5)), fields=SCHEMA.fields, offset=6),
            state=still.state,
            batch_plan=following(still, following(gone, first)),
        )
        assert back.notes == (
            "doc is back in the rows: if it was dropped and made again, rows that have not changed since show the old "
            "values; `cdc-bridge resync CONFIG TABLE` mends them",
        )
        assert back.state.gone == ()

    def test_a_rename_is_told_as_what_it_may_be_and_moves_nothing(self, tmp_path: Path) -> None:
        renamed = changed(
            Event("c", {"id": 2, "name": "b", "text": "t"}), fields=(ID, NAME, Field("text", ConnectType.STRING))
        )
        result = land(tmp_path, [Event("c", row(1))], renamed)
        assert [(line["doc"], line["text"]) for line in landed(tmp_path, result)] == [("d", None), (None, "t")]
        assert result.notes == (
            "new column text (string)",
            "doc is gone from the rows: it stays, NULL in every row that changes from now on",
            "doc is gone and text is new in the same event: if it was renamed, old rows keep their value in doc; "
            "`cdc-bridge resync CONFIG TABLE` fills text",
        )

    def test_a_new_column_that_is_never_null_tells_that_old_rows_lack_it(self, tmp_path: Path) -> None:
        required = Field("size", ConnectType.INT32, optional=False)
        result = land(
            tmp_path,
            [Event("c", row(1))],
            changed(Event("c", row(2) | {"size": 7}), fields=(*SCHEMA.fields, required)),
        )
        assert result.notes == (
            "new column size (int32)",
            "rows that exist have a value in size at the source, and NULL in the mirror until they change; "
            "`cdc-bridge resync CONFIG TABLE` fills it",
        )

    def test_the_first_schema_is_no_change(self, tmp_path: Path) -> None:
        assert land(tmp_path, [Event("c", row(1))]).notes == ()

    def test_rows_that_need_not_have_all_columns_tell_nothing_about_those_that_they_lack(self, tmp_path: Path) -> None:
        keys_alone = changed(Event("d", {"id": 1}), fields=(ID,))
        learned = rows([Event("c", row(2))], schema=RowSchema((ID, NAME), key=("id",), learned=True), first_offset=2)
        result = land(tmp_path, [Event("c", row(1))], keys_alone, learned)
        assert (result.notes, result.state.gone) == ((), ())

    def test_what_the_settings_leave_out_is_not_gone(self, tmp_path: Path) -> None:
        first = plan(tmp_path)
        known = land(tmp_path, [Event("c", row(1))], batch_plan=first)
        chosen = following(known, plan(tmp_path, options=TableOptions(exclude=("doc",))))
        chosen.schemas.update(known.schemas)
        result = land(tmp_path, rows([Event("c", row(2))], first_offset=1), state=known.state, batch_plan=chosen)
        assert (result.notes, result.state.gone) == ((), ())
