"""A fault lies over what else a table stands still for; mending it does not lift that."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from connectors.errors import Terminal
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Parked, RebuildKind, TableState, TableStatus
from connectors.landing_zone.requests import Action, Answer, new_request
from streaming.demo.workload import Record
from streaming.driver.resuming import seen_reason
from streaming.lifecycle.generations import without_key
from streaming.lifecycle.pausing import Resume
from streaming.lifecycle.stopping import stop_table
from streaming.plan import TableOptions
from streaming.policies import OnDrop, OnMissingKey, OnTruncate
from tests.support.mariadb_events import ddl
from tests.unit.streaming import maria_shop
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.maria_shop import TABLE, drop_orders
from tests.unit.streaming.resumable import loaded


class Broken(Terminal):
    """An error of one table."""


CONFLICT = "zone:sequence_conflict"


def stops(table: TableState) -> tuple[str, ...]:
    """Why the table stands still, and what for beneath that."""
    found: list[str] = []
    parked = table.parked
    while parked is not None:
        found.append(parked.reason)
        parked = parked.beneath
    return tuple(found)


def name_made_anew(pos: int) -> list[Record]:
    """The orders' second column is dropped, and another one gets its name."""
    return [
        ddl("ALTER TABLE orders DROP name", ("ALTER", "orders"), pos=pos, columns=("id",)),
        ddl("ALTER TABLE orders ADD name text", ("ALTER", "orders"), pos=pos + 1, columns=("id", "name")),
    ]


class Dropped(maria_shop.Shop):
    """Tables whose source tells of drops in a topic of its own."""

    def stranger(self, number: int) -> Path:
        """Another's file under a number of the orders."""
        folder = Path(self.job.job.zone.url.removeprefix("file://"), "shop.schema/orders")
        file = folder / f"{number:020d}.parquet"
        file.write_bytes(b"somebody else's")
        return file

    def resume(self, seen: dict[str, str] | None = None) -> Answer:
        resume = Resume(self.job.opened(), self.job.job, self.job.outside(), sleep=lambda seconds: None)
        return resume(new_request(Action.RESUME, now_ms=1, by="ann@home", table=TABLE, arguments=seen))

    def parked(self) -> Parked:
        parked = self.state().parked
        assert parked is not None
        return parked


class TestDrops:
    """Nothing in the table's own topic tells of them, so what was read again would not stop it once more."""

    def test_one_that_is_told_late_together_with_the_fault_is_asked_about_once_that_has_passed(
        self, tmp_path: Path
    ) -> None:
        shop = Dropped(tmp_path, on_truncate=OnTruncate.PARK)
        shop.land(maria_shop.ORDERS.read(maria_shop.row(1), 5))
        shop.land(maria_shop.ORDERS.create(maria_shop.row(7), 30))
        stranger = shop.stranger(3)
        shop.land(maria_shop.ORDERS.create(maria_shop.row(8), 31), drop_orders(20))
        assert stops(shop.state()) == (CONFLICT, "recreated")
        assert not shop.resume().accepted

        stranger.unlink()
        answer = shop.resume()

        assert (answer.accepted, stops(shop.state())) == (True, ("recreated",))
        assert answer.message.startswith(
            "shop.orders need not stand still for that any more (zone:sequence_conflict), but still does (recreated): "
        )
        assert answer.message.endswith(f"What to do: {shop.parked().remedy}")
        assert shop.parked().resume == {maria_shop.ORDERS.topic: {0: 3}}

    def test_one_that_is_told_late_while_the_fault_lasts_waits_beneath_it(self, tmp_path: Path) -> None:
        shop = Dropped(tmp_path, on_truncate=OnTruncate.PARK)
        shop.land(maria_shop.ORDERS.read(maria_shop.row(1), 5))
        stranger = shop.stranger(2)
        shop.land(maria_shop.ORDERS.create(maria_shop.row(7), 30))
        assert stops(shop.state()) == (CONFLICT,)
        shop.land(maria_shop.ORDERS.create(maria_shop.row(8), 31), drop_orders(20))
        assert stops(shop.state()) == (CONFLICT, "recreated")

        stranger.unlink()
        assert shop.resume().accepted
        assert (stops(shop.state()), shop.parked().skipped) == (("recreated",), 1)
        assert shop.resume().accepted
        shop.catch_up()
        assert (shop.state().parked, shop.keys()) == (None, [1, 7, 8])

    def test_a_mirror_that_is_to_be_dropped_is_once_the_fault_has_passed(self, tmp_path: Path) -> None:
        shop = Dropped(tmp_path, on_drop=OnDrop.DROP)
        shop.land(maria_shop.ORDERS.read(maria_shop.row(1), 5))
        stranger = shop.stranger(2)
        shop.land(maria_shop.ORDERS.create(maria_shop.row(7), 8), drop_orders(20))
        assert (stops(shop.state()), shop.parked().rebuild) == ((CONFLICT, "dropped"), None)
        stranger.unlink()
        assert shop.resume().accepted
        assert (stops(shop.state()), shop.parked().rebuild) == (("dropped",), RebuildKind.KAFKA)


