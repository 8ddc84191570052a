"""Whether snapshot rows are of a second initial snapshot or of one that somebody asked for, and what is done."""

from __future__ import annotations

import pytest

from connectors.landing_zone.ledger.state import Parked, RunStart, TableState, TableStatus
from streaming.landing.run_starts import surely_initial
from streaming.policies import OnMissingKey, OnResnapshot
from tests.support.records import Table
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import USERS, World

SECOND_RUN = Table(TOPIC, run="run-2")
OTHER_IN_SECOND_RUN = Table("shop.public.users", "users", run="run-2")


@pytest.fixture
def shop(world: World) -> World:
    """Two tables that run-1 has loaded and streamed."""
    world.send(ORDERS.read(row(1), 10), ORDERS.read(row(2), 10), USERS.read(row(1), 10))
    world.send(ORDERS.update(row(2, "two"), 12), USERS.create(row(2), 13))
    world.live()
    return world


def parked(world: World) -> Parked:
    assert world.table.status is TableStatus.PARKED
    assert world.table.parked is not None
    return world.table.parked


class TestOneThatSomebodyAskedFor:
    def test_after_a_restart_of_the_connector_it_never_removes_the_table(self, shop: World) -> None:
        shop.send(OTHER_IN_SECOND_RUN.update(row(1, "uno"), 30))
        shop.live()
        shop.send(SECOND_RUN.read(row(1, "of a filtered snapshot"), 35))
        shop.live()
        stopped = parked(shop)
        assert (shop.table.generation, shop.rows()) == (1, [row(1), row(2, "two")])
        assert (stopped.reason, stopped.rebuild, stopped.offset) == ("ambiguous_snapshot", None, 3)
        assert stopped.message == (
            "rows of a snapshot arrived under a connector run that had streamed other rows before; whether they are of "
            "a second initial snapshot or of one that somebody asked for cannot be told, and nothing was removed"
        )
        assert stopped.remedy == (
            "`cdc-bridge resync CONFIG public.orders`; or set policies.on_resnapshot to upsert, which accepts that "
            "rows stay that no longer exist at the source, and `cdc-bridge resume CONFIG public.orders`"
        )

    def test_nor_if_the_run_has_streamed_in_the_same_batch_only(self, shop: World) -> None:
        shop.send(OTHER_IN_SECOND_RUN.update(row(1, "uno"), 30), SECOND_RUN.read(row(1, "of a filtered one"), 35))
        shop.live()
        assert (parked(shop).reason, shop.rows()) == ("ambiguous_snapshot", [row(1), row(2, "two")])

    def test_nor_if_the_runs_first_position_is_hidden_by_higher_ones_of_before(self, shop: World) -> None:
        shop.send(USERS.update(row(1, "high"), 900))
        shop.live()
        shop.send(OTHER_IN_SECOND_RUN.update(row(1, "low"), 30))
        shop.live()
        shop.send(SECOND_RUN.read(row(1, "of a filtered snapshot"), 35))
        shop.live()
        assert (parked(shop).reason, shop.rows()) == ("ambiguous_snapshot", [row(1), row(2, "two")])

    def test_behind_the_tables_own_stream_it_is_upserted(self, shop: World) -> None:
        shop.send(SECOND_RUN.update(row(2, "zwei"), 30))
        shop.live()
        shop.send(SECOND_RUN.read(row(1, "eins"), 35))
        shop.live()
        assert (shop.table.status, shop.rows()) == (TableStatus.STREAMING, [row(1, "eins"), row(2, "zwei")])

    def test_without_the_header_it_never_removes_the_table(self, world: World) -> None:
        nameless = Table(TOPIC, run=None)
        world.send(nameless.read(row(1), 10), nameless.read(row(2), 10), nameless.update(row(2, "two"), 12))
        world.live()
        world.send(nameless.read(row(1, "of a filtered snapshot"), 35))
        world.live()
        stopped = parked(world)
        assert (stopped.reason, stopped.rebuild, world.rows()) == (
            "ambiguous_snapshot",
            None,
            [row(1), row(2, "two")],
        )
        assert stopped.message == (
            "rows of a snapshot arrived after the table had streamed, and without the header "
            "__debezium.context.runId a second initial snapshot cannot be told from one that somebody asked for"
        )

    def test_a_resync_does_not_take_its_rows_for_the_whole_table(self, shop: World) -> None:
        shop.policies = {"on_resnapshot": OnResnapshot.PARK}
        shop.takes_signals = False
        shop.send(OTHER_IN_SECOND_RUN.update(row(1, "uno"), 30), SECOND_RUN.read(row(1, "of a filtered one"), 35))
        shop.live()
        assert parked(shop).reason == "second_snapshot"
        shop.ask()
        shop.live()
        answer = shop.answered()
        assert (answer.accepted, shop.rows()) == (False, [row(1), row(2, "two")])

    def test_a_resync_does_not_take_the_rows_of_a_keyless_tables_for_all_of_it(self, world: World) -> None:
        keyless = Table(TOPIC, key=(), run=None)
        world.policies = {"on_missing_key": OnMissingKey.APPEND}
        world.takes_signals = False
        world.send(keyless.read(row(1), 10), keyless.create(row(2), 20))
        world.live()
        world.send(keyless.read(row(1), 40))
        world.live()
        assert parked(world).reason == "second_snapshot"
        world.ask()
        world.live()
        assert world.rows() == [row(1), row(2)]


