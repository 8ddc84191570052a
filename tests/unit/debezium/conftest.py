"""What the tests of the decoder share: the same records in every encoding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Decoded
from connectors.debezium.options import DecodeOptions, TableRules
from tests.unit.debezium.builders import DECLARED, LEARNING, Event, Message, SchemaRegistry, records

Encode = Callable[[Event, SchemaRegistry], Message]
ENCODINGS: dict[str, tuple[Encode, TableRules]] = {
    "json": (lambda one, _: one.json(), DECLARED),
    "json with schema": (lambda one, _: one.json_with_schema(), TableRules()),
    "avro": (lambda one, registry: one.avro(registry), TableRules()),
    "learned json": (lambda one, _: one.json(), LEARNING),
}


@pytest.fixture(params=ENCODINGS)
def decode(request: pytest.FixtureRequest) -> Callable[..., Decoded]:
    """Decodes events, sent in the encoding of the fixture's parameter, and records as they are given."""
    encode, rules = ENCODINGS[request.param]
    registry = SchemaRegistry()

    def run(*sent: Event | Message, options: DecodeOptions | None = None, times: int = 2, **where: Any) -> Decoded:
        chosen = options or DecodeOptions()
        if not chosen.rules.tables:
            chosen = replace(chosen, rules=replace(chosen.rules, tables=rules.tables))
        decoder = Decoder(chosen, registry)
        batch = records(*(encode(one, registry) if isinstance(one, Event) else one for one in sent), **where)
        decoded = [decoder.decode(batch) for _ in range(times)]
        # What the decoder remembers from the first call must not change the second.
        assert [chunk.rows for chunk in decoded[0].chunks] == [chunk.rows for chunk in decoded[-1].chunks]
        assert decoded[0].bad == decoded[-1].bad
        assert decoded[0].skipped == decoded[-1].skipped
        return decoded[-1]

    return run
