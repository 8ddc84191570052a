"""A topic that the bridge reads no more: its tables stand still, and nothing is deleted that could not come back."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.errors import TopicRecreatedError
from connectors.landing_zone.ledger.state import RebuildKind, TableStatus
from connectors.landing_zone.requests import Action, new_request
from streaming.driver.opening import claim_and_compare
from streaming.driver.startup import OpenZone
from streaming.lifecycle.recreated_topics import park_recreated
from streaming.lifecycle.unread_topics import park_unread, waiting_for
from streaming.policies import OnTruncate
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, OTHER_NAME, USERS, Driver, World, shop
from tests.unit.streaming.topics_looked_at import RESUME, reason, start


@pytest.fixture
def world(tmp_path: Path) -> World:
    return shop(World(tmp_path))


class TestLeftOutBySettings:
    def test_its_table_stands_still_and_goes_on_without_a_gap_once_it_is_read_again(self, world: World) -> None:
        world.log.left_out.add(TOPIC)
        start(world)
        parked = world.table.parked
        assert parked is not None
        assert (parked.reason, parked.resume) == ("excluded", {TOPIC: {0: 3}})
        assert parked.message == (f"the settings leave out {TOPIC} since then, so events of the table are not read")
        assert reason(world, OTHER_NAME) == "", "the other one's topic is read"
        version = world.ledger.version
        assert start(world).ledger.state.version == version + 1, "the next start has nothing to say"
        world.send(ORDERS.create(row(9), 50))
        world.log.left_out.clear()
        start(world)
        world.ask(RESUME)
        world.live()
        assert (world.table.status, world.rows()) == (
            TableStatus.STREAMING,
            [row(1, "uno"), row(2, "stale"), row(9)],
        )

    @pytest.mark.parametrize("parked", [True, False])
    @pytest.mark.parametrize("action", [Action.RESYNC, Action.RESUME])
    def test_nothing_is_begun_that_nobody_could_end(self, world: World, action: Action, parked: bool) -> None:
        world.log.left_out.add(TOPIC)
        if parked:
            start(world)
        elif action is Action.RESUME:
            world.ask(new_request(Action.PAUSE, now_ms=1, by="ann@home", table=NAME))
            world.driver().do_chores()
        before, files = world.table, world.files()
        request = new_request(action, now_ms=2, by="ann@home", table=NAME)
        world.ask(request)
        world.driver().do_chores()
        answer = world.answered(request)
        assert not answer.accepted
        assert f"its events come from {TOPIC}, which the settings leave out or Kafka no longer has" in answer.message
        assert answer.remedy.startswith("read the topic again (kafka.topics or kafka.pattern), or let the connector")
        assert f"then `cdc-bridge {action.value} CONFIG {NAME}`" in answer.remedy
        assert "carry its tables with a second bridge" in answer.remedy
        assert (world.table, world.files()) == (before, files)

    def test_a_topic_that_was_deleted_takes_no_resync_either(self, world: World) -> None:
        del world.log.partitions[TOPIC]
        start(world)
        assert reason(world) == "", "the settings name it still, and what it held has landed"
        before, files = world.table, world.files()
        world.ask()
        world.driver().do_chores()
        assert not world.answered().accepted
        assert (world.table, world.files()) == (before, files)

    def test_it_is_not_rebuilt_from_what_kafka_holds_either(self, world: World) -> None:
        """Without a signal channel that would fill it up to where the ledger ends, and nothing would come after."""
        world.takes_signals = False
        world.send(ORDERS.truncate(30))
        world.live()
        assert reason(world) == "truncate"
        world.log.left_out.add(TOPIC)
        start(world)
        world.ask()
        world.driver().do_chores()
        assert not world.answered().accepted
        assert reason(world) == "truncate"

    def test_no_mirror_is_removed_by_a_policy_for_what_kafka_holds(self, world: World) -> None:
        world.policies = {"on_truncate": OnTruncate.REBUILD}
        world.send(ORDERS.truncate(30), ORDERS.create(row(7), 31))
        world.driver().land()
        asked = world.table.parked
        assert asked is not None
        assert (asked.reason, asked.rebuild) == ("truncate", RebuildKind.KAFKA)
        files = world.files()
        world.log.left_out.add(TOPIC)
        start(world).do_chores()
        parked = world.table.parked
        assert parked is not None
        assert (parked.reason, parked.rebuild, world.files()) == ("truncate", None, files)
        assert f"it is not rebuilt, since its events come from {TOPIC}, which the settings leave out" in parked.message
        assert f"then `cdc-bridge resync CONFIG {NAME}`" in parked.remedy

    def test_nor_by_a_person_who_lets_the_policy_go_on(self, world: World) -> None:
        world.policies = {"on_truncate": OnTruncate.REBUILD}
        world.send(ORDERS.truncate(30), ORDERS.create(row(7), 31))
        world.driver().land()
        world.ask(new_request(Action.PAUSE, now_ms=1, by="ann@home", table=NAME))
        world.driver().chores.run()
        before = world.table
        assert before.parked is not None
        assert before.parked.postponed is RebuildKind.KAFKA
        world.log.left_out.add(TOPIC)
        start(world)
        world.ask(RESUME)
        world.driver().do_chores()
        assert (world.answered(RESUME).accepted, world.table) == (False, before)

    def test_a_rebuild_from_kafka_that_is_under_way_stands_still_without_its_rows(self, world: World) -> None:
        world.send(ORDERS.truncate(30), ORDERS.create(row(7), 31))
        world.live()
        world.driver().rebuilding.begin(NAME, RebuildKind.KAFKA, "truncate")
        world.log.left_out.add(TOPIC)
        start(world).do_chores()
        table = world.table
        assert (table.status, reason(world), table.generation) == (TableStatus.PARKED, "excluded", 2)
        world.log.left_out.clear()
        start(world)
        world.ask(RESUME)
        world.live()
        assert (world.table.status, world.rows()) == (TableStatus.STREAMING, [row(7)])

    def test_a_rebuild_that_is_under_way_is_not_asked_for(self, world: World) -> None:
        world.ask()
        driver = world.driver()
        driver.chores.run()
        driver.chores.run()
        assert world.table.status is TableStatus.CLEARED
        world.log.left_out.add(TOPIC)
        start(world).do_chores()
        assert (world.signals, reason(world)) == ({}, "snapshot_failed")
        parked = world.table.parked
        assert parked is not None
        assert parked.message.startswith(f"its events come from {TOPIC}, which the settings leave out")
        assert f"then `cdc-bridge resync CONFIG {NAME}`" in parked.remedy
        world.log.left_out.clear()
        start(world)
        world.ask(new_request(Action.RESYNC, now_ms=2, by="ann@home", table=NAME))
        world.live()
        assert (world.table.status, world.rows()) == (TableStatus.STREAMING, [row(1, "uno"), row(3, "three")])


class TestNamedOneByOne:
    """``kafka.topics`` names a topic, and Kafka has it no more."""

    NAMES = (TOPIC, USERS.topic)

    def start(self, world: World) -> Driver:
        driver = world.driver()
        present = world.log.describe(world.log.read())
        park_unread(
            driver.ledger, present, world.log.subscribed, [n for n in self.NAMES if n not in world.log.left_out]
        )
        park_recreated(driver.ledger, present)
        return driver

    def test_its_table_stands_still_until_it_is_read_again(self, world: World) -> None:
        kept = world.log.partitions.pop(TOPIC)
        self.start(world)
        assert (reason(world), reason(world, OTHER_NAME)) == ("topic_gone", "")
        version = world.ledger.version
        assert self.start(world).ledger.state.version == version + 1, "the next start has nothing to say"
        world.log.partitions[TOPIC] = kept  # the bridge's user may describe it again
        world.send(ORDERS.create(row(9), 50))
        self.start(world)
        world.ask(RESUME)
        world.live()
        assert (world.table.status, world.rows()[-1]) == (TableStatus.STREAMING, row(9))

    def test_its_table_is_rebuilt_once_it_is_made_again(self, world: World) -> None:
        del world.log.partitions[TOPIC]
        self.start(world)
        world.log.ids[TOPIC] = "another"
        world.send(ORDERS.create(row(8), 60))
        self.start(world)
        assert reason(world) == "topic_recreated"
        world.ask()
        world.live()
        assert (world.table.status, world.rows()) == (TableStatus.STREAMING, [row(1, "uno"), row(3, "three")])

    def test_a_table_that_was_being_filled_is_rebuilt_once_it_is_made_again(self, world: World) -> None:
        world.ask()
        driver = world.driver()
        while world.table.status is not TableStatus.FILLING:
            driver.chores.run()
        del world.log.partitions[TOPIC]
        self.start(world)
        assert (reason(world), world.table.rebuild is None) == ("topic_gone", False)
        world.log.ids[TOPIC] = "another"
        world.send(ORDERS.create(row(8), 60))
        self.start(world)
        assert reason(world) == "topic_recreated"
        world.ask(new_request(Action.RESYNC, now_ms=2, by="ann@home", table=NAME))
        world.live()
        assert world.table.status is TableStatus.STREAMING

    def test_another_cluster_that_has_some_of_the_names_changes_nothing(self, world: World) -> None:
        right, version = dict(world.log.partitions), world.ledger.version
        del world.log.partitions[USERS.topic]
        world.log.ids[TOPIC] = "another"

        def opened() -> OpenZone:
            return world.driver().opened

        def look() -> dict[str, TopicDescription]:
            return world.log.describe(world.log.read())

        with pytest.raises(TopicRecreatedError, match="none of the 2 topics that the ledger knows is there"):
            claim_and_compare(
                look, opened, world.log.leaders.cut_off, subscribed=world.log.subscribed, names=self.NAMES
            )
        assert world.ledger.version == version + 1, "the claim, and nothing else"
        world.log.ids.clear()
        world.log.partitions = right
        claim_and_compare(look, opened, world.log.leaders.cut_off, subscribed=world.log.subscribed, names=self.NAMES)
        assert (reason(world), reason(world, OTHER_NAME)) == ("", "")

    def test_its_table_is_excluded_once_the_settings_leave_it_out(self, world: World) -> None:
        del world.log.partitions[TOPIC]
        self.start(world)
        world.log.left_out.add(TOPIC)
        self.start(world)
        assert reason(world) == "excluded"

    def test_spark_waits_for_it(self) -> None:
        options = {"subscribe": "a.b,c", "includeHeaders": "true"}
        assert waiting_for(options, ()) == options
        assert waiting_for(options, ["c"]) == {"includeHeaders": "true", "subscribePattern": r"^(?:a\.b|c)$"}
