"""``markers: natural``: what left the source without a delete in its own partition is not there twice once it is back.

Row 3 lands, leaves the source unseen, and is made again before the bridge hears that it had gone.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Rebuild, RebuildKind
from connectors.landing_zone.requests import Action, Answer, new_request
from connectors.landing_zone.row_marker import RowMarker
from streaming.demo.workload import Record
from streaming.lifecycle.generations import from_kafka
from streaming.lifecycle.pausing import Pause, Resume
from streaming.plan import JobOptions
from streaming.policies import Markers, OnResnapshot, OnTruncate
from tests.support.plain_job import PlainJob
from tests.unit.streaming import maria_shop
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.maria_shop import CUSTOMERS, TABLE, drop_orders
from tests.unit.streaming.resumable import NAME, Shop

INSERTS = str(RowMarker.INSERT.value)
LATE = "rows may be there twice"
NATURAL = {"markers": Markers.NATURAL}


def threes(shop: Shop) -> int:
    """How often row 3 is there."""
    return [each["id"] for each in shop.rows()].count(3)


def land_ahead(shop: Shop, *records: Record) -> None:
    """Land the records as far as they are in partition 1."""
    start = {topic: dict(each.partitions) for topic, each in shop.plain.ledger.state.topics.items()}
    shop.send(*records)
    shop.plain.run_batch(start, {TOPIC: {**start[TOPIC], 1: shop.log.ends()[TOPIC][1]}})


class TestTruncates:
    """One lies unread in partition 0 while partition 1 makes row 3 again."""

    def stopped(self, folder: Path, policy: OnTruncate, at: int) -> Shop:
        """A table that the truncate has stopped at its position; row 3 is made again at 21, and landed then."""
        shop = Shop(folder, policies={"on_truncate": policy}, options=NATURAL)
        shop.receive(*(ORDERS.at(number).create(row(number + 8), 10 + number) for number in (0, 1)))
        shop.receive(ORDERS.at(1).create(row(3), 15))
        land_ahead(shop, ORDERS.at(0).truncate(at), ORDERS.at(1).create(row(3), 21))
        shop.land()
        assert shop.table.parked is not None
        assert (shop.table.parked.reason, shop.table.rows[INSERTS]) == ("truncate", 3)
        return shop

    @pytest.mark.parametrize("forgotten", [False, True], ids=["known", "forgotten"])
    @pytest.mark.parametrize("paused", [False, True], ids=["parked", "paused"])
    @pytest.mark.parametrize("policy", [OnTruncate.PARK, OnTruncate.REBUILD])
    def test_one_that_was_read_late_cannot_be_ignored(
        self, tmp_path: Path, policy: OnTruncate, paused: bool, forgotten: bool
    ) -> None:
        shop = self.stopped(tmp_path, policy, 20)
        if paused:
            assert shop.pause().accepted
        if forgotten:
            # As a ledger that was made again has it.
            again = msgspec.structs.replace(shop.table, inserted_to="")
            shop.plain.ledger.commit(Draft(tables={NAME: again}))

        shop.restart(on_truncate=OnTruncate.IGNORE)
        assert shop.resume().accepted
        shop.catch_up_wholly()
        assert shop.table.parked is not None
        assert shop.table.parked.remedy == "`cdc-bridge resync CONFIG public.orders`"
        assert LATE in shop.table.parked.message

    def test_one_that_was_not_can_be(self, tmp_path: Path) -> None:
        shop = self.stopped(tmp_path, OnTruncate.PARK, 30)
        shop.restart(on_truncate=OnTruncate.IGNORE)
        assert shop.resume().accepted
        shop.catch_up_wholly()
        assert shop.table.parked is None

    def test_none_can_where_the_policy_was_another_one_when_rows_were_taken_for_new(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, options=NATURAL)
        shop.receive(*(ORDERS.at(number).create(row(number + 8), 10 + number) for number in (0, 1)))
        shop.receive(ORDERS.at(1).create(row(3), 15))
        land_ahead(shop, ORDERS.at(0).truncate(20), ORDERS.at(1).create(row(3), 21))
        shop.restart(on_truncate=OnTruncate.IGNORE)
        shop.receive(ORDERS.at(1).update(row(3, "newer"), 22))
        assert shop.table.parked is not None
        assert LATE in shop.table.parked.message

    def test_one_that_is_sent_again_behind_the_newest_row_can_be(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, options=NATURAL)
        shop.receive(ORDERS.create(row(8), 10), ORDERS.create(row(3), 15))
        assert shop.table.rows[INSERTS] == 1
        shop.restart(on_truncate=OnTruncate.IGNORE)
        shop.receive(ORDERS.truncate(9))
        assert (shop.table.parked, threes(shop)) == (None, 1)

    def test_a_safe_table_ignores_it(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, policies={"on_truncate": OnTruncate.IGNORE})
        shop.receive(*(ORDERS.at(number).create(row(number + 8), 10 + number) for number in (0, 1)))
        land_ahead(shop, ORDERS.at(0).truncate(20), ORDERS.at(1).create(row(3), 21))
        shop.land()
        assert (shop.table.parked, threes(shop)) == (None, 1)


class TestAnotherConnector:
    """Row 3 is deleted while no connector runs; the next one begins with an initial snapshot, which lacks it."""

    first, second = replace(ORDERS, run="run-a"), replace(ORDERS, run="run-b")

    def loaded(self, folder: Path, policy: OnResnapshot) -> Shop:
        shop = Shop(folder, policies={"on_resnapshot": policy}, options=NATURAL)
        shop.receive(self.first.at(0).read(row(8), 5), self.first.at(1).read(row(9), 5))
        shop.receive(self.first.at(1).create(row(3), 15))
        return shop

    def go_on(self, shop: Shop) -> None:
        """Let the rows stay where the table stands still."""
        if shop.table.parked is not None:
            assert shop.table.parked.reason == "second_snapshot"
            shop.restart(on_resnapshot=OnResnapshot.UPSERT)
            assert shop.resume().accepted
            shop.catch_up_wholly()
        assert shop.table.parked is None

    @pytest.mark.parametrize("policy", [OnResnapshot.UPSERT, OnResnapshot.PARK])
    def test_whose_snapshot_waits_in_another_partition(self, tmp_path: Path, policy: OnResnapshot) -> None:
        shop = self.loaded(tmp_path, policy)
        land_ahead(shop, self.second.at(0).read(row(8), 30), self.second.at(1).create(row(3), 40))
        shop.land()
        self.go_on(shop)
        assert threes(shop) == 1

    @pytest.mark.parametrize("policy", OnResnapshot)
    def test_whose_snapshot_found_no_row_at_all(self, tmp_path: Path, policy: OnResnapshot) -> None:
        shop = Shop(tmp_path, policies={"on_resnapshot": policy}, options=NATURAL)
        shop.receive(self.first.read(row(8), 5))
        shop.receive(self.first.create(row(3), 15))
        shop.receive(self.second.create(row(3), 40))
        self.go_on(shop)
        assert threes(shop) == 1


class TestDropsThatAreToldLate:
    """The schema-change topic tells of the drop only after row 3 of the new table has landed."""

    def late(
        self, folder: Path, policy: OnTruncate, *, at_first: Markers = Markers.NATURAL, told: OnTruncate | None = None
    ) -> maria_shop.Shop:
        """A shop that was told late, under another policy if one is given, and with ``markers: safe`` from there on."""
        shop = maria_shop.Shop(folder, on_truncate=policy)
        self.restart(shop, folder, markers=at_first)
        shop.land(maria_shop.ORDERS.create(maria_shop.row(1), 5))
        shop.land(maria_shop.ORDERS.create(maria_shop.row(3, "old"), 7))
        shop.land(maria_shop.ORDERS.create(maria_shop.row(3, "new"), 30))
        defaults = shop.job.job.defaults
        self.restart(shop, folder, markers=Markers.SAFE, defaults=replace(defaults, on_truncate=told or policy))
        shop.land(drop_orders(20), CUSTOMERS.create(maria_shop.row(2), 31))
        return shop

    def restart(self, shop: maria_shop.Shop, folder: Path, **options: object) -> None:
        job: JobOptions = replace(shop.job.job, **options)
        shop.job = PlainJob(folder, job, shop.log)

    def resume(self, shop: maria_shop.Shop) -> Answer:
        resume = Resume(shop.job.opened(), shop.job.job, shop.job.outside(), sleep=lambda seconds: None)
        return resume(new_request(Action.RESUME, now_ms=1, by="ann@home", table=TABLE))

    @pytest.mark.parametrize("told", [OnTruncate.PARK, OnTruncate.IGNORE])
    def test_let_no_row_stay_where_rows_were_taken_for_new(self, tmp_path: Path, told: OnTruncate) -> None:
        shop = self.late(tmp_path, OnTruncate.PARK, told=told)
        parked = shop.state().parked
        assert shop.state().rows[INSERTS] == 2
        assert parked is not None
        assert (parked.reason, parked.remedy) == ("recreated", "`cdc-bridge resync CONFIG shop.orders`")
        assert LATE in parked.message
        answer = self.resume(shop)
        assert not answer.accepted
        assert "may have rows twice" in answer.message
        assert "`cdc-bridge resync CONFIG shop.orders`" in answer.remedy

    def test_nor_does_a_pause_forget_it(self, tmp_path: Path) -> None:
        shop = self.late(tmp_path, OnTruncate.PARK)
        state = shop.state()
        assert state.parked is not None
        parked = msgspec.structs.replace(state.parked, reason="column_replaced", message="m")
        ledger = shop.job.ledger
        ledger.commit(Draft(tables={TABLE: msgspec.structs.replace(state, parked=parked)}))
        Pause(ledger)(new_request(Action.PAUSE, now_ms=1, by="ann@home", table=TABLE))
        assert not self.resume(shop).accepted

    @pytest.mark.parametrize("at_first", [Markers.SAFE, Markers.NATURAL])
    def test_let_rows_stay_where_none_was(self, tmp_path: Path, at_first: Markers) -> None:
        # Where the policy lets rows stay, `natural` takes none for new.
        policy = OnTruncate.PARK if at_first is Markers.SAFE else OnTruncate.IGNORE
        shop = self.late(tmp_path, policy, at_first=at_first)
        assert INSERTS not in shop.state().rows
        if policy is OnTruncate.PARK:
            assert self.resume(shop).accepted
            shop.catch_up()
        assert (shop.stop(), shop.keys().count(3)) == (None, 1)

    def test_a_rebuild_that_a_pause_has_postponed_begins_with_the_resume(self, tmp_path: Path) -> None:
        shop = self.late(tmp_path, OnTruncate.REBUILD)
        state = shop.state()
        assert state.parked is not None
        assert (state.doubled, state.parked.rebuild) == (True, RebuildKind.SNAPSHOT)
        pause = Pause(shop.job.ledger)(new_request(Action.PAUSE, now_ms=1, by="ann@home", table=TABLE))
        assert pause.accepted
        assert self.resume(shop).accepted
        state = shop.state()
        assert state.parked is not None
        assert state.parked.rebuild is RebuildKind.SNAPSHOT

    def test_a_rebuild_ends_it(self, tmp_path: Path) -> None:
        state = self.late(tmp_path, OnTruncate.PARK).state()
        assert state.parked is not None
        assert state.doubled
        assert not from_kafka(state, Rebuild(RebuildKind.KAFKA, "recreated"), state.parked).doubled
