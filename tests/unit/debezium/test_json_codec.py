"""JSON values, with and without schema, of every physical type."""

from __future__ import annotations

import datetime as dt
import json
import math
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from connectors.debezium import semantics
from connectors.debezium.bodies import Bodies
from connectors.debezium.decoder import Decoder
from connectors.debezium.embedded_schema import EmbeddedSchemas
from connectors.debezium.events import Decoded
from connectors.debezium.options import DecodeOptions, OutOfRange, TableDecoding, TableRules
from connectors.debezium.schema import ConnectType, Field
from tests.unit.debezium.builders import ID, Message, base64_text, event, only, records

KIND = ConnectType
MONEY = (("connect.decimal.precision", "10"), ("scale", "2"))
ELEMENT = Field("items", KIND.STRING)
POINT_FIELDS = (
    Field("x", KIND.FLOAT64),
    Field("y", KIND.FLOAT64),
    Field("wkb", KIND.BYTES),
    Field("srid", KIND.INT32),
)

VALUES: list[tuple[Field, Any, Any]] = [
    (Field("c", KIND.BOOLEAN), True, True),
    (Field("c", KIND.INT16), -5, -5),
    (Field("c", KIND.INT32), 2**31 - 1, 2**31 - 1),
    (Field("c", KIND.INT64), 2**53 + 1, 2**53 + 1),
    (Field("c", KIND.INT64), -(2**63), -(2**63)),
    (Field("c", KIND.FLOAT32), 1.5, 1.5),
    (Field("c", KIND.FLOAT64), 3, 3.0),
    (Field("c", KIND.FLOAT64), "Infinity", math.inf),
    (Field("c", KIND.FLOAT64), "-Infinity", -math.inf),
    (Field("c", KIND.STRING), "żółw \u0000 😀", "żółw \u0000 😀"),
    (Field("c", KIND.BYTES), base64_text(b"\x00\xff"), b"\x00\xff"),
    (Field("c", KIND.BYTES, semantic=semantics.DECIMAL, parameters=MONEY), base64_text(b"\xff\x85"), Decimal("-1.23")),
    (Field("c", KIND.INT32, semantic=semantics.DATE), 19000, dt.date(2022, 1, 8)),
    (Field("c", KIND.INT64, semantic=semantics.MICRO_TIMESTAMP), 1, dt.datetime(1970, 1, 1, 0, 0, 0, 1)),
    (Field("c", KIND.STRING, semantic=semantics.JSON), '{"a": 1}', '{"a": 1}'),
    (Field("c", KIND.ARRAY, children=(ELEMENT,)), ["b", None, "a"], '["b",null,"a"]'),
    (Field("c", KIND.MAP, children=(ELEMENT, ELEMENT)), {"z": "1", "a": None}, '{"z":"1","a":null}'),
    (Field("c", KIND.STRUCT, children=(ELEMENT,)), {"z": 1, "a": {"k": [1.5]}}, '{"z":1,"a":{"k":[1.5]}}'),
    (
        Field(
            "c",
            KIND.STRUCT,
            semantic=semantics.VARIABLE_SCALE_DECIMAL,
            children=(Field("scale", KIND.INT32), Field("value", KIND.BYTES)),
        ),
        {"scale": 3, "value": base64_text(b"\x04\xd2")},
        "1.234",
    ),
    (Field("c", KIND.STRUCT, semantic=semantics.POINT, children=POINT_FIELDS), {"x": 1.0, "y": 2.0}, ...),
]


def sent(column: Field, *values: Any, schema: bool) -> tuple[list[Message], DecodeOptions]:
    columns = (ID, column)
    events = [event("c", after={"id": n, column.name: value}) for n, value in enumerate(values)]
    messages = [one.json_with_schema(columns) if schema else one.json() for one in events]
    rules = TableRules(tables=(("*", TableDecoding(declared=columns)),))
    return messages, DecodeOptions() if schema else DecodeOptions(rules=rules)


def decoded(column: Field, *values: Any, schema: bool = False) -> Decoded:
    messages, options = sent(column, *values, schema=schema)
    return Decoder(options).decode(records(*messages))


@pytest.mark.parametrize("schema", [False, True])
@pytest.mark.parametrize(("column", "value", "expected"), VALUES)
def test_each_type_arrives_pinned_and_null_stays_null(column: Field, value: Any, expected: Any, schema: bool) -> None:
    first, second = only(decoded(column, value, None, schema=schema)).rows.column("c").to_pylist()
    assert second is None
    if expected is ...:
        assert isinstance(first, bytes)
    else:
        assert first == expected


@pytest.mark.parametrize("schema", [False, True])
def test_nan_is_a_float(schema: bool) -> None:
    first, second = only(decoded(Field("c", KIND.FLOAT64), "NaN", 1.5, schema=schema)).rows.column("c").to_pylist()
    assert math.isnan(first)
    assert second == 1.5


