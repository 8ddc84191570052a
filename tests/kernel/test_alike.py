"""The kernel and msgspec read the same of any JSON text: the same values, the same refusals, in the same order."""

from __future__ import annotations

from itertools import chain
from types import SimpleNamespace
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

from connectors.debezium import semantics
from connectors.debezium.bodies import Bodies
from connectors.debezium.json_flattened import FlattenedLayout
from connectors.debezium.json_kernel import keys, scan
from connectors.debezium.json_kernel.keys import KeyCheck
from connectors.debezium.json_kernel.layouts import FlatReader
from connectors.debezium.json_kernel.native import Kernel
from connectors.debezium.json_layout import EnvelopeLayout
from connectors.debezium.json_reading import Reading
from connectors.debezium.key_members import ExactMembers, json_key_columns
from connectors.debezium.origin import Origin, RecordForm
from connectors.debezium.schema import ConnectType, Field, SourceTable
from connectors.debezium.source_block import name_fields, position_members
from tests.kernel import json_texts
from tests.support.json_kernel import built

KERNEL = built()

TABLE = SourceTable("shop", "public", "orders")
CONNECTORS = ("postgresql", "mysql", "sqlserver", "mongodb", "spanner")
SEARCH = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def said(reading: Reading) -> dict[str, Any]:
    """All that a reading says; 0.0 differs from -0.0, and NaN equals NaN."""
    group = reading.group
    found: dict[str, Any] = {
        "failed": reading.failed,
        "foreign": None if reading.foreign is None else reading.foreign.tolist(),
        "rows": group.rows.tolist(),
        "ops": group.ops,
        "source": group.source,
        "present": (group.before.present.tolist(), group.after.present.tolist()),
    }
    for name, images in (("before", group.before), ("after", group.after)):
        for field in group.fields:
            column = images.column(field)
            column.values.validate(full=True)
            found[f"{name} {field.name}"] = (column.values.type, repr(column.values.to_pylist()), column.bad)
    return found


def both(quick: EnvelopeLayout | FlattenedLayout, slow: EnvelopeLayout | FlattenedLayout, texts: list[bytes]) -> None:
    rows = np.arange(len(texts), dtype=np.int64) * 3 + 1
    expected = said(slow.read(rows, Bodies.of_texts(texts)))
    for bodies in forms(texts):
        assert said(quick.read(rows, bodies)) == expected


def forms(texts: list[bytes]) -> list[Bodies]:
    """The same texts alone, among null slots in a slice of an array, and within others."""
    slots = pa.array([b"other", *chain.from_iterable((None, text) for text in texts), b"more"], pa.binary())
    rows = np.arange(1, 2 * len(texts), 2, dtype=np.int64)
    wrapped = Bodies.of_texts([b'{"a":' + text + b"}}" for text in texts])
    return [Bodies.of_texts(texts), Bodies.of_array(slots.slice(1, 2 * len(texts)), rows), wrapped.without(5, 2)]


def source_members(connector: str) -> list[tuple[str, st.SearchStrategy[bytes]]]:
    """The source block of :data:`TABLE`, now and then of another."""
    right = dict(zip(name_fields(connector), ("shop", "public", "orders"), strict=True)) | {"connector": connector}
    other = st.sampled_from([b'"other"', b'""', b"null", b'"\\u006frders"', b"1"])
    members: list[tuple[str, st.SearchStrategy[bytes]]] = [
        (name, st.one_of(*[st.just(f'"{text}"'.encode())] * 12, other)) for name, text in right.items()
    ]
    kinds = {str: ConnectType.STRING, int: ConnectType.INT64}
    members += [(name, json_texts.values(kinds.get(kind))) for name, kind in position_members(connector).items()]
    return [("version", st.just(b'"3.1"')), *members, ("txId", st.just(b"7"))]


