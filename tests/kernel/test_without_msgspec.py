"""What the kernel reads and knows by itself, so that usual records never come to msgspec."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from connectors.debezium import semantics
from connectors.debezium.bodies import Bodies
from connectors.debezium.json_flattened import FlattenedLayout
from connectors.debezium.json_kernel import keys, scan
from connectors.debezium.json_kernel.keys import KeyCheck
from connectors.debezium.json_kernel.layouts import FlatReader
from connectors.debezium.json_kernel.native import Kernel
from connectors.debezium.json_layout import EnvelopeLayout
from connectors.debezium.key_members import ExactMembers, JsonKeyColumns
from connectors.debezium.origin import Origin, RecordForm
from connectors.debezium.schema import ConnectType, Field, SourceTable
from tests.kernel.written_records import envelope
from tests.support.json_kernel import built

KERNEL = built()

TABLE = SourceTable("shop", "public", "orders")


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
    texts = Bodies.of_texts([b'{"id":7,"tenant":1}', b'{"tenant":1}'])
    column = JsonKeyColumns(KERNEL).read(texts, (id_field,))["id"]
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
