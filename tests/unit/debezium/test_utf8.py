"""JSON keys and values are UTF-8 as a whole, or their records are dead letters, whoever would have read them."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.options import DecodeOptions, PayloadFormat
from connectors.debezium.utf8 import not_utf8
from tests.unit.debezium.builders import DECLARED, Message, SchemaRegistry, event, only, records

GOOD = event("c", after={"id": 1, "name": "żółw"})
EDGES = [0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF]


@pytest.mark.parametrize("place", [b'"ts_ms"', b'"version"', b'"name":"demo"', b'"id"', b'"after"'])
def test_a_value_with_a_byte_that_is_not_utf8_anywhere_is_a_dead_letter(place: bytes) -> None:
    value = GOOD.json().value or b""
    at = value.index(place)
    damaged = value[:at] + b'"unused":"\xff",' + value[at:]
    wrong = damaged.index(b"\xff")

    for sent in ([damaged], [value, damaged], [damaged, value]):
        decoded = Decoder(DecodeOptions(rules=DECLARED)).decode(records(*(Message(b'{"id":1}', one) for one in sent)))

        (bad,) = decoded.bad
        assert (bad.offset, bad.value) == (sent.index(damaged), damaged)
        assert (bad.reason, bad.detail) == ("not UTF-8", f"invalid start byte at byte {wrong}")


def test_a_key_with_such_a_byte_is_unreadable() -> None:
    sent = Message(b'{"id":1,"unused":"\xff"}', GOOD.json().value)

    (bad,) = Decoder(DecodeOptions(rules=DECLARED)).decode(records(GOOD.json(), sent)).bad

    assert (bad.offset, bad.reason) == (1, "unreadable key")
    assert bad.detail == "the key: not UTF-8: invalid start byte at byte 18"


def test_what_avro_holds_beside_it_and_a_missing_value_are_not_judged() -> None:
    registry = SchemaRegistry()
    sent = [GOOD.avro(registry), Message(b'{"id":1}', None), GOOD.json()]

    decoded = Decoder(DecodeOptions(rules=DECLARED), registry).decode(records(*sent))

    assert (decoded.bad, sum(map(len, decoded.chunks)), decoded.skipped.total()) == ([], 2, 1)


def test_avro_where_json_is_to_be_is_told() -> None:
    registry = SchemaRegistry()
    options = DecodeOptions(rules=DECLARED, value_format=PayloadFormat.JSON)

    (bad,) = Decoder(options, registry).decode(records(Message(b'{"id":1}', GOOD.avro(registry).value))).bad

    assert (bad.reason, bad.detail) == ("not JSON", "the value starts with byte 0, as Avro does, and is to be JSON")


def test_characters_end_where_their_payload_does() -> None:
    halves = pa.array([b"a\xc3", None, b"\xbcb"], pa.binary())

    assert {place: wrong.detail for place, wrong in not_utf8(halves, np.array([0, 2])).items()} == {
        0: "unexpected end of data at byte 1",
        2: "invalid start byte at byte 0",
    }


def test_only_the_payloads_at_the_places_are_judged_also_in_a_part_of_a_batch() -> None:
    payloads = pa.array([b"\xff", "ż".encode(), b"\xff", b"a", "ó".encode()], pa.binary())

    assert not_utf8(payloads, np.array([1, 3, 4])) == {}
    assert list(not_utf8(payloads.slice(1), np.array([0, 1, 2, 3]))) == [1]


def test_the_rule_is_that_of_python() -> None:
    payloads = [bytes(some) for length in (1, 2, 3) for some in itertools.product(EDGES, repeat=length)]
    wrong = [place for place, payload in enumerate(payloads) if payload.decode(errors="ignore").encode() != payload]

    # One by one: where one of many is wrong, Python looks at each of them.
    found = [place for place, one in enumerate(payloads) if not_utf8(pa.array([one], pa.binary()), np.array([0]))]

    assert found == wrong


def test_the_rows_are_what_they_were() -> None:
    chunk = only(Decoder(DecodeOptions(rules=DECLARED)).decode(records(GOOD.json())))
    assert chunk.rows.to_pylist() == [{"id": 1, "name": "żółw"}]
