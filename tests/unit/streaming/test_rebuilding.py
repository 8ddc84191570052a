"""A table begins anew: its folder goes, the next generation begins with number 1, and nothing is lost on the way."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from connectors.kafka.signals import (
    INCREMENTAL_SNAPSHOT,
    INITIAL_SNAPSHOT,
    Notification,
    SnapshotKind,
    SnapshotSignal,
)
from connectors.kafka.signals import SnapshotProgress as Progress
from connectors.landing_zone.ledger.state import Rebuild, RebuildKind, TableState, TableStatus
from connectors.landing_zone.replay import open_zone
from connectors.landing_zone.requests import Action, answer_to, new_request
from connectors.landing_zone.verify import verify_zone
from streaming.demo.columns import Column, Kind
from streaming.lifecycle.debezium import Debezium, refusal, snapshot_complete, snapshot_failure
from streaming.policies import OnKeyChange, OnMissingKey, OnTruncate, OnTypeChange
from streaming.settings.format import Connector
from streaming.zones.replaying import RebuiltSinceError, ReplayRequest, replay_zone
from tests.support.records import COLUMNS, Table
from tests.unit.landing_zone.memory_storage import Crash, Disk, Fault, MemoryStorage
from tests.unit.landing_zone.memory_storage import Request as StorageRequest
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, OTHER_NAME, REQUEST, USERS, Hook, World

SECOND_RUN = Table(TOPIC, run="run-2")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def shop(world: World) -> World:
    """Two tables that stream, and what a resync of one of them has to bring."""
    world.send(ORDERS.read(row(1, "one"), 10), ORDERS.read(row(2, "stale"), 10), USERS.read(row(1), 10))
    world.send(ORDERS.update(row(1, "uno"), 20), USERS.create(row(2), 21))
    world.live()
    world.snapshot = (ORDERS.reread(row(1, "uno"), 40), ORDERS.reread(row(3, "three"), 40))
    return world


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

    def test_a_truncate_that_is_sent_again_does_nothing(self, world: World) -> None:
        tail = (ORDERS.create(row(2), 20), ORDERS.truncate(21), ORDERS.create(row(3), 22))
        world.send(ORDERS.read(row(1), 10), *tail)
        world.live()
        world.send(*tail, ORDERS.create(row(4), 30))
        world.live()
        assert (world.table.generation, world.rows()) == (2, [row(3), row(4)])
        assert world.ledger.counters["skipped.superseded"] == 2

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

    def test_without_a_run_and_with_several_partitions_only_a_new_snapshot_helps(self, world: World) -> None:
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
        assert (world.table.status, parked.reason, parked.rebuild) == (TableStatus.PARKED, "second_snapshot", None)
        assert "it is not rebuilt, since the settings do not say how Debezium takes signals" in parked.message


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


class TestReading:
    def findings(self, world: World) -> list[str]:
        found = verify_zone(open_zone(MemoryStorage(world.zone)), ledger=world.ledger, landed=())
        return [one.message for one in found]

    def test_a_zone_is_sound_at_every_step_of_a_rebuild(self, world: World) -> None:
        shop(world)
        world.release_wait = 120.0
        world.ask()
        world.driver().drain()
        assert (world.table.status, self.findings(world)) == (TableStatus.DELETING, [])
        world.now_ms += 120_000
        world.driver().drain()
        assert (world.table.status, self.findings(world)) == (TableStatus.FILLING, [])
        world.live()
        assert (world.table.status, self.findings(world)) == (TableStatus.STREAMING, [])

    def test_a_version_from_before_the_rebuild_cannot_be_replayed_and_later_ones_can(self, tmp_path: Path) -> None:
        zone, state = tmp_path / "zone", tmp_path / "zone-state"
        world = shop(World(tmp_path))
        before = world.ledger.version
        world.ask()
        world.live()
        after = world.ledger.version
        for disk, folder in ((world.zone, zone), (world.state, state)):
            for path, body in disk.files.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(body)

        def replayed(version: int, table: str | None = None) -> list[str]:
            return [one.content.name for one in replay_zone(ReplayRequest(str(zone), table=table, version=version))]

        with pytest.raises(RebuiltSinceError) as raised:
            replayed(before)
        assert raised.value.message == (
            f"{NAME} was rebuilt since version {before}, and the files of that time were removed with the folder"
        )
        assert raised.value.remedy.startswith(
            "name a later version (`cdc-bridge ledger log` shows when it was rebuilt)"
        )
        assert replayed(before, OTHER_NAME) == [OTHER_NAME]
        assert replayed(after) == [NAME, OTHER_NAME]


class TestNotifications:
    """What Debezium tells of snapshots, and what of it concerns the table that is filled."""

    def scan(self, progress: Progress, identity: str = "ours", **details: str) -> Notification:
        return Notification(identity, INCREMENTAL_SNAPSHOT, progress, details)

    def complete(self, *told: Notification, kind: SnapshotKind = SnapshotKind.INCREMENTAL) -> bool:
        return snapshot_complete(told, "ours", kind, "public.orders")

    def test_a_snapshot_is_complete_when_the_signals_own_is_or_the_tables_scan(self) -> None:
        assert self.complete(self.scan(Progress.COMPLETED))
        assert self.complete(
            self.scan(Progress.TABLE_SCAN_COMPLETED, "a later signal's", scanned_collection="shop.public.orders")
        )
        assert not self.complete(
            self.scan(Progress.STARTED),
            self.scan(Progress.IN_PROGRESS),
            self.scan(Progress.TABLE_SCAN_COMPLETED, scanned_collection="public.users"),
            self.scan(Progress.COMPLETED, "another"),
        )

    def test_a_scan_from_before_the_signal_was_taken_up_does_not_count(self) -> None:
        earlier = self.scan(Progress.TABLE_SCAN_COMPLETED, "another", scanned_collection="public.orders")
        assert not self.complete(earlier, self.scan(Progress.STARTED))
        assert self.complete(earlier, self.scan(Progress.STARTED), replace(earlier, id="ours"))

    def test_a_blocking_snapshot_is_told_under_an_id_of_its_own(self) -> None:
        completed = Notification("x", INITIAL_SNAPSHOT, Progress.COMPLETED)
        assert self.complete(completed, kind=SnapshotKind.BLOCKING)
        assert not self.complete(completed)

    @pytest.mark.parametrize(
        ("told", "failure"),
        [
            ({"progress": Progress.ABORTED}, "Debezium says that the snapshot was aborted"),
            ({"progress": Progress.SKIPPED, "identity": "x", "data_collections": "public.a, public.orders"}, "skipped"),
            (
                {
                    "progress": Progress.TABLE_SCAN_COMPLETED,
                    "scanned_collection": "public.orders",
                    "status": "NO_PRIMARY_KEY",
                },
                "Debezium could not read the table: NO_PRIMARY_KEY",
            ),
            ({"progress": Progress.ABORTED, "identity": "x", "data_collections": "public.users"}, None),
            (
                {"progress": Progress.TABLE_SCAN_COMPLETED, "scanned_collection": "public.orders", "status": "EMPTY"},
                None,
            ),
        ],
    )
    def test_what_debezium_gives_up_is_a_failure(self, told: dict[str, Any], failure: str | None) -> None:
        said = snapshot_failure([self.scan(**told)], "ours", SnapshotKind.INCREMENTAL, "public.orders")
        assert said is None if failure is None else said is not None and failure in said


class TestNames:
    def debezium(self, connector: Connector, prefix: str | None = None) -> Debezium:
        return Debezium(connector, prefix, None, lambda topics: {}, None, None, lambda: ["a.shop.orders", "b.public.x"])

    @pytest.mark.parametrize(
        ("connector", "recorded", "source", "named"),
        [
            (Connector.POSTGRESQL, "", ("shop", "public", "orders"), "public.orders"),
            (Connector.AUTO, "postgresql", ("shop", "public", "my.orders"), r"public.my\.orders"),
            (Connector.MARIADB, "", ("shop", None, "orders"), "shop.orders"),
            (Connector.SQLSERVER, "", ("shop", "dbo", "orders"), "shop.dbo.orders"),
            (Connector.AUTO, "oracle", ("SHOP", "S", "ORDERS"), "SHOP.S.ORDERS"),
            (Connector.AUTO, "", ("shop", "public", "orders"), "public.orders"),
        ],
    )
    def test_a_table_is_named_as_its_connector_does(
        self, connector: Connector, recorded: str, source: tuple[str, str | None, str], named: str
    ) -> None:
        rebuild = Rebuild(RebuildKind.SNAPSHOT, "resync", connector=recorded)
        assert self.debezium(connector).collection_of(TableState(source, "orders"), rebuild) == named

    def test_topics_and_prefix_are_told_by_the_tables_name_where_none_is_known(self) -> None:
        table = TableState(("shop", None, "orders"), "orders")
        debezium = self.debezium(Connector.MARIADB)
        assert (debezium.topics_of(table), debezium.prefix_of(table)) == (("a.shop.orders",), "a")
        assert self.debezium(Connector.MARIADB, "set").prefix_of(table) == "set"
        assert debezium.prefix_of(TableState(("shop", None, "nothing"), "nothing")) is None

    def test_a_table_of_several_sources_is_refused(self) -> None:
        sources = (("a", "public", "orders"), ("b", "public", "orders"))
        table = TableState(sources[0], "orders", sources=sources)
        why = refusal(self.debezium(Connector.AUTO, "p"), NAME, table, keyless=False)
        assert why == (
            "2 source tables land in it, and a snapshot fills it with one of them only",
            "load it into a zone of its own with a second bridge, from snapshots of all of its sources",
        )