@SEARCH
@given(drawn=st.data())
def test_envelopes(drawn: st.DataObject) -> None:
    connector = drawn.draw(st.sampled_from(CONNECTORS))
    documents = drawn.draw(st.integers(0, 9)) == 0
    names = (*json_texts.NAMES, *json_texts.ODD_NAMES) if drawn.draw(st.integers(0, 9)) == 0 else json_texts.NAMES
    fields = () if documents else drawn.draw(json_texts.fields(names))
    key = frozenset(drawn.draw(st.sets(st.sampled_from(fields), max_size=2)) if fields else ())
    options: dict[str, Any] = {
        "fixed_connector": drawn.draw(st.booleans()),
        "documents": documents,
        "numeric_decimals": drawn.draw(st.booleans()),
    }
    origin = Origin(RecordForm.ENVELOPE, connector, TABLE)
    quick, slow = (
        EnvelopeLayout(origin, fields, frozenset(field.name for field in key), kernel=kernel, **options)
        for kernel in (KERNEL, None)
    )
    row = json_texts.objects([(field.name, json_texts.values(field.type)) for field in fields])
    if documents:
        row = json_texts.values(ConnectType.STRING)
    image = st.integers(0, 11).flatmap(
        lambda chance: json_texts.values() if chance == 0 else st.just(b"null") if chance == 1 else row
    )
    op = st.sampled_from([b'"c"', b'"u"', b'"d"', b'"r"', b'"t"', b'"u"', b'"c"', b'"x"', b'"cc"', b'""', b"null"])
    source = json_texts.objects(source_members(connector))
    whole = json_texts.objects([("before", image), ("after", image), ("source", source), ("op", op), ("ts_ms", op)])
    texts = drawn.draw(st.lists(json_texts.damaged(whole), min_size=1, max_size=6))
    both(quick, slow, texts)


@SEARCH
@given(drawn=st.data())
def test_flattened_rows(drawn: st.DataObject) -> None:
    connector = drawn.draw(st.sampled_from(CONNECTORS))
    fields = drawn.draw(json_texts.fields([name for name in json_texts.NAMES if not name.startswith("__")]))
    beside = ["__op", "__deleted", "__table", "__db", "__schema", "__source_ts_ms", "__lsn", "__snapshot"]
    names = None if drawn.draw(st.booleans()) else frozenset([*beside[::2], *(field.name for field in fields)])
    origin = Origin(RecordForm.FLATTENED, connector, TABLE)
    quick, slow = (
        FlattenedLayout(origin, fields, names, prefix="__", topic="shop.public.orders", kernel=kernel)
        for kernel in (KERNEL, None)
    )
    members = [(field.name, json_texts.values(field.type)) for field in fields]
    texts = st.one_of(st.sampled_from([b'"orders"', b'"public"', b'"shop"', b'"true"', b"7"]), json_texts.values())
    whole = json_texts.objects([*members, *((name, texts) for name in beside)])
    both(quick, slow, drawn.draw(st.lists(json_texts.damaged(whole), min_size=1, max_size=6)))


@SEARCH
@given(drawn=st.data())
def test_keys_that_the_kernel_knows_are_known_to_msgspec(drawn: st.DataObject) -> None:
    names = tuple(drawn.draw(st.lists(st.sampled_from(json_texts.NAMES), unique=True, max_size=3)))
    key = json_texts.objects([(name, json_texts.values()) for name in names])
    some = Bodies.of_texts(drawn.draw(st.lists(json_texts.damaged(key), min_size=1, max_size=3)))
    assert ExactMembers(names, KERNEL).have_all(some) == ExactMembers(names, None).have_all(some)


@pytest.mark.parametrize(
    ("key", "usual"),
    [
        (b'{"id":1,"name":"a"}', True),
        (b'{"name":{"a":[1]},"id":null}', True),
        (b'{"id":1}', False),
        (b'{"id":1,"name":"a","more":1}', False),
        (b'{"id":1,"id":2,"name":"a"}', False),
        (b'{"id":1,"name":"a"', False),
    ],
)
def test_a_key_check_wants_all_members_and_no_other(key: bytes, usual: bool) -> None:
    check = KeyCheck.of(KERNEL, ("id", "name"), closed=True)
    assert check is not None
    assert check.holds(Bodies.of_texts([b'{"id":1,"name":"a"}', key])) is usual


@pytest.mark.parametrize(("key", "usual"), [(b"{}", True), (b" { } ", True), (b'{"id":1}', False), (b"[]", False)])
def test_a_key_check_of_no_members_wants_none(key: bytes, usual: bool) -> None:
    exact, some = (KeyCheck.of(KERNEL, (), closed=closed) for closed in (True, False))
    assert exact is not None
    assert some is not None
    assert exact.holds(Bodies.of_texts([key])) is usual
    assert some.holds(Bodies.of_texts([key])) is key.strip().startswith(b"{")


