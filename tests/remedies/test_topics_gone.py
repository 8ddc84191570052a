"""A topic that feeds a table beside another one and is gone, from what a request is told to a table that streams."""

from __future__ import annotations

from dataclasses import replace

import pytest

from connectors.kafka.config import KafkaConfig
from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.kafka.topics import Admin, describe_topics
from streaming.demo.encoding import Encoding
from tests.remedies.broken_zones import carry_out, require_health, stands
from tests.remedies.shell import Printed
from tests.remedies.site import Site
from tests.support.shop import registering
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME

pytestmark = pytest.mark.kafka

WEST = replace(ORDERS, topic="west.public.orders")


@pytest.fixture
def west(site: Site) -> str:
    """The name of a second topic that orders come from, as where their table is split."""
    topic = site.topics[WEST.topic] = site.cluster.topic(WEST.topic)
    site.log.ids[topic] = describe_topics(Admin(KafkaConfig(site.cluster.bootstrap_servers)), [topic])[topic].id
    site.set(kafka__topics=list(site.topics.values()))
    site.prefix = site.cluster.prefix
    site.snapshot = (ORDERS.reread(row(1, "uno"), 40), ORDERS.reread(row(3, "three"), 40))
    return topic


def goes(site: Site, topic: str) -> None:
    """Somebody deletes the topic."""
    site.cluster.delete(topic)
    del site.log.partitions[topic]


def leave_out(site: Site, topic: str) -> None:
    """The settings do not name it any more."""
    site.log.left_out.add(topic)
    site.set(kafka__topics=[name for name in site.topics.values() if name != topic])


def require_refused(refused: Printed, message: str, remedy: str) -> None:
    """The request is answered with this."""
    assert refused.code == 1
    assert message in refused.out, refused
    assert refused.remedy == remedy


def test_topic_not_found_by_a_table_that_catches_up(site: Site, west: str) -> None:
    site.send(ORDERS.create(row(1, "uno"), 10), WEST.create(row(2, "two"), 11))
    site.live()
    assert site.shell.type(f"cdc-bridge pause CONFIG {NAME}", beside=site.live).code == 0
    site.send(WEST.delete(row(2, "two"), 20), ORDERS.create(row(3, "three"), 21))
    site.live()
    remedy = stands(site, "paused")
    goes(site, west)

    def turn() -> None:
        site.driver().drain()
        site.answer_signals()

    refused = site.shell.follow(remedy, "resume", beside=turn)
    require_refused(
        refused,
        "the topic that the table has to catch up from does not exist",
        f"rebuild the table with `cdc-bridge resync CONFIG {NAME}`: a topic that is made again is another",
    )
    assert site.shell.follow(refused.remedy, "resync", beside=turn).code == 0
    leave_out(site, west)
    require_health(site)


def test_topic_not_found_by_a_letter_that_is_replayed(site: Site, west: str) -> None:
    """Nobody can tell any more whether a newer event of the row has landed."""
    with EmbeddedRegistry() as registry:
        avro = replace(WEST, encoding=Encoding.AVRO, register=registering(registry))
        site.send(ORDERS.create(row(1, "uno"), 10), avro.create(row(3, "three"), 11))
        assert site.shell.type("cdc-bridge run CONFIG --once").code == 0
        assert site.rows() == [row(1, "uno")]
        site.set(registry={"url": registry.url})
        goes(site, west)
        leave_out(site, west)
        refused = site.shell.type("cdc-bridge dead-letters replay CONFIG --all", beside=site.live)
        require_refused(
            refused,
            "the topic that holds what has come since the record does not exist",
            f"rebuild the table with `cdc-bridge resync CONFIG {NAME}`",
        )
        carry_out(site, refused.remedy, "resync")
    require_health(site)
