"""A snapshot that the source cannot make, from the error through its remedy to a table that streams."""

from __future__ import annotations

from typing import Any

import pytest

from connectors.kafka.signals import SnapshotProgress as Progress
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.requests import Action, new_request
from streaming.demo.workload import Record
from streaming.lifecycle.cut_short import MOST_ASKED
from streaming.lifecycle.filling import LISTEN_SECONDS
from tests.remedies.broken_zones import carry_out, require_health, stands
from tests.remedies.site import Site
from tests.support.mariadb_events import PREFIX, MariaTable, ddl
from tests.support.told_commands import commands
from tests.unit.streaming.landed_shop import row
from tests.unit.streaming.rebuild_world import NAME

pytestmark = pytest.mark.kafka


def test_snapshot_refused(world: Site) -> None:
    """SnapshotRefusedError is why the table stands still, also for whoever asks it to go on."""
    world.ask()
    world.driver().drain()
    [identity] = world.signals
    world.notify(Progress.TABLE_SCAN_COMPLETED, identity, scanned_collection="public.orders", status="SQL_EXCEPTION")
    world.driver().drain()
    remedy = stands(world, "snapshot_failed")
    assert remedy.startswith("read Debezium's log, mend the cause, then ")
    refused = world.shell.type(f"cdc-bridge resume CONFIG {NAME}", beside=lambda: world.driver().drain())
    assert refused.code == 1
    assert "the snapshot that was to fill the table failed: Debezium could not read the table" in refused.out
    carry_out(world, remedy, "resync")
    require_health(world)


def test_snapshot_refused_that_is_cut_short_each_time(world: Site) -> None:
    """Debezium reads the table while it is written, with ``read.only``; then nobody writes."""
    world.ask()
    driver = world.driver()
    driver.drain()
    for asked in range(1, MOST_ASKED + 1):
        assert len(world.signals) == asked
        identity = list(world.signals)[-1]
        key = {"last_processed_key": "13", "maximum_key": "247"}
        world.notify(Progress.STARTED, identity)
        world.notify(Progress.IN_PROGRESS, identity, current_collection_in_progress="public.orders", **key)
        world.notify(Progress.TABLE_SCAN_COMPLETED, identity, scanned_collection="public.orders", status="SUCCEEDED")
        world.notify(Progress.COMPLETED, identity)
        for _ in range(3):
            world.seconds += LISTEN_SECONDS
            driver.drain()
        world._answered.add(identity)
    remedy = stands(world, "snapshot_failed")
    assert remedy.startswith(
        "give the connector a signal table instead of read.only, or wait until nobody writes; then"
    )
    carry_out(world, remedy, "resync")
    require_health(world)


SHOP, RENAMED = MariaTable(), MariaTable("renamed")
SHOP_NAME, NEW_NAME = "shop.orders", "shop.renamed"


class TestSnapshotRefused:
    """Of a MariaDB table that is not there any more when Debezium comes to read it."""

    @pytest.fixture
    def filling(self, site: Site) -> Site:
        """Orders whose snapshot has been asked for."""
        site.topics |= {topic: site.cluster.topic(topic) for topic in (PREFIX, SHOP.topic, RENAMED.topic)}
        site.set(kafka__topics=list(site.topics.values()), tables={"naming": {"schema": "{database}"}})
        site.send(SHOP.read(row(1), 5), SHOP.create(row(2), 10))
        site.live()
        site.ask(new_request(Action.RESYNC, now_ms=1, by="ann@home", table=SHOP_NAME))
        site.driver().drain()
        assert site.ledger.tables[SHOP_NAME].status is TableStatus.FILLING
        return site

    def not_there(self, site: Site, gone: Record) -> str:
        """What `status` tells to do once the source has done this, and Debezium has found no table."""
        site.send(gone)
        site.driver().land()
        self.read(site, SHOP, status="UNKNOWN_SCHEMA")
        site.driver().drain()
        said = site.shell.type("cdc-bridge status CONFIG")
        assert f"{SHOP_NAME} is parked (snapshot_failed)" in said.out, said.out
        return said.remedy

    def read(self, site: Site, table: MariaTable, *rows: Record, status: str = "SUCCEEDED") -> None:
        """Debezium takes up the signal that nobody has answered yet."""
        for identity in site.signals.keys() - site._answered:
            site._answered.add(identity)
            site.send(*rows)
            site.notify(Progress.TABLE_SCAN_COMPLETED, identity, scanned_collection=f"shop.{table.name}", status=status)
            site.notify(Progress.COMPLETED, identity)

    def rebuilt(self, site: Site, remedy: str, table: MariaTable, *rows: Record, **places: str) -> None:
        """What is typed of the remedy, and what comes of it."""

        def bridge_and_debezium() -> None:
            site.driver().drain()
            self.read(site, table, *rows)

        [line] = [line for line in commands(remedy) if line.startswith("cdc-bridge resync")][:1]
        assert site.shell.type(line, beside=bridge_and_debezium, **places).code == 0
        site.live()

    def test_gone(self, filling: Site) -> None:
        """The table is made again."""
        remedy = self.not_there(filling, ddl("DROP TABLE `orders`", ("DROP", "orders"), pos=50))
        assert remedy.startswith("nothing, if the table is gone for good; once it is made again, ")
        filling.send(SHOP.create(row(7), 60))
        filling.live()
        self.rebuilt(filling, remedy, SHOP, SHOP.read(row(7), 70))
        filling.send(SHOP.create(row(8), 80))
        filling.live()
        self.require_streaming(filling, {SHOP_NAME: [row(7), row(8)]})

    def test_renamed(self, filling: Site) -> None:
        """Its rows are fetched under the new name; later another table is made of the old one."""
        remedy = self.not_there(filling, ddl("RENAME TABLE orders TO renamed", ("ALTER", "renamed"), pos=50))
        assert remedy.startswith("`cdc-bridge resync CONFIG NEW_TABLE` for the table of the new name, whose mirror has")
        filling.send(RENAMED.update(row(2, "two"), 60))
        filling.live()
        assert filling.rows(NEW_NAME) == [row(2, "two")]
        rows = (RENAMED.read(row(1), 70), RENAMED.read(row(2, "two"), 70))
        self.rebuilt(filling, remedy, RENAMED, *rows, NEW_TABLE=NEW_NAME)
        assert filling.rows(NEW_NAME) == [row(1), row(2, "two")]
        filling.send(SHOP.create(row(7), 80))
        filling.live()
        old = remedy.partition("once another one of the old name is made, ")[2]
        self.rebuilt(filling, old, SHOP, SHOP.read(row(7), 90))
        filling.send(SHOP.create(row(8), 100), RENAMED.create(row(3), 101))
        filling.live()
        truth = {SHOP_NAME: [row(7), row(8)], NEW_NAME: [row(1), row(2, "two"), row(3)]}
        self.require_streaming(filling, truth)

    def require_streaming(self, site: Site, truth: dict[str, list[dict[str, Any]]]) -> None:
        tables = site.ledger.tables
        assert {name: tables[name].status for name in truth} == dict.fromkeys(truth, TableStatus.STREAMING)
        assert {name: site.rows(name) for name in truth} == truth
        assert site.shell.type("cdc-bridge verify ZONE --state STATE").code == 0
