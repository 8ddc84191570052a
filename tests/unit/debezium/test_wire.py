"""Where an Avro payload names its schema."""

from __future__ import annotations

import pyarrow as pa
import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.framing import frame
from connectors.debezium.headers import RecordHeaders
from connectors.debezium.options import DecodeOptions, PayloadFormat, SchemaIdFraming
from connectors.debezium.verdicts import BadReason, Rejection
from connectors.debezium.wire import Datum, SchemaId, SchemaIdHeaders, SchemaIdKind, read_prefix
from tests.unit.debezium.builders import HEADERS, Message, SchemaRegistry, event, records

CONFLUENT = b"\0\0\0\0\x07rest"
APICURIO = b"\0\0\0\0\0\0\0\0\x07rest"


@pytest.mark.parametrize(
    ("payload", "framing", "expected"),
    [
        (CONFLUENT, SchemaIdFraming.AUTO, Datum(SchemaId(SchemaIdKind.CONFLUENT, 7), 5)),
        (CONFLUENT, SchemaIdFraming.CONFLUENT, Datum(SchemaId(SchemaIdKind.CONFLUENT, 7), 5)),
        (APICURIO, SchemaIdFraming.AUTO, Datum(SchemaId(SchemaIdKind.GLOBAL, 7), 9)),
        (APICURIO, SchemaIdFraming.APICURIO8, Datum(SchemaId(SchemaIdKind.GLOBAL, 7), 9)),
        (
            CONFLUENT,
            SchemaIdFraming.HEADERS,
            Rejection(BadReason.UNSUPPORTED_FRAMING, "no schema id header, and the settings expect one"),
        ),
        (b"", SchemaIdFraming.AUTO, Rejection(BadReason.EMPTY_VALUE, "the payload has no bytes")),
    ],
)
def test_the_prefix_holds_the_id(payload: bytes, framing: SchemaIdFraming, expected: Datum | Rejection) -> None:
    assert read_prefix(payload, framing) == expected


def ids(*headers: tuple[tuple[str, bytes | None], ...]) -> SchemaIdHeaders:
    entries = [[{"key": name, "value": value} for name, value in one] for one in headers]
    return SchemaIdHeaders(RecordHeaders(pa.array(entries, HEADERS), len(entries)), "value")


def test_headers_hold_the_id() -> None:
    found = ids(
        (("apicurio.value.contentId", (5).to_bytes(8, "big")),),
        (("apicurio.value.globalId", (6).to_bytes(8, "big")), ("apicurio.key.globalId", (9).to_bytes(8, "big"))),
        (("__value_schema_id", b"\0" + (7).to_bytes(4, "big")),),
        (),
    )
    assert [found.framing(row) for row in range(4)] == [
        Datum(SchemaId(SchemaIdKind.CONTENT, 5), 0),
        Datum(SchemaId(SchemaIdKind.GLOBAL, 6), 0),
        Datum(SchemaId(SchemaIdKind.CONFLUENT, 7), 0),
        None,
    ]


def test_a_guid_or_an_id_of_a_strange_size_is_refused_with_its_reason() -> None:
    found = ids((("__value_schema_id", b"\1" + bytes(16)),), (("apicurio.value.contentId", b"abc"),))
    assert found.framing(0) == Rejection(
        BadReason.UNSUPPORTED_FRAMING, "the schema id header holds a GUID; only numeric schema ids are supported"
    )
    assert found.framing(1) == Rejection(BadReason.UNSUPPORTED_FRAMING, "the content id header has 3 bytes, not 8")


def test_the_last_of_repeated_headers_counts_and_null_headers_are_none() -> None:
    headers = RecordHeaders(
        pa.array([[{"key": "a", "value": b"1"}, {"key": "a", "value": b"2"}], None, []], HEADERS), 3
    )
    found = headers.values("a")
    assert found is not None
    assert found.to_pylist() == [b"2", None, None]
    assert headers.values("b") is None


def test_formats_and_ids_of_a_mixed_batch_are_told_apart() -> None:
    payloads = pa.array([b"junk", CONFLUENT, b"{}", None, b"", APICURIO, b"\0\0", CONFLUENT]).slice(1)
    framed = frame(payloads, SchemaIdHeaders(RecordHeaders(None, 7), "value"), PayloadFormat.AUTO, SchemaIdFraming.AUTO)
    assert framed.json.tolist() == [1]
    assert [(part.schema_id, part.rows.tolist(), part.start) for part in framed.avro] == [
        (SchemaId(SchemaIdKind.CONFLUENT, 7), [0, 6], 5),
        (SchemaId(SchemaIdKind.GLOBAL, 7), [4], 9),
    ]
    assert {place: wrong.reason for place, wrong in framed.rejected.items()} == {
        3: BadReason.EMPTY_VALUE,
        5: BadReason.TRUNCATED,
    }


@pytest.mark.parametrize("name", ["contentId", "globalId"])
def test_records_with_ids_in_headers_are_decoded_beside_others(name: str) -> None:
    registry = SchemaRegistry()
    framed = event("c", after={"id": 1, "name": "a"}).avro(registry)
    assert framed.key is not None
    assert framed.value is not None
    key_id, value_id = (int.from_bytes(part[1:5]).to_bytes(8, "big") for part in (framed.key, framed.value))
    headers = ((f"apicurio.key.{name}", key_id), (f"apicurio.value.{name}", value_id))
    bare = Message(framed.key[5:], framed.value[5:], headers)
    (chunk,) = Decoder(DecodeOptions(), registry).decode(records(bare, framed, bare)).chunks
    assert chunk.rows.to_pydict() == {"id": [1, 1, 1], "name": ["a", "a", "a"]}
    assert {kind for _, kind in registry.asked} == {
        SchemaIdKind.CONFLUENT,
        SchemaIdKind.CONTENT if name == "contentId" else SchemaIdKind.GLOBAL,
    }


def test_a_refused_header_is_a_bad_record() -> None:
    message = Message(None, b"\1\2\3", (("__value_schema_id", b"\1" + bytes(16)),))
    (bad,) = Decoder(DecodeOptions(), SchemaRegistry()).decode(records(message)).bad
    assert bad.reason == "unsupported schema id form"
