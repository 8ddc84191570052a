"""No Avro record takes another one's bytes for its own, whatever its producer knows of what stands beside it."""

from __future__ import annotations

from typing import Any

import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.kernels import Kernels
from connectors.debezium.options import DecodeOptions, EnvelopeForm
from tests.support.kernels import built
from tests.unit.debezium.builders import Message, SchemaRegistry, records

ROW = {
    "type": "record",
    "name": "Row",
    "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": "string"}, {"name": "data", "type": "bytes"}],
}
OWN, VICTIM = ({"id": number, "note": note, "data": b""} for number, note in ((1, "own"), (42, "the victim's")))
KERNELS = [pytest.param(built(), id="kernels"), pytest.param(Kernels(), id="without")]


def datum(row: dict[str, Any]) -> bytes:
    return SchemaRegistry.datum(ROW, row)


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("reaching", [1, 5, 6, 100], ids=lambda count: f"{count} bytes")
def test_a_column_that_is_as_long_as_the_next_record_does_not_swallow_it(kernels: Kernels, reaching: int) -> None:
    registry = SchemaRegistry()
    victim = Message(None, registry.encode(ROW, VICTIM))
    swallowing = registry.encode(ROW, OWN | {"id": 666, "data": bytes(reaching)})[:-reaching]

    decoder = Decoder(DecodeOptions(envelope=EnvelopeForm.FLATTENED), registry, kernels)
    decoded = decoder.decode(records(Message(None, swallowing), victim, victim))

    assert [(bad.offset, bad.reason) for bad in decoded.bad] == [(0, "truncated")]
    (chunk,) = decoded.chunks
    assert chunk.offsets.tolist() == [1, 2]
    assert chunk.rows.to_pylist() == [VICTIM, VICTIM]


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("beside", [[], [VICTIM]], ids=["alone", "before another one"])
def test_nothing_may_follow_a_datum(kernels: Kernels, beside: list[dict[str, Any]]) -> None:
    registry = SchemaRegistry()
    followed = Message(None, registry.encode(ROW, OWN) + datum(OWN))
    others = [Message(None, registry.encode(ROW, row)) for row in beside]

    decoder = Decoder(DecodeOptions(envelope=EnvelopeForm.FLATTENED), registry, kernels)
    decoded = decoder.decode(records(followed, *others))

    assert [(bad.offset, bad.reason) for bad in decoded.bad] == [(0, "trailing bytes")]
    assert [row for chunk in decoded.chunks for row in chunk.rows.to_pylist()] == beside
