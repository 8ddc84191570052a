"""A table whose topic is read no more goes on if another topic carries it on; which one does, and which does not."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from msgspec.structs import replace

from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.requests import Action, new_request
from streaming.lifecycle.unread_topics import missed_topics, unread_topics
from tests.support.records import Table
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, OTHER_NAME, USERS, World, shop
from tests.unit.streaming.topics_looked_at import RESUME, reason, start

MOVED = dataclasses.replace(ORDERS, topic="shop2.public.orders")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return shop(World(tmp_path))


class TestAnotherTopicOfTheTable:
    """The connector has another topic prefix by now."""

    def test_lets_it_go_on(self, world: World) -> None:
        world.log.left_out.add(TOPIC)
        world.send(MOVED.create(row(9), 50))
        start(world).drain()
        assert (reason(world), world.rows()) == ("", [row(1, "uno"), row(2, "stale"), row(9)])
        version = world.ledger.version
        start(world).drain()
        assert (reason(world), world.ledger.version) == ("", version + 1), "it has fed the table by now, and follows"

    def test_lets_it_go_on_when_the_connector_goes_back_to_its_old_prefix(self, world: World) -> None:
        world.log.left_out.add(TOPIC)
        world.send(MOVED.create(row(9), 50))
        start(world).drain()
        world.log.left_out = {MOVED.topic}
        world.send(ORDERS.create(row(10), 60))
        start(world).drain()
        start(world)
        assert (reason(world), world.rows()[-1]) == ("", row(10))

    def test_that_was_read_at_the_same_time_is_no_successor(self, world: World) -> None:
        """As a router's, that sends the rows of the west to a topic of their own."""
        world.send(MOVED.create(row(9), 50))
        start(world).drain()
        world.log.left_out.add(MOVED.topic)
        world.send(MOVED.create(row(10), 51), ORDERS.create(row(11), 52))
        start(world).drain()
        assert reason(world) == "excluded"
        world.log.left_out.clear()
        start(world)
        world.ask(RESUME)
        world.live()
        assert [one["id"] for one in world.rows()] == [1, 2, 9, 10, 11]

    def test_that_was_read_at_the_same_time_carries_it_on_once_a_person_says_so(self, world: World) -> None:
        """The settings have named both topics for a while, and nothing came to the old one any more."""
        world.send(MOVED.create(row(9), 50))
        start(world).drain()
        world.log.left_out.add(TOPIC)
        world.send(MOVED.create(row(10), 51))
        start(world).drain()
        assert reason(world) == "excluded"
        world.ask(RESUME)
        world.live()
        start(world)
        assert (reason(world), [one["id"] for one in world.rows()]) == ("", [1, 2, 9, 10])

    def test_of_another_shard_is_no_successor(self, world: World) -> None:
        """Their topics end alike, and each of them has its own database."""
        merged = replace(
            world.table,
            source=("east", "public", "orders"),
            sources=(("east", "public", "orders"), ("west", "public", "orders")),
            partitions={"east.public.orders": {}, "west.public.orders": {}},
        )
        assert unread_topics(NAME, {NAME: merged}, ["east.public.orders"]) == ("west.public.orders",)
        old_too = replace(merged, partitions={**merged.partitions, "old.public.orders": {}})
        both = ["east.public.orders", "old.public.orders"]
        assert unread_topics(NAME, {NAME: old_too}, both) == ()
        assert missed_topics(NAME, {NAME: old_too}, both) == ("west.public.orders",)
        assert missed_topics(NAME, {NAME: merged}, ["east.public.orders", "west2.public.orders"]) == ()
        assert missed_topics(NAME, {NAME: merged}, ["east2.public.orders", "west2.public.orders"]) == ()
        assert missed_topics(NAME, {NAME: merged}, ["east2.public.orders"]) == tuple(merged.partitions)

    def test_that_comes_late_carries_it_on_once_it_is_resumed(self, world: World) -> None:
        """The bridge was restarted with the new settings before the connector was."""
        world.log.left_out.add(TOPIC)
        self.stands_still_until_its_next_event(world, MOVED)

    def test_that_it_shares_with_others_carries_it_on_once_it_is_resumed(self, world: World) -> None:
        """The topic's name tells nothing of the table, so only an event of it does."""
        world.log.left_out |= {TOPIC, USERS.topic}
        shared = "shop.everything"
        world.send(dataclasses.replace(USERS, topic=shared).create(row(7), 49))
        self.stands_still_until_its_next_event(world, dataclasses.replace(ORDERS, topic=shared))
        assert reason(world, OTHER_NAME) == "excluded"
        both = new_request(Action.RESUME, now_ms=3, by="ann@home", table=OTHER_NAME)
        world.ask(both)
        world.live()
        start(world)
        assert (reason(world, OTHER_NAME), world.rows(OTHER_NAME)[-1]) == ("", row(7))

    def test_that_comes_while_it_stands_still_for_another_reason_carries_it_on(self, world: World) -> None:
        world.ask(new_request(Action.PAUSE, now_ms=1, by="ann@home", table=NAME))
        world.driver().do_chores()
        world.log.left_out.add(TOPIC)
        start(world)
        world.send(MOVED.create(row(9), 50))
        world.driver().drain()
        world.ask(RESUME)
        world.live()
        start(world)
        assert (reason(world), world.rows()[-1]) == ("", row(9))

    def stands_still_until_its_next_event(self, world: World, table: Table) -> None:
        start(world).drain()
        parked = world.table.parked
        assert parked is not None
        assert (parked.reason, parked.remedy) == (
            "excluded",
            "nothing, if the mirrored table may stay as it is, or a second bridge carries it; if nothing more comes of "
            "that topic, since its events come in another one that the bridge reads, `cdc-bridge resume CONFIG "
            f"{NAME}` once one has come there; otherwise read the topic again (kafka.topics or kafka.pattern), "
            "restart, and resume",
        )
        world.ask(RESUME)
        world.driver().do_chores()
        answer = world.answered(RESUME)
        assert not answer.accepted
        assert (
            "if the table's events come in another topic by now that the bridge reads, wait for the next one, then "
            f"`cdc-bridge resume CONFIG {NAME}`"
        ) in answer.remedy
        world.send(table.create(row(9), 50))
        world.driver().drain()
        assert reason(world) == "excluded"
        again = new_request(Action.RESUME, now_ms=2, by="ann@home", table=NAME)
        world.ask(again)
        world.live()
        start(world)
        assert (reason(world), world.rows()[-1]) == ("", row(9))

    @pytest.mark.parametrize("fed", [True, False], ids=["has fed it", "has not fed it yet"])
    def test_is_where_its_snapshot_is_asked_for_and_awaited(self, world: World, fed: bool) -> None:
        """Debezium ignores a signal under its old prefix, and what still comes to the old topic never lands."""
        world.log.left_out.add(TOPIC)
        world.send(MOVED.create(row(9), 50))
        if fed:
            start(world).drain()
        world.send(ORDERS.create(row(10), 51))
        world.snapshot = (MOVED.reread(row(1, "uno"), 60),)
        world.ask()
        start(world)
        world.live()
        assert [prefix for prefix, _ in world.signals.values()] == ["shop2"]
        assert world.table.generation == 2
        assert (world.table.status, world.rows()) == (TableStatus.STREAMING, [row(1, "uno")])

    def test_of_another_database_is_no_successor(self, world: World) -> None:
        """Its table of the same name lands under another one."""
        tables = {
            NAME: world.table,
            "crm_orders": replace(world.table, partitions={"crm.public.orders": {}}),
        }
        assert unread_topics(NAME, tables, ["crm.public.orders"]) == (TOPIC,)
        assert unread_topics(NAME, tables, ["crm.public.orders", MOVED.topic]) == ()

    def test_of_one_source_is_none_of_the_other_ones_that_land_in_the_table(self, world: World) -> None:
        merged = replace(
            world.table,
            sources=(("shop", "public", "orders"), ("shop", "east", "orders")),
            partitions={TOPIC: {}, "shop.east.orders": {}},
        )
        assert unread_topics(NAME, {NAME: merged}, [TOPIC]) == ("shop.east.orders",)
        assert unread_topics(NAME, {NAME: merged}, [TOPIC, "shop2.east.orders"]) == ()
