"""A truncated table begins anew behind the truncate, from what Kafka holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from connectors.landing_zone.ledger.state import Parked, Rebuild, RebuildKind, TableState, TableStatus
from streaming.lifecycle.generations import from_kafka
from streaming.policies import OnTruncate
from tests.support.records import Table
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, OTHER_NAME, USERS, World


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

    def test_low_positions_of_a_later_time_are_of_a_log_that_has_begun_anew(self, world: World) -> None:
        """Whatever connector run they come from: some clients connect again by themselves, to another server."""
        later = replace(ORDERS, base_ms=ORDERS.base_ms + 86_400_000)
        world.send(ORDERS.create(row(1), 10), ORDERS.truncate(20), ORDERS.create(row(4), 21), later.create(row(7), 9))
        world.live()
        assert world.rows() == [row(4), row(7)]

    def test_a_truncate_without_a_position_begins_the_generation_right_behind_it(self, world: World) -> None:
        world.send(ORDERS.create(row(1), 0), ORDERS.truncate(0), ORDERS.create(row(2), 0))
        world.live()
        assert (world.table.generation, world.table.truncated, world.rows()) == (2, "", [row(2)])

    def test_a_truncate_without_a_position_is_followed_by_a_snapshot_where_another_partition_may_bring_rows_of_before(
        self, world: World
    ) -> None:
        world.log.partitions[TOPIC] = {0: [], 1: []}
        world.send(ORDERS.create(row(1), 0))
        world.live()
        world.snapshot = (ORDERS.reread(row(3), 0),)
        world.send(ORDERS.truncate(0), ORDERS.create(row(3), 0))
        world.live()

        assert (len(world.signals), world.rows()) == (1, [row(3)])

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
        answer = world.answered()
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