class TestTwoThatNothingTellsAgain:
    def test_a_column_that_another_one_replaces_lies_over_a_drop_that_was_told_late(self, tmp_path: Path) -> None:
        shop = Dropped(tmp_path, on_truncate=OnTruncate.PARK)
        shop.land(maria_shop.ORDERS.read(maria_shop.row(1), 5))
        stranger = shop.stranger(2)
        shop.land(maria_shop.ORDERS.create(maria_shop.row(7), 30))
        shop.land(drop_orders(20))
        shop.land(*name_made_anew(40))
        assert stops(shop.state()) == (CONFLICT, "column_replaced", "recreated")
        stranger.unlink()
        seen = []
        while shop.state().parked is not None and shop.resume().accepted:
            seen.append(stops(shop.state()))
            shop.catch_up()
        assert seen == [("column_replaced", "recreated"), ("recreated",), ("recreated",)]
        assert (shop.state().status, shop.keys()) == (TableStatus.STREAMING, [1, 7])

    def test_both_are_told_of_in_one_batch(self, tmp_path: Path) -> None:
        shop = Dropped(tmp_path, on_truncate=OnTruncate.PARK)
        shop.land(maria_shop.ORDERS.read(maria_shop.row(1), 5))
        shop.land(maria_shop.ORDERS.create(maria_shop.row(7), 30))
        shop.land(drop_orders(20), *name_made_anew(40))
        assert set(stops(shop.state())) == {"column_replaced", "recreated"}
        shop.land(*name_made_anew(50))
        assert sorted(stops(shop.state())) == ["column_replaced", "recreated"]
        assert "Then it still stands still (recreated)" in maria_shop.shown(shop)


class TestAsking:
    def test_of_two_requests_that_wait_the_second_lifts_nothing_that_its_asker_has_not_seen(
        self, tmp_path: Path
    ) -> None:
        shop = Dropped(tmp_path, on_truncate=OnTruncate.PARK)
        shop.land(maria_shop.ORDERS.read(maria_shop.row(1), 5))
        stranger = shop.stranger(2)
        shop.land(maria_shop.ORDERS.create(maria_shop.row(7), 30))
        shop.land(drop_orders(20))
        seen = seen_reason(shop.state())
        stranger.unlink()
        first, second = shop.resume(seen), shop.resume(seen)
        assert (first.accepted, second.accepted, stops(shop.state())) == (True, False, ("recreated",))
        assert second.message.startswith(
            "shop.orders was to go on from what it stood still for then (zone:sequence_conflict); now it stands still "
            "for something else (recreated): "
        )
        assert second.remedy == shop.parked().remedy
        assert shop.resume(seen_reason(shop.state())).accepted

    def test_nobody_has_seen_a_table_stand_still_that_does_not(self, tmp_path: Path) -> None:
        shop = Dropped(tmp_path)
        shop.land(maria_shop.ORDERS.read(maria_shop.row(1), 5))
        assert (seen_reason(None), seen_reason(shop.state())) == ({}, {})
        shop.stand_still(TableStatus.CATCHING_UP, 1)
        assert seen_reason(shop.state()) == {}


