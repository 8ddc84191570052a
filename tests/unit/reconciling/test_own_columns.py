"""The bridge's own columns are told from the source's, whatever names the database has."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.debezium.events import Op
from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.source_database.catalog import SourceColumn
from connectors.source_database.column_types import postgresql_type
from streaming.demo.columns import Column, Kind
from streaming.plan import TableOptions
from streaming.policies import MetadataColumn
from streaming.reconciling import reconcile as reconciling
from streaming.reconciling.columns import LeftOutColumn
from streaming.reconciling.outcome import TableOutcome, Verdict
from streaming.reconciling.reconcile import reconcile
from tests.support.records import COLUMNS as LANDED
from tests.support.records import Table
from tests.unit.reconciling.moving import COLUMNS, Moving, moving
from tests.unit.reconciling.test_columns import column, pinned, plan
from tests.unit.reconciling.test_reconcile import STEPS, work
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, job, row

OWN = "it is the bridge's own"
EXCLUDED = "it is not to land: excluded by the settings or the connector"
IMAGES = TableRules(tables=(("*", TableDecoding(before_images=True)),))


def compared(
    world: Moving, monkeypatch: pytest.MonkeyPatch, options: TableOptions, *further: SourceColumn, decode: DecodeOptions
) -> TableOutcome:
    """What comes of the table in a database that has further columns."""
    monkeypatch.setattr(reconciling, "columns_of", lambda database, table: (*COLUMNS, *further))
    monkeypatch.setattr(reconciling, "database_name", lambda database: "shop")
    [outcome] = reconcile(work(world, job(world.folder, defaults=options, decode=decode)), STEPS)
    return outcome


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (TableOptions(added=(("email", "'hidden'"),)), "email"),
        (TableOptions(metadata_columns=(MetadataColumn.OP,)), "_cdc_op"),
    ],
)
def test_they_are_not_compared_with_a_column_that_the_connector_hides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: TableOptions, name: str
) -> None:
    world = moving(tmp_path, [ORDERS.create(row(1), lsn=1)], rows={1: "new"}, defaults=options)
    world.further = {name: "another"}
    outcome = compared(world, monkeypatch, options, SourceColumn(name, postgresql_type("text")), decode=DecodeOptions())
    assert (outcome.verdict, outcome.left_out) == (
        Verdict.EQUAL,
        (LeftOutColumn(name, OWN), LeftOutColumn(name, "it has not landed: no event has had it yet")),
    )


@pytest.mark.parametrize(
    ("kind", "type_text", "landed", "written"), [(Kind.TEXT, "text", "x", "x"), (Kind.BOOLEAN, "boolean", True, "t")]
)
def test_rows_that_stay_deleted_are_told_by_the_column_that_the_flag_landed_in(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: Kind,
    type_text: str,
    landed: object,
    written: str,
) -> None:
    table = Table(TOPIC, columns=(*LANDED, Column("_deleted", kind)))
    options, decode = TableOptions(soft_delete="_deleted"), DecodeOptions(rules=IMAGES)
    lines = [{**row(key), "_deleted": landed} for key in (1, 2)]
    world = moving(
        tmp_path,
        [table.create(lines[0], 1), table.create(lines[1], 2)],
        [table.delete(lines[1], 3)],
        rows={1: "new"},
        defaults=options,
        decode=decode,
    )
    world.further = {"_deleted": written}
    outcome = compared(world, monkeypatch, options, SourceColumn("_deleted", postgresql_type(type_text)), decode=decode)
    assert (outcome.verdict, outcome.reason, outcome.left_out) == (
        Verdict.EQUAL,
        "",
        (LeftOutColumn("_deleted_", OWN),),
    )
    assert outcome.notes == (), "a table of soft deletes has left nothing out"


def test_a_source_column_under_the_flags_name_that_cannot_be_one_marks_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = moving(tmp_path, [ORDERS.create(row(1), lsn=1)], rows={1: "new"})
    outcome = compared(world, monkeypatch, TableOptions(soft_delete="name"), decode=DecodeOptions())
    assert (outcome.verdict, outcome.left_out[0]) == (Verdict.EQUAL, LeftOutColumn("name", OWN))


def test_a_column_that_landed_and_is_excluded_now_is_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = moving(tmp_path, [ORDERS.create(row(1), lsn=1)], rows={1: "another"})
    outcome = compared(world, monkeypatch, TableOptions(exclude=("name",)), decode=DecodeOptions())
    assert (outcome.verdict, outcome.left_out) == (Verdict.EQUAL, (LeftOutColumn("name", EXCLUDED),))


def test_a_key_column_is_compared_whatever_is_excluded() -> None:
    made = plan(
        [column("id", "integer"), column("secret")],
        [pinned("id", "int32", key=True), pinned("secret")],
        excluded=lambda name: True,
    )
    assert [one.name for one in made.compared] == ["id"]
    assert made.left_out == (LeftOutColumn("secret", EXCLUDED),)


@pytest.mark.parametrize(
    ("operations", "notes"),
    [
        ((), ()),
        (
            frozenset({Op.DELETE}),
            ("the settings leave out: delete",),
        ),
    ],
)
def test_only_settings_that_leave_operations_out_are_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operations: tuple[Op, ...], notes: tuple[str, ...]
) -> None:
    world = moving(tmp_path, [ORDERS.create(row(1), lsn=1)], rows={1: "new"})
    decode = DecodeOptions(rules=TableRules(tables=(("*", TableDecoding(excluded_operations=operations)),)))
    assert compared(world, monkeypatch, TableOptions(), decode=decode).notes == notes
