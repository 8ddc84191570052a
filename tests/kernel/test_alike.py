"""The kernel and msgspec read the same of any JSON text: the same values, the same refusals, in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

from connectors.debezium.bodies import Bodies
from connectors.debezium.json_flattened import FlattenedLayout
from connectors.debezium.json_kernel import scan
from connectors.debezium.json_layout import EnvelopeLayout
from connectors.debezium.json_reading import Reading
from connectors.debezium.key_members import ExactMembers
from connectors.debezium.origin import Origin, RecordForm
from connectors.debezium.schema import ConnectType, Field, SourceTable
from connectors.debezium.source_block import name_fields, position_members
from connectors.debezium.unsigned import listed
from tests.kernel import json_texts
from tests.kernel.written_records import RECORDS, envelope, every_value
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
        "ops": list(group.ops),
        "source": {name: plain(values) for name, values in group.source.items()},
        "present": (group.before.present.tolist(), group.after.present.tolist()),
    }
    for name, images in (("before", group.before), ("after", group.after)):
        for field in group.fields:
            column = images.column(field)
            column.values.validate(full=True)
            found[f"{name} {field.name}"] = (column.values.type, repr(column.values.to_pylist()), column.bad)
    return found


def plain(values: Sequence[Any] | pa.Array) -> list[Any]:
    if isinstance(values, pa.Array):
        values.validate(full=True)
    return list(listed(values, len(values)))


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