def test_keys_are_looked_at_part_by_part_up_to_the_first_that_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "_CELLS", 4)
    looked: list[int] = []

    def counted(program: scan.Program, part: Bodies) -> scan.Scan:
        looked.append(len(part))
        return scan.Scan(program, part)

    monkeypatch.setattr(keys, "Scan", counted)
    check = KeyCheck.of(KERNEL, ("id", "name"), closed=True)
    assert check is not None
    usual = b'{"id":1,"name":"a"}'
    assert check.holds(Bodies.of_texts([usual] * 5))
    assert not check.holds(Bodies.of_texts([usual, usual, usual, b'{"id":1}', usual, usual]))
    assert looked == [2, 2, 1, 2, 2]


def test_keys_of_very_many_members_are_left_to_msgspec() -> None:
    names = tuple(f"c{number}" for number in range(257))
    assert KeyCheck.of(KERNEL, names[:256], closed=True) is not None
    assert KeyCheck.of(KERNEL, names, closed=True) is None
    key = b"{" + b",".join(f'"{name}":1'.encode() for name in names) + b"}"
    assert ExactMembers(names, KERNEL).have_all(Bodies.of_texts([key]))


@pytest.mark.parametrize(("kind", "semantic", "parameters"), json_texts.FIELDS)
@pytest.mark.parametrize("optional", [True, False])
def test_every_value_in_a_column_of_every_type(
    kind: ConnectType, semantic: str | None, parameters: dict[str, str], optional: bool
) -> None:
    children = (Field("element", ConnectType.STRING),) if kind is ConnectType.ARRAY else ()
    field = Field(
        "v", kind, optional=optional, semantic=semantic, parameters=tuple(parameters.items()), children=children
    )
    origin = Origin(RecordForm.ENVELOPE, "postgresql", TABLE)
    quick, slow = (EnvelopeLayout(origin, (field,), frozenset(), kernel=kernel) for kernel in (KERNEL, None))
    texts = [envelope(b'{"v":' + value + b"}") for value in every_value()] + [envelope(b"{}"), envelope(b"null")]
    both(quick, slow, texts)
    for text in texts:
        both(quick, slow, [text])


def test_every_value_in_members_that_nobody_wants() -> None:
    fields = (Field("id", ConnectType.INT32, optional=False), Field("name", ConnectType.STRING))
    origin = Origin(RecordForm.ENVELOPE, "postgresql", TABLE)
    quick, slow = (EnvelopeLayout(origin, fields, frozenset(["id"]), kernel=kernel) for kernel in (KERNEL, None))
    flat, slow_flat = (
        FlattenedLayout(origin, fields, None, prefix="__", topic="shop.public.orders", kernel=kernel)
        for kernel in (KERNEL, None)
    )
    for value in every_value():
        row = b'{"id":1,"more":' + value + b',"name":"a"}'
        around = envelope(b'{"id":1}')
        for text in (
            envelope(row),
            around[:-1] + b',"ts_ms":' + value + b"}",
            around.replace(b'"lsn":7', b'"txId":' + value + b',"lsn":7'),
        ):
            both(quick, slow, [text])
        both(flat, slow_flat, [row])


def every_value() -> list[bytes]:
    """All values that are written down by hand."""
    lists = (
        *(json_texts.INTEGERS, json_texts.NUMBERS, json_texts.NO_NUMBERS, json_texts.WORDS, json_texts.TEXTS),
        *(json_texts.BASE64, json_texts.CONTAINERS),
    )
    wrong = [b'"' + front + bad + b'"' for bad in json_texts.NO_UTF8 for front in (b"", b"1234567")]
    return [text.encode() for texts in lists for text in texts] + wrong


def envelope(after: bytes, op: bytes = b'"c"') -> bytes:
    source = b'{"connector":"postgresql","db":"shop","schema":"public","table":"orders","lsn":7}'
    return b'{"before":null,"after":' + after + b',"source":' + source + b',"op":' + op + b"}"


