"""No Avro record takes another one's bytes for its own, whatever its producer knows of how many are read at once.

Datums are read together, with a guard behind each. A producer who knew the guard could write it into a record of his,
and behind it the beginning of a datum that ends in a column as long as the real guard and the next producer's datum.
"""

from __future__ import annotations

import io
import json
from typing import Any

import polars as pl
import pytest

from connectors.debezium.avro_reader import AvroReader
from connectors.debezium.decoder import Decoder
from connectors.debezium.options import DecodeOptions, EnvelopeForm
from tests.unit.debezium.builders import Message, SchemaRegistry, records

ROW = {
    "type": "record",
    "name": "Row",
    "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": "string"}, {"name": "data", "type": "bytes"}],
}
OWN, VICTIM = ({"id": number, "note": note, "data": b""} for number, note in ((1, "own"), (42, "the victim's")))


def datum(row: dict[str, Any]) -> bytes:
    return SchemaRegistry.datum(ROW, row)


def test_what_stood_between_the_records_of_one_batch_means_nothing_in_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = guard_of_a_batch(monkeypatch)
    registry = SchemaRegistry()
    swallowing = registry.encode(ROW, OWN) + guard + beginning(len(guard) + len(datum(VICTIM)))
    victim = Message(None, registry.encode(ROW, VICTIM))

    decoder = Decoder(DecodeOptions(envelope=EnvelopeForm.FLATTENED), registry)
    decoded = decoder.decode(records(Message(None, swallowing), victim, victim))

    assert [(bad.offset, bad.reason) for bad in decoded.bad] == [(0, "trailing bytes")]
    (chunk,) = decoded.chunks
    assert chunk.offsets.tolist() == [1, 2]
    assert chunk.rows.to_pylist() == [VICTIM, VICTIM]


def test_nothing_may_follow_the_only_datum_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = guard_of_a_batch(monkeypatch)

    parts, bad = AvroReader(json.dumps(ROW)).read([datum(OWN) + guard + b"anything"], ["id"])

    assert (parts, [str(wrong.reason) for wrong in bad.values()]) == ([], ["trailing bytes"])


def guard_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """What stands behind the first record of a batch, as it goes to the columnar reader."""
    read: list[bytes] = []
    real = pl.read_avro

    def watched(source: io.BytesIO, **options: Any) -> pl.DataFrame:
        read.append(source.getvalue())
        return real(source, **options)

    first, second = datum(OWN | {"note": "the first one"}), datum(OWN | {"note": "the second one"})
    with monkeypatch.context() as during:
        during.setattr(pl, "read_avro", watched)
        AvroReader(json.dumps(ROW)).read([first, second], ["id"])
    (block,) = read
    return block[block.index(first) + len(first) : block.index(second)]


def beginning(length: int) -> bytes:
    """A datum whose last column is so many bytes long, without these bytes."""
    whole = datum(OWN | {"id": 666, "data": bytes(length)})
    return whole[: len(whole) - length]
