"""A table that the settings leave out goes on in every topic that feeds it by the time it is included again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from connectors.debezium.options import DecodeOptions, TableRules
from connectors.landing_zone.ledger.state import TableStatus
from streaming.driver.startup import park_excluded
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.resumable import Shop

OTHER_PREFIX = replace(ORDERS, topic="shop2.public.orders")


def start(shop: Shop, *exclude: str) -> None:
    """A start under settings that leave these tables out."""
    shop.options["decode"] = DecodeOptions(rules=TableRules(exclude=exclude))
    shop.restart()
    park_excluded(shop.plain.ledger, shop.plain.job)
    shop.restart()


@pytest.mark.parametrize("partition", [0, 1])
def test_a_topic_that_has_begun_to_feed_an_excluded_table_is_caught_up_with_too(tmp_path: Path, partition: int) -> None:
    shop = Shop(tmp_path)
    shop.receive(ORDERS.create(row(1), 10), ORDERS.create(row(2), 11))
    start(shop, "*orders")
    new = OTHER_PREFIX.at(partition)
    shop.receive(ORDERS.create(row(3), 20))
    shop.receive(new.create(row(4), 30), new.update(row(1, "changed in the new topic"), 31))
    shop.receive(new.create(row(5), 32))
    assert shop.table.parked is not None
    assert {topic: offsets[at] for topic, offsets in shop.table.parked.resume.items() for at in offsets} == {
        TOPIC: 2,
        OTHER_PREFIX.topic: 0,
    }

    start(shop)
    assert shop.resume().accepted
    shop.catch_up_wholly()
    shop.receive(new.create(row(6), 40))

    assert shop.rows() == [row(1, "changed in the new topic"), *map(row, range(2, 7))]
    assert shop.status() is TableStatus.STREAMING
