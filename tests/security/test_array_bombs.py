"""Arrays and maps, of which a few bytes can stand for much: what they make of a record is bounded, or refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from connectors.debezium import avro_datum, avro_reader
from connectors.debezium.decoder import Decoder
from connectors.debezium.kernels import KERNELS, Kernels
from connectors.debezium.options import DecodeOptions
from connectors.debezium.schema import ConnectType, Field
from tests.security.bombs import EMPTY, GOOD, decoded, envelope_with, fates
from tests.unit.debezium.builders import (
    COLUMNS,
    DECLARED,
    LEARNING,
    Message,
    SchemaRegistry,
    event,
    records,
)

FLAG = {"name": "flag", "type": "boolean"}
MANY = 20_000


def item(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "Item", "fields": list(fields)}


def array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def avro(registry: SchemaRegistry, kind: Any, value: Any) -> Message:
    """A row whose column ``bomb`` has the value."""
    envelope = {"before": None, "after": {"id": 1, "name": "a", "bomb": value}, "source": GOOD.source, "op": "c"}
    return Message(GOOD.avro(registry).key, registry.encode(envelope_with(kind), envelope))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (array(item(FLAG, {"name": "inner", "type": EMPTY})), [{"flag": False, "inner": {}}] * MANY),
        ({"type": "map", "values": EMPTY}, {str(number): {} for number in range(MANY)}),
        (array(item({**FLAG, "name": "n" * 256})), [{"n" * 256: False}] * MANY),
        ({"type": "map", "values": item({**FLAG, "name": "n" * 256})}, {"a": {"n" * 256: False}}),
        (array(["null", item({**FLAG, "name": "n" * 256})]), [None]),
        ({"type": "enum", "name": "Long", "symbols": ["n" * 1_025]}, "n" * 1_025),
        (array({"type": "enum", "name": "Long", "symbols": ["a", "n" * 1_025]}), ["a"]),
    ],
    ids=["empty beside", "empty in a map", "name", "name in a map", "name of what is null", "symbol", "symbols"],
)
def test_items_that_are_larger_than_their_bytes_are_refused_with_their_schema(kind: Any, value: Any) -> None:
    registry = SchemaRegistry()
    landed, bad = fates(decoded(avro(registry, kind, value), GOOD.avro(registry), registry=registry))
    assert (landed, bad) == ([1], [(0, "unusable schema")])


WIDE = item(*({"name": f"c{number}", "type": ["null", "string"]} for number in range(1_000)))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (array("int"), [0] * 500_000),
        (array(item({**FLAG, "name": "n" * 255})), [{"n" * 255: False}] * MANY),
        (array(["null", WIDE]), [None] * MANY),
        ({"type": "map", "values": ["null", WIDE]}, {str(number): None for number in range(MANY)}),
        ({"type": "enum", "name": "Long", "symbols": ["n" * 1_024]}, "n" * 1_024),
    ],
    ids=["numbers", "names", "wide nulls", "wide nulls in a map", "symbol"],
)
def test_giant_arrays_land_whole_in_bounded_memory(kind: Any, value: Any) -> None:
    registry = SchemaRegistry()
    found = decoded(avro(registry, kind, value), GOOD.avro(registry), registry=registry)
    assert fates(found) == ([0, 1], [])
    [row] = [row for chunk in found.chunks for row in chunk.rows.to_pylist() if row.get("bomb") is not None]
    assert row["bomb"] == (value if isinstance(value, str) else json.dumps(value, separators=(",", ":")))


@pytest.mark.parametrize("with_schema", [True, False], ids=["with a schema", "learned"])
def test_a_giant_array_of_json_lands_whole_in_bounded_memory(with_schema: bool) -> None:
    numbers = [0] * 500_000
    columns = (*COLUMNS, Field("bomb", ConnectType.ARRAY, children=(Field("items", ConnectType.INT32),)))
    row = event("c", after={"id": 1, "name": "a", "bomb": numbers})
    found = decoded(row.json_with_schema(columns)) if with_schema else decoded(row.json(), rules=LEARNING)
    assert fates(found) == ([0], [])
    [landed] = [row for chunk in found.chunks for row in chunk.rows.to_pylist()]
    assert landed["bomb"] == json.dumps(numbers, separators=(",", ":"))


def test_want_of_memory_is_no_record_s_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that cannot be read now is read later, and is no dead letter."""

    def no_memory(*_: object, **__: object) -> None:
        raise MemoryError

    registry = SchemaRegistry()
    sent = records(GOOD.avro(registry))
    for module, name, kernels in (
        (avro_reader, "Scan", KERNELS),
        (avro_datum.fastavro, "schemaless_reader", Kernels()),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, no_memory)
            with pytest.raises(MemoryError):
                Decoder(DecodeOptions(rules=DECLARED), registry, kernels).decode(sent)
