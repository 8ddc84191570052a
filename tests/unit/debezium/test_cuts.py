"""What a record becomes does not depend on the records that are decoded with it, nor on those decoded before."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from connectors.debezium import json_reading, semantics
from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Decoded
from connectors.debezium.kernels import Kernels
from connectors.debezium.options import DecodeOptions, EnvelopeForm, TableDecoding, TableRules
from connectors.debezium.schema import ConnectType, Field
from tests.support.kernels import built
from tests.unit.debezium.builders import (
    COLUMNS,
    ID,
    NAME,
    Event,
    Message,
    SchemaRegistry,
    avro_row,
    event,
    records,
    struct_schema,
    tombstone,
)

KERNELS = built()
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
STRANGE = [
    b'"\xff"',
    b'{"\xff":1}',
    b'"\xed\xa0\x80"',
    b"1e999",
    b"1" * 400,
    b'"\\ud800"',
    b'"\xc5\xbc\xc3\xb3\xc5\x82w"',
]
"""Values of members that nobody needs: not UTF-8, or beyond what Python's numbers and texts hold; the last is right."""


def with_strange(message: Message, strange: bytes, beside: bytes) -> Message:
    """The message with another member in its value, in front of the one that is called ``beside``."""
    value = (message.value or b"").replace(beside, b'"strange":' + strange + b"," + beside, 1)
    assert value != message.value
    return Message(message.key, value)


def more(message: Message, tail: bytes) -> Message:
    """The message with other bytes in the place of its value's last one."""
    return Message(message.key, (message.value or b"")[:-1] + tail)


ROW_WITH_SCHEMA = Message(
    b'{"id":1}',
    json.dumps(
        {
            "schema": struct_schema("Row", [*COLUMNS, Field("__op", ConnectType.STRING)]),
            "payload": {"id": 1, "name": "a", "__op": "c"},
        },
        separators=(",", ":"),
    ).encode(),
)
AVRO_ROW = avro_row(
    "Row", [*COLUMNS, *(Field(name, ConnectType.STRING) for name in ("__source_connector", "__connector"))]
)
AVRO_ROW["fields"].append({"name": "__lsn", "type": "long"})
NAMED = [
    {"__source_connector": None, "__connector": "postgresql"},
    {"__source_connector": "mysql", "__connector": None},
]
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
    *(with_strange(INSERT.json(), strange, b'"version"') for strange in STRANGE),
    *(with_strange(INSERT.json_with_schema(), strange, b'"version":"') for strange in STRANGE),
    *(with_strange(OTHER.json(), strange, b'"op"') for strange in STRANGE),
    *(with_strange(CHANGE.json(), strange, b'"name":"c"') for strange in STRANGE),
    *(Message(b'{"id":1,"other":' + strange + b"}", INSERT.json().value) for strange in STRANGE),
    Message(b'{"id":1,"other":"\xff"}', None),
    with_strange(INSERT.json_with_schema(), b'"\xff"', b'"fields"'),
    *(more(INSERT.json_with_schema(), tail) for tail in (b',"more":1}', b',"payload":null}', b',"payload":}', b"}}")),
    more(INSERT.json(), b',"more":1}'),
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
    *(Message(b'{"id":1}', b'{"id":1,"name":"a","other":' + strange + b',"__op":"c"}') for strange in STRANGE),
    *(Message(b'{"id":1}', b'{"id":1,"name":"a","__collection":' + strange + b',"__op":"c"}') for strange in STRANGE),
    Message(b'{"id":1}', b'{"id":1,"name":"a","__source_table":null,"__table":"other"}'),
    *(
        Message(
            b'{"id":1}', b'{"id":1,"name":"a","__connector":' + connector + b',"__lsn":7,"__file":"f.01","__pos":4}'
        )
        for connector in (b'"postgresql"', b'"mysql"', b'"mongodb"', b'"cassandra"', b'""', b"null", b"5")
    ),
    *(Message(b'{"id":1}', REGISTRY.encode(AVRO_ROW, {"id": 1, "name": "a", "__lsn": 7} | named)) for named in NAMED),
    with_strange(ROW_WITH_SCHEMA, b'0,"__table":"other"', b'"__op":"c"'),
    with_strange(ROW_WITH_SCHEMA, b'0,"__connector":"mysql"', b'"__op":"c"'),
    ROW_WITH_SCHEMA,
    Message(b'{"id":1}', b'{"id":1,"name":"a","__source_op":"d","__op":"c"}'),
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
    decoder = Decoder(options, REGISTRY, drawn.draw(st.sampled_from([KERNELS, Kernels()])))
    fates: list[Any] = []
    with patch.object(json_reading, "TOGETHER", together):
        for start, stop in pairwise(bounds):
            fates += _fates(decoder.decode(records(*(sent[number] for number in numbers[start:stop]))), stop - start)
    assert fates == [
        _fates(Decoder(options, REGISTRY, Kernels()).decode(records(sent[number])), 1)[0] for number in numbers
    ]


