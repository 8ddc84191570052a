"""A second initial snapshot begins the table anew, so that rows deleted in between vanish."""

from __future__ import annotations

from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.requests import Action, new_request
from streaming.policies import OnTruncate
from tests.support.records import Table
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, World

SECOND_RUN = Table(TOPIC, run="run-2")


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

    def test_a_later_run_that_another_partition_has_shown_first_begins_it_too(self, world: World) -> None:
        world.send(ORDERS.at(0).read(row(1), 10), ORDERS.at(1).read(row(2), 10), ORDERS.at(0).create(row(3), 20))
        world.live()
        world.send(SECOND_RUN.at(0).read(row(1), 40), SECOND_RUN.at(0).read(row(3), 40))
        world.live()
        third = Table(TOPIC, run="run-3")
        world.send(third.at(0).create(row(5), 50))
        world.live()
        world.send(ORDERS.at(1).update(row(2, "late"), 22), third.at(1).create(row(6), 60))
        world.live()
        world.send(third.at(1).update(row(6, "newer"), 70))
        world.live()
        assert world.rows() == [row(1), row(3), row(5), row(6, "newer")]

    def test_a_partition_that_is_added_long_after_it_loses_nothing(self, world: World) -> None:
        world.send(ORDERS.read(row(1), 10), ORDERS.create(row(3), 20))
        world.live()
        world.send(SECOND_RUN.read(row(1), 40), SECOND_RUN.read(row(3), 40), SECOND_RUN.create(row(4), 41))
        world.live()
        third = Table(TOPIC, run="run-3")
        world.send(third.create(row(5), 50))
        world.live()
        world.send(third.at(1).create(row(6), 60), third.at(1).create(row(7), 61))
        world.live()
        assert world.rows() == [row(1), row(3), row(4), row(5), row(6), row(7)]

    def test_a_later_run_whose_partitions_are_caught_up_one_after_the_other_loses_nothing(self, world: World) -> None:
        world.chunk = 4
        world.send(ORDERS.read(row(1), 10), ORDERS.at(1).read(row(2), 10), ORDERS.create(row(3), 20))
        world.live()
        third = Table(TOPIC, run="run-3")
        world.send(SECOND_RUN.read(row(1), 40), SECOND_RUN.read(row(3), 40))
        world.send(third.create(row(5), 50), third.create(row(8), 51))
        world.send(*(ORDERS.at(1).update(row(2, f"old {number}"), 21 + number) for number in range(6)))
        world.send(third.at(1).create(row(6), 60), third.at(1).create(row(7), 61))
        world.live()
        assert world.rows() == [row(1), row(3), row(5), row(6), row(7), row(8)]

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

    def test_a_stop_on_the_way_forgets_no_topic_that_had_only_rows_of_the_run_before_so_far(self, world: World) -> None:
        west = Table("west.public.orders")
        world.send(ORDERS.read(row(1), 10), west.read(row(51), 10))
        world.send(ORDERS.update(row(1, "uno"), 20), west.update(row(51, "x"), 21))
        world.live()
        driver = world.driver()
        world.send(SECOND_RUN.read(row(1, "eins"), 100), SECOND_RUN.truncate(120), SECOND_RUN.create(row(2), 121))
        driver.land()
        again = Table(west.topic, run="run-2")
        world.send(*(west.update(row(51, f"old {number}"), 30 + number) for number in range(3)))
        world.send(again.read(row(52), 100), again.create(row(53), 130))
        driver.land()

        world.chunk = 2
        world.driver().do_chores()
        parked = world.table.parked
        assert parked is not None
        assert (parked.reason, parked.resume) == ("truncate", {TOPIC: {0: 3}, west.topic: {0: 4}})

        world.policies = {"on_truncate": OnTruncate.IGNORE}
        world.ask(new_request(Action.RESUME, now_ms=1, by="ann@home", table=NAME))
        world.live()
        assert (world.table.status, world.rows()) == (
            TableStatus.STREAMING,
            [row(1, "eins"), row(2), row(52), row(53)],
        )