RECORDS = (
    *(b"", b" ", b"{}", b"[]", b"null", b"1", b"{", b"\xef\xbb\xbf{}", b'{"op":"c"}'),
    envelope(b'{"id":1,"name":"a"}'),
    envelope(b'{"id":1,"name":"a"}') + b" \n",
    envelope(b'{"id":1,"name":"a"}') + b"x",
    envelope(b'{"id":1,"name":"a"}')[:-1] + b',"after":{"id":2}}',
    envelope(b'{"id":1,"name":"a"}')[:-1] + b',"after":{"name":"b"}}',
    envelope(b'{"id":1,"name":"a"}')[:-1] + b',"source":{}}',
    envelope(b'{"id":1,"name":"a"}')[:-1] + b',"op":"d"}',
    envelope(b'{"id":1,"name":"a"}')[:-1] + b',"before":{"id":null,"name":1}}',
    envelope(b'{"id":1,"name":"a"}')[:-1] + b',"before":7}',
    envelope(b'{"id":1,"name":"a"}')[:-1] + b',"transaction":{"id":"1","order":[{}]}}',
    envelope(b'{"id":1,"name":"a","name":"b"}'),
    envelope(b'{"name":"a","id":1}'),
    envelope(b'{"i\\u0064":1,"name":"a"}'),
    envelope(b'{"id":1,"n\\u0061me":"a"}'),
    envelope(b'{"id":1,"na\xffme":"a"}'),
    envelope(b'{"name":"a"}'),
    envelope(b'{"id":null}'),
    *(
        envelope(after)
        for after in (b"null", b"{}", b"[]", b"1", b'"a"', b"true", b'{"id":1,}', b'{"id" 1}', b'{"id":}')
    ),
    *(envelope(b'{"id":1}', op) for op in (b'"cc"', b'""', b"null", b"1", b'"\xc3\xa9"', b'"\\u0063"', b"[0]")),
    *(
        envelope(b'{"id":1}').replace(right, wrong)
        for right, wrong in (
            (b'"orders"', b'"orderz"'),
            (b'"orders"', b'"order"'),
            (b'"orders"', b'"orders2"'),
            (b'"orders"', b'"\\u006frders"'),
            (b'"orders"', b"null"),
            (b',"table":"orders"', b""),
            (b'"lsn":7', b'"lsn":"7"'),
            (b'"lsn":7', b'"lsn":7.0'),
            (b'"lsn":7', b'"lsn":18446744073709551615'),
            (b'"lsn":7', b'"lsn":7,"snapshot":true'),
            (b'"lsn":7', b'"lsn":7,"snapshot":1'),
            (b'"lsn":7', b'"lsn":7,"sequence":"[\\"1\\",\\"2\\"]"'),
            (b'"lsn":7}', b'"lsn":7]'),
        )
    ),
    envelope(b'{"id":1}').replace(b'"source"', b'"other"'),
    *(b'{"op":"c","after":{"id":1},"source":' + source + b"}" for source in (b"null", b"[]", b"{}", b'"x"', b"7")),
)


def test_every_record_that_is_written_down() -> None:
    fields = (Field("id", ConnectType.INT32, optional=False), Field("name", ConnectType.STRING))
    origin = Origin(RecordForm.ENVELOPE, "postgresql", TABLE)
    quick, slow = (EnvelopeLayout(origin, fields, frozenset(["name"]), kernel=kernel) for kernel in (KERNEL, None))
    both(quick, slow, list(RECORDS))
    both(quick, slow, list(reversed(RECORDS)))
    for record in RECORDS:
        both(quick, slow, [record])
        both(quick, slow, [record, record])


def test_many_records_are_read_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "_CELLS", 40)
    fields = (Field("id", ConnectType.INT32, optional=False), Field("name", ConnectType.STRING))
    origin = Origin(RecordForm.ENVELOPE, "postgresql", TABLE)
    quick, slow = (EnvelopeLayout(origin, fields, frozenset(["id"]), kernel=kernel) for kernel in (KERNEL, None))
    odd = {3: b'{"id":true}', 8: b'{"id":1.0}', 9: b'{"id":4294967296}', 13: b"7"}
    both(quick, slow, [envelope(odd.get(n, b'{"id":%d,"name":"%d"}' % (n, n))) for n in range(20)])
    both(quick, slow, [])


