"""A table that has landed beyond where its ledger ends: its letters meet everything that has landed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.landing_zone.ledger.owner import ensure_owner
from connectors.landing_zone.ledger.state import TopicOffsets
from streaming.demo.workload import Record
from streaming.zones.adopting import Declared, adopt_zone
from streaming.zones.rebuilding_ledger import make_ledger_again
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.replayable import BAD, NAME, Shop

PASSED = 3
"""Where the ledger that is begun again ends in the first partition; the letter is at offset 1."""

ENDS = {0: PASSED, 1: 1}

Lose = Callable[[Shop], None]


def rebuilt(shop: Shop) -> None:
    """``ledger rebuild`` goes by a copy from before the last batch, and by the last file."""
    opened = shop.plain.opened()
    for entry in list(opened.state.list("ledger")):
        opened.state.delete(entry.path)
    make_ledger_again(opened.zone, opened.state, look_only=False, now_ms=lambda: 1)


def adopted(shop: Shop, ends: dict[int, int] = ENDS) -> None:
    """``adopt`` goes by the last file, and by a declared position that lies before its end."""
    opened = shop.plain.opened()
    for entry in list(opened.state.list("ledger")):
        opened.state.delete(entry.path)
    topics = {TOPIC: TopicOffsets(shop.log.topic_id(TOPIC), dict(ends))}
    adopt_zone(opened.zone, opened.state, Declared("shop", topics, {}), look_only=False, now_ms=lambda: 1)


def adopted_with_one_partition(shop: Shop) -> None:
    """The settings declare no position in the second partition, though the table has landed from it."""
    adopted(shop, {0: PASSED})


def landed_ahead(folder: Path, lose: Lose, *newer: Record, ends: dict[int, int] = ENDS) -> Shop:
    """A letter at offset 1, and newer records that have landed behind the end of a ledger begun again."""
    shop = Shop(folder, copies=lose is rebuilt)
    ensure_owner(shop.plain.zone, shop.plain.ledger.state.ledger_id, "shop")
    shop.receive(
        ORDERS.create(row(1), 10),
        BAD.update(row(1, "older"), 11),
        ORDERS.create(row(9), 11),
        ORDERS.at(1).create(row(8), 9),
    )
    shop.receive(*newer)
    shop.plain.ledger.confirm([NAME])
    lose(shop)
    shop.mend()
    assert shop.plain.ledger.state.topics[TOPIC].partitions == ends
    return shop


@pytest.mark.parametrize("lose", [rebuilt, adopted])
class TestALetterFromBeforeTheLedgersEnd:
    @pytest.mark.parametrize("partition", [0, 1])
    @pytest.mark.parametrize("what", ["update", "delete"])
    def test_does_not_land_on_a_newer_event_that_landed_behind_it(
        self, tmp_path: Path, lose: Lose, what: str, partition: int
    ) -> None:
        orders = ORDERS.at(partition)
        newer = orders.update(row(1, "newer"), 12) if what == "update" else orders.delete(row(1), 12)
        shop = landed_ahead(tmp_path, lose, newer)
        before = shop.rows()

        part = shop.part(1)

        offset = PASSED if partition == 0 else 1
        assert part.message == f"a newer event of the row has landed: {what} {TOPIC}:{partition}:{offset}"
        assert shop.rows() == before
        shop.receive(ORDERS.create(row(2), 13))
        assert shop.rows() == sorted([*before, row(2)], key=lambda each: int(str(each["id"])))

    def test_lands_where_only_other_rows_have_come(self, tmp_path: Path, lose: Lose) -> None:
        shop = landed_ahead(tmp_path, lose, ORDERS.create(row(2), 12))
        assert shop.part(1).accepted
        assert shop.rows() == [row(1, "older"), row(2), row(8), row(9)]

    def test_is_refused_where_kafka_has_lost_what_landed(self, tmp_path: Path, lose: Lose) -> None:
        shop = landed_ahead(tmp_path, lose, ORDERS.update(row(1, "newer"), 12), ORDERS.at(1).create(row(7), 13))
        shop.log.forget(TOPIC, 1, 1)
        assert self.refusal(shop) == f"Kafka no longer holds the records from 1 to 1 of {TOPIC}/1"
        shop.log.forget(TOPIC, PASSED)
        assert self.refusal(shop) == f"Kafka no longer holds the records from 3 to 3 of {TOPIC}/0"

    def test_is_refused_where_retention_has_removed_it(self, tmp_path: Path, lose: Lose) -> None:
        shop = landed_ahead(tmp_path, lose, ORDERS.update(row(1, "newer"), 12))
        shop.log.earliest[TOPIC, 0] = PASSED
        assert self.refusal(shop) == f"Kafka's retention has removed the records from 1 to 2 of {TOPIC}/0"

    def refusal(self, shop: Shop) -> str:
        part = shop.part(1)
        assert not part.accepted
        assert part.remedy == "rebuild the table with `cdc-bridge resync CONFIG public.orders`"
        return part.message.removesuffix(", which may be newer events of the row")


def test_a_partition_that_only_the_table_knows_is_read_too(tmp_path: Path) -> None:
    newer = ORDERS.at(1).update(row(1, "newer"), 12)
    shop = landed_ahead(tmp_path, adopted_with_one_partition, newer, ORDERS.create(row(2), 13), ends={0: PASSED})
    before = shop.rows()
    assert shop.part(1).message == f"a newer event of the row has landed: update {TOPIC}:1:1"
    assert shop.rows() == before


def test_a_letter_that_lands_beside_such_a_partition_leaves_it_as_it_was(tmp_path: Path) -> None:
    shop = landed_ahead(tmp_path, adopted_with_one_partition, ORDERS.create(row(2), 13), ends={0: PASSED})
    assert shop.part(1).accepted
    assert shop.table.landed_to == {TOPIC: {0: PASSED + 1, 1: 1}}
    shop.receive(ORDERS.create(row(3), 14))
    assert shop.rows() == [row(1, "older"), row(2), row(3), row(8), row(9)]
