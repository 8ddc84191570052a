"""Rows of which no column lands: PostgreSQL has tables without columns, and settings may leave all of them out."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.debezium.schema import RowSchema
from streaming.plan import TableOptions
from streaming.policies import MetadataColumn, OnMissingKey
from tests.unit.streaming.events import Event, following, land, landed, plan, row, rows
from tests.unit.streaming.shaped import stop_of

NOTHING = RowSchema((), key=())
APPENDED = TableOptions(on_missing_key=OnMissingKey.APPEND)
REMEDY = (
    "give the rows a column: in the source, by columns.include and columns.exclude, or about the event "
    "(metadata_columns); or exclude the table (tables.exclude). Then restart, and `cdc-bridge resume CONFIG TABLE`"
)


def test_a_table_without_columns_parks_at_its_first_row(tmp_path: Path) -> None:
    result = land(tmp_path, rows([Event("c"), Event("c")], schema=NOTHING), options=APPENDED)

    assert result.file is None
    assert stop_of(result) == ("no_columns", "the records have no columns, so a row would hold nothing", REMEDY, 0)


@pytest.mark.parametrize("key", [(), ("id",)])
def test_settings_that_leave_out_every_column_park_a_table_without_a_key(tmp_path: Path, key: tuple[str, ...]) -> None:
    options = TableOptions(on_missing_key=OnMissingKey.APPEND, exclude=("*",))
    schema = RowSchema(rows([Event("c", row(1))]).schema.fields, key=key)

    result = land(tmp_path, rows([Event("c", row(1)), Event("c", row(2))], schema=schema), options=options)

    if key:
        assert [line["id"] for line in landed(tmp_path, result)] == [1, 2]
    else:
        what = "the settings leave out all columns, so a row would hold nothing"
        assert stop_of(result) == ("no_columns", what, REMEDY, 0)


def test_rows_that_lost_their_last_column_park_a_table_that_has_landed(tmp_path: Path) -> None:
    schema = RowSchema(rows([Event("c", row(1))]).schema.fields, key=())
    before = land(tmp_path / "before", rows([Event("c", row(1))], schema=schema), options=APPENDED)

    result = land(
        tmp_path / "now",
        rows([Event("c"), Event("c")], schema=NOTHING, first_offset=1),
        state=before.state,
        batch_plan=following(before, plan(tmp_path / "now", options=APPENDED)),
    )

    assert (result.file, stop_of(result)[0], stop_of(result)[3]) == (None, "no_columns", 1)


def test_a_column_about_the_event_is_a_column(tmp_path: Path) -> None:
    options = TableOptions(on_missing_key=OnMissingKey.APPEND, metadata_columns=(MetadataColumn.KAFKA_OFFSET,))

    result = land(tmp_path, rows([Event("c"), Event("c")], schema=NOTHING), options=options)

    assert [line["_cdc_kafka_offset"] for line in landed(tmp_path, result)] == [0, 1]
