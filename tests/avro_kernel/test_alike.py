"""The same comes of any bytes with the kernel and without: the same values, the same refusals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from connectors.debezium import avro_reader
from connectors.debezium.avro_kernel.native import Kernel
from connectors.debezium.avro_reader import AvroReader
from connectors.debezium.avro_records import ScannedRecords
from connectors.debezium.bodies import Bodies
from connectors.debezium.errors import SchemaError
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.verdicts import BadReason
from tests.avro_kernel.schemas import COLUMNS, datum, record, values_of
from tests.support.avro_kernel import built

KERNEL = built()
ROW = record(["long", ["null", "string"], "boolean"])
ROWS = [{"c0": 300, "c1": "żółw", "c2": True}, {"c0": -1, "c1": None, "c2": False}, {"c0": 5, "c1": "", "c2": True}]


def read(reader: AvroReader, datums: Sequence[bytes]) -> tuple[dict[int, dict[str, str]], dict[int, str]]:
    """What each datum holds, by field, as value and as column; and what is wrong with the others."""
    parts, bad = reader.read(Bodies.of_texts(datums))
    found: dict[int, dict[str, str]] = {}
    for part in parts:
        assert len(part.records) == len(part.places)
        places = part.places.tolist()
        images = part.records.images()
        assert images.present.all()
        found |= {place: {} for place in places}
        for field in reader.record.root.children:
            column = images.column(field)
            told = [*_members(part.records, field), ("values", part.records.values(field.name))]
            told += [("column", column.values.to_pylist()), ("bad", list(map(column.bad.get, range(len(places)))))]
            column.values.validate(full=True)
            for name, values in told:
                assert len(values) == len(places)
                for place, value in zip(places, values, strict=True):
                    assert name not in found[place].get(field.name, "")
                    found[place][f"{field.name} {name}"] = repr(value)
    return found, {place: f"{error.reason}: {error}" for place, error in bad.items()}


def _members(records: Any, field: Field) -> list[tuple[str, list[Any]]]:
    """What is known of a struct's members, as of a source block's."""
    if field.type is not ConnectType.STRUCT:
        return [("nothing", records.values(field.name, "nothing"))]
    told = [("present", records.images(field.name).present.tolist())]
    told += [(f"member {child.name}", records.values(field.name, child.name)) for child in field.children]
    return [*told, ("nothing", records.values(field.name, "nothing"))]


@st.composite
def spoiled(draw: st.DrawFn, whole: bytes) -> bytes:
    """A datum as it is, or with something cut off, changed or added."""
    place = draw(st.integers(0, len(whole)))
    match draw(st.sampled_from(["whole", "cut", "changed", "added"])):
        case "cut":
            return whole[:place]
        case "changed" if place < len(whole):
            return whole[:place] + draw(st.binary(min_size=1, max_size=2)) + whole[place + 1 :]
        case "added":
            return whole[:place] + draw(st.binary(min_size=1, max_size=3)) + whole[place:]
        case _:
            return whole


@settings(max_examples=300, deadline=None)
@given(drawn=st.data(), columns=COLUMNS, together=st.sampled_from([1, 8, 1_000]))
def test_any_bytes(drawn: st.DataObject, columns: list[Any], together: int) -> None:
    schema = record(columns)
    text = json.dumps(schema)
    try:
        quick, slow = AvroReader(text, KERNEL), AvroReader(text, None)
    except SchemaError:
        assume(False)
    rows = drawn.draw(st.lists(values_of(schema), max_size=6))
    datums = [drawn.draw(spoiled(datum(schema, row))) for row in rows]
    with pytest.MonkeyPatch.context() as patched:
        # Some datums are scanned apart from the others.
        patched.setattr(avro_reader, "_CELLS", together)
        assert read(quick, datums) == read(slow, datums)
    # What the kernel leaves is no datum.
    parts, bad = quick.read(Bodies.of_texts(datums))
    assert all(isinstance(part.records, ScannedRecords) for part in parts)
    assert sum(len(part.places) for part in parts) + len(bad) == len(datums)


@pytest.mark.parametrize("chosen", [[0], [1, 2], [0, 2], [0, 1, 2], []])
def test_images_of_some_records_are_those_of_all_at_these_places(chosen: list[int]) -> None:
    reader = AvroReader(json.dumps(ROW), KERNEL)
    parts, _ = reader.read(Bodies.of_texts([datum(ROW, row) for row in ROWS]))
    [part] = parts
    images = part.records.images().select(np.array(chosen, dtype=np.int64))
    again = images.select(np.arange(len(chosen)))
    for field in reader.record.fields:
        expected = [ROWS[place][field.name] for place in chosen]
        assert images.column(field).values.to_pylist() == expected
        assert again.column(field).values.to_pylist() == expected
    assert images.present.tolist() == [True] * len(chosen)


@pytest.mark.parametrize("texts", [["ab", "a"], ["a", "ab"], ["a", "b"], ["ab", "ab"], ["", ""], ["", "a"]])
def test_texts_are_the_same_only_where_all_of_them_is(texts: list[str]) -> None:
    schema = record(["string"])
    [part], _ = AvroReader(json.dumps(schema), KERNEL).read(
        Bodies.of_texts([datum(schema, {"c0": one}) for one in texts])
    )
    assert part.records.values("c0") == texts


@pytest.mark.parametrize("row", ROWS, ids=["all there", "null", "empty"])
def test_a_whole_datum_never_comes_to_fastavro(row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    reader = AvroReader(json.dumps(ROW), KERNEL)
    monkeypatch.setattr(reader, "read_whole", None)
    monkeypatch.setattr(reader, "_datums", None)
    parts, bad = reader.read(Bodies.of_texts([datum(ROW, row)] * 3))
    assert bad == {}
    [part] = parts
    assert isinstance(part.records, ScannedRecords)
    for name, value in row.items():
        values = part.records.values(name)
        assert values == [value] * 3


@pytest.mark.parametrize(
    ("kind", "encoded"),
    [
        ("long", b"\x80\x00"),  # zero in two bytes
        ("long", b"\xfe" + b"\xff" * 8 + b"\x01"),  # the largest
        ("long", b"\xff" * 9 + b"\x01"),  # the smallest
        ("int", b"\xfe\xff\xff\xff\x0f"),
        ("double", b"\x00" * 6 + b"\xf8\x7f"),  # not a number
        ("string", b"\x02\x7f"),
        ("string", "\x08\U0010ffff".encode()),
        ("string", "\x06\uffff".encode()),
        ({"type": "array", "items": "int"}, b"\x03\x04\x02\x04\x00"),  # a block with its size
        ({"type": "map", "values": "int"}, b"\x02\x02a\x02\x00"),
        (["null", "int", "string"], b"\x04\x02a"),
    ],
)
def test_these_never_come_to_fastavro_as_a_whole(kind: Any, encoded: bytes) -> None:
    [part], bad = AvroReader(json.dumps(record([kind])), KERNEL).read(Bodies.of_texts([encoded]))
    assert isinstance(part.records, ScannedRecords)
    assert bad == {}
    assert read(AvroReader(json.dumps(record([kind])), None), [encoded]) == read(
        AvroReader(json.dumps(record([kind])), KERNEL), [encoded]
    )


@pytest.mark.parametrize(
    ("kind", "encoded"),
    [
        ("boolean", b"\x02"),
        ("int", b"\x80\x80\x80\x80\x10"),  # 2**31
        ("long", b"\xff" * 9 + b"\x02"),  # 65 bits
        ("long", b"\x80" * 10 + b"\x01"),
        ("string", b"\x02\x80"),
        ("string", b"\x04\xc1\xbf"),  # overlong
        ("string", b"\x06\xed\xa0\x80"),  # half a surrogate pair
        ("string", b"\x08\xf4\x90\x80\x80"),  # beyond Unicode
        ("string", b"\x04\xe2\x82"),  # cut
        ({"type": "enum", "name": "E", "symbols": ["a", "b"]}, b"\x01"),  # -1
        ("string", b"\x01"),  # -1 bytes
        (["null", "long"], b"\x04\x06"),
        (["null", "long"], b"\x01\x06"),
        ({"type": "enum", "name": "E", "symbols": ["a"]}, b"\x02"),
        ({"type": "array", "items": "int"}, b"\x04\x02"),
        ({"type": "array", "items": "int"}, b"\xff" * 9 + b"\x01\x00"),  # -2**63 items
    ],
)
@pytest.mark.parametrize("kernel", [KERNEL, None], ids=["kernel", "without"])
def test_these_are_no_datums(kind: Any, encoded: bytes, kernel: Kernel | None) -> None:
    parts, bad = AvroReader(json.dumps(record([kind])), kernel).read(Bodies.of_texts([encoded]))
    assert (parts, list(bad)) == ([], [0])
    assert bad[0].reason is not BadReason.TRAILING_BYTES
    assert str(bad[0]).startswith("field c0, before byte ")