@pytest.mark.parametrize("kernels", [KERNELS, Kernels()], ids=["kernels", "without"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("form", "sent"), [(EnvelopeForm.AUTO, ENVELOPES), (EnvelopeForm.FLATTENED, FLATTENED)])
def test_what_a_decoder_has_seen_changes_the_fate_of_no_record(
    rule: str, form: EnvelopeForm, sent: list[Message], kernels: Kernels
) -> None:
    options = DecodeOptions(rules=TableRules(tables=(("*", RULES[rule]),)), envelope=form)
    alone = [_fates(Decoder(options, REGISTRY, kernels).decode(records(one)), 1)[0] for one in sent]
    knowing = Decoder(options, REGISTRY, kernels)

    with_schema = next(one for one in sent if (one.value or b"").startswith(b'{"schema":{'))
    for usual in (sent[0], with_schema):
        for one, fate in zip(sent, alone, strict=True):
            # The usual record's schema and layout are those that the other one is tried with.
            assert (one, _fates(knowing.decode(records(usual, one)), 2)[1]) == (one, fate)
            assert (one, _fates(knowing.decode(records(one)), 1)[0]) == (one, fate)


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


def test_a_key_whose_schema_cannot_be_understood_sets_aside_the_deletes_that_it_names_and_no_other_row() -> None:
    keys = [Field("id", ConnectType.BYTES, optional=False, semantic=semantics.DECIMAL, parameters=(("scale", "x"),))]
    sent = [event("c", after={"id": "Aw=="}), event("d", before={"id": "Aw=="}), event("c", after={"id": "BA=="})]
    own = [replace(keys[0], parameters=(("scale", "0"),))]
    result = Decoder(DecodeOptions()).decode(records(*(one.json_with_schema(own, keys) for one in sent)))
    assert [(bad.offset, bad.reason) for bad in result.bad] == [(1, "unusable schema")]
    assert [chunk.offsets.tolist() for chunk in result.chunks] == [[0, 2]]


BYTES_ID = (Field("id", ConnectType.BYTES, optional=False), NAME)
KEYED = event("u", before={"id": "AQ==", "name": "a"}, after={"id": "AQ==", "name": "a"}, key={"id": "AQ=="})
BROKEN = event("u", before={"id": "no base64", "name": "a"}, after={"id": "Ag==", "name": "b"}, key=None)
BROKEN_TWICE = event("u", before={"id": "no base64", "name": "a"}, after={"id": "neither", "name": "b"}, key=None)
UNKNOWN_KEY, NO_JSON = b"\x00\x00\x00\x00\x63x", b"nonsense"


@pytest.mark.parametrize("kernels", [KERNELS, Kernels()], ids=["kernels", "without"])
@pytest.mark.parametrize(
    ("sent", "key", "decoding", "fate"),
    [
        (BROKEN, UNKNOWN_KEY, TableDecoding(), "unknown schema id"),
        (BROKEN, NO_JSON, TableDecoding(), "unreadable key"),
        (BROKEN, NO_JSON, TableDecoding(append=True), "a row"),
        (BROKEN, NO_JSON, TableDecoding(keys=("name",)), "a row"),
        (BROKEN, NO_JSON, TableDecoding(keys=("id",)), "type mismatch"),
        (BROKEN, None, TableDecoding(), "a row"),
        (BROKEN, b'{"name":"b"}', TableDecoding(), "a row"),
        (BROKEN, b'{"id":"Ag=="}', TableDecoding(), "type mismatch"),
        (BROKEN_TWICE, NO_JSON, TableDecoding(), "type mismatch"),
        (BROKEN_TWICE, NO_JSON, TableDecoding(append=True), "type mismatch"),
    ],
)
def test_which_columns_of_an_old_row_are_read_is_its_own_key_s_affair(
    sent: Event, key: bytes | None, decoding: TableDecoding, fate: str, kernels: Kernels
) -> None:
    """Read together, columns are those that any key names; one that fails by that is read again by itself."""
    keyed, broken = KEYED.json_with_schema(BYTES_ID), sent.json_with_schema(BYTES_ID)
    one = Message(key, broken.value)
    options = DecodeOptions(rules=TableRules(tables=(("*", decoding),)))
    for batch in ([one], [keyed, one], [one, keyed, one]):
        decoded = Decoder(options, SchemaRegistry(), kernels).decode(records(*batch))
        told = {bad.offset: str(bad.reason) for bad in decoded.bad}
        told |= dict.fromkeys((offset for chunk in decoded.chunks for offset in chunk.offsets.tolist()), "a row")
        assert told == {place: fate if message is one else "a row" for place, message in enumerate(batch)}
