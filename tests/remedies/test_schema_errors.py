"""Schemas of records that nobody can read, from what a letter says of one to a table that has the rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from connectors.kafka.embedded_registry import EmbeddedRegistry
from streaming.demo.columns import Column, Kind
from streaming.demo.encoding import Encoding
from tests.remedies.broken_zones import carry_out, require_health
from tests.remedies.site import Site
from tests.support.http import ask
from tests.support.records import COLUMNS
from tests.support.shop import registering
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME

pytestmark = pytest.mark.kafka

RUN = "cdc-bridge run CONFIG --once"
ABOUT_SCALES = (
    "look at the record's schema: Kafka Connect's decimal says its scale there, a whole number; mend the "
    "transformation or the converter that leaves it out or changes it"
)


def told_of_the_letter(site: Site, offset: int) -> tuple[str, str]:
    """What the letter's detail says to do about the schema, and what its listing says to do about the letter."""
    letter = site.shell.type(f"cdc-bridge dead-letters show CONFIG {site.topic}:0:{offset}")
    [about_schema] = re.findall("^  detail: .+ Remedy: (.+)", letter.out, re.MULTILINE)
    return about_schema, letter.remedy


@pytest.mark.parametrize(("written", "instead"), [(b'"scale":"2",', b""), (b'"scale":"2"', b'"scale":"two"')])
def test_schema_of_a_decimal(site: Site, written: bytes, instead: bytes) -> None:
    """A transformation leaves the scale out, or changes it, until it is mended; the source still has the row."""
    priced = replace(ORDERS, columns=(*COLUMNS, Column("price", Kind.NUMERIC)))
    first, second = row(1, "uno", price=Decimal("0.50")), row(3, "three", price=Decimal("1.50"))
    created = priced.create(second, 11)
    broken = replace(created, value=(created.value or b"").replace(written, instead))
    assert broken.value != created.value
    site.send(priced.create(first, 10), broken)
    assert site.shell.type(RUN).code == 0
    assert site.rows() == [first]
    about_schema, remedy = told_of_the_letter(site, 1)
    assert about_schema == ABOUT_SCALES
    site.snapshot = (priced.reread(first, 40), priced.reread(second, 40))
    carry_out(site, remedy, "resync", TABLE=NAME)
    third = row(4, "four", price=Decimal("2.50"))
    site.send(priced.create(third, 50))
    site.live()
    assert site.rows() == [first, second, third]
    site.require_shown_health()


@pytest.fixture
def registry(site: Site) -> Iterator[EmbeddedRegistry]:
    with EmbeddedRegistry() as running:
        site.set(registry={"url": running.url})
        yield running


NO_CONVERTERS: list[tuple[str, dict[str, Any]]] = [
    (
        "look at the schema in the registry; it must be one that Kafka Connect's Avro converter has written",
        {"type": "record", "name": "Envelope", "fields": [{"name": "after", "type": "Row"}]},
    ),
    (
        "look at the schema in the registry; Kafka Connect's Avro converter must have written it",
        {"type": "record", "name": "Envelope", "fields": [{"name": "op", "type": {"type": "enum", "name": "Op"}}]},
    ),
]
"""Schemas that another program has registered, and what is told of a record that names one of them."""


@pytest.mark.parametrize(("remedy", "schema"), NO_CONVERTERS)
def test_schema_in_the_registry(site: Site, registry: EmbeddedRegistry, remedy: str, schema: dict[str, Any]) -> None:
    """The record's own id leads to what was written there; then the converter writes, and the rows are sent again."""
    avro = replace(ORDERS, encoding=Encoding.AVRO, register=registering(registry))
    number = avro.register("by hand", schema)
    by_hand = replace(avro.create(row(3, "three"), 11), value=b"\0" + number.to_bytes(4) + b"\0")
    site.send(avro.create(row(1, "uno"), 10), by_hand)
    assert site.shell.type(RUN).code == 0
    assert site.rows() == [row(1, "uno")]
    about_schema, resync = told_of_the_letter(site, 1)
    assert about_schema == remedy
    looked = ask(registry.url, f"/schemas/ids/{number}")
    assert json.loads(json.loads(looked.body)["schema"]) == schema
    site.snapshot = (avro.reread(row(1, "uno"), 40), avro.reread(row(3, "three"), 40))
    carry_out(site, resync, "resync", TABLE=NAME)
    require_health(site)
