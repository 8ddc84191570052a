"""What a record becomes does not depend on the records that are decoded with it, nor on those decoded before."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from unittest.mock import patch

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from connectors.debezium import json_reading
from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Decoded
from connectors.debezium.options import DecodeOptions, EnvelopeForm, TableDecoding, TableRules
from connectors.debezium.schema import ConnectType, Field
from tests.support.json_kernel import built
from tests.unit.debezium.builders import COLUMNS, ID, NAME, Message, SchemaRegistry, event, records, tombstone

KERNEL = built()
REGISTRY = SchemaRegistry()
WIDER = (*COLUMNS, Field("extra", ConnectType.STRING))
LONG_ID = (Field("id", ConnectType.INT64, optional=False), NAME)
QUOTED = (ID, NAME, Field('we"ird', ConnectType.STRING))
INSERT = event("c", after={"id": 1, "name": "a"})
WIDE = event("c", after={"id": 2, "name": "b", "extra": "x"})
CHANGE = event("u", before={"id": 1, "name": "a"}, after={"id": 3, "name": "c"})
DELETE = event("d", before={"id": 1, "name": None})
UNTOUCHED = event(
    "u", before={"id": 7, "name": "kept"}, after={"id": 7, "name": "__debezium_unavailable_value"}, key={"id": 7}
)
OTHER = event("u", after={"id": 5, "name": "__debezium_unavailable_value"}, table="other")
ENVELOPES = [
    *(one.json() for one in (INSERT, WIDE, CHANGE, DELETE, OTHER)),
    *(one.json_with_schema() for one in (INSERT, CHANGE, DELETE, OTHER)),
    *(one.avro(REGISTRY) for one in (INSERT, CHANGE, DELETE)),
    WIDE.json_with_schema(WIDER),
    WIDE.avro(REGISTRY, WIDER),
    INSERT.json_with_schema(LONG_ID),
    DELETE.avro(REGISTRY, LONG_ID),
    event("c", after={"id": 6, "name": "a", 'we"ird': "q"}).json_with_schema(QUOTED),
    Message(INSERT.json_with_schema().key, INSERT.json().value),
    Message(DELETE.avro(REGISTRY).key, DELETE.json().value),
    Message(INSERT.json().key, INSERT.json_with_schema().value),
    Message(INSERT.json_with_schema().key, (INSERT.json_with_schema().value or b"") + b"\n"),
    Message(INSERT.json().key, (INSERT.avro(REGISTRY).value or b"")[:-1]),
    UNTOUCHED.json(),
    UNTOUCHED.json_with_schema(),
    event("c", after={"id": 2**40, "name": "a"}).json(),
    event("d", before={"id": 1, "name": "gone"}).json(),
    event("t").json(),
    event("x", after={"id": 1, "name": "a"}).json(),
    event("c", after={"id": "text", "name": "a"}).json(),
    event("c", after={"id": 1.5, "name": None}, key={"id": 1.5}).json(),
    event("c", after={"id": 1, "name": "a"}, key={"id": 1, "tenant": 2}).json(),
    event("d", before={"id": 1, "name": None}, key=None).json_with_schema(),
    Message(b'{"id":1}', b"rubbish"),
    Message(b"rubbish", INSERT.json().value),
    Message(None, b'{"ts_ms":1}'),
    Message(b'{"id":1}', b'{"id":1,"name":"a","__op":"c"}'),
    tombstone({"id": 1}),
    Message(None, None),
]
FLATTENED = [
    Message(b'{"id":1}', b'{"id":1,"name":"a","__op":"c","__lsn":7}'),
    Message(b'{"id":1}', b'{"id":1,"name":null,"__db":"shop","__connector":"postgresql"}'),
    Message(b'{"id":1}', b'{"id":1,"name":"a","__deleted":"true"}'),
    Message(b'{"id":1}', b'{"id":1,"name":"a","__table":"other"}'),
    INSERT.json_with_schema(),
    tombstone({"id": 1}),
    Message(INSERT.json_with_schema().key, None),
    Message(INSERT.avro(REGISTRY).key, None),
    Message(b"rubbish", None),
    Message(None, None),
]
RULES = {"declared": TableDecoding(declared=COLUMNS), "learned": TableDecoding(learn=True), "typed": TableDecoding()}
RULES["whole before"] = TableDecoding(declared=COLUMNS, before_images=True)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("form", "sent"), [(EnvelopeForm.AUTO, ENVELOPES), (EnvelopeForm.FLATTENED, FLATTENED)])
@settings(max_examples=40, deadline=None)
@given(drawn=st.data())
def test_any_cut_of_any_mixture_gives_every_record_the_same_fate(
    rule: str, form: EnvelopeForm, sent: list[Message], drawn: st.DataObject
) -> None:
    options = DecodeOptions(rules=TableRules(tables=(("*", RULES[rule]),)), envelope=form)
    numbers = drawn.draw(st.lists(st.integers(0, len(sent) - 1), min_size=1, max_size=12))
    cuts = drawn.draw(st.sets(st.integers(1, len(numbers))))
    bounds = sorted({0, len(numbers), *(cut for cut in cuts if cut < len(numbers))})
    together = drawn.draw(st.sampled_from([1, 2, 3, 500]))
    decoder = Decoder(options, REGISTRY, drawn.draw(st.sampled_from([KERNEL, None])))
    fates: list[Any] = []
    with patch.object(json_reading, "TOGETHER", together):
        for start, stop in pairwise(bounds):
            fates += _fates(decoder.decode(records(*(sent[number] for number in numbers[start:stop]))), stop - start)
    assert fates == [_fates(Decoder(options, REGISTRY, None).decode(records(sent[number])), 1)[0] for number in numbers]


def _fates(decoded: Decoded, count: int) -> list[Any]:
    """What became of each record; a column that is null in a row counts like one that the row does not have."""
    fates: list[Any] = ["skipped"] * count
    for bad in decoded.bad:
        assert fates[bad.offset] == "skipped"
        fates[bad.offset] = (bad.reason, bad.detail)
    for chunk in decoded.chunks:
        old = chunk.old_keys.to_pylist() if chunk.old_keys is not None else []
        changed = dict(zip(chunk.key_changed.tolist(), old, strict=True))
        for place, row in enumerate(chunk.rows.to_pylist()):
            offset = int(chunk.offsets[place])
            assert fates[offset] == "skipped"
            fates[offset] = (
                chunk.table,
                chunk.schema.key if chunk.ops[place] != 4 else (),
                int(chunk.ops[place]),
                {name: value for name, value in row.items() if value is not None},
                {name: str(chunk.rows.schema.field(name).type) for name in row if row[name] is not None},
                chunk.positions[place].tolist(),
                changed.get(place),
                [name for name, mask in chunk.unavailable.items() if mask[place]],
            )
    assert fates.count("skipped") == sum(decoded.skipped.values())
    return fates
