"""A table begins anew: its folder goes, the next generation begins with number 1, and nothing is lost on the way."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from connectors.debezium.options import DecodeOptions, TableRules
from connectors.kafka.errors import KafkaAccessError
from connectors.kafka.signals import (
    INITIAL_SNAPSHOT,
    SnapshotKind,
    SnapshotSignal,
)
from connectors.kafka.signals import SnapshotProgress as Progress
from connectors.landing_zone.ledger.state import Parked, Rebuild, RebuildKind, TableState, TableStatus
from connectors.landing_zone.requests import Action, answer_to, new_request
from streaming.demo.columns import Column, Kind
from streaming.lifecycle.generations import from_kafka
from streaming.lifecycle.rebuilding import Rebuilding
from streaming.policies import OnKeyChange, OnMissingKey, OnTruncate, OnTypeChange, TableMode
from streaming.startup import park_excluded
from tests.support.records import COLUMNS, Table
from tests.unit.landing_zone.memory_storage import Crash, Disk, Fault, MemoryStorage
from tests.unit.landing_zone.memory_storage import Request as StorageRequest
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, OTHER_NAME, REQUEST, USERS, Hook, World, shop

SECOND_RUN = Table(TOPIC, run="run-2")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


class TestResync:
    def test_the_table_holds_what_the_snapshot_says_and_the_others_go_on(self, world: World) -> None:
        shop(world)
        world.ask()
        world.send(USERS.create(row(3), 30), ORDERS.create(row(3, "three"), 31))

        world.live()

        assert world.rows() == [row(1, "uno"), row(3, "three")]
        assert world.rows(OTHER_NAME) == [row(1), row(2), row(3)]
        table = world.table
        assert (table.status, table.generation, table.sequence, table.rebuild, table.tainted) == (
            TableStatus.STREAMING,
            2,
            1,
            None,
            True,
        )
        assert list(world.files()) == [
            "public.schema/orders/00000000000000000001.parquet",
            "public.schema/orders/_metadata.json",
            "public.schema/users/00000000000000000001.parquet",
            "public.schema/users/00000000000000000002.parquet",
            "public.schema/users/_metadata.json",
        ]
        answer = answer_to(MemoryStorage(world.state), REQUEST.id)
        assert answer is not None
        assert (answer.accepted, answer.message) == (True, f"{NAME} is rebuilt from version {answer.version} on")

    def test_debezium_is_asked_once_for_an_incremental_snapshot_of_the_table(self, world: World) -> None:
        shop(world)
        world.ask()
        world.live()
        [(prefix, signal)] = world.signals.values()
        assert (prefix, signal) == ("shop", SnapshotSignal(signal.id, "public.orders", SnapshotKind.INCREMENTAL))
        assert len(signal.id) == 36

    def test_what_kafka_holds_from_before_the_signal_is_passed_over(self, world: World) -> None:
        shop(world)
        world.ask()
        # Not read yet when the ends are read: the snapshot contains their effect, the delete's too.
        world.send(ORDERS.create(row(9, "deleted before the snapshot"), 30), ORDERS.update(row(2, "late"), 31))
        world.live()
        assert world.rows() == [row(1, "uno"), row(3, "three")]
        assert world.ledger.counters["skipped.superseded"] == 2

    def test_events_between_the_signal_and_the_snapshot_land(self, world: World) -> None:
        shop(world)
        world.ask()
        world.driver().drain()
        assert world.table.status is TableStatus.FILLING
        world.send(ORDERS.create(row(4, "four"), 35), ORDERS.delete(row(3), 36))
        world.snapshot = (ORDERS.reread(row(1, "uno"), 40), ORDERS.reread(row(4, "four"), 40))
        world.live()
        assert world.rows() == [row(1, "uno"), row(4, "four")]

    def test_the_replicator_gets_the_time_that_it_was_promised(self, world: World) -> None:
        shop(world)
        world.release_wait = 120.0
        world.ask()
        world.driver().drain()
        rebuild = world.table.rebuild
        assert rebuild is not None
        seen = [(world.table.status, rebuild.deleted_ms)]
        for passed in (119_999, 1):
            world.now_ms += passed
            world.driver().drain()
            seen.append((world.table.status, rebuild.deleted_ms))
        assert seen == [
            (TableStatus.DELETING, 1_700_000_000_000),
            (TableStatus.DELETING, 1_700_000_000_000),
            (TableStatus.FILLING, 1_700_000_000_000),
        ]
        world.live()
        assert world.rows() == [row(1, "uno"), row(3, "three")]

    def test_a_table_that_stands_still_can_be_rebuilt(self, world: World) -> None:
        shop(world)
        world.send(ORDERS.truncate(30), ORDERS.create(row(5), 31))
        world.live()
        assert world.table.status is TableStatus.PARKED
        world.ask()
        world.live()
        assert (world.table.status, world.rows()) == (TableStatus.STREAMING, [row(1, "uno"), row(3, "three")])

    def test_a_second_request_joins_the_rebuild_under_way(self, world: World) -> None:
        shop(world)
        world.ask()
        world.driver().drain()
        again = new_request(Action.RESYNC, now_ms=2, by="bob@home", table=NAME)
        world.ask(again)
        world.live()
        answer = answer_to(MemoryStorage(world.state), again.id)
        assert answer is not None
        assert (answer.accepted, answer.message) == (True, f"{NAME} is being rebuilt already: it is filling")
        assert (world.table.generation, len(world.signals)) == (2, 1)

    def test_a_restart_begins_anew_where_a_signal_was_lost(self, world: World) -> None:
        shop(world)
        world.ask()
        world.driver().drain()
        world.ask(new_request(Action.RESYNC, now_ms=2, by="bob@home", table=NAME, arguments={"restart": "yes"}))
        world.live()
        assert (world.table.generation, len(world.signals)) == (3, 2)
        assert world.rows() == [row(1, "uno"), row(3, "three")]

    def test_without_notifications_the_table_streams_once_the_snapshot_is_asked_for(self, world: World) -> None:
        shop(world)
        world.notifies = False
        world.ask()
        world.driver().drain()
        assert (world.table.status, world.table.rebuild) == (TableStatus.STREAMING, None)
        world.live()
        assert world.rows() == [row(1, "uno"), row(3, "three")]

    def test_a_failed_snapshot_parks_the_table_and_a_resume_is_refused(self, world: World) -> None:
        shop(world)
        world.ask()
        world.driver().drain()
        [identity] = world.signals
        world.notify(
            Progress.TABLE_SCAN_COMPLETED,
            identity,
            scanned_collection="public.orders",
            status="SQL_EXCEPTION",
        )
        world.driver().drain()
        parked = world.table.parked
        assert parked is not None
        assert (world.table.status, parked.reason) == (TableStatus.PARKED, "snapshot_failed")
        assert parked.message == (
            "the snapshot that was to fill the table failed: Debezium could not read the table: SQL_EXCEPTION"
        )
        assert parked.remedy == f"read Debezium's log, mend the cause, then `cdc-bridge resync CONFIG {NAME}`"
        resume = new_request(Action.RESUME, now_ms=2, by="ann@home", table=NAME)
        world.ask(resume)
        world.driver().drain()
        answer = answer_to(MemoryStorage(world.state), resume.id)
        assert answer is not None
        assert (answer.accepted, answer.message) == (
            False,
            f"{NAME} was being rebuilt and is not complete: {parked.message}",
        )
        world.ask(new_request(Action.RESYNC, now_ms=3, by="ann@home", table=NAME))
        world.live()
        assert world.rows() == [row(1, "uno"), row(3, "three")]

    def test_a_pending_file_is_given_up_with_its_folder(self, world: World) -> None:
        shop(world)
        world.send(ORDERS.create(row(7), 33))
        with pytest.raises(Crash):
            world.driver(dies_at("rename_if_absent", "orders")).drain()
        foreign = "public.schema/orders/00000000000000000003.parquet"
        world.zone.files[foreign] = b"somebody else's"
        world.zone.modified[foreign] = 0.0
        world.driver().drain()
        assert world.table.parked is not None
        assert world.table.parked.reason == "zone:ledger_behind"
        world.ask()
        world.live()
        assert (world.table.status, world.rows()) == (TableStatus.STREAMING, [row(1, "uno"), row(3, "three")])


class TestDeletedTopics:
    WEST = Table("west.public.orders")

    def fed_by_two(self, world: World) -> None:
        """The orders came from two topics, one of which is deleted by now."""
        world.prefix = "shop"
        world.send(ORDERS.read(row(1), 10), self.WEST.create(row(2), 11))
        world.live()
        world.send(ORDERS.create(row(3), 12))
        world.live()
        del world.log.partitions[self.WEST.topic]

    def drain(self, world: World) -> None:
        """Chores and a batch of the topic that is left."""
        driver = world.driver()
        driver.do_chores()
        world.answer_signals()
        driver.do_chores()

    def test_one_of_a_tables_topics_may_be_gone_when_a_snapshot_is_to_fill_it(self, world: World) -> None:
        self.fed_by_two(world)
        world.ask()
        self.drain(world)
        assert (world.table.status, world.table.starts) == (TableStatus.FILLING, {TOPIC: {0: 2}})

    def test_kafka_is_asked_for_its_ends_before_anything_is_deleted(self, world: World) -> None:
        shop(world)
        files, before = world.files(), world.table

        def denied(topics: Sequence[str]) -> dict[str, dict[int, int]]:
            raise KafkaAccessError("not authorized", remedy="allow it")

        driver = world.driver()
        debezium = dataclasses.replace(world.debezium(), ends=denied)
        rebuilding = Rebuilding(driver.opened, driver.job, debezium, 0.0)
        with pytest.raises(KafkaAccessError):
            rebuilding.begin(NAME, RebuildKind.SNAPSHOT, "resync")
        assert (world.files(), world.table) == (files, before)


class TestHistory:
    def test_the_snapshot_is_one_that_needs_no_key(self, world: World) -> None:
        world.policies = {"mode": TableMode.HISTORY}
        keyless = Table(TOPIC, key=())
        world.send(keyless.read(row(1), 10), keyless.create(row(2), 11))
        world.live()
        world.snapshot = (keyless.read(row(1), 40), keyless.read(row(2), 40))
        world.ask(new_request(Action.RESYNC, now_ms=2, by="ann@home", table=NAME, arguments={"restart": "yes"}))
        world.live()
        assert [signal.kind for _, signal in world.signals.values()] == [SnapshotKind.BLOCKING]
        assert (world.table.status, world.table.generation, sum(world.table.rows.values())) == (
            TableStatus.STREAMING,
            2,
            2,
        )


class TestRefusals:
    def refused(self, world: World, table: str = NAME) -> tuple[str, str]:
        request = new_request(Action.RESYNC, now_ms=2, by="ann@home", table=table)
        world.ask(request)
        world.driver().drain()
        answer = answer_to(MemoryStorage(world.state), request.id)
        assert answer is not None
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

    def test_of_a_table_that_nobody_knows(self, world: World) -> None:
        shop(world)
        message, remedy = self.refused(world, "public.nothing")
        assert message == "the ledger knows no table public.nothing"
        assert remedy.startswith("name it as `cdc-bridge status` does")

    def test_of_a_keyless_table_that_several_partitions_feed(self, world: World) -> None:
        world.policies = {"on_missing_key": OnMissingKey.APPEND}
        keyless = Table(TOPIC, key=())
        world.send(keyless.create(row(1), 1), keyless.at(1).create(row(2), 2))
        world.live()
        message, remedy = self.refused(world)
        assert message == (
            f"{NAME} cannot be rebuilt: it has no key and several partitions feed it, so the rows of a snapshot cannot "
            "be told from what came before it"
        )
        assert remedy == (
            f"declare key columns for the table in the settings, restart, then `cdc-bridge resync CONFIG {NAME}`"
        )

    def test_of_a_keyless_table_without_notifications(self, world: World) -> None:
        world.policies = {"on_missing_key": OnMissingKey.APPEND}
        world.notifies = False
        world.send(Table(TOPIC, key=()).create(row(1), 1))
        world.live()
        message, remedy = self.refused(world)
        assert message == (
            f"{NAME} cannot be rebuilt: it has no key, and without notifications nobody can tell when its snapshot is "
            "complete"
        )
        assert remedy.startswith("set source.notifications_topic (the connector's notification.sink.topic.name)")

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


class TestSettingsThatChangeOnTheWay:
    def filling(self, world: World, **policies: Any) -> None:
        world.policies = policies
        world.send(Table(TOPIC, key=() if policies else ("id",)).create(row(1), 1))
        world.live()
        world.ask()
        world.driver().drain()
        assert world.table.status is TableStatus.FILLING

    def test_without_the_signal_channel_the_snapshot_cannot_be_asked_for(self, world: World) -> None:
        shop(world)
        world.ask()

        def dies(request: StorageRequest) -> Fault | None:
            done = world.table.status is TableStatus.CLEARED
            return Fault.CRASH_BEFORE if done else None

        with pytest.raises(Crash):
            world.driver(dies).drain()
        world.takes_signals = False
        world.driver().drain()
        parked = world.table.parked
        assert parked is not None
        assert (world.table.status, parked.reason, world.signals) == (TableStatus.PARKED, "snapshot_failed", {})
        assert parked.message.startswith("the settings do not say how Debezium takes signals")
        world.takes_signals = True
        world.ask(new_request(Action.RESYNC, now_ms=2, by="ann@home", table=NAME))
        world.live()
        assert world.rows() == [row(1, "uno"), row(3, "three")]

    def test_without_the_notifications_topic_the_table_streams(self, world: World) -> None:
        self.filling(world)
        world.notifies = False
        world.driver().drain()
        assert world.table.status is TableStatus.STREAMING

    def test_without_the_notifications_topic_a_table_without_key_waits_for_it(self, world: World) -> None:
        self.filling(world, on_missing_key=OnMissingKey.APPEND)
        world.notifies = False
        world.driver().drain()
        assert world.table.status is TableStatus.FILLING


class TestForeignFolders:
    def test_a_folder_that_appears_while_the_table_has_none_stops_it(self, world: World) -> None:
        shop(world)
        world.release_wait = 120.0
        world.ask()
        world.driver().drain()
        place(world.zone, "public.schema/orders/00000000000000000001.parquet")

        world.now_ms += 120_000
        world.driver().drain()

        parked = world.table.parked
        assert parked is not None
        assert (world.table.status, parked.reason) == (TableStatus.PARKED, "zone:foreign_folder")
        assert parked.message.startswith(
            "The bridge has removed the table's folder for a rebuild, and something else has made it anew"
        )
        assert parked.remedy == (
            f"find out who writes there and stop it; if the folder may go, `cdc-bridge resync CONFIG {NAME}`"
        )
        assert "public.schema/orders/00000000000000000001.parquet" in world.zone.files
        assert world.rows(OTHER_NAME) == [row(1), row(2)]
        world.release_wait = 0.0
        world.ask(new_request(Action.RESYNC, now_ms=2, by="ann@home", table=NAME))
        world.live()
        assert world.rows() == [row(1, "uno"), row(3, "three")]

    def test_a_folder_that_takes_the_tables_place_at_the_last_moment_is_not_removed(self, world: World) -> None:
        shop(world)
        world.ask()

        def replaced(request: StorageRequest) -> None:
            if request.method == "delete_folder":
                for path in [path for path in world.zone.files if path.startswith("public.schema/orders/")]:
                    del world.zone.files[path]
                place(world.zone, "public.schema/orders/00000000000000000009.parquet")

        world.driver(replaced).drain()
        assert world.table.parked is not None
        assert world.table.parked.reason == "zone:foreign_folder"
        assert "public.schema/orders/00000000000000000009.parquet" in world.zone.files

    def test_a_driver_that_slept_removes_nothing_of_the_next_ones(self, world: World) -> None:
        shop(world)
        world.ask()
        nested: list[StorageRequest] = []

        def overtaken(request: StorageRequest) -> None:
            if request.method == "delete_folder" and not nested:
                nested.append(request)
                world.live()

        with pytest.raises(Exception, match="Another driver owns this landing zone"):
            world.driver(overtaken).drain()
        assert world.rows() == [row(1, "uno"), row(3, "three")]


class TestTruncate:
    @pytest.fixture(autouse=True)
    def _rebuild(self, world: World) -> None:
        world.policies = {"on_truncate": OnTruncate.REBUILD}

    def test_the_table_begins_anew_behind_the_truncate(self, world: World) -> None:
        world.send(ORDERS.read(row(1), 10), ORDERS.create(row(2), 20), ORDERS.truncate(21), USERS.create(row(1), 22))
        world.send(ORDERS.create(row(3), 23), ORDERS.create(row(1, "again"), 24))
        world.live()
        assert world.rows() == [row(1, "again"), row(3)]
        assert world.rows(OTHER_NAME) == [row(1)]
        assert (world.table.generation, world.table.status, world.signals) == (2, TableStatus.STREAMING, {})

    def test_a_policy_that_was_changed_before_the_rebuild_began_is_asked_again(self, world: World) -> None:
        world.policies = {"on_truncate": OnTruncate.REBUILD}
        world.send(ORDERS.create(row(1), 10))
        world.live()
        world.send(ORDERS.truncate(20))
        world.driver().land()
        world.policies = {"on_truncate": OnTruncate.PARK}
        files = world.files()
        world.live()
        parked = world.table.parked
        assert parked is not None
        assert (parked.reason, parked.rebuild, parked.message) == (
            "truncate",
            None,
            "the source truncated the table, and the landing zone has no marker for that; the settings do not ask for "
            "its rebuild any more",
        )
        assert world.files() == files

    def test_a_truncate_that_is_sent_again_does_nothing(self, world: World) -> None:
        tail = (ORDERS.create(row(2), 20), ORDERS.truncate(21), ORDERS.create(row(3), 22))
        world.send(ORDERS.read(row(1), 10), *tail)
        world.live()
        world.send(*tail, ORDERS.create(row(4), 30))
        world.live()
        assert (world.table.generation, world.rows()) == (2, [row(3), row(4)])
        assert world.ledger.counters["skipped.superseded"] == 2

    def test_a_truncate_without_a_position_begins_the_generation_right_behind_it(self, world: World) -> None:
        world.send(ORDERS.create(row(1), 0), ORDERS.truncate(0), ORDERS.create(row(2), 0))
        world.live()
        assert (world.table.generation, world.table.truncated, world.rows()) == (2, "", [row(2)])

    def test_another_truncate_begins_another_generation(self, world: World) -> None:
        world.send(ORDERS.create(row(1), 10), ORDERS.truncate(20), ORDERS.create(row(2), 21), ORDERS.truncate(30))
        world.send(ORDERS.create(row(3), 31))
        world.live()
        assert (world.table.generation, world.rows()) == (3, [row(3)])

    def test_rows_from_before_it_that_come_late_in_another_partition_are_superseded(self, world: World) -> None:
        world.send(ORDERS.at(0).create(row(1), 10), ORDERS.at(1).create(row(2), 11), ORDERS.at(2).create(row(3), 12))
        world.send(ORDERS.at(0).truncate(20), ORDERS.at(1).create(row(4), 21))
        world.live()
        assert world.rows() == [row(4)]
        world.send(ORDERS.at(2).update(row(3, "logged before the truncate"), 19), ORDERS.at(2).create(row(5), 22))
        world.live()
        assert (world.table.generation, world.rows()) == (2, [row(4), row(5)])

    def test_rows_from_before_and_behind_it_are_told_apart_by_position_within_a_batch(self, world: World) -> None:
        world.send(ORDERS.at(0).create(row(1), 10), ORDERS.at(1).create(row(2), 11))
        world.live()
        world.send(ORDERS.at(1).create(row(3), 18), ORDERS.at(0).truncate(20), ORDERS.at(1).create(row(4), 25))
        world.live()
        assert world.rows() == [row(4)]

    def test_after_a_reset_of_the_sources_log_a_truncate_at_a_low_position_is_a_new_one(self, world: World) -> None:
        world.send(ORDERS.create(row(1), 1_000), ORDERS.truncate(1_001), ORDERS.create(row(2), 1_002))
        world.live()
        later = Table(TOPIC, run="run-2", base_ms=1_800_000_000_000)
        world.send(later.create(row(3), 5), later.truncate(6), later.create(row(4), 7))
        world.live()
        assert (world.table.generation, world.rows()) == (3, [row(4)])


class TestWithoutSignals:
    def test_a_truncated_table_is_rebuilt_from_kafka_when_it_is_asked_for(self, world: World) -> None:
        world.takes_signals = False
        world.send(ORDERS.create(row(1), 10), ORDERS.truncate(20), ORDERS.create(row(2), 21))
        world.live()
        assert world.table.status is TableStatus.PARKED
        world.ask()
        world.live()
        assert (world.table.status, world.table.generation, world.rows()) == (TableStatus.STREAMING, 2, [row(2)])

    def test_what_kafka_does_not_hold_any_more_is_refused_before_anything_is_deleted(self, world: World) -> None:
        world.takes_signals = False
        world.send(ORDERS.create(row(1), 10), ORDERS.truncate(20), ORDERS.create(row(2), 21))
        world.live()
        world.log.earliest[TOPIC, 0] = 3
        before, files = world.table, world.files()
        world.ask()
        world.driver().drain()
        answer = answer_to(MemoryStorage(world.state), REQUEST.id)
        assert answer is not None
        assert (answer.accepted, answer.message) == (
            False,
            f"{NAME} cannot be rebuilt from what Kafka holds: Kafka's retention has removed what the table has to "
            f"catch up from: {TOPIC}/0 begins at offset 3, and 2 is the next one to land; and the settings do not say "
            "how Debezium takes signals, so no snapshot can be asked for",
        )
        assert answer.remedy.startswith("set source.signals.topic")
        assert (world.table, world.files()) == (before, files)

    def test_a_table_made_again_begins_with_the_event_that_parked_it(self) -> None:
        parked = Parked("recreated", "m", "r", TOPIC, 0, 7, resume={TOPIC: {0: 7, 1: 4}}, place="0" * 48)
        rebuild = Rebuild(RebuildKind.KAFKA, "recreated")
        before = TableState(("shop", "public", "orders"), "f", generation=3, sequence=9, parked=parked, rebuild=rebuild)
        after = from_kafka(before, rebuild, parked)
        assert (after.status, after.generation, after.sequence, after.tainted) == (TableStatus.CATCHING_UP, 4, 0, True)
        assert after.parked is not None
        assert (after.parked.reason, after.parked.resume) == ("rebuild", {TOPIC: {0: 7, 1: 4}})


class TestSecondSnapshot:
    def test_rows_deleted_in_between_vanish(self, world: World) -> None:
        world.send(ORDERS.read(row(1), 10), ORDERS.read(row(2, "deleted unseen"), 10), ORDERS.create(row(3), 20))
        world.live()
        world.send(SECOND_RUN.read(row(1, "now"), 90), SECOND_RUN.read(row(3), 90), SECOND_RUN.create(row(4), 91))
        world.live()
        assert world.rows() == [row(1, "now"), row(3), row(4)]
        table = world.table
        assert (table.generation, table.status, table.first_run) == (2, TableStatus.STREAMING, "run-2")
        assert world.signals == {}

    def test_a_lagging_partition_begins_with_the_new_run(self, world: World) -> None:
        first = (ORDERS.at(0).read(row(1), 10), ORDERS.at(1).read(row(2), 10), ORDERS.at(1).create(row(3), 20))
        world.send(*first, ORDERS.at(0).create(row(4), 21))
        world.live()
        second = SECOND_RUN
        world.send(second.at(0).read(row(1), 90), second.at(0).create(row(6), 92))
        world.live()
        # What the old run said of partition 1 comes late, then what the new one says of it.
        world.send(ORDERS.at(1).update(row(3, "deleted unseen"), 22), second.at(1).read(row(2), 90))
        world.live()
        assert world.rows() == [row(1), row(2), row(6)]

    def test_a_partition_without_rows_of_the_snapshot_begins_with_a_later_run(self, world: World) -> None:
        world.send(ORDERS.at(0).read(row(1), 10), ORDERS.at(1).read(row(2), 10), ORDERS.at(0).create(row(4), 21))
        world.live()
        world.send(SECOND_RUN.at(0).read(row(1), 90))
        world.live()
        third = Table(TOPIC, run="run-3")
        world.send(ORDERS.at(1).update(row(2, "late"), 22), third.at(1).create(row(7), 95))
        world.live()
        assert world.rows() == [row(1), row(7)]

    def test_without_a_run_only_a_new_snapshot_helps(self, world: World) -> None:
        nameless = Table(TOPIC, run=None)
        world.takes_signals = False
        world.send(
            nameless.at(0).read(row(1), 10), nameless.at(1).create(row(2), 20), nameless.at(0).create(row(3), 21)
        )
        world.live()
        world.send(nameless.at(0).read(row(1), 90))
        world.live()
        parked = world.table.parked
        assert parked is not None
        assert (world.table.status, parked.reason, parked.rebuild) == (TableStatus.PARKED, "ambiguous_snapshot", None)


class TestSchemaChanges:
    def test_a_type_change_is_answered_by_a_snapshot_where_the_policy_says_so(self, world: World) -> None:
        world.policies = {"on_type_change": OnTypeChange.REBUILD}
        world.send(ORDERS.read(row(1), 10), USERS.read(row(1), 10))
        world.live()
        numbers = Table(TOPIC, columns=(COLUMNS[0], Column("name", Kind.INT64)))
        world.snapshot = (numbers.reread({"id": 1, "name": 11}, 40), numbers.reread({"id": 2, "name": 22}, 40))
        world.send(numbers.create({"id": 2, "name": 22}, 30), USERS.create(row(2), 31))
        world.live()
        assert world.rows() == [{"id": 1, "name": 11}, {"id": 2, "name": 22}]
        assert world.rows(OTHER_NAME) == [row(1), row(2)]
        assert (world.table.generation, len(world.signals)) == (2, 1)

    def test_a_changed_key_is_answered_by_a_snapshot_where_the_policy_says_so(self, world: World) -> None:
        world.policies = {"on_key_change": OnKeyChange.REBUILD}
        world.send(ORDERS.read(row(1), 10))
        world.live()
        named = Table(TOPIC, key=("id", "name"))
        world.snapshot = (named.reread(row(1), 40), named.reread(row(2), 40))
        world.send(named.create(row(2), 30))
        world.live()
        assert (world.table.keys, world.rows()) == (("id", "name"), [row(1), row(2)])
        metadata = json.loads(world.zone.files["public.schema/orders/_metadata.json"])
        assert metadata["keyColumns"] == ["id", "name"]

    def test_without_a_signal_channel_it_stays_parked_and_says_so_once(self, world: World) -> None:
        world.policies = {"on_key_change": OnKeyChange.REBUILD}
        world.takes_signals = False
        world.send(ORDERS.read(row(1), 10))
        world.live()
        world.send(Table(TOPIC, key=("id", "name")).create(row(2), 30))
        world.live()
        parked = world.table.parked
        assert parked is not None
        assert (parked.reason, parked.rebuild) == ("key_changed", None)
        assert parked.remedy.startswith("set source.signals.topic")
        version = world.ledger.version
        world.driver().drain()
        assert world.ledger.version == version + 1  # the claim


class TestKeyless:
    @pytest.fixture(autouse=True)
    def _append(self, world: World) -> None:
        world.policies = {"on_missing_key": OnMissingKey.APPEND}

    keyless = Table(TOPIC, key=())

    def test_a_blocking_snapshot_fills_it_and_what_came_before_is_in_it(self, world: World) -> None:
        keyless = self.keyless
        world.send(keyless.read(row(1), 10), keyless.create(row(2), 20))
        world.live()
        world.ask()
        world.driver().drain()
        [(_, signal)] = world.signals.values()
        assert signal.kind is SnapshotKind.BLOCKING
        world.send(keyless.create(row(3), 30))
        world.snapshot = (keyless.read(row(1), 40), keyless.read(row(2), 40), keyless.read(row(3), 40))
        world.live()
        world.send(keyless.create(row(4), 50))
        world.live()
        assert world.rows() == [row(1), row(2), row(3), row(4)]
        assert world.table.status is TableStatus.STREAMING

    def test_a_blocking_snapshot_that_nobody_asked_for_parks_it_before_a_row_is_doubled(self, world: World) -> None:
        keyless = self.keyless
        world.send(keyless.read(row(1), 10), keyless.create(row(2), 20))
        world.live()
        world.send(keyless.read(row(1), 40), keyless.read(row(2), 40), keyless.create(row(3), 41))
        world.live()
        assert world.table.parked is not None
        assert (world.table.parked.reason, world.table.parked.offset) == ("second_snapshot", 2)
        assert world.rows() == [row(1), row(2)]

    def test_a_second_initial_snapshot_rebuilds_it_although_it_has_streamed(self, world: World) -> None:
        keyless, again = self.keyless, Table(TOPIC, key=(), run="run-2")
        world.send(keyless.read(row(1), 10), keyless.create(row(2), 20))
        world.live()
        world.send(again.read(row(2), 40), again.create(row(3), 41))
        world.live()
        assert (world.table.generation, world.rows()) == (2, [row(2), row(3)])

    def test_one_that_is_paused_while_it_waits_for_its_snapshot_takes_it_up_when_it_goes_on(self, world: World) -> None:
        world.policies = {"on_missing_key": OnMissingKey.APPEND}
        keyless = Table(TOPIC, key=())
        world.send(keyless.read(row(1), 10), keyless.create(row(3), 20))
        world.live()
        world.ask()
        world.driver().drain()
        assert world.table.status is TableStatus.FILLING
        world.ask(new_request(Action.PAUSE, now_ms=2, by="ann@home", table=NAME))
        world.driver().drain()
        world.send(keyless.create(row(4), 25))  # the blocking snapshot, which begins behind it, contains it
        world.snapshot = (keyless.read(row(1), 30), keyless.read(row(3), 30), keyless.read(row(4), 30))
        world.answer_signals()
        world.driver().drain()
        world.ask(new_request(Action.RESUME, now_ms=3, by="ann@home", table=NAME))
        world.live()
        assert (world.table.status, world.table.parked) == (TableStatus.STREAMING, None)
        assert world.rows() == [row(1), row(3), row(4)]

    @pytest.mark.parametrize("paused", [True, False])
    def test_it_does_not_begin_anew_while_its_snapshot_may_be_on_its_way(self, world: World, paused: bool) -> None:
        keyless = self.keyless
        world.send(keyless.read(row(1), 10), keyless.create(row(2), 20))
        world.live()
        world.ask()
        world.driver().drain()
        world.send(keyless.read(row(1), 30))  # the blocking snapshot has begun
        world.driver().drain()
        if paused:
            world.ask(new_request(Action.PAUSE, now_ms=2, by="ann@home", table=NAME))
            world.driver().drain()
        before, files = world.table, world.files()
        again = new_request(Action.RESYNC, now_ms=3, by="ann@home", table=NAME, arguments={"restart": "yes"})
        world.ask(again)
        world.driver().do_chores()
        answer = answer_to(MemoryStorage(world.state), again.id)
        assert answer is not None
        assert (answer.accepted, answer.message) == (
            False,
            f"{NAME} has no key, and Debezium has not said yet that the snapshot which it was asked for is over: the "
            "rows of a second one would land beside those of the first",
        )
        assert answer.remedy.startswith("wait until `cdc-bridge status` shows the table streaming")
        assert (world.table, world.files()) == (before, files)

        world.answer_signals()  # Debezium says now that it is over
        later = new_request(Action.RESYNC, now_ms=4, by="ann@home", table=NAME, arguments={"restart": "yes"})
        world.ask(later)
        world.driver().do_chores()
        answer = answer_to(MemoryStorage(world.state), later.id)
        assert answer is not None
        assert answer.accepted

    def test_an_empty_snapshot_lets_what_was_passed_over_land(self, world: World) -> None:
        keyless = self.keyless
        world.send(keyless.create(row(1), 20))
        world.live()
        world.ask()
        world.driver().drain()
        world.answer_signals()
        world.send(keyless.create(row(3), 60))
        world.live()
        assert (world.table.status, world.rows()) == (TableStatus.STREAMING, [row(3)])


def dies_at(method: str, part: str) -> Hook:
    return lambda request: Fault.CRASH_BEFORE if request.method == method and part in request.path else None


def place(disk: Disk, path: str) -> None:
    """Somebody else's file."""
    disk.write(path, b"somebody else's")
    disk.modified[path] = 0.0


