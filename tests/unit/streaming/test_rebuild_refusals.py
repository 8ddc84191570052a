"""A resync that could not bring the table back is refused before anything is deleted, and the answer says why."""

from __future__ import annotations

import pytest

from connectors.debezium.options import DecodeOptions, TableRules
from connectors.kafka.errors import SignalRefusedError
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.requests import Action, new_request
from streaming.policies import OnMissingKey, TableMode
from tests.support.records import Table
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, World, shop


class TestRefusals:
    def refused(self, world: World, table: str = NAME) -> tuple[str, str]:
        request = new_request(Action.RESYNC, now_ms=2, by="ann@home", table=table)
        world.ask(request)
        world.driver().drain()
        answer = world.answered(request)
        assert not answer.accepted
        return answer.message, answer.remedy

    def test_without_a_signal_channel(self, world: World) -> None:
        shop(world)
        world.takes_signals = False
        before = world.table
        assert self.refused(world) == (
            f"{NAME} cannot be rebuilt: the settings do not say how Debezium takes signals, so no snapshot can be "
            "asked for",
            "set source.signals.topic (the connector's signal.kafka.topic) or source.signals.table, restart, then "
            f"`cdc-bridge resync CONFIG {NAME}`",
        )
        assert world.table == before

    def test_without_a_topic_prefix_that_can_be_told(self, world: World) -> None:
        world.send(Table("routed").create(row(1), 1))
        world.live()
        assert self.refused(world) == (
            f"{NAME} cannot be rebuilt: the connector's topic prefix, by which it knows its signals, cannot be told "
            "from the topics' names",
            f"set source.topic_prefix to the connector's topic.prefix, restart, then `cdc-bridge resync CONFIG {NAME}`",
        )

    @pytest.mark.parametrize(
        ("setting", "topic"),
        [("source.signals.topic", "shop-signals"), ("source.notifications_topic", "shop-notifications")],
    )
    def test_without_a_topic_that_the_settings_name(self, world: World, setting: str, topic: str) -> None:
        shop(world)
        world.missing = {setting: topic}
        before, files = world.table, world.files()
        message, remedy = self.refused(world)
        assert message.startswith(f"{NAME} cannot be rebuilt: Kafka has no topic {topic} ({setting}), so its snapshot")
        assert remedy == (
            f"create the topic, or correct {setting} and restart; or let the bridge's user describe it; then "
            f"`cdc-bridge resync CONFIG {NAME}`"
        )
        assert (world.table, world.files()) == (before, files)

    def test_of_a_table_that_nobody_knows(self, world: World) -> None:
        shop(world)
        message, remedy = self.refused(world, "public.nothing")
        assert message == "the ledger knows no table public.nothing"
        assert remedy.startswith("name it as `cdc-bridge status CONFIG` does")

    def test_of_a_keyless_table_that_several_partitions_feed(self, world: World) -> None:
        world.policies = {"on_missing_key": OnMissingKey.APPEND}
        keyless = Table(TOPIC, key=())
        world.send(keyless.create(row(1), 1), keyless.at(1).create(row(2), 2))
        world.live()
        message, remedy = self.refused(world)
        assert message == (
            f"{NAME} cannot be rebuilt: it has no key and several partitions feed it, or may, so the rows of a "
            "snapshot cannot be told from what came before it"
        )
        assert remedy == (
            f"declare key columns for the table in the settings, restart, then `cdc-bridge resync CONFIG {NAME}`"
        )

    def test_of_a_keyless_table_whose_snapshot_may_come_in_another_partition_than_what_streams(
        self, world: World
    ) -> None:
        world.policies = {"on_missing_key": OnMissingKey.APPEND}
        world.send(Table(TOPIC, key=()).create(row(1), 1))
        world.log.partitions[TOPIC][1] = []
        world.live()
        message, _ = self.refused(world)
        assert message.startswith(f"{NAME} cannot be rebuilt: it has no key and several partitions feed it, or may")

    @pytest.mark.parametrize("key", [("id",), ()], ids=["key", "no key"])
    def test_where_nobody_would_hear_of_the_snapshot(self, world: World, key: tuple[str, ...]) -> None:
        world.policies = {"on_missing_key": OnMissingKey.APPEND}
        world.notifies = False
        world.send(Table(TOPIC, key=key).create(row(1), 1))
        world.live()
        message, remedy = self.refused(world)
        assert message == (
            f"{NAME} cannot be rebuilt: without notifications nobody can tell when its snapshot is complete, or that "
            "it never came"
        )
        assert remedy == (
            "set source.notifications_topic (the connector's notification.sink.topic.name), restart, then "
            f"`cdc-bridge resync CONFIG {NAME}`"
        )

    def test_of_a_table_that_the_settings_exclude(self, world: World) -> None:
        shop(world)
        world.options = {"decode": DecodeOptions(rules=TableRules(exclude=("public.orders",)))}
        message, remedy = self.refused(world)
        assert message == f"the settings that the driver runs with exclude {NAME}"
        assert remedy.startswith("include the table again")

    def test_of_a_history_which_no_snapshot_brings_back(self, world: World) -> None:
        world.policies = {"mode": TableMode.HISTORY}
        world.send(ORDERS.create(row(1), 1), ORDERS.update(row(1, "later"), 2))
        world.live()
        before, files = world.table, world.files()
        assert self.refused(world) == (
            f"{NAME} has every change as a row of its own, and a snapshot brings back only the rows of today: the "
            "changes that have landed would be lost",
            f"`cdc-bridge resync CONFIG {NAME} --restart`, if they may go",
        )
        assert (world.table, world.files()) == (before, files)
        world.ask(new_request(Action.RESYNC, now_ms=3, by="ann@home", table=NAME, arguments={"restart": "yes"}))
        world.driver().do_chores()
        assert world.table.status is TableStatus.FILLING

    def test_of_a_table_without_a_folder_of_its_own(self, world: World) -> None:
        world.send(ORDERS.create(row(1), 1), Table("shop.public.other", "orders", database="other").create(row(1), 2))
        world.live()
        [collided] = [name for name in world.ledger.tables if name != NAME]
        message, remedy = self.refused(world, collided)
        assert message.startswith(f"{collided} has no folder of its own: its folder public.schema/orders belongs to")
        assert remedy.startswith("carry it with a bridge and a zone of its own")


