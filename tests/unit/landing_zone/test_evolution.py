from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from connectors.landing_zone.casting import can_hold, cast_rows, exact_values, ignored_values
from connectors.landing_zone.evolution import (
    ChangeKind,
    ColumnChange,
    Evolution,
    IncomingColumn,
    RefusalReason,
    Refused,
    TypeChangePolicy,
    evolve,
)
from connectors.landing_zone.schema import PinnedColumn, PinnedSchema, type_from_text, type_to_text
from tests.unit.landing_zone.typed_values import arrays, same_values

PARK, NEW_COLUMN = TypeChangePolicy.PARK, TypeChangePolicy.NEW_COLUMN
TO_STRING, IGNORE = TypeChangePolicy.TO_STRING, TypeChangePolicy.IGNORE


def incoming(*, key: str = "id", **types: str) -> tuple[IncomingColumn, ...]:
    return tuple(IncomingColumn(name, text, key=name == key) for name, text in types.items())


def pinned(*columns: PinnedColumn) -> PinnedSchema:
    return PinnedSchema((PinnedColumn("id", "id", "int64", key=True), *columns))


def column(name: str, text: str, source: str | None = None) -> PinnedColumn:
    return PinnedColumn(name, source or name, text)


def taken(
    schema: PinnedSchema | None, fields: tuple[IncomingColumn, ...], policy: TypeChangePolicy = PARK
) -> Evolution:
    evolution = evolve(schema, fields, policy)
    assert isinstance(evolution, Evolution)
    return evolution


def test_the_first_schema_is_pinned_as_it_comes() -> None:
    evolution = taken(None, incoming(id="int64", name="string", NAME="int32"))
    assert evolution.schema == pinned(column("name", "string"), column("NAME__2", "int32", "NAME"))
    assert evolution.mapping == {"id": "id", "name": "name", "NAME__2": "NAME"}
    assert [change.kind for change in evolution.changes] == [ChangeKind.ADDED] * 3


def test_the_same_schema_changes_nothing_whatever_the_order_of_its_columns() -> None:
    schema = pinned(column("name", "string"))
    assert evolve(schema, incoming(name="string", id="int64"), PARK) == Evolution(
        schema, {"id": "id", "name": "name"}, ()
    )


def test_new_columns_follow_the_others_in_the_order_of_the_source() -> None:
    evolution = taken(pinned(column("b", "string")), incoming(z="bool", id="int64", a="int32", b="string", B="double"))
    added = [column("z", "bool"), column("a", "int32"), column("B__2", "double", "B")]
    assert evolution.schema == pinned(column("b", "string"), *added)
    assert evolution.changes == tuple(ColumnChange(ChangeKind.ADDED, one) for one in added)
    assert evolution.mapping == {"z": "z", "id": "id", "a": "a", "b": "b", "B__2": "B"}


def test_a_column_that_is_gone_stays_and_is_fed_by_nothing() -> None:
    schema = pinned(column("old", "string"))
    assert evolve(schema, incoming(id="int64"), PARK) == Evolution(schema, {"id": "id"})


def test_a_type_that_the_pinned_one_holds_is_taken_as_it_is() -> None:
    schema = pinned(column("n", "int64"), column("d", "decimal128(12,4)"))
    evolution = taken(schema, incoming(id="int32", n="int16", d="decimal128(10,2)"))
    assert evolution == Evolution(schema, {"id": "id", "n": "n", "d": "d"})


def test_another_type_parks_the_table() -> None:
    assert evolve(pinned(column("n", "int32")), incoming(id="int64", n="string"), PARK) == Refused(
        RefusalReason.TYPE_CHANGED,
        "the column 'n' changed its type from int32 to string, which the mirrored column cannot hold",
        "`cdc-bridge resync CONFIG TABLE`; or choose another policies.on_type_change (new_column, to_string, ignore) "
        "and `cdc-bridge resume CONFIG TABLE`",
        "n",
    )


def test_another_type_gets_a_column_of_its_own_and_the_old_one_is_fed_no_more() -> None:
    schema = pinned(column("n", "int32"), column("n__2", "bool", "something else"))
    evolution = taken(schema, incoming(id="int64", n="string"), NEW_COLUMN)
    new = column("n__3", "string", "n")
    assert evolution.schema == PinnedSchema((*schema.columns, new))
    assert evolution.changes == (ColumnChange(ChangeKind.REPLACED, new, "n"),)
    assert evolution.mapping == {"id": "id", "n__3": "n"}


def test_a_new_column_never_takes_the_name_that_another_one_brings() -> None:
    evolution = taken(pinned(column("n", "int32")), incoming(id="int64", n="string", n__2="bool"), NEW_COLUMN)
    assert evolution.mapping == {"id": "id", "n__3": "n", "n__2": "n__2"}


