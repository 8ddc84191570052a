"""A dead letter that has landed is no row that a rebuild from Kafka may take away: Kafka's range does not hold it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from connectors.landing_zone.ledger.state import TableStatus
from streaming.dead_letters.coordinates import Coordinates
from streaming.demo.workload import Record
from streaming.policies import OnDrop, OnTruncate
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.maria_shop import ORDERS as MARIA_ORDERS
from tests.unit.streaming.maria_shop import drop_orders
from tests.unit.streaming.rebuilt_shop import do_chores
from tests.unit.streaming.replayable import BAD, NAME, Shop, at

MARIA_NAME = "shop.orders"


def receive_only(shop: Shop, partition: int, *records: Record) -> None:
    """Land what came in one partition; the other ones are behind."""
    for record in records:
        shop.log.append(record)
    start = {topic: dict(each.partitions) for topic, each in shop.plain.ledger.state.topics.items()}
    ends = {TOPIC: {**start[TOPIC], partition: shop.log.ends()[TOPIC][partition]}}
    shop.plain.run_batch(start, ends)


def truncated_beside_letters(tmp_path: Path, *positions: int) -> Shop:
    """Partition 0 has yet to read the truncate at 20; in partition 1 rows from 3 on at these positions are letters."""
    shop = Shop(tmp_path, options={"on_truncate": OnTruncate.REBUILD})
    shop.receive(ORDERS.create(row(1), 10), ORDERS.at(1).create(row(2), 11))
    shop.log.append(ORDERS.truncate(20))
    receive_only(shop, 1, *(BAD.at(1).create(row(key), position) for key, position in enumerate(positions, start=3)))
    shop.mend()
    return shop


def test_a_truncate_before_a_letter_that_has_landed_is_not_followed_from_kafka(tmp_path: Path) -> None:
    shop = truncated_beside_letters(tmp_path, 21)
    assert shop.replay(at(1, 1)).accepted

    shop.receive(ORDERS.create(row(4), 30))
    do_chores(shop, NAME)

    assert shop.table.status is TableStatus.PARKED
    assert shop.rows() == [row(1), row(2), row(3)]


def test_one_behind_the_letter_is(tmp_path: Path) -> None:
    shop = truncated_beside_letters(tmp_path, 19)
    assert shop.replay(at(1, 1)).accepted

    shop.receive(ORDERS.create(row(4), 30))
    do_chores(shop, NAME)

    assert (shop.table.status, shop.table.replayed_to) == (TableStatus.STREAMING, "")
    assert shop.rows() == [row(4)]


def test_the_furthest_letter_counts_whichever_lands_last(tmp_path: Path) -> None:
    shop = truncated_beside_letters(tmp_path, 21, 19)
    assert shop.replay(at(1, 1)).accepted
    assert shop.replay(at(1, 2)).accepted

    assert shop.table.replayed_to == f"{21:016x}{21:016x}{0:016x}"


@pytest.mark.parametrize("options", [{"on_drop": OnDrop.DROP}, {"on_truncate": OnTruncate.REBUILD}], ids=str)
def test_a_drop_that_is_told_of_behind_such_a_letter_removes_nothing(tmp_path: Path, options: dict[str, Any]) -> None:
    shop = Shop(tmp_path, options={"schema_template": "{database}", **options})
    shop.receive(MARIA_ORDERS.read(row(1), 5), MARIA_ORDERS.create(row(2), 6))
    shop.receive(without_schema(MARIA_ORDERS.create(row(3), 21)))
    shop.mend()
    assert shop.replay(Coordinates(MARIA_ORDERS.topic, 0, 2)).accepted

    shop.receive(drop_orders(20))
    do_chores(shop, MARIA_NAME)
    shop.receive(MARIA_ORDERS.create(row(4), 22))
    do_chores(shop, MARIA_NAME)

    table = shop.plain.ledger.state.tables[MARIA_NAME]
    assert table.dropped is not None
    assert table.dropped.back
    assert table.status is TableStatus.PARKED
    assert sorted(each["id"] for each in shop.plain.rows(MARIA_NAME)) == [1, 2, 3]


def without_schema(record: Record) -> Record:
    """The record as a converter without schemas writes it, which tells no types."""
    key, value = (json.loads(each)["payload"] for each in (record.key or b"", record.value or b""))
    return replace(record, key=json.dumps(key).encode(), value=json.dumps(value).encode())