class TestOnTheWay:
    """The folder is gone already when the snapshot turns out not to be asked for: only another resync helps then."""

    @staticmethod
    def healed(world: World, cause: str, remedy: str) -> None:
        parked = world.table.parked
        assert parked is not None
        assert (parked.reason, parked.message, parked.remedy) == (
            "snapshot_failed",
            cause,
            f"{remedy}; then `cdc-bridge resync CONFIG {NAME}`",
        )
        resume = new_request(Action.RESUME, now_ms=3, by="ann@home", table=NAME)
        world.ask(resume)
        world.driver().do_chores()
        assert not world.answered(resume).accepted
        world.missing, world.refuses = {}, None
        world.ask(new_request(Action.RESYNC, now_ms=4, by="ann@home", table=NAME))
        world.live()
        assert (world.table.status, world.rows()) == (TableStatus.STREAMING, [row(1, "uno"), row(3, "three")])

    def test_by_a_topic_that_is_deleted_meanwhile(self, world: World) -> None:
        shop(world).ask()
        driver = world.driver()
        driver.chores.run()
        assert world.table.status is TableStatus.DELETING
        world.missing = {"source.notifications_topic": "told"}
        world.driver().do_chores()
        self.healed(world, "no topic told", "correct source.notifications_topic")

    def test_by_a_signal_that_kafka_refuses(self, world: World) -> None:
        shop(world).refuses = SignalRefusedError("too large", remedy="raise the limit", topic="signals")
        world.ask()
        world.driver().do_chores()
        self.healed(world, "too large [topic=signals]", "raise the limit")