def test_rows_of_an_older_version_find_the_column_of_their_type() -> None:
    schema = pinned(column("n", "int32"), column("n__2", "string", "n"), column("n__3", "int64", "n"))
    assert taken(schema, incoming(id="int64", n="string")).mapping["n__2"] == "n"
    # The newest column that can hold the type.
    assert taken(schema, incoming(id="int64", n="int32")).mapping == {"id": "id", "n__3": "n"}
    assert isinstance(evolve(schema, incoming(id="int64", n="double"), PARK), Refused)


@pytest.mark.parametrize("policy", TypeChangePolicy)
@pytest.mark.parametrize(
    ("fields", "message", "named"),
    [
        (incoming(id="int64", key=""), "the key changed from (id) to ()", "id"),
        (incoming(code="string", key="code"), "the key changed from (id) to (code)", "code"),
        (incoming(id="string"), "the key column 'id' changed its type from int64 to string", "id"),
    ],
)
def test_a_changed_key_is_always_refused(
    policy: TypeChangePolicy, fields: tuple[IncomingColumn, ...], message: str, named: str
) -> None:
    assert evolve(pinned(), fields, policy) == Refused(
        RefusalReason.KEY_CHANGED,
        f"{message}, and a mirrored table's key cannot change",
        "`cdc-bridge resync CONFIG TABLE`: its folder has to be made again with all rows",
        named,
    )


def test_a_table_without_key_stays_without() -> None:
    schema = PinnedSchema((column("a", "string"),))
    assert evolve(schema, incoming(a="string"), PARK) == Evolution(schema, {"a": "a"})
    refused = evolve(schema, incoming(id="int64", a="string"), PARK)
    assert isinstance(refused, Refused)
    assert refused.reason is RefusalReason.KEY_CHANGED


def test_a_type_that_no_file_may_hold_is_a_mistake() -> None:
    for schema in (None, pinned()):
        with pytest.raises(ValueError, match="not a landing-file type: 'time64'"):
            evolve(schema, incoming(id="int64", t="time64"), PARK)


HELD = {
    ("int32", "int16"),
    ("int64", "int16"),
    ("int64", "int32"),
    ("double", "float"),
    ("float", "int16"),
    ("double", "int16"),
    ("double", "int32"),
    ("decimal128(9,0)", "int16"),
    ("decimal128(10,2)", "int16"),
    ("decimal128(10,0)", "int16"),
    ("decimal128(10,0)", "int32"),
    ("decimal128(38,10)", "int16"),
    ("decimal128(38,10)", "int32"),
    ("decimal128(38,10)", "int64"),
    ("decimal128(38,10)", "decimal128(10,2)"),
    ("decimal128(38,10)", "decimal128(10,0)"),
    ("decimal128(38,10)", "decimal128(9,0)"),
    ("decimal128(10,0)", "decimal128(9,0)"),
    ("int32", "decimal128(9,0)"),
    ("int64", "decimal128(9,0)"),
    ("int64", "decimal128(10,0)"),
    ("timestamp[us]", "date32"),
}
ALL_TYPES = (
    *("bool", "int16", "int32", "int64", "float", "double", "string", "binary", "date32"),
    *("timestamp[us]", "timestamp[us,UTC]"),
    *("decimal128(9,0)", "decimal128(10,0)", "decimal128(10,2)", "decimal128(38,10)"),
)


def test_only_casts_that_lose_nothing_are_made() -> None:
    found = {
        (held, given_)
        for held in ALL_TYPES
        for given_ in ALL_TYPES
        if held != given_ and can_hold(type_from_text(held), type_from_text(given_))
    }
    assert found == HELD


