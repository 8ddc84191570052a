"""A table is dropped and made again while it waits for its blocking snapshot, and the stream lags behind those rows."""

from __future__ import annotations

import pytest

from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.requests import Action, new_request
from streaming.driver.dropping import with_drop
from streaming.landing.source_drop import drop_seen
from streaming.policies import OnTruncate
from tests.unit.streaming import maria_shop
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, World

# Of a table whose key is declared a blocking snapshot is asked for.
DECLARED = DecodeOptions(rules=TableRules(tables=(("*orders", TableDecoding(keys=("id",))),)))


@pytest.mark.parametrize("policy", [OnTruncate.PARK, OnTruncate.REBUILD])
def test_rows_of_the_gone_table_that_come_behind_the_snapshots_do_not_land(world: World, policy: OnTruncate) -> None:
    world.policies, world.options = {"on_truncate": policy}, {"decode": DECLARED}
    world.send(ORDERS.read(row(1), 5), ORDERS.create(row(2), 10))
    world.live()
    world.ask()
    world.driver().drain()
    assert world.table.status is TableStatus.FILLING
    driver = world.driver()
    gone = with_drop(world.table, drop_seen(world.table, 21, 1_700_000_000_021), driver.ledger.state, {}, driver.job)
    driver.ledger.commit(Draft(tables={NAME: gone}))
    world.snapshot = (ORDERS.read(row(50), 30),)
    world.answer_signals()
    world.send(ORDERS.create(row(7, "of the gone table"), 16), ORDERS.update(row(50, "later"), 31))
    world.live()
    world.send(ORDERS.create(row(8, "of the gone table"), 17), ORDERS.create(row(51), 32))
    world.live()
    assert (world.rows(), world.table.status) == ([row(50, "later"), row(51)], TableStatus.STREAMING)


def test_nor_where_the_drop_is_told_in_the_batch_of_the_snapshots_rows(world: World) -> None:
    table, orders, made = "shop.orders", maria_shop.ORDERS, maria_shop.row
    world.policies, world.options, world.prefix = {"schema_template": "{database}"}, {"decode": DECLARED}, "shop"
    world.send(orders.read(made(1), 5), orders.create(made(2), 10), maria_shop.drop_orders(1))
    world.driver().drain()
    world.ask(new_request(Action.RESYNC, now_ms=1, by="x", table=table))
    world.driver().drain()
    world.send(
        orders.read(made(50), 30),
        orders.create(made(7), 16),
        maria_shop.drop_orders(20),
        orders.update(made(50, "later"), 31),
    )
    world.driver().drain()
    assert world.rows(table) == [made(50, "later")]
