"""Which columns are compared, and why others are not."""

from __future__ import annotations

from typing import Any

from connectors.landing_zone.schema import PinnedColumn, PinnedSchema
from connectors.source_database.catalog import SourceColumn
from connectors.source_database.column_types import postgresql_type
from connectors.source_database.location import DatabaseKind
from streaming.reconciling.columns import ColumnPlan, LeftOutColumn, plan_columns


def column(name: str, type_text: str = "text", *, generated: bool = False) -> SourceColumn:
    return SourceColumn(name, postgresql_type(type_text), generated=generated)


def pinned(name: str, type_text: str = "string", *, key: bool = False, source: str | None = None) -> PinnedColumn:
    return PinnedColumn(name, source or name, type_text, key)


def plan(source: list[SourceColumn], landed: list[PinnedColumn], *masked: str, **more: Any) -> ColumnPlan:
    return plan_columns(DatabaseKind.POSTGRESQL, source, PinnedSchema(tuple(landed)), masked=masked, **more)


def test_the_key_comes_first_and_finds_rows() -> None:
    made = plan([column("name"), column("id", "integer")], [pinned("name"), pinned("id", "int32", key=True)])
    assert [one.name for one in made.compared] == ["id", "name"]
    assert [one.name for one in made.key] == [one.name for one in made.identity] == ["id"]
    assert made.left_out == ()


def test_without_a_key_a_row_is_all_of_its_columns() -> None:
    made = plan([column("a"), column("b")], [pinned("a"), pinned("b")])
    assert made.key == ()
    assert [one.name for one in made.identity] == ["a", "b"]


def test_a_column_that_landed_under_another_name_is_found_by_its_source() -> None:
    made = plan([column("Name"), column("name")], [pinned("Name"), pinned("name__2", source="name")])
    assert [(one.name, one.source.name) for one in made.compared] == [("Name", "Name"), ("name__2", "name")]


def test_every_column_that_is_left_out_has_its_reason() -> None:
    made = plan(
        [
            column("id", "integer"),
            column("email"),
            column("sum", "integer", generated=True),
            column("kind"),
            column("area", "box"),
            column("secret"),
            column("total", "integer", generated=True),
            column("later"),
        ],
        [
            pinned("id", "int32", key=True),
            pinned("email"),
            pinned("sum", "int32"),
            pinned("kind", "int32"),
            pinned("kind__2", source="kind"),
            pinned("area"),
            pinned("_cdc_op"),
        ],
        "e*",
        "id",
        excluded=lambda name: name == "secret",
    )
    assert [one.name for one in made.compared] == ["id"]
    assert made.left_out == (
        LeftOutColumn("email", "the settings have its values changed on the way"),
        LeftOutColumn("sum", "the database computes it, and Debezium sends such values only in snapshots"),
        LeftOutColumn("kind", "its type changed, so its values are in several landed columns"),
        LeftOutColumn("kind__2", "its type changed, so its values are in several landed columns"),
        LeftOutColumn("area", "no rule compares box with string"),
        LeftOutColumn("_cdc_op", "the source table has no such column now: it is the bridge's own, or was dropped"),
        LeftOutColumn("secret", "it is not to land: excluded by the settings or the connector"),
        LeftOutColumn("total", "it has not landed: the database computes it, and Debezium may not send such values"),
        LeftOutColumn("later", "it has not landed: no event has had it yet"),
    )


def test_columns_that_should_be_mirrored_and_cannot_be_compared_are_named() -> None:
    made = plan(
        [column("id", "integer"), column("kind"), column("area", "box"), column("secret"), column("later")],
        [
            pinned("id", "int32", key=True),
            pinned("kind", "int32"),
            pinned("kind__2", source="kind"),
            pinned("area"),
        ],
        excluded=lambda name: name == "secret",
    )
    assert [one.name for one in made.unproven] == ["kind", "area", "later"]


def test_names_that_avro_cannot_hold_are_found_by_what_it_makes_of_them() -> None:
    made = plan(
        [column("id", "integer"), column("Größe"), column("1st"), column("a-b"), column("a.b")],
        [pinned("id", "int32", key=True), pinned("Gr__e"), pinned("_1st"), pinned("a_b")],
    )
    assert [(one.name, one.source.name) for one in made.compared] == [("id", "id"), ("Gr__e", "Größe"), ("_1st", "1st")]
    assert [one.name for one in made.left_out] == ["a_b", "a-b", "a.b"]


def test_a_key_that_lands_in_disguise_is_left_out_too() -> None:
    made = plan([column("id", "integer"), column("name")], [pinned("id", key=True), pinned("name")], disguised=["i*"])
    assert [one.name for one in made.compared] == ["name"]
    assert made.left_out == (LeftOutColumn("id", "the settings have its values changed on the way"),)