class TestASecondInitialOne:
    def test_a_table_that_lags_behind_the_others_is_rebuilt(self, shop: World) -> None:
        shop.send(OTHER_IN_SECOND_RUN.update(row(1, "uno"), 45))
        shop.live()
        shop.send(SECOND_RUN.read(row(2, "two"), 40), SECOND_RUN.create(row(3), 46))
        shop.live()
        assert (shop.table.generation, shop.rows()) == (2, [row(2, "two"), row(3)])

    @pytest.mark.parametrize("batches", [1, 2])
    def test_behind_another_partitions_stream_it_is_not_upserted(self, world: World, batches: int) -> None:
        world.send(ORDERS.at(0).read(row(1), 10), ORDERS.at(1).read(row(2), 10))
        world.send(ORDERS.at(0).update(row(1, "deleted unseen"), 600), ORDERS.at(1).update(row(2, "two"), 12))
        world.live()
        world.takes_signals = False
        world.send(SECOND_RUN.at(1).create(row(9), 45))
        if batches == 2:
            world.live()
        world.send(SECOND_RUN.at(0).read(row(3), 40))
        world.live()
        stopped = parked(world)
        assert (stopped.reason, stopped.rebuild, stopped.offset) == ("second_snapshot", None, 2)
        assert "it is not rebuilt, since the settings do not say how Debezium takes signals" in stopped.message
        assert world.rows() == [row(1, "deleted unseen"), row(2, "two"), row(9)]

    def test_what_has_landed_of_its_run_from_another_partition_is_not_thrown_away(self, world: World) -> None:
        world.send(ORDERS.at(0).read(row(1), 10), ORDERS.at(1).read(row(2), 10))
        world.send(ORDERS.at(0).update(row(1, "deleted unseen"), 11), ORDERS.at(1).update(row(2, "two"), 12))
        world.live()
        world.send(SECOND_RUN.at(1).create(row(9), 45))
        world.live()
        # Kafka alone would begin behind row 9, so Debezium is asked for all of them.
        world.snapshot = (SECOND_RUN.at(0).reread(row(3), 50), SECOND_RUN.at(1).reread(row(9), 50))
        world.send(SECOND_RUN.at(0).read(row(3), 40))
        world.live()
        assert (world.table.generation, len(world.signals), world.rows()) == (2, 1, [row(3), row(9)])

    def test_after_a_resync_it_rebuilds_the_table_once(self, shop: World) -> None:
        shop.snapshot = (ORDERS.reread(row(1), 20), ORDERS.reread(row(2, "two"), 20))
        shop.ask()
        shop.live()
        shop.send(ORDERS.update(row(2, "zwei"), 25))
        shop.live()
        shop.send(SECOND_RUN.read(row(1, "eins"), 40), SECOND_RUN.read(row(3), 40))
        shop.live()
        assert (shop.table.generation, shop.rows()) == (3, [row(1, "eins"), row(3)])

    def test_a_change_of_the_policy_in_its_middle_does_not_begin_it_anew(self, shop: World) -> None:
        shop.policies = {"on_resnapshot": OnResnapshot.UPSERT}
        shop.send(SECOND_RUN.read(row(3), 40), SECOND_RUN.read(row(4), 40))
        shop.live()
        shop.policies = {}
        shop.send(SECOND_RUN.read(row(5), 40), SECOND_RUN.create(row(6), 45))
        shop.live()
        assert shop.table.generation == 1
        assert [each["id"] for each in shop.rows()] == [1, 2, 3, 4, 5, 6]


class TestALaggingLoad:
    def test_a_partition_whose_first_rows_come_behind_anothers_stream_still_loads(self, world: World) -> None:
        world.send(ORDERS.at(1).create(row(9), 20))
        world.live()
        world.send(ORDERS.at(0).read(row(1), 10))
        world.live()
        assert (world.table.status, world.rows()) == (TableStatus.STREAMING, [row(1), row(9)])


@pytest.mark.parametrize(
    ("start", "sure"),
    [
        (None, False),
        (RunStart(""), False),
        (RunStart(f"{39:032x}"), False),
        (RunStart(f"{40:032x}"), False),
        (RunStart(f"{41:032x}"), True),
    ],
)
def test_only_rows_below_all_that_their_run_has_streamed_are_surely_of_an_initial_snapshot(
    start: RunStart | None, sure: bool
) -> None:
    starts = {} if start is None else {"run-2": start}
    tables = [TableState(("shop", "public", "orders"), "f", streamed_runs=("run-2",), run_starts=starts)]
    stopped = Parked("second_snapshot", "m", "r", TOPIC, 0, 7, run="run-2", place=f"{40:032x}{0:016x}")
    assert surely_initial(stopped, tables) is sure
    assert surely_initial(stopped, []) is True