@given(st.data(), st.sampled_from(sorted(HELD)))
def test_a_cast_value_is_the_value_that_was_given(data: st.DataObject, pair: tuple[str, str]) -> None:
    kind = type_from_text(pair[1])
    values: st.SearchStrategy[object]
    if pa.types.is_integer(kind):
        values = st.integers(-(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1)
    elif pa.types.is_decimal(kind):
        digits = 10**kind.precision - 1
        values = st.integers(-digits, digits).map(lambda unscaled: Decimal(unscaled).scaleb(-kind.scale))
    elif pa.types.is_date32(kind):
        values = st.dates()
    else:
        values = st.floats(width=32, allow_nan=False)
    given_: Any = pa.array(data.draw(st.lists(st.none() | values, max_size=5)), kind)
    rows = pa.RecordBatch.from_arrays([given_], names=["x"])
    landed = cast_rows(rows, PinnedSchema((column("y", pair[0], "x"),)), {"y": "x"})
    assert landed.schema.field("y").type == type_from_text(pair[0])
    found: Any = landed.column(0)
    assert (found.cast(kind) if pa.types.is_date32(kind) else found).to_pylist() == given_.to_pylist()


def test_rows_are_projected_to_the_files_columns() -> None:
    schema = pinned(column("gone", "string"), column("n", "int64"), column("later", "bool"))
    rows = pa.RecordBatch.from_pydict(
        {"n": pa.array([7, None], pa.int16()), "unused": ["x", "y"], "id": pa.array([1, 2], pa.int64())}
    )
    landed = cast_rows(rows, schema, {"id": "id", "n": "n"})
    assert landed.schema == schema.arrow()
    assert landed.to_pydict() == {"id": [1, 2], "gone": [None, None], "n": [7, None], "later": [None, None]}


def test_rows_of_keys_only_have_nulls_elsewhere() -> None:
    rows = pa.RecordBatch.from_pydict({"id": pa.array([5], pa.int64())})
    landed = cast_rows(rows, pinned(column("n", "int64")), {"id": "id", "n": "n"})
    assert landed.to_pydict() == {"id": [5], "n": [None]}


class TestToString:
    def test_a_text_column_takes_every_later_type_itself(self) -> None:
        schema = pinned(column("n", "string"))
        assert taken(schema, incoming(id="int64", n="int32"), TO_STRING) == Evolution(schema, {"id": "id", "n": "n"})

    def test_another_column_gets_one_text_column_beside_it(self) -> None:
        evolution = taken(pinned(column("n", "int32")), incoming(id="int64", n="bool"), TO_STRING)
        text = column("n__2", "string", "n")
        assert evolution.schema == pinned(column("n", "int32"), text)
        assert evolution.changes == (ColumnChange(ChangeKind.REPLACED, text, "n"),)
        assert evolution.mapping == {"id": "id", "n__2": "n"}

    @pytest.mark.parametrize("text", ["bool", "int32", "date32", "string"])
    def test_from_then_on_the_text_column_takes_whatever_comes(self, text: str) -> None:
        schema = pinned(column("n", "int32"), column("n__2", "string", "n"))
        assert taken(schema, incoming(id="int64", n=text), TO_STRING) == Evolution(schema, {"id": "id", "n__2": "n"})

    def test_a_type_that_fits_needs_no_text(self) -> None:
        schema = pinned(column("n", "int64"))
        assert taken(schema, incoming(id="int64", n="int16"), TO_STRING).mapping == {"id": "id", "n": "n"}

    def test_a_text_column_from_an_earlier_policy_is_found_again(self) -> None:
        schema = pinned(column("n", "int32"), column("n__2", "string", "n"), column("n__3", "bool", "n"))
        assert taken(schema, incoming(id="int64", n="date32"), TO_STRING).mapping == {"id": "id", "n__2": "n"}


class TestIgnore:
    def test_the_column_takes_what_it_holds_and_the_change_is_not_followed(self) -> None:
        schema = pinned(column("n", "int32"))
        assert taken(schema, incoming(id="int64", n="string"), IGNORE) == Evolution(
            schema, {"id": "id", "n": "n"}, (), frozenset({"n"})
        )

    def test_a_type_that_fits_is_followed(self) -> None:
        assert taken(pinned(column("n", "int32")), incoming(id="int64", n="int16"), IGNORE).unfollowed == frozenset()

    def test_new_columns_are_added_all_the_same(self) -> None:
        evolution = taken(pinned(column("n", "int32")), incoming(id="int64", n="bool", m="bool"), IGNORE)
        assert [change.column for change in evolution.changes] == [column("m", "bool")]
        assert evolution.mapping == {"id": "id", "n": "n", "m": "m"}


@example([pa.array([0.5], pa.float64()), pa.array([2**53 + 1], pa.int64())], NEW_COLUMN)
@given(st.lists(arrays(), min_size=1, max_size=6), st.sampled_from(TypeChangePolicy))
def test_whatever_types_follow_each_other_no_value_that_can_be_kept_is_lost(
    versions: list[pa.Array[Any]], policy: TypeChangePolicy
) -> None:
    schema: PinnedSchema | None = None
    for values in versions:
        rows = pa.RecordBatch.from_arrays([values], names=["n"])
        evolution = evolve(schema, (IncomingColumn("n", type_to_text(values.type)),), policy)
        if isinstance(evolution, Refused):
            assert policy is PARK
            continue
        if schema is not None:
            assert evolution.schema.columns[: len(schema.columns)] == schema.columns, "a column never changes"
        schema = evolution.schema
        landed = cast_rows(rows, schema, evolution.mapping, evolution.unfollowed)
        lost = sum(ignored_values(rows, landed, evolution.mapping, evolution.unfollowed).values())
        [name] = evolution.mapping
        found: Any = landed.column(name)
        back = exact_values(found, values.type)
        if policy is IGNORE:
            fitting = exact_values(values, found.type)
            assert lost == fitting.null_count - values.null_count
            assert same_values(back.filter(fitting.is_valid()), values.filter(fitting.is_valid()))
        else:
            assert lost == 0
            assert same_values(back, values)
        others: list[Any] = [landed.column(each) for each in landed.schema.names if each != name]
        assert all(each.null_count == len(rows) for each in others)
    if policy is TO_STRING and schema is not None:
        assert len(schema.columns) <= 2, "one text column, however often the type changes"