class TestEvents:
    def test_a_truncate_behind_a_file_that_finds_no_place_stops_the_table_still(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        shop.restart(on_truncate=OnTruncate.PARK)
        stranger = tmp_path / "zone/public.schema/orders" / f"{2:020d}.parquet"
        stranger.write_bytes(b"somebody else's")
        shop.receive(ORDERS.create(row(3), 14), ORDERS.truncate(15), ORDERS.create(row(4), 16))
        before = shop.table.parked
        assert before is not None
        assert stops(shop.table) == (CONFLICT, "truncate")
        stranger.unlink()
        assert "but still does (truncate)" in shop.resume().message
        assert stops(shop.table) == ("truncate",)
        assert shop.rows() == [row(1), row(2), row(3)]
        assert shop.table.parked == before.beneath

    def test_what_passed_the_table_meanwhile_is_counted(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        shop.restart(on_truncate=OnTruncate.PARK)
        stranger = tmp_path / "zone/public.schema/orders" / f"{2:020d}.parquet"
        stranger.write_bytes(b"somebody else's")
        shop.receive(ORDERS.create(row(3), 14), ORDERS.truncate(15))
        shop.receive(ORDERS.create(row(4), 16), ORDERS.create(row(5), 17))
        stranger.unlink()
        shop.resume()
        assert (stops(shop.table), shop.status().value) == (("truncate",), "parked")
        assert shop.table.parked is not None
        assert shop.table.parked.skipped == 3


def told_late(folder: Path) -> Dropped:
    """A table that is to be rebuilt by a snapshot: a row of the one made again has landed before the drop was told."""
    shop = Dropped(folder, on_truncate=OnTruncate.REBUILD)
    shop.land(maria_shop.ORDERS.read(maria_shop.row(1), 5))
    shop.land(maria_shop.ORDERS.create(maria_shop.row(7), 30))
    shop.land(drop_orders(20))
    return shop


class TestSteps:
    def test_a_rebuild_that_could_not_begin_does_once_its_cause_is_mended(self, tmp_path: Path) -> None:
        shop = told_late(tmp_path)
        before = shop.parked()
        assert (before.reason, before.rebuild) == ("recreated", RebuildKind.SNAPSHOT)
        for _ in range(2):
            stop_table(shop.job.ledger, TABLE, Broken("the signal topic may not be written", remedy="grant it"))
            assert (stops(shop.state()), shop.parked().rebuild) == (("failed", "recreated"), None)
        assert shop.resume().accepted
        assert shop.parked() == before

    def test_a_rebuild_that_somebody_has_postponed_is_not_said_to_begin(self, tmp_path: Path) -> None:
        shop = told_late(tmp_path)
        before = shop.parked()
        postponed = msgspec.structs.replace(before, rebuild=None, postponed=before.rebuild)
        shop.job.ledger.commit(Draft(tables={TABLE: msgspec.structs.replace(shop.state(), parked=postponed)}))
        stop_table(shop.job.ledger, TABLE, Broken("the signal topic may not be written", remedy="grant it"))
        answer = shop.resume()
        assert answer.message.endswith(f"but still does (recreated): {before.message}. What to do: {before.remedy}")
        assert shop.parked() == postponed

    def test_what_is_told_while_the_failure_lasts_is_not_forgotten_and_nor_is_what_it_lay_over(
        self, tmp_path: Path
    ) -> None:
        shop = told_late(tmp_path)
        stop_table(shop.job.ledger, TABLE, Broken("the signal topic may not be written", remedy="grant it"))
        shop.land(*name_made_anew(40))
        assert stops(shop.state()) == ("failed", "recreated"), "its rebuild mends the columns as well"
        assert shop.resume().accepted
        assert shop.parked().rebuild is RebuildKind.SNAPSHOT

    def test_a_mirror_that_is_to_be_dropped_needs_no_topic_for_it(self, tmp_path: Path) -> None:
        shop = Dropped(tmp_path, on_drop=OnDrop.DROP)
        shop.land(maria_shop.ORDERS.read(maria_shop.row(1), 5))
        shop.land(drop_orders(20))
        stop_table(shop.job.ledger, TABLE, Broken("no room", remedy="make room"))
        del shop.log.partitions[maria_shop.ORDERS.topic]
        shop.log.left_out.add(maria_shop.ORDERS.topic)
        answer = shop.resume()
        assert (answer.accepted, stops(shop.state())) == (True, ("dropped",))
        assert "and what the settings ask for then begins: the source dropped the table" in answer.message

    def test_a_table_that_has_lost_its_key_still_gets_the_snapshot_of_one_without(self, tmp_path: Path) -> None:
        shop = Dropped(tmp_path)
        shop.land(maria_shop.ORDERS.read(maria_shop.row(1), 5))
        topic = maria_shop.ORDERS.topic
        parked = Parked("missing_key", "m", "r", topic, 0, 1, resume={topic: {0: 1}}, rebuild=RebuildKind.SNAPSHOT)
        state = msgspec.structs.replace(shop.state(), status=TableStatus.PARKED, parked=parked)
        shop.job.ledger.commit(Draft(tables={TABLE: state}))
        stop_table(shop.job.ledger, TABLE, Broken("no room", remedy="make room"))
        assert stops(shop.state()) == ("failed", "missing_key")
        assert without_key(shop.state(), TableOptions(on_missing_key=OnMissingKey.APPEND))

    def test_one_that_fails_while_a_table_catches_up_has_nothing_beneath(self, tmp_path: Path) -> None:
        shop = Dropped(tmp_path)
        shop.land(maria_shop.ORDERS.read(maria_shop.row(1), 5))
        shop.stand_still(TableStatus.CATCHING_UP, 1)
        stop_table(shop.job.ledger, TABLE, Broken("no room", remedy="make room"))
        assert stops(shop.state()) == ("failed",)


@pytest.mark.parametrize("beneath", [None, Parked("truncate", "m", "r", "t", 0, 4, resume={"t": {0: 4}})])
def test_the_ledger_keeps_what_lies_beneath(beneath: Parked | None) -> None:
    parked = Parked(CONFLICT, "m", "r", "t", 0, 4, resume={"t": {0: 4}}, beneath=beneath)
    assert msgspec.json.decode(msgspec.json.encode(parked), type=Parked) == parked
