"""The judge of the equivalence tests sees each kind of difference, and none where there is none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from connectors.landing_zone.replay import Observation, ObservationKind, ReplayedTable
from tests.rig.judge import Verdict, adjusted, compare
from tests.rig.tables import DOUBLE, INT, VARCHAR, Column, Table

KEYED = Table("orders", (Column("id", INT), Column("value", DOUBLE)))
UNKEYED = Table("lines", (Column("label", VARCHAR),), ())


def mirror(*rows: dict[str, Any], observations: tuple[Observation, ...] = ()) -> ReplayedTable:
    return ReplayedTable("public.orders", pa.Table.from_pylist(list(rows)), (), 1, {}, observations)


def test_equal_rows_in_any_order_are_equal() -> None:
    rows: list[dict[str, Any]] = [{"id": 1, "value": 1.5}, {"id": 2, "value": None}]

    verdict = compare(KEYED, rows, mirror(*reversed(rows)))

    assert verdict == Verdict("orders", rows=2, cells=4)
    assert verdict.equal


def test_a_row_that_one_side_lacks_is_missing_or_extra() -> None:
    verdict = compare(KEYED, [{"id": 1, "value": 1.5}], mirror({"id": 2, "value": 1.5}))

    assert (verdict.missing, verdict.extra, verdict.equal) == (1, 1, False)
    assert verdict.examples == ("missing: {'id': 1, 'value': 1.5}", "extra: {'id': 2, 'value': 1.5}")


def test_a_doubled_row_is_extra() -> None:
    row = {"id": 1, "value": 1.5}

    assert compare(KEYED, [row], mirror(row, row)).extra == 1
    assert compare(UNKEYED, [{"label": "a"}], mirror({"label": "a"}, {"label": "a"})).extra == 1


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (1.5, 2.5),
        (1.0, 1),
        (0.0, -0.0),
        (None, 0.0),
        (True, 1),
        ("1", 1),
        (Decimal("1.50"), Decimal("1.5")),
        (datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC)),
        (b"a", "a"),
    ],
)
def test_a_value_of_another_kind_is_a_difference(expected: Any, found: Any) -> None:
    verdict = compare(KEYED, [{"id": 1, "value": expected}], mirror({"id": 1, "value": found}))

    assert (verdict.missing, verdict.extra, verdict.different) == (0, 0, 1)


def test_not_a_number_equals_itself_and_an_instant_has_no_zone() -> None:
    plus_two = timezone(timedelta(hours=2))
    for mine, theirs in (
        (float("nan"), float("nan")),
        (datetime(2026, 1, 1, 2, tzinfo=plus_two), datetime(2026, 1, 1, tzinfo=UTC)),
    ):
        assert compare(KEYED, [{"id": 1, "value": mine}], mirror({"id": 1, "value": theirs})).equal


def test_another_set_of_columns_is_a_difference() -> None:
    verdict = compare(KEYED, [{"id": 1, "value": 1.5}], mirror({"id": 1}))

    assert verdict.examples == ("columns ['id'] instead of ['id', 'value']",)


def test_a_table_that_never_landed_equals_an_empty_one_only() -> None:
    assert compare(KEYED, [], None).equal
    assert compare(KEYED, [{"id": 1, "value": 1.5}], None).missing == 1


def test_an_insert_of_an_existing_key_counts_although_the_rows_are_equal() -> None:
    row = {"id": 1, "value": 1.5}
    twice = Observation(ObservationKind.INSERT_OF_EXISTING_KEY, 2, ())

    verdict = compare(KEYED, [row], mirror(row, observations=(twice,)))

    assert (verdict.doubled, verdict.equal) == (2, False)


def test_names_are_adjusted_for_avro_only_where_that_is_said() -> None:
    table = Table("t", (Column("id", INT), Column("Größe", VARCHAR)))
    landed = mirror({"id": 1, "Gr__e": "L"})

    assert [adjusted(name) for name in ("Größe", "1st", "a1", " 1")] == ["Gr__e", "_1st", "a1", "_1"]
    assert compare(table, [{"id": 1, "Größe": "L"}], landed, avro_names=True).equal
    assert not compare(table, [{"id": 1, "Größe": "L"}], landed).equal
