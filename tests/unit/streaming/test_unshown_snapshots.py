"""A snapshot that finds tables empty may be of a run that no record shows: what came before and behind it tells."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from connectors.debezium.options import DecodeOptions, TableRules
from connectors.kafka.errors import BrokerUnavailableError
from connectors.kafka.signals import Notification
from connectors.kafka.signals import SnapshotProgress as Progress
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Dropped, TableStatus
from connectors.landing_zone.requests import Action, new_request
from streaming.lifecycle.unshown_snapshots import Unshown, UnshownSnapshot, judge, unshown_snapshots
from streaming.policies import OnResnapshot
from tests.support.records import SENT_MS, Table
from tests.unit.landing_zone.memory_storage import Crash
from tests.unit.streaming.landed_shop import TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, OTHER_NAME, World, dies_at
from tests.unit.streaming.told_runs import run_id, scan, snapshot, told

FIRST, SECOND, THIRD = run_id(SENT_MS - 90_000), run_id(SENT_MS + 20_000), run_id(SENT_MS + 30_000)
EMPTIED_MS, AGAIN_MS = SENT_MS + 20_100, SENT_MS + 30_050
USERS_TOPIC = "shop.public.users"
ORDERS, USERS = Table(TOPIC, run=FIRST, connector="shop"), Table(USERS_TOPIC, "users", run=FIRST, connector="shop")
ORDERS_AGAIN = Table(TOPIC, run=THIRD, connector="shop")
FOUND_ALL_EMPTY = (
    "a snapshot found every table of the connector empty at the source, and no event came behind it, so it is taken "
    "for a second initial one; rows had landed before it; those whose deletes were not sent by then are still in the "
    "mirror"
)
MAYBE_STALE = (
    "a snapshot found the table empty at the source, and no event shows whether its connector made it at its start or "
    "somebody asked for it; if it was a second initial snapshot, rows that the source has not are still in the mirror"
)
REMEDY = (
    "`cdc-bridge reconcile CONFIG --table TABLE` tells whether there are any, `cdc-bridge resync CONFIG TABLE` removes "
    "them; or set policies.on_resnapshot to upsert, which accepts that rows stay that no longer exist at the source"
)


def users(ms: int, rows: int) -> Notification:
    return scan(ms, rows, "public.users")


def begun_again() -> Notification:
    return told(Progress.SKIPPED, AGAIN_MS)


def all_empty(ms: int = EMPTIED_MS) -> list[Notification]:
    return snapshot(ms, scan(ms + 1, 0), users(ms + 2, 0))


@pytest.fixture
def shop(world: World) -> World:
    """Two tables that the first run has loaded and streamed."""
    began = SENT_MS - 89_900
    world.told += snapshot(began, scan(began + 1, 2), users(began + 2, 1))
    world.send(ORDERS.read(row(1), 10), ORDERS.read(row(2), 10), USERS.read(row(1), 10))
    world.send(ORDERS.update(row(1, "uno"), 20), USERS.create(row(2), 21))
    world.live()
    return world


def generations(world: World) -> tuple[int, int]:
    return world.ledger.tables[NAME].generation, world.ledger.tables[OTHER_NAME].generation


def doubts(world: World) -> dict[str, int]:
    return {name: table.doubt_ms for name, table in world.ledger.tables.items() if table.doubt_ms > table.heard_ms}


class TestEveryTableWasEmptyAndNothingCameBehind:
    def test_all_rows_are_gone_though_the_run_never_sent_one(self, shop: World) -> None:
        shop.told += [*all_empty(), begun_again()]
        shop.live()
        assert (shop.files(), generations(shop)) == ({}, (2, 2))
        assert {table.status for table in shop.ledger.tables.values()} == {TableStatus.STREAMING}
        assert sorted(signal.collection for _, signal in shop.signals.values()) == ["public.orders", "public.users"]

    def test_what_the_next_run_sends_stays(self, shop: World) -> None:
        shop.told += [*all_empty(), begun_again()]
        shop.send(ORDERS_AGAIN.create(row(7), 91))
        shop.snapshot = (ORDERS_AGAIN.reread(row(7), 95),)
        shop.live()
        shop.send(ORDERS_AGAIN.create(row(8), 96))
        shop.live()
        assert (shop.rows(), generations(shop)) == ([row(7), row(8)], (2, 2))

    def test_once_over_any_number_of_starts_of_driver_and_connector(self, shop: World) -> None:
        shop.told += [*all_empty(), begun_again()]
        shop.live()
        shop.send(ORDERS_AGAIN.create(row(7), 91))
        shop.told.append(told(Progress.SKIPPED, AGAIN_MS + 10_000))
        for _ in range(3):
            shop.live()
        assert (shop.rows(), generations(shop), len(shop.signals)) == ([row(7)], (2, 2), 2)

    def test_all_tables_come_out_the_same_if_the_driver_dies_on_the_way(self, shop: World) -> None:
        shop.told += [*all_empty(), begun_again()]
        with pytest.raises(Crash):
            shop.driver(dies_at("delete_folder", "orders")).drain()
        shop.live()
        assert (shop.files(), generations(shop), len(shop.signals)) == ({}, (2, 2), 2)

    def test_a_table_that_the_source_has_dropped_need_not_have_been_read(self, shop: World) -> None:
        driver = shop.driver()
        gone = replace(driver.ledger.state.tables[OTHER_NAME], dropped=Dropped(0, "", 1))
        driver.ledger.commit(Draft(tables={OTHER_NAME: gone}))
        shop.told += [*snapshot(EMPTIED_MS, scan(EMPTIED_MS + 1, 0)), begun_again()]
        shop.live()
        assert (generations(shop), shop.rows(OTHER_NAME)) == ((2, 1), [row(1), row(2)])

    def test_park_stops_the_tables_and_says_why(self, shop: World) -> None:
        shop.policies = {"on_resnapshot": OnResnapshot.PARK}
        shop.told += [*all_empty(), begun_again()]
        shop.live()
        parked = shop.table.parked
        assert parked is not None
        assert (parked.reason, parked.message) == ("second_snapshot", FOUND_ALL_EMPTY)
        shop.send(ORDERS_AGAIN.create(row(7), 91))
        shop.ask(new_request(Action.RESUME, now_ms=2, by="ann@home", table=NAME))
        shop.live()
        assert (shop.table.status, [one["id"] for one in shop.rows()]) == (TableStatus.STREAMING, [1, 2, 7])

    def test_upsert_lets_the_rows_stay(self, shop: World, caplog: pytest.LogCaptureFixture) -> None:
        shop.policies = {"on_resnapshot": OnResnapshot.UPSERT}
        shop.told += [*all_empty(), begun_again()]
        shop.live()
        assert (len(shop.rows()), generations(shop), doubts(shop)) == (2, (1, 1), {})
        assert f"public.orders: {FOUND_ALL_EMPTY}; they stay, as policies.on_resnapshot says" in caplog.messages

    def test_nothing_is_done_before_the_connector_has_begun_again(self, shop: World) -> None:
        shop.told += all_empty()
        shop.live()
        assert (generations(shop), doubts(shop)) == ((1, 1), {})

    def test_nothing_is_judged_before_all_is_read_that_was_there_when_it_began_again(self, shop: World) -> None:
        shop.told += [*all_empty(), begun_again()]
        shop.send(Table(TOPIC, run=SECOND, connector="shop").create(row(7), 91))
        driver = shop.driver()
        driver.do_chores()
        assert (generations(shop), doubts(shop)) == ((1, 1), {})
        driver.land()
        driver.do_chores()
        assert {table.status for table in shop.ledger.tables.values()} == {TableStatus.FILLING}

    def test_kafka_that_does_not_say_where_topics_end_is_asked_again(self, shop: World) -> None:
        driver = shop.driver()
        driver.do_chores()
        shop.told += [*all_empty(), begun_again()]

        def fails(topics: Sequence[str]) -> dict[str, dict[int, int]]:
            raise BrokerUnavailableError("no broker answered", remedy="wait")

        reading = driver.emptied._reading
        reading._debezium = dataclasses.replace(shop.debezium(), ends=fails)
        driver.do_chores()
        assert generations(shop) == (1, 1)
        reading._debezium = shop.debezium()
        driver.do_chores()
        assert {table.status for table in shop.ledger.tables.values()} == {TableStatus.FILLING}


class TestAnEventOfTheRunBeforeCameBehind:
    def test_somebody_asked_that_run_for_the_snapshot_and_every_row_stays(
        self, shop: World, caplog: pytest.LogCaptureFixture
    ) -> None:
        asked_for = SENT_MS - 30_000
        shop.told += [*all_empty(asked_for), begun_again()]
        with caplog.at_level(logging.WARNING):
            shop.live()
        assert (generations(shop), doubts(shop), caplog.messages) == ((1, 1), {}, [])


class TestStrangersNameThousandsOfConnectorsAndRuns:
    @pytest.mark.parametrize(
        ("at_ms", "expected"),
        [
            pytest.param(EMPTIED_MS, (2, 2), id="a second initial snapshot"),
            pytest.param(SENT_MS - 30_000, (1, 1), id="somebody asked for it"),
        ],
    )
    def test_what_is_known_of_the_connectors_own_runs_decides(
        self, shop: World, at_ms: int, expected: tuple[int, int]
    ) -> None:
        known = shop.ledger.runs
        assert list(known) == ["shop"]
        own = [Table(USERS_TOPIC, "users", run=run_id(n), connector=f"mall-{n}") for n in range(2_000)]
        other = [Table("mall.public.x", "x", run=run_id(SENT_MS + n), connector="shop") for n in range(2_000)]
        shop.send(*(stranger.tombstone(row(1)) for stranger in (*own, *other)))
        shop.live()
        assert shop.ledger.runs == known
        shop.told += [*all_empty(at_ms), begun_again()]
        shop.live()
        assert generations(shop) == expected


class TestAnyRecordShowsTheRun:
    def test_one_of_a_table_that_the_settings_leave_out(self, world: World) -> None:
        world.options = {"decode": DecodeOptions(rules=TableRules(exclude=("public.secret",)))}
        began = SENT_MS - 89_900
        world.told += snapshot(began, scan(began + 1, 1))
        world.send(ORDERS.read(row(1), 10), ORDERS.update(row(1, "uno"), 20))
        world.live()
        world.told += [*snapshot(EMPTIED_MS, scan(EMPTIED_MS + 1, 0), scan(EMPTIED_MS + 2, 1, "public.secret"))]
        world.send(Table("shop.public.secret", "secret", run=SECOND, connector="shop").read(row(1), 90))
        world.live()
        assert (world.files(), world.table.generation) == ({}, 2)

    def test_a_tombstone_too(self, shop: World) -> None:
        shop.told += [*snapshot(EMPTIED_MS, scan(EMPTIED_MS + 1, 0), users(EMPTIED_MS + 2, 1))]
        shop.send(Table(USERS_TOPIC, "users", run=SECOND, connector="shop").tombstone(row(1)))
        shop.live()
        assert generations(shop) == (2, 1)


class TestItIsNotClear:
    def unclear(self, world: World) -> World:
        """The users were not read: somebody may have asked for the orders."""
        world.told += [*snapshot(EMPTIED_MS, scan(EMPTIED_MS + 1, 0)), begun_again()]
        return world

    def test_the_rows_stay_and_the_ledger_keeps_the_doubt(self, shop: World, caplog: pytest.LogCaptureFixture) -> None:
        self.unclear(shop).send(ORDERS_AGAIN.create(row(7), 91))
        with caplog.at_level(logging.WARNING):
            shop.live()
            shop.live()
        assert [one["id"] for one in shop.rows()] == [1, 2, 7]
        assert (generations(shop), doubts(shop)) == ((1, 1), {NAME: EMPTIED_MS + 1})
        assert caplog.messages == [f"public.orders: {MAYBE_STALE}; {REMEDY}"]

    def test_retention_of_what_was_told_does_not_end_it(self, shop: World) -> None:
        self.unclear(shop).live()
        shop.told.clear()
        shop.live()
        assert doubts(shop) == {NAME: EMPTIED_MS + 1}

    @pytest.mark.parametrize("still_told", [True, False])
    def test_a_resync_ends_it(self, shop: World, *, still_told: bool) -> None:
        self.unclear(shop).live()
        if not still_told:
            shop.told.clear()
        shop.snapshot = (ORDERS_AGAIN.reread(row(7), 95),)
        shop.ask()
        shop.live()
        shop.live()
        assert (shop.rows(), generations(shop), doubts(shop)) == ([row(7)], (2, 1), {})

    @pytest.mark.parametrize("still_told", [True, False])
    def test_so_does_the_policy_that_accepts_it(
        self, shop: World, caplog: pytest.LogCaptureFixture, *, still_told: bool
    ) -> None:
        self.unclear(shop).live()
        if not still_told:
            shop.told.clear()
        shop.policies = {"on_resnapshot": OnResnapshot.UPSERT}
        caplog.clear()
        shop.live()
        shop.live()
        assert (len(shop.rows()), doubts(shop)) == (2, {})
        assert caplog.messages == [f"public.orders: {MAYBE_STALE}; they stay, as policies.on_resnapshot says"]

    def test_records_that_do_not_name_their_connector_prove_nothing(self, world: World) -> None:
        nameless = Table(TOPIC, run=FIRST)
        began = SENT_MS - 89_900
        world.told += [*snapshot(began, scan(began + 1, 2)), *snapshot(EMPTIED_MS, scan(EMPTIED_MS + 1, 0))]
        world.told.append(begun_again())
        world.send(nameless.read(row(1), 10), nameless.update(row(1, "uno"), 20))
        world.live()
        assert (world.ledger.runs, world.table.generation, doubts(world)) == ({}, 1, {NAME: EMPTIED_MS + 1})


class TestJudging:
    TOLD_MS = 50_000
    EMPTY = UnshownSnapshot(TOLD_MS, (scan(50_001, 0), users(50_002, 0)))
    TABLES = ("public.orders", "public.users")

    @pytest.mark.parametrize(
        ("newest_ms", "found"),
        [
            (20_000, Unshown.INITIAL),
            (50_000, Unshown.INITIAL),
            (50_001, Unshown.UNCLEAR),
            (55_000, Unshown.UNCLEAR),
            (55_001, Unshown.ASKED),
        ],
    )
    def test_by_when_the_run_before_sent_its_newest_record(self, newest_ms: int, found: Unshown) -> None:
        assert judge(self.EMPTY, {run_id(10_000): newest_ms}, self.TABLES) is found

    @pytest.mark.parametrize("seen", [{}, {"run-1": 20_000}, {run_id(50_000): 60_000}])
    def test_never_without_a_run_that_is_known_to_have_begun_before(self, seen: dict[str, int]) -> None:
        assert judge(self.EMPTY, seen, self.TABLES) is Unshown.UNCLEAR

    @pytest.mark.parametrize(
        "scans",
        [
            pytest.param((scan(50_001, 0),), id="a table was not read"),
            pytest.param((scan(50_001, 0), users(50_002, 3)), id="a table had rows"),
            pytest.param(
                (scan(50_001, 0), users(50_002, 0), scan(50_003, 1, "public.parts")), id="one not mirrored had"
            ),
        ],
    )
    def test_only_where_no_table_had_a_row(self, scans: tuple[Notification, ...]) -> None:
        assert judge(UnshownSnapshot(self.TOLD_MS, scans), {run_id(10_000): 20_000}, self.TABLES) is Unshown.UNCLEAR

    @pytest.mark.parametrize(
        ("says", "found"),
        [
            pytest.param(snapshot(20_100, scan(20_101, 0)), [], id="nothing has begun since"),
            pytest.param([*snapshot(20_100, scan(20_101, 5)), told(Progress.SKIPPED, 30_050)], [], id="it had rows"),
            pytest.param(
                [*snapshot(20_100, scan(20_101, 0)), told(Progress.SKIPPED, 30_050)],
                [UnshownSnapshot(20_100, (scan(20_101, 0),))],
                id="found",
            ),
        ],
    )
    def test_which_snapshots_no_record_shows(self, says: list[Notification], found: list[UnshownSnapshot]) -> None:
        assert unshown_snapshots([*snapshot(1_100, scan(1_101, 0)), *says], [run_id(1_000)]) == found

    def test_a_scan_whose_snapshots_start_is_not_told_any_more_is_no_snapshot(self) -> None:
        assert unshown_snapshots([scan(20_101, 0), told(Progress.SKIPPED, 30_050)], []) == []
