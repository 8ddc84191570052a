"""A table is resynced on request: its folder goes, a snapshot fills the next generation, and nothing is lost."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest

from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.kafka.errors import KafkaAccessError
from connectors.kafka.signals import SnapshotKind, SnapshotSignal
from connectors.kafka.signals import SnapshotProgress as Progress
from connectors.landing_zone.ledger.state import RebuildKind, TableStatus
from connectors.landing_zone.requests import Action, new_request
from streaming.lifecycle.folder_removal import FolderRemoval
from streaming.lifecycle.rebuilding import Rebuilding
from streaming.policies import TableMode
from tests.emulators.dfs_server import DfsServer
from tests.emulators.replicator import Replicator
from tests.support.records import Table
from tests.unit.landing_zone.memory_storage import Crash
from tests.unit.landing_zone.storages import Timeline, emulated_location, emulated_storage
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, OTHER_NAME, USERS, World, dies_at, shop


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
        answer = world.answered()
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

    def test_the_replicator_has_dropped_the_table_before_its_number_1_comes_again(
        self, world: World, tmp_path: Path
    ) -> None:
        with DfsServer() as server:
            location = emulated_location(server, tmp_path / "staging")
            world.place = emulated_storage(location, Timeline())
            workspace, _, path = location.url.removeprefix("abfss://").partition("/")
            replicator = Replicator(server.tree, f"{workspace.partition('@')[0]}/{path}")
            world.release_wait = 120.0
            shop(world)
            replicator.look()
            assert replicator.rows(NAME) == [row(1, "uno"), row(2, "stale")]
            world.ask()
            world.driver().drain()
            world.now_ms += 119_999
            for _ in range(3):
                world.driver().drain()
                world.answer_signals()
            taken = len(replicator.consumed)

            replicator.look()

            assert (replicator.dropped, replicator.tables()) == ([NAME], [OTHER_NAME])
            world.now_ms += 1
            world.live()
            replicator.look()
            assert [(one.table, one.number) for one in replicator.consumed[taken:]] == [(NAME, 1)]
            assert replicator.rows(NAME) == [row(1, "uno"), row(3, "three")]
            assert (replicator.dropped, replicator.latches, replicator.rewritten) == ([NAME], [], [])

    def test_a_driver_that_goes_on_waits_by_its_own_clock_whatever_that_of_another_host_says(
        self, world: World
    ) -> None:
        shop(world)
        world.release_wait, world.once = 120.0, False
        world.ask()
        world.driver().drain()
        world.now_ms += 180_000
        other = world.driver()
        seen = []
        for passed in (0.0, 119.0, 1.0):
            world.seconds += passed
            other.drain()
            seen.append(world.table.status)
        assert seen == [TableStatus.DELETING, TableStatus.DELETING, TableStatus.FILLING]

    def test_a_clock_that_goes_back_begins_that_time_anew(self, world: World) -> None:
        shop(world)
        world.release_wait = 120.0
        world.ask()
        world.driver().drain()
        world.now_ms -= 3_600_000
        seen = []
        for passed in (0, 119_999, 1):
            world.now_ms += passed
            world.driver().drain()
            seen.append(world.table.status)
        assert seen == [TableStatus.DELETING, TableStatus.DELETING, TableStatus.FILLING]

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
        answer = world.answered(again)
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

    def test_a_failed_snapshot_parks_the_table_and_a_resume_is_refused(
        self, world: World, caplog: pytest.LogCaptureFixture
    ) -> None:
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
        [line] = [record.getMessage() for record in caplog.records if "is parked" in record.getMessage()]
        assert line.startswith(f"{NAME} is parked: {parked.message}")
        resume = new_request(Action.RESUME, now_ms=2, by="ann@home", table=NAME)
        world.ask(resume)
        world.driver().drain()
        answer = world.answered(resume)
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
        rebuilding = Rebuilding(driver.opened, driver.job, debezium, FolderRemoval(driver.opened, 0.0))
        with pytest.raises(KafkaAccessError):
            rebuilding.begin(NAME, RebuildKind.SNAPSHOT, "resync")
        assert (world.files(), world.table) == (files, before)


class TestDeclaredKeys:
    """Keys that the settings declare need a blocking snapshot; two partitions, of which one has not streamed yet."""

    FIRST, SECOND = Table(TOPIC), Table(TOPIC, run="run-2")

    def lagging(self, world: World) -> None:
        rules = TableRules(tables=(("public.orders", TableDecoding(keys=("id",))),))
        world.options = {"decode": DecodeOptions(rules=rules)}
        first, second = self.FIRST, self.SECOND
        world.send(first.at(0).read(row(1), 10), first.at(1).read(row(2), 10))
        world.send(first.at(0).update(row(1, "uno"), 20), first.at(1).update(row(2, "dos"), 21))
        world.live()
        world.send(second.at(0).read(row(1, "b"), 100), second.at(1).read(row(2, "b"), 100))
        world.live()
        world.send(second.at(0).update(row(1, "c"), 110))
        world.live()

    def test_the_blocking_snapshot_that_was_asked_for_fills_the_table(self, world: World) -> None:
        self.lagging(world)
        world.ask()
        world.driver().drain()
        second = self.SECOND
        world.send(second.at(0).update(row(1, "d"), 111))
        world.snapshot = (second.at(0).read(row(1, "d"), 120), second.at(1).read(row(2, "b"), 120))
        world.live()
        assert [signal.kind for _, signal in world.signals.values()] == [SnapshotKind.BLOCKING]
        assert (world.table.status, world.table.parked) == (TableStatus.STREAMING, None)
        assert world.rows() == [row(1, "d"), row(2, "b")]

    def test_an_initial_snapshot_of_a_run_that_began_meanwhile_is_not_taken_for_it(self, world: World) -> None:
        self.lagging(world)
        world.ask()
        world.driver().drain()
        third = Table(TOPIC, run="run-3")
        world.send(self.SECOND.at(1).update(row(2, "deleted unseen"), 111))
        world.driver().drain()
        world.send(third.at(0).read(row(1, "anew"), 200))
        world.driver().land()
        assert world.table.parked is not None
        assert (world.table.parked.reason, world.table.parked.rebuild) == ("second_snapshot", RebuildKind.KAFKA)


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