@pytest.mark.parametrize("schema", [False, True])
def test_a_text_is_no_float(schema: bool) -> None:
    result = decoded(Field("c", KIND.FLOAT64), "12", 1.5, schema=schema)
    assert [(bad.offset, bad.reason) for bad in result.bad] == [(0, "type mismatch")]
    assert result.chunks[0].rows.column("c").to_pylist() == [1.5]


@pytest.mark.parametrize("schema", [False, True])
def test_decimals_may_be_json_numbers(schema: bool) -> None:
    column = Field("c", KIND.BYTES, semantic=semantics.DECIMAL, parameters=MONEY)
    mixed = (base64_text(b"\x7b"), 12345678.91, -0.5, None, 7, 1e3)
    chunk = only(decoded(column, *mixed, schema=schema))
    expected = ["1.23", "12345678.91", "-0.50", None, "7.00", "1000.00"]
    assert [None if value is None else str(value) for value in chunk.rows.column("c").to_pylist()] == expected


@pytest.mark.parametrize("parameters", [(), (("scale", "many"),)], ids=["no scale", "a scale that is no number"])
def test_a_number_of_a_decimal_whose_schema_gives_no_scale_is_bad_alone(
    parameters: tuple[tuple[str, str], ...],
) -> None:
    scaled = Field("c", KIND.BYTES, semantic=semantics.DECIMAL, parameters=MONEY)
    scaleless = Field("c", KIND.BYTES, semantic=semantics.DECIMAL, parameters=parameters)
    good = event("c", after={"id": 1, "c": 1.5}).json_with_schema((ID, scaled))
    bad = event("c", after={"id": 2, "c": 2.5}).json_with_schema((ID, scaleless))
    result = Decoder(DecodeOptions()).decode(records(good, bad, good, bad))
    assert [(each.offset, each.reason) for each in result.bad] == [(1, "unusable schema"), (3, "unusable schema")]
    assert [str(value) for chunk in result.chunks for value in chunk.rows.column("c").to_pylist()] == ["1.50"] * 2


@pytest.mark.parametrize("number", ["1.234", "1e999999999", '"!"', "true"])
def test_a_decimal_that_the_column_cannot_hold_is_bad(number: str) -> None:
    column = Field("c", KIND.BYTES, semantic=semantics.DECIMAL, parameters=MONEY)
    messages, options = sent(column, 1.5, "@", schema=False)
    value = (messages[1].value or b"").replace(b'"@"', number.encode())
    result = Decoder(options).decode(records(messages[0], Message(messages[1].key, value)))
    assert [(bad.offset, bad.reason) for bad in result.bad] == [(1, "type mismatch")]
    assert result.chunks[0].rows.column("c").to_pylist() == [Decimal("1.50")]


def test_nested_values_lose_their_white_space_and_keep_their_order() -> None:
    messages, options = sent(Field("c", KIND.STRUCT), {"z": [1, 2], "a": "x y"}, schema=False)
    value = (messages[0].value or b"").replace(b'"z":[1,2]', b'"z" : [ 1,\n 2 ]')
    chunk = only(Decoder(options).decode(records(Message(messages[0].key, value))))
    assert chunk.rows.column("c").to_pylist() == ['{"z":[1,2],"a":"x y"}']


def test_nested_text_that_is_not_utf8_is_bad() -> None:
    messages, options = sent(Field("c", KIND.ARRAY, children=(ELEMENT,)), ["@"], ["ok"], schema=False)
    value = (messages[0].value or b"").replace(b"@", b"\xff")
    result = Decoder(options).decode(records(Message(messages[0].key, value), messages[1]))
    assert len(result.bad) == 1
    assert result.chunks[0].rows.column("c").to_pylist() == ['["ok"]']


def test_a_range_rule_counts_clamped_cells_or_makes_the_record_bad() -> None:
    column = Field("c", KIND.INT64, semantic=semantics.MICRO_TIMESTAMP)
    messages, options = sent(column, 9223372036825200000, 1, schema=True)
    assert only(Decoder(options).decode(records(*messages))).clamped == 1
    strict = DecodeOptions(out_of_range=OutOfRange.DEAD_LETTER)
    result = Decoder(strict).decode(records(*messages))
    assert [(bad.offset, bad.reason) for bad in result.bad] == [(0, "value out of range")]
    assert [len(chunk) for chunk in result.chunks] == [1]


