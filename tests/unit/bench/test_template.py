"""Payloads are made by overwriting an example, so each has to be what its encoder would have written."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from decimal import Decimal

import fastavro
import numpy as np
import pytest

from tests.bench.template import RATIO_DENOMINATOR, Template

AVRO = {
    "type": "record",
    "name": "Row",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "text", "type": "string"},
        {"name": "ratio", "type": "double"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
    ],
}
EXAMPLE = {"id": 1_928_374_655, "text": 1_936_028_976, "ratio": 1_943_683_297, "price": 5_428_871}
OTHER = {"id": [1_000_000_000, 9_999_999_999], "text": [1_000_000_001, 2_000_000_002]}
OTHER |= {"ratio": [1_000_000_000, 7_654_321_098], "price": [1 << 22, (1 << 23) - 1]}


def avro(numbers: dict[str, int]) -> bytes:
    row = {
        "id": numbers["id"],
        "text": f"value {numbers['text']}",
        "ratio": numbers["ratio"] / RATIO_DENOMINATOR,
        "price": Decimal(numbers["price"]).scaleb(-2),
    }
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(AVRO), row)
    return body.getvalue()


def json_text(numbers: dict[str, int]) -> bytes:
    price = base64.b64encode(numbers["price"].to_bytes(3, "big")).decode()
    ratio = f"0.{numbers['ratio']}"
    return f'{{"id":{numbers["id"]},"text":"value {numbers["text"]}","ratio":{ratio},"price":"{price}"}}'.encode()


def rows() -> list[dict[str, int]]:
    return [{name: values[row] for name, values in OTHER.items()} for row in range(2)]


@pytest.mark.parametrize("encode", [avro, json_text])
def test_a_rendered_payload_is_what_the_encoder_writes(encode: Callable[[dict[str, int]], bytes]) -> None:
    template = Template.of(encode(EXAMPLE), EXAMPLE)

    rendered = template.render({name: np.array(values) for name, values in OTHER.items()}, 2)

    assert rendered == b"".join(encode(row) for row in rows())


def test_json_and_avro_hold_the_same_values() -> None:
    template = Template.of(json_text(EXAMPLE), EXAMPLE)

    rendered = template.render({name: np.array(values) for name, values in OTHER.items()}, 2)

    for place, row in enumerate(rows()):
        text = json.loads(rendered[place * template.size : (place + 1) * template.size])
        datum = fastavro.schemaless_reader(io.BytesIO(avro(row)), fastavro.parse_schema(AVRO), None)
        unscaled = int.from_bytes(base64.b64decode(text["price"]), "big")
        assert datum == {**text, "price": Decimal(unscaled).scaleb(-2)}


def test_a_number_that_would_change_the_length_is_refused() -> None:
    template = Template.of(b'{"id":1928374655}', {"id": 1_928_374_655})

    with pytest.raises(ValueError, match="id is 999999999 to 1000000000: not 10 bytes as digits"):
        template.render({"id": np.array([999_999_999, 1_000_000_000])}, 2)


@pytest.mark.parametrize(
    "example", [b"[1928374655,1928374655]", avro({**EXAMPLE, "text": EXAMPLE["id"]})], ids=["one form", "two forms"]
)
def test_a_number_that_stands_in_two_places_is_refused(example: bytes) -> None:
    with pytest.raises(ValueError, match="the number 1928374655 of id stands in the example more than once"):
        Template.of(example, {"id": EXAMPLE["id"]})
