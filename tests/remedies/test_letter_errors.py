"""Why letters cannot land as they were asked to, from the error through its remedy to a table that streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest

from connectors.debezium.errors import UnknownSchemaError
from connectors.debezium.wire import SchemaIdKind
from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.kafka.registry import Registry, RegistryConfig
from streaming.demo.columns import Column, Kind
from streaming.demo.encoding import Encoding
from streaming.demo.workload import Record
from streaming.lifecycle import dead_letter_replay
from streaming.lifecycle.later_reading import read_later
from tests.remedies.broken_zones import carry_out, require_health
from tests.remedies.site import Site
from tests.support.records import COLUMNS, Table
from tests.support.shop import registering
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME

pytestmark = pytest.mark.kafka

RUN = "cdc-bridge run CONFIG --once"
LETTER = "TOPIC:PARTITION:OFFSET"


@pytest.fixture
def connectors_registry() -> Iterator[EmbeddedRegistry]:
    """The registry that the connector's converter writes to."""
    with EmbeddedRegistry() as running:
        yield running


@pytest.fixture
def wrong_registry(site: Site) -> Iterator[EmbeddedRegistry]:
    """The one that the settings name."""
    with EmbeddedRegistry() as running:
        site.set(registry={"url": running.url})
        yield running


def orders(registry: EmbeddedRegistry, *more: Column) -> Table:
    """Orders in Avro, with further columns."""
    return replace(ORDERS, encoding=Encoding.AVRO, columns=(*COLUMNS, *more), register=registering(registry))


def noted(registry: EmbeddedRegistry, key: int, lsn: int, kind: Kind, note: object) -> Record:
    """An insert with a column that no event had before."""
    return orders(registry, Column("note", kind)).create(row(key, "three", note=note), lsn)


def test_unknown_schema(site: Site, connectors_registry: EmbeddedRegistry, wrong_registry: EmbeddedRegistry) -> None:
    avro = orders(connectors_registry)
    site.send(ORDERS.create(row(1, "uno"), 10), avro.create(row(3, "three"), 11))
    with pytest.raises(UnknownSchemaError) as raised:
        Registry(RegistryConfig(wrong_registry.url, attempts=1, timeout=60)).avro_schema(2, SchemaIdKind.CONFLUENT)
    assert raised.value.remedy.startswith("check that registry.url is the registry")
    assert site.shell.type(RUN).code == 0
    letter = site.shell.type(f"cdc-bridge dead-letters show CONFIG {site.topic}:0:1")
    assert raised.value.remedy in letter.out
    assert "let registry.url name the registry that the connector writes to, then restart the bridge" in letter.remedy
    site.set(registry={"url": connectors_registry.url})
    carry_out(site, letter.remedy, "dead-letters replay", COORDINATE=f"{site.topic}:0:1")
    require_health(site)


def test_replay_refused(site: Site, connectors_registry: EmbeddedRegistry, wrong_registry: EmbeddedRegistry) -> None:
    """Two letters add a column of the same name, of two types."""
    site.send(ORDERS.create(row(1, "uno"), 10))
    site.send(noted(connectors_registry, 3, 11, Kind.TEXT, "x"), noted(connectors_registry, 2, 12, Kind.INT64, 7))
    assert site.shell.type(RUN).code == 0
    site.set(registry={"url": connectors_registry.url})
    refused = site.shell.type("cdc-bridge dead-letters replay CONFIG --all", beside=site.live)
    assert refused.code == 1
    assert refused.out.count("refused: the letters cannot land together: ") == 2, refused.out
    [remedy] = set(refused.told)
    carry_out(site, remedy, "dead-letters replay", **{LETTER: f"{site.topic}:0:1"})
    last = site.shell.follow(remedy, "dead-letters replay", beside=site.live, **{LETTER: f"{site.topic}:0:2"})
    assert (last.code, "would be parked by it (type_changed)" in last.out) == (1, True)
    assert site.rows() == [row(1, "uno", note=None), row(3, "three", note="x")], "the first one has landed"
    site.snapshot = (ORDERS.reread(row(1, "uno"), 40), ORDERS.reread(row(3, "three"), 40))
    carry_out(site, last.remedy, "resync", TABLE=NAME)
    require_health(site)


def test_too_much_to_read(
    site: Site,
    connectors_registry: EmbeddedRegistry,
    wrong_registry: EmbeddedRegistry,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two offsets are what two millions are in earnest."""
    avro = orders(connectors_registry)
    site.send(ORDERS.create(row(1, "one"), 10), avro.create(row(3, "three"), 11), ORDERS.update(row(1, "uno"), 12))
    assert site.shell.type(RUN).code == 0
    site.set(registry={"url": connectors_registry.url})
    monkeypatch.setattr(dead_letter_replay, "read_later", partial(read_later, most=1))
    refused = site.shell.type("cdc-bridge dead-letters replay CONFIG --all", beside=site.live)
    assert refused.code == 1
    assert "2 offsets would have to be read to tell whether a newer event of the row has landed; 1 are" in refused.out
    site.snapshot = (ORDERS.reread(row(1, "uno"), 40), ORDERS.reread(row(3, "three"), 40))
    carry_out(site, refused.remedy, "resync")
    require_health(site)


def test_records_gone_that_may_be_newer_than_a_letter(
    site: Site, connectors_registry: EmbeddedRegistry, wrong_registry: EmbeddedRegistry
) -> None:
    """RecordsGoneError is what the driver answers: retention has gone on past the letter's record."""
    avro = orders(connectors_registry)
    site.send(ORDERS.create(row(1, "one"), 10), avro.create(row(3, "three"), 11), ORDERS.update(row(1, "uno"), 12))
    assert site.shell.type(RUN).code == 0
    site.set(registry={"url": connectors_registry.url})
    site.expire(2)
    refused = site.shell.type("cdc-bridge dead-letters replay CONFIG --all", beside=site.live)
    assert refused.code == 1
    assert "Kafka's retention has removed the records from 1 to 1" in refused.out
    assert refused.remedy.startswith(f"rebuild the table with `cdc-bridge resync CONFIG {NAME}`")
    site.snapshot = (ORDERS.reread(row(1, "uno"), 40), ORDERS.reread(row(3, "three"), 40))
    carry_out(site, refused.remedy, "resync")
    require_health(site)
