"""A person lets a table stand still; nothing is lost, and what can't be done is refused."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Parked, RebuildKind, TableStatus
from connectors.landing_zone.requests import Action, new_request
from streaming.lifecycle.pausing import Pause
from streaming.policies import OnDrop, OnTruncate
from tests.support.mariadb_events import MariaTable, ddl
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import World
from tests.unit.streaming.resumable import NAME, OTHER, Shop, loaded

AGAIN = (
    "`cdc-bridge resume CONFIG public.orders` when it is to go on; the rebuild that the settings ask for begins then"
)


class TestPause:
    def test_a_paused_table_stands_still_where_the_ledger_ends_and_the_others_go_on(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        given = shop.pause()
        assert (given.accepted, given.message, given.version) == (
            True,
            "public.orders stands still from version 3 on",
            3,
        )
        report = shop.receive(ORDERS.update(row(1, "later"), 12), OTHER.create(row(2), 13))

        assert sorted(report.files) == ["public.users"]
        assert shop.status() is TableStatus.PARKED
        assert shop.table.parked == Parked(
            reason="paused",
            message="ann@home paused it",
            remedy="`cdc-bridge resume CONFIG public.orders` when it is to go on, before Kafka's retention removes "
            "what it passes over",
            topic=TOPIC,
            partition=0,
            offset=2,
            resume={TOPIC: {0: 2}},
            skipped=1,
        )
        assert shop.rows() == [row(1), row(2)]

    def test_the_version_that_pauses_names_the_request(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        request = shop.request(Action.PAUSE)
        Pause(shop.plain.ledger)(request)
        assert shop.plain.ledger.state.handled == (request.id,)

    def test_a_table_that_stands_still_already_stays_as_it_is(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        shop.receive(ORDERS.truncate(12))
        before = shop.plain.ledger.state
        given = shop.pause()
        assert given.accepted
        assert given.message.startswith("public.orders stands still already (truncate): the source truncated the table")
        assert shop.plain.ledger.state == before

    def test_a_table_that_is_about_to_be_rebuilt_is_not(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, policies={"on_truncate": OnTruncate.REBUILD})
        shop.receive(ORDERS.read(row(1), 10), ORDERS.truncate(11))
        assert shop.table.parked is not None
        assert shop.table.parked.rebuild is RebuildKind.KAFKA
        request = shop.request(Action.PAUSE)
        given = Pause(shop.plain.ledger)(request)
        version = shop.plain.ledger.state.version
        assert (given.accepted, given.message, given.version) == (
            True,
            f"{NAME} stands still (truncate) from version {version} on and is not rebuilt until "
            f"`cdc-bridge resume CONFIG {NAME}`",
            version,
        )
        parked = shop.table.parked
        assert parked is not None
        assert (shop.status(), parked.reason, parked.rebuild, parked.postponed, parked.resume) == (
            TableStatus.PARKED,
            "truncate",
            None,
            RebuildKind.KAFKA,
            {TOPIC: {0: 1}},
        )
        assert parked.remedy == AGAIN
        assert shop.plain.ledger.state.handled == (request.id,)

    def test_and_is_once_a_person_lets_it_go_on(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, policies={"on_truncate": OnTruncate.REBUILD})
        shop.receive(ORDERS.read(row(1), 10), ORDERS.truncate(11))
        before = shop.table
        shop.pause()
        shop.receive(OTHER.read(row(1), 10))
        request = shop.request(Action.RESUME)
        given = shop.resuming(request)
        version = shop.plain.ledger.state.version
        assert (given.accepted, given.message, given.version) == (
            True,
            f"{NAME} is rebuilt, as the settings ask (truncate)",
            version,
        )
        assert before.parked is not None
        assert shop.table == replace(before, parked=replace(before.parked, remedy=AGAIN))
        assert shop.plain.ledger.state.handled[-1] == request.id

    def test_one_whose_mirror_is_about_to_be_dropped_is_told_apart(self, world: World) -> None:
        world.policies = {"schema_template": "{database}", "on_drop": OnDrop.DROP}
        orders, name = MariaTable(), "shop.orders"
        world.send(orders.read(row(1), 5), orders.create(row(2), 10))
        world.live()
        world.send(ddl("DROP TABLE `orders`", ("DROP", "orders"), pos=50))
        driver = world.driver()
        driver.land()
        pause, go_on = (
            new_request(action, now_ms=5, by="ann@home", table=name) for action in (Action.PAUSE, Action.RESUME)
        )
        world.ask(pause)
        driver.chores.run()
        parked = world.ledger.tables[name].parked
        assert parked is not None
        assert (parked.rebuild, parked.postponed, parked.remedy) == (
            None,
            RebuildKind.KAFKA,
            "`cdc-bridge resume CONFIG shop.orders` when its mirror is to be dropped, as the settings ask",
        )
        assert world.files()
        world.ask(go_on)
        driver.do_chores()
        assert world.answered(go_on).message == "the mirror of shop.orders is dropped, as the settings ask"
        world.live()
        assert not world.files()

    def test_one_that_was_to_be_filled_by_a_snapshot_is_once_it_goes_on(self, world: World) -> None:
        world.policies = {"schema_template": "{database}", "on_truncate": OnTruncate.REBUILD}
        orders, name = MariaTable(), "shop.orders"
        world.send(orders.read(row(1), 5), orders.create(row(2), 10), orders.create(row(7), 60))
        world.live()
        world.send(ddl("DROP TABLE `orders`", ("DROP", "orders"), pos=50))
        driver = world.driver()
        driver.land()
        world.ask(new_request(Action.PAUSE, now_ms=5, by="ann@home", table=name))
        driver.chores.run()
        world.ask(new_request(Action.RESUME, now_ms=6, by="ann@home", table=name))
        world.snapshot = (orders.read(row(7), 70),)
        world.live()
        assert (world.ledger.tables[name].generation, world.rows(name)) == (2, [row(7)])

    def test_a_rebuild_that_the_settings_do_not_ask_for_any_more_is_forgotten(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, policies={"on_truncate": OnTruncate.REBUILD})
        shop.receive(ORDERS.read(row(1), 10), ORDERS.truncate(11))
        shop.pause()
        shop.restart(on_truncate=OnTruncate.IGNORE)
        assert shop.resume().message == "public.orders catches up: 1 offset to read"
        parked = shop.table.parked
        assert parked is not None
        assert (parked.rebuild, parked.postponed) == (None, None)
        shop.catch_up_wholly()
        assert (shop.status(), shop.rows()) == (TableStatus.STREAMING, [row(1)])

    def test_a_table_that_catches_up_stands_still_where_it_has_come_to(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        shop.pause()
        shop.receive(*(ORDERS.update(row(1, f"n{number}"), 20 + number) for number in range(4)))
        shop.chunk = 3
        shop.restart()
        shop.resume()
        shop.catch_up(NAME)
        assert shop.pause().accepted
        parked = shop.table.parked
        assert parked is not None
        assert (shop.table.status, parked.reason, parked.resume, parked.skipped) == (
            TableStatus.PARKED,
            "paused",
            {TOPIC: {0: 5}},
            1,
        )

    def test_a_table_whose_folder_is_being_removed_cannot_be_paused(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        deleting = replace(shop.table, status=TableStatus.DELETING)
        shop.plain.ledger.commit(Draft(tables={NAME: deleting}))
        given = shop.pause()
        assert (given.accepted, given.message, given.remedy) == (
            False,
            "public.orders is being rebuilt, and its folder is not there to stand still",
            "wait until `cdc-bridge status CONFIG` shows it filling or streaming, then pause it",
        )

    def test_an_unknown_table_is_refused(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        for answer in (
            Pause(shop.plain.ledger)(shop.request(Action.PAUSE, "public.order")),
            shop.resuming(shop.request(Action.RESUME, "public.order")),
        ):
            assert (answer.accepted, answer.message, answer.remedy) == (
                False,
                "the ledger knows no table public.order",
                "name it as `cdc-bridge status CONFIG` does; a table is known once its first event was read",
            )