PLACEHOLDER = "__debezium_unavailable_value"
FORMS: list[tuple[Field, Any]] = [
    (Field("c", KIND.STRING), PLACEHOLDER),
    (Field("c", KIND.STRING, semantic=semantics.JSON), PLACEHOLDER),
    (Field("c", KIND.STRING), PLACEHOLDER.encode().hex()),
    (Field("c", KIND.BYTES), base64_text(PLACEHOLDER.encode())),
    (Field("c", KIND.STRING, semantic=semantics.BASE64), base64_text(PLACEHOLDER.encode())),
    (Field("c", KIND.ARRAY, children=(ELEMENT,)), [PLACEHOLDER]),
    (Field("c", KIND.ARRAY, children=(ELEMENT,)), [base64_text(PLACEHOLDER.encode())]),
    (Field("c", KIND.ARRAY, children=(Field("items", KIND.INT32),)), list(PLACEHOLDER.encode())),
    (Field("c", KIND.MAP, children=(ELEMENT, ELEMENT)), {PLACEHOLDER: PLACEHOLDER}),
    (Field("c", KIND.STRING, semantic=semantics.JSON), json.dumps({PLACEHOLDER: PLACEHOLDER}, separators=(",", ":"))),
]


@pytest.mark.parametrize("schema", [False, True])
@pytest.mark.parametrize(("column", "form"), FORMS)
def test_the_placeholder_is_found_in_all_its_forms(column: Field, form: Any, schema: bool) -> None:
    chunk = only(decoded(column, None, form, schema=schema))
    assert chunk.rows.column("c").to_pylist() == [None, None]
    assert chunk.unavailable["c"].tolist() == [False, True]


def test_a_before_image_that_cannot_be_read_leaves_the_value_unavailable() -> None:
    column = Field("c", KIND.STRING)
    rules = TableRules(tables=(("*", TableDecoding(declared=(ID, column))),))
    one = event("u", before={"id": 1, "c": 5}, after={"id": 1, "c": PLACEHOLDER})
    chunk = only(Decoder(DecodeOptions(rules=rules)).decode(records(one.json())))
    assert chunk.unavailable["c"].tolist() == [True]


def test_a_schema_is_parsed_once_and_found_again_by_its_prefix() -> None:
    schemas = EmbeddedSchemas()
    one, two = (event("c", after={"id": n, "name": "a"}).json_with_schema().value or b"" for n in (1, 2))
    first, _ = schemas.split("t", one)
    second, payload = schemas.split("t", two)
    assert first is second
    assert json.loads(payload)["after"] == {"id": 2, "name": "a"}
    common = schemas.common("t", Bodies.of_texts([one, two]))
    assert common is not None
    assert common[0] is first
    assert [json.loads(body)["after"]["id"] for body in common[1]] == [1, 2]


def test_the_first_batch_of_a_schema_is_recognised_like_those_behind_it() -> None:
    schemas = EmbeddedSchemas()
    old = [event("c", after={"id": n, "name": "a"}).json_with_schema().value or b"" for n in (1, 2)]
    new = [event("c", after={"id": n}).json_with_schema((ID,)).value or b"" for n in (3, 4)]
    of_old, of_new = schemas.common("t", Bodies.of_texts(old)), schemas.common("t", Bodies.of_texts(new))
    assert of_old is not None
    assert of_new is not None
    assert of_old[0] is not of_new[0]
    assert [json.loads(body)["after"] for body in of_new[1]] == [{"id": 3}, {"id": 4}]
    assert schemas.common("t", Bodies.of_texts([*new, *old])) is None


@pytest.mark.parametrize("first", [b'{"schema":{"type":"struct"},"payload":{}}', b'{"schema":', b"[]"])
def test_a_first_record_that_cannot_be_understood_decides_over_no_other(first: bytes) -> None:
    schemas = EmbeddedSchemas()
    good = event("c", after={"id": 1, "name": "a"}).json_with_schema().value or b""
    assert schemas.common("t", Bodies.of_texts([first, good])) is None
    assert schemas.common("t", Bodies.of_texts([good])) is not None


@pytest.mark.parametrize("member", ["schema", "payload"])
@pytest.mark.parametrize("place", ["before", "behind"])
def test_a_member_that_is_there_twice_is_read_alike_whatever_was_read_before(member: str, place: str) -> None:
    good = event("c", after={"id": 1, "name": "a"}).json_with_schema()
    members = json.loads(good.value or b"")
    texts = {name: json.dumps(value).encode() for name, value in members.items()}
    again = b'"' + member.encode() + b'":' + texts[member]
    whole = [b'"schema":' + texts["schema"], b'"payload":' + texts["payload"]]
    whole.insert(1 if place == "before" else 2, again)
    twice = Message(good.key, b"{" + b",".join(whole) + b"}")
    decoder = Decoder(DecodeOptions())
    fresh = decoder.decode(records(twice))
    known = decoder.decode(records(good, twice))
    again_known = decoder.decode(records(twice, good))
    assert [len(fresh.bad), len(known.bad), len(again_known.bad)] == [0, 0, 0]
    assert [only(each).rows.column("id").to_pylist() for each in (fresh, known, again_known)] == [[1], [1, 1], [1, 1]]


