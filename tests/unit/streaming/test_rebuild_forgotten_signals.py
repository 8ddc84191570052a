"""Debezium forgets the signal for a snapshot, or never takes it up: it is asked once more."""

from __future__ import annotations

import logging

import pytest

from connectors.kafka.errors import BrokerUnavailableError
from connectors.kafka.signals import INITIAL_SNAPSHOT, SnapshotKind
from connectors.kafka.signals import SnapshotProgress as Progress
from connectors.landing_zone.ledger.state import RebuildKind, TableStatus
from streaming.lifecycle.filling import LISTEN_SECONDS
from streaming.lifecycle.forgotten_signals import SILENT_SECONDS, UNTOLD_SECONDS
from streaming.policies import OnMissingKey
from tests.support.records import Table
from tests.unit.streaming.landed_shop import TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, Driver, World, waiting

COLLECTION = "public.orders"


def begins_again(world: World, driver: Driver, connector: str = "shop") -> None:
    """The connector starts, and goes on from its offsets; the driver hears of it."""
    world.notify(Progress.SKIPPED, "an id of its own", INITIAL_SNAPSHOT, connector_name=connector)
    sent(world, driver, after=LISTEN_SECONDS)


def sent(world: World, driver: Driver, *, after: float) -> int:
    """How many signals have been sent after so many seconds; the driver hears of anything every two."""
    world.seconds += after
    driver.drain()
    return len(world.signals)


def answered(world: World, driver: Driver) -> None:
    """Debezium takes up the latest signal, and the rows of its snapshot land."""
    world.answer_signals()
    for _ in range(3):
        sent(world, driver, after=LISTEN_SECONDS)
    assert world.table.status is TableStatus.STREAMING
    assert world.rows() == [row(1, "uno"), row(3, "three")]


class TestAConnectorThatHasBegunAgain:
    def test_it_is_asked_once_more_if_it_tells_nothing_for_a_minute(
        self, world: World, caplog: pytest.LogCaptureFixture
    ) -> None:
        driver = waiting(world)
        first = set(world.signals)
        begins_again(world, driver)
        assert sent(world, driver, after=SILENT_SECONDS - LISTEN_SECONDS) == 1
        with caplog.at_level(logging.WARNING):
            assert sent(world, driver, after=LISTEN_SECONDS) == 2
        assert "public.orders: Debezium tells nothing of the snapshot" in caplog.text
        rebuild = world.table.rebuild
        assert rebuild is not None
        assert {rebuild.signal} == set(world.signals) - first
        world.signals.pop(*first)  # forgotten
        answered(world, driver)

    def test_it_is_asked_once_for_each_time_that_it_begins(self, world: World) -> None:
        driver = waiting(world)
        begins_again(world, driver)
        assert sent(world, driver, after=SILENT_SECONDS) == 2
        assert sent(world, driver, after=UNTOLD_SECONDS - LISTEN_SECONDS) == 2
        begins_again(world, driver)
        assert sent(world, driver, after=SILENT_SECONDS) == 3

    def test_one_that_begins_again_and_again_is_left_alone_until_it_runs(self, world: World) -> None:
        driver = waiting(world)
        for _ in range(10):
            begins_again(world, driver)
            assert sent(world, driver, after=SILENT_SECONDS / 2) == 1
        assert sent(world, driver, after=SILENT_SECONDS) == 2

    @pytest.mark.parametrize("told", ["data_collections", "scanned_collection"])
    def test_one_that_still_knows_of_the_table_is_not_asked(self, world: World, told: str) -> None:
        driver = waiting(world)
        begins_again(world, driver)
        world.notify(Progress.IN_PROGRESS, "another", **{told: COLLECTION})
        for _ in range(2):
            assert sent(world, driver, after=UNTOLD_SECONDS) == 1

    def test_one_that_has_read_the_table_for_somebody_else_is(self, world: World) -> None:
        driver = waiting(world)
        begins_again(world, driver)
        world.notify(Progress.IN_PROGRESS, "another", data_collections=COLLECTION)
        sent(world, driver, after=LISTEN_SECONDS)
        world.notify(Progress.TABLE_SCAN_COMPLETED, "another", scanned_collection=COLLECTION, status="SUCCEEDED")
        world.notify(Progress.COMPLETED, "another")
        assert sent(world, driver, after=LISTEN_SECONDS) == 1
        assert sent(world, driver, after=SILENT_SECONDS) == 2

    def test_what_it_told_before_does_not_count(self, world: World) -> None:
        driver = waiting(world)
        world.notify(Progress.STARTED, next(iter(world.signals)), data_collections=COLLECTION)
        begins_again(world, driver)
        assert sent(world, driver, after=SILENT_SECONDS) == 2

    def test_nor_does_what_it_tells_of_other_tables(self, world: World) -> None:
        driver = waiting(world)
        begins_again(world, driver)
        world.notify(Progress.IN_PROGRESS, "another", data_collections="public.users")
        assert sent(world, driver, after=SILENT_SECONDS) == 2

    def test_another_connector_may_begin_as_often_as_it_likes(self, world: World) -> None:
        driver = waiting(world)
        world.notify(Progress.STARTED, next(iter(world.signals)), data_collections=COLLECTION)
        begins_again(world, driver, "another")
        for _ in range(2):
            assert sent(world, driver, after=UNTOLD_SECONDS) == 1

    def test_a_signal_that_kafka_does_not_take_at_once_is_sent_as_soon_as_it_does(self, world: World) -> None:
        driver = waiting(world)
        begins_again(world, driver)
        world.signals_refused = 1
        assert sent(world, driver, after=SILENT_SECONDS) == 2
        assert [type(failure) for failure in driver.failures] == [BrokerUnavailableError]
        world.signals.pop(next(iter(world.signals)))
        answered(world, driver)

    def test_a_driver_that_dies_before_it_is_sent_is_followed_by_one_that_finds_it_lost(self, world: World) -> None:
        driver = waiting(world)
        begins_again(world, driver)
        world.signals_refused = 1_000_000
        with pytest.raises(BrokerUnavailableError):
            sent(world, driver, after=SILENT_SECONDS)
        world.signals_refused = 0
        world.signals.clear()
        driver = world.driver()
        driver.drain()
        assert sent(world, driver, after=UNTOLD_SECONDS - LISTEN_SECONDS) == 0
        assert sent(world, driver, after=LISTEN_SECONDS) == 1
        answered(world, driver)


