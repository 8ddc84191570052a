"""Keys of a batch that are all alike are looked at together, also of the first batch of a topic."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from connectors.debezium.avro_registry import AvroReaders
from connectors.debezium.bodies import Bodies
from connectors.debezium.framing import frame
from connectors.debezium.kernels import Kernels
from connectors.debezium.options import PayloadFormat, SchemaIdFraming
from connectors.debezium.record_key import KeyReader, RecordKeys
from tests.support.kernels import built
from tests.unit.debezium.builders import event

PLAIN = [b'{"id":1,"part":"a"}', b'{"id":2,"part":"b"}']
WITH_SCHEMA = [event("c", after={"id": n}).json_with_schema().key or b"" for n in (1, 2)]


def read(reader: KeyReader, *keys: bytes) -> RecordKeys:
    encoded = pa.array(keys, pa.binary())
    return reader.read("t", encoded, frame(encoded, {}, PayloadFormat.JSON, SchemaIdFraming.AUTO))


@pytest.fixture(params=[built(), Kernels()], ids=["kernels", "without"])
def reader(request: pytest.FixtureRequest) -> KeyReader:
    return KeyReader(AvroReaders(None), request.param.json)


@pytest.mark.parametrize("keys", [PLAIN, WITH_SCHEMA])
def test_a_topics_first_keys_are_looked_at_together(reader: KeyReader, keys: list[bytes]) -> None:
    found = read(reader, *keys)
    assert isinstance(found.bodies, Bodies)
    assert found.shape_of.tolist() == [0, 0]
    assert [key["id"] for key in found.plain(np.array([0, 1]))] == [1, 2]


def test_keys_of_another_shape_than_before_are_looked_at_together_too(reader: KeyReader) -> None:
    read(reader, *PLAIN)
    found = read(reader, b'{"other":1}', b'{"other":2}')
    assert isinstance(found.bodies, Bodies)
    assert found.all_names() == {"other"}


@pytest.mark.parametrize(
    "keys",
    [
        [*PLAIN, b'{"id":3}'],
        [*PLAIN, WITH_SCHEMA[0]],
        [WITH_SCHEMA[0], *PLAIN],
        [b'{"schema":"s","payload":"p"}', WITH_SCHEMA[0]],
        [b'{"schema":"s","payload":"p"}', b'{"schema":null,"payload":{"id":1}}'],
        [b'{"schema":null,"payload":{"id":1}}', b'{"schema":null,"payload":{"id":2}}'],
        [b"no key", *PLAIN],
    ],
)
def test_keys_that_are_not_alike_are_each_read_as_if_they_were_alone(reader: KeyReader, keys: list[bytes]) -> None:
    together = read(reader, *keys)
    for place, key in enumerate(keys):
        alone = read(reader, key)
        assert together.names_at(place) == alone.names_at(0)
        assert (place in together.unreadable) == (0 in alone.unreadable)
        assert together.plain(np.array([place])) == alone.plain(np.array([0]))