@pytest.mark.parametrize(
    ("kind", "semantic", "parameters", "value"),
    [
        (ConnectType.INT32, None, {}, b"-2147483648"),
        (ConnectType.INT64, None, {}, b"1790000000000000000"),
        (ConnectType.INT64, None, {}, b"9223372036854775807"),
        (ConnectType.INT64, None, {}, b"-9223372036854775808"),
        (ConnectType.BOOLEAN, None, {}, b"true"),
        (ConnectType.FLOAT64, None, {}, b"0.30000000000000004"),
        (ConnectType.FLOAT32, None, {}, b"1.5"),
        (ConnectType.STRING, None, {}, '"größe \\"\\ud83d\\ude00\\" 日本語"'.encode()),
        (ConnectType.BYTES, None, {}, b'"AQID/w=="'),
        (ConnectType.STRUCT, semantics.VARIABLE_SCALE_DECIMAL, {}, b'{"scale":2,"value":"AQ=="}'),
        (ConnectType.ARRAY, None, {}, b'["a",null]'),
    ],
)
def test_usual_values_need_no_msgspec(
    kind: ConnectType, semantic: str | None, parameters: dict[str, str], value: bytes
) -> None:
    children = (Field("element", ConnectType.STRING),) if kind is ConnectType.ARRAY else ()
    field = Field("v", kind, semantic=semantic, parameters=tuple(parameters.items()), children=children)
    layout = EnvelopeLayout(Origin(RecordForm.ENVELOPE, "postgresql", TABLE), (field,), frozenset(), kernel=KERNEL)
    spaced = envelope(b' { "other" : [ {} ] , "v" : ' + value + b" } ")
    texts = Bodies.of_texts([envelope(b'{"v":' + value + b"}"), spaced, envelope(b'{"v":null}'), envelope(b"null")])
    assert layout._reader is not None
    assert layout._reader.read(texts)[1].tolist() == []


def test_decimals_as_numbers_need_no_msgspec() -> None:
    field = Field("v", ConnectType.BYTES, semantic=semantics.DECIMAL, parameters=(("scale", "2"),))
    origin = Origin(RecordForm.ENVELOPE, "postgresql", TABLE)
    layout = EnvelopeLayout(origin, (field,), frozenset(), numeric_decimals=True, kernel=KERNEL)
    assert layout._reader is not None
    texts = [envelope(b'{"v":' + value + b"}") for value in (b"12.34", b"-7", b'"AQ=="', b"null")]
    assert layout._reader.read(Bodies.of_texts(texts))[1].tolist() == []


def test_documents_need_no_msgspec() -> None:
    origin = Origin(RecordForm.ENVELOPE, "mongodb", SourceTable("shop", "", "orders"))
    layout = EnvelopeLayout(origin, (), frozenset(), documents=True, kernel=KERNEL)
    assert layout._reader is not None
    source = b'{"connector":"mongodb","db":"shop","collection":"orders","ord":1}'
    documents = (b'"{\\"_id\\": 1}"', b"null", b'"{}"')
    texts = [b'{"before":null,"after":' + text + b',"source":' + source + b',"op":"c"}' for text in documents]
    found, left = layout._reader.read(Bodies.of_texts(texts))
    assert left.tolist() == []
    assert found.values["after"] == ['{"_id": 1}', None, "{}"]


def test_flattened_rows_need_no_msgspec() -> None:
    fields = (Field("id", ConnectType.INT64, optional=False), Field("name", ConnectType.STRING))
    origin = Origin(RecordForm.FLATTENED, "postgresql", TABLE)
    layout = FlattenedLayout(origin, fields, None, prefix="__", topic="shop.public.orders", kernel=KERNEL)
    assert layout._reader is not None
    texts = [
        b'{"id":1,"name":"a","__op":"c","__lsn":7,"__deleted":"false"}',
        b'{"id":2,"name":null,"__deleted":true,"other":[1]}',
        b'{"id":3}',
    ]
    assert layout._reader.read(Bodies.of_texts(texts))[1].tolist() == []


def test_the_values_of_keys_need_no_msgspec(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[list[int]] = []
    read = FlatReader.read

    def noted(reader: FlatReader, bodies: Bodies) -> Any:
        found = read(reader, bodies)
        left.append(found[1].tolist())
        return found

    monkeypatch.setattr(FlatReader, "read", noted)
    id_field = Field("id", ConnectType.INT64)
    column = json_key_columns(KERNEL, [b'{"id":7,"tenant":1}', b'{"tenant":1}'], (id_field,))["id"]
    assert column.values.to_pylist() == [7, None]
    assert left == [[]]


def test_what_the_kernel_points_to_lives_until_it_has_looked() -> None:
    """Places that are not side by side are copied for the kernel, and such a copy has no other owner."""
    texts = Bodies.of_texts([b'{"a":%d}' % number for number in range(10)])
    every_second = Bodies(texts.content, texts.starts[::2], texts.ends[::2])
    ours = KERNEL.lib.json_framed

    def after_others(*arguments: Any) -> int:
        # Takes what has been given back.
        taken = [np.full(5, -1, dtype=np.int64) for _ in range(100)]
        return int(ours(*arguments)) * bool(taken)

    assert every_second.are_framed(b"{", b"}", Kernel(KERNEL.ffi, SimpleNamespace(json_framed=after_others)))