def test_a_schema_may_follow_its_payload_and_may_be_null() -> None:
    one = event("c", after={"id": 1, "name": "a"})
    wrapped = json.loads(one.json_with_schema().value or b"")
    turned = json.dumps({"payload": wrapped["payload"], "schema": wrapped["schema"]}, indent=1).encode()
    bare = json.dumps({"schema": None, "payload": wrapped["payload"]}).encode()
    rules = TableRules(tables=(("*", TableDecoding(declared=(ID, Field("name", KIND.STRING)))),))
    result = Decoder(DecodeOptions(rules=rules)).decode(records(Message(None, turned), Message(None, bare)))
    assert only(result).rows.to_pydict() == {"id": [1, 1], "name": ["a", "a"]}


def test_declared_columns_are_the_only_ones_and_missing_ones_are_null() -> None:
    rules = TableRules(tables=(("*", TableDecoding(declared=(ID, Field("new", KIND.STRING)))),))
    one = event("c", after={"id": 1, "undeclared": "x"})
    assert only(Decoder(DecodeOptions(rules=rules)).decode(records(one.json()))).rows.to_pydict() == {
        "id": [1],
        "new": [None],
    }


LEARN = DecodeOptions(rules=TableRules(tables=(("*", TableDecoding(learn=True)),)))


def learned(*rows: dict[str, Any]) -> list[tuple[list[tuple[str, ConnectType, str | None]], dict[str, list[Any]]]]:
    result = Decoder(LEARN).decode(records(*(event("c", after=row).json() for row in rows)))
    assert result.bad == []
    return [
        ([(field.name, field.type, field.semantic) for field in chunk.schema.fields], chunk.rows.to_pydict())
        for chunk in result.chunks
    ]


def test_learned_types_are_conservative() -> None:
    row = {"id": 1, "f": 1.0, "b": False, "s": "x", "n": None, "o": {"k": [1, 2]}, "l": [], "big": 2**63, "e": 1e3}
    ((fields, values),) = learned(row)
    assert fields == [
        ("id", KIND.INT64, None),
        ("f", KIND.FLOAT64, None),
        ("b", KIND.BOOLEAN, None),
        ("s", KIND.STRING, None),
        ("o", KIND.STRING, semantics.JSON),
        ("l", KIND.STRING, semantics.JSON),
        ("big", KIND.STRING, semantics.JSON),
        ("e", KIND.FLOAT64, None),
    ]
    assert values == {
        "id": [1],
        "f": [1.0],
        "b": [False],
        "s": ["x"],
        "o": ['{"k":[1,2]}'],
        "l": ["[]"],
        "big": ["9223372036854775808"],
        "e": [1000.0],
    }


def test_learned_columns_are_ordered_by_their_first_value() -> None:
    ((fields, values),) = learned({"id": 1, "late": None, "a": 1}, {"id": 2, "z": "x", "late": "y"})
    assert [name for name, _, _ in fields] == ["id", "a", "z", "late"]
    assert values["late"] == [None, "y"]


def test_a_learned_column_that_changes_its_type_starts_a_new_chunk() -> None:
    chunks = learned({"id": 1, "c": 1}, {"id": 2, "c": None}, {"id": 3, "c": 1.5}, {"id": 4, "c": 2.5})
    assert [values["id"] for _, values in chunks] == [[1, 2], [3, 4]]
    assert [fields[-1][1] for fields, _ in chunks] == [KIND.INT64, KIND.FLOAT64]


def test_a_learned_delete_has_its_keys_columns() -> None:
    result = Decoder(LEARN).decode(records(event("d", before={"id": 5, "name": None}).json()))
    assert only(result).rows.to_pydict() == {"id": [5]}


def test_a_learned_delete_has_the_declared_key_of_a_table_without_one() -> None:
    declared = DecodeOptions(rules=TableRules(tables=(("*", TableDecoding(learn=True, keys=("id",))),)))
    deletes = [event("d", before={"id": number, "name": "a"}).json() for number in (5, 6)]
    result = Decoder(declared).decode(records(*(replace(one, key=None) for one in deletes)))
    assert result.bad == []
    assert only(result).rows.to_pydict() == {"id": [5, 6]}


def test_a_learned_before_of_another_type_is_a_bad_record() -> None:
    one = event("u", before={"id": "x"}, after={"id": 5})
    result = Decoder(LEARN).decode(records(one.json()))
    assert [(bad.reason, bad.detail) for bad in result.bad] == [
        ("type mismatch", 'column id: "x" is not of the type int64')
    ]