def test_a_blocking_snapshot_of_another_table_is_not_taken_for_ours(world: World) -> None:
    world.policies = {"on_missing_key": OnMissingKey.APPEND}
    keyless = Table(TOPIC, key=())
    world.send(keyless.read(row(1), 10))
    world.live()
    world.ask()
    world.driver().drain()
    world.notify(
        Progress.TABLE_SCAN_COMPLETED,
        "x",
        INITIAL_SNAPSHOT,
        scanned_collection="public.users",
        status="SUCCEEDED",
    )
    world.notify(Progress.COMPLETED, "x", INITIAL_SNAPSHOT)
    world.driver().drain()
    rebuild = world.table.rebuild
    assert rebuild is not None
    assert (world.table.status, rebuild.kind, rebuild.keyless) == (TableStatus.FILLING, RebuildKind.SNAPSHOT, True)


class TestExcludedMeanwhile:
    """The settings leave the table out while it is rebuilt."""

    EXCLUDING: ClassVar = {"decode": DecodeOptions(rules=TableRules(exclude=(NAME,)))}

    def excluded(self, world: World) -> TableState:
        """A start with the table left out, and what it makes of it."""
        world.options = self.EXCLUDING
        driver = world.driver()
        park_excluded(driver.ledger, driver.job)
        driver.drain()
        return world.table

    def included_again(self, world: World) -> None:
        world.options = {}
        driver = world.driver()
        park_excluded(driver.ledger, driver.job)
        driver.drain()
        world.live()

    @pytest.mark.parametrize("status", [TableStatus.DELETING, TableStatus.CLEARED])
    def test_the_rebuild_goes_on_once_the_table_is_included_again(self, world: World, status: TableStatus) -> None:
        shop(world)
        _stands_at(world, status)
        assert self.excluded(world).status is status
        assert self.excluded(world).status is status
        world.send(ORDERS.delete(row(2, "stale"), 32), ORDERS.create(row(3, "three"), 33))
        self.excluded(world)
        assert not world.signals
        self.included_again(world)
        assert (world.table.status, world.table.parked) == (TableStatus.STREAMING, None)
        assert world.rows() == [row(1, "uno"), row(3, "three")]

    def test_rows_that_landed_before_the_snapshot_was_asked_for_are_removed_again(self, world: World) -> None:
        shop(world)
        _stands_at(world, TableStatus.CLEARED)
        world.send(ORDERS.create(row(9, "deleted while excluded"), 30))
        world.driver().land()
        assert (world.table.status, world.table.sequence) == (TableStatus.CLEARED, 1)
        assert self.excluded(world).status is TableStatus.DELETING
        world.send(ORDERS.delete(row(9, "deleted while excluded"), 31))
        self.excluded(world)
        self.included_again(world)
        assert (world.table.status, world.table.generation) == (TableStatus.STREAMING, 3)
        assert world.rows() == [row(1, "uno"), row(3, "three")]

    def test_one_that_is_being_filled_stands_still_and_catches_up(self, world: World) -> None:
        shop(world)
        world.ask()
        world.driver().drain()
        assert (world.table.status, world.table.parked) == (TableStatus.FILLING, None)
        table = self.excluded(world)
        assert table.parked is not None
        assert (table.status, table.parked.reason) == (TableStatus.PARKED, "excluded")
        world.answer_signals()
        self.excluded(world)
        self.included_again(world)
        assert world.table.parked == table.parked
        world.ask(new_request(Action.RESUME, now_ms=2, by="ann@home", table=NAME))
        world.live()
        assert world.table.status is TableStatus.STREAMING
        assert world.rows() == [row(1, "uno"), row(3, "three")]

    def test_a_policy_begins_no_rebuild_of_a_table_that_is_left_out(self, world: World) -> None:
        world.policies = {"on_truncate": OnTruncate.REBUILD}
        shop(world)
        world.send(ORDERS.truncate(30))
        world.driver().land()
        before = world.files()
        assert self.excluded(world).status is TableStatus.PARKED
        assert world.files() == before


def _stands_at(world: World, status: TableStatus) -> None:
    """Ask for a rebuild that gets no further than to this state."""
    driver = world.driver()
    driver.rebuilding.begin(NAME, RebuildKind.SNAPSHOT, "resync")
    while world.table.status is not status:
        assert driver.rebuilding(NAME)