class TestASignalThatNobodyTakesUp:
    def test_it_is_sent_once_more_after_ten_minutes_and_then_more_seldom(self, world: World) -> None:
        driver = waiting(world)
        assert sent(world, driver, after=UNTOLD_SECONDS - LISTEN_SECONDS) == 1
        assert sent(world, driver, after=LISTEN_SECONDS) == 2
        assert sent(world, driver, after=LISTEN_SECONDS) == 2
        assert sent(world, driver, after=UNTOLD_SECONDS * 2 - LISTEN_SECONDS) == 2
        assert sent(world, driver, after=LISTEN_SECONDS) == 3
        answered(world, driver)

    def test_a_later_rebuild_waits_as_long_as_the_first(self, world: World) -> None:
        driver = waiting(world)
        assert sent(world, driver, after=UNTOLD_SECONDS) == 2
        answered(world, driver)
        driver.rebuilding.begin(NAME, RebuildKind.SNAPSHOT, "resync")
        assert sent(world, driver, after=LISTEN_SECONDS) == 3
        assert sent(world, driver, after=UNTOLD_SECONDS) == 4


class TestWhatIsNotAskedTwice:
    def test_a_signal_in_the_databases_log_which_is_read_again(self, world: World) -> None:
        world.forgets = False
        driver = waiting(world)
        begins_again(world, driver)
        for _ in range(2):
            assert sent(world, driver, after=UNTOLD_SECONDS) == 1

    def test_a_blocking_snapshot_whose_rows_would_be_doubled(self, world: World) -> None:
        world.policies = {"on_missing_key": OnMissingKey.APPEND}
        world.send(Table(TOPIC, key=()).create(row(1), 1))
        world.live()
        world.ask()
        driver = world.driver()
        driver.drain()
        [(_, signal)] = world.signals.values()
        assert signal.kind is SnapshotKind.BLOCKING
        begins_again(world, driver)
        for _ in range(2):
            assert sent(world, driver, after=UNTOLD_SECONDS) == 1
