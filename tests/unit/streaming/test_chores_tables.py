"""Tables catch up between micro-batches, a chunk each in turn, and no table's failure stops another."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from connectors.landing_zone.errors import EarlierAttemptError, FencedError, TableResetError
from connectors.landing_zone.ledger.apply import Stamp, commit_version
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Parked, RebuildKind, TableStatus
from connectors.landing_zone.ledger.version_file import encode, path_of
from streaming.driver.publishing import ZonePublisher
from streaming.driver.query import StopSignal, do_all
from tests.unit.streaming.chores_shop import USERS, Broken, Down, chores, paused
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.resumable import NAME, Shop


class TestTables:
    def test_tables_take_turns_one_chunk_each(self, tmp_path: Path) -> None:
        shop = paused(tmp_path)
        turns: list[str] = []

        def step(name: str) -> bool:
            turns.append(name)
            return True

        made = chores(shop, step)
        for _ in range(4):
            made.run()
        assert turns == [NAME, USERS, NAME, USERS]

    def test_all_of_them_come_back(self, tmp_path: Path) -> None:
        shop = paused(tmp_path)
        do_all(shop.chores, StopSignal())
        tables = shop.plain.ledger.state.tables
        assert {name: table.status for name, table in tables.items()} == dict.fromkeys(
            (NAME, USERS), TableStatus.STREAMING
        )

    def test_a_failure_that_passes_is_waited_out_while_another_table_goes_on(self, tmp_path: Path) -> None:
        shop = paused(tmp_path)
        looked: list[str] = []

        def step(name: str) -> bool:
            looked.append(name)
            if name == NAME:
                raise Down("no answer", remedy="wait")
            return False

        made = chores(shop, step)
        made.run()
        made.run()
        assert looked == [NAME, USERS]
        assert not made.idle()
        shop.clock = 2.0
        made.run()
        assert looked == [NAME, USERS, NAME]
        assert [str(error) for error in shop.failures] == ["no answer. Remedy: wait"] * 2

    def test_a_failure_of_a_table_that_is_back_all_the_same_is_over(self, tmp_path: Path) -> None:
        """Its last chunk was committed, and the answer got lost."""
        shop = paused(tmp_path)

        def step(name: str) -> bool:
            if name != NAME:
                return False
            ledger = shop.plain.ledger
            ledger.commit(Draft(tables={NAME: replace(ledger.state.tables[NAME], status=TableStatus.STREAMING)}))
            raise Down("no answer", remedy="wait")

        made = chores(shop, step, gives_up=True)
        made.run()
        assert not made.idle()
        made.run()
        assert made.idle()

    def test_a_file_that_is_bound_and_has_no_number_is_published(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shop = Shop(tmp_path)
        with monkeypatch.context() as patched:
            patched.setattr(ZonePublisher, "publish_pending", lambda publisher, ledger: None)
            shop.receive(ORDERS.read(row(1), 10))
        made = chores(shop, lambda name: False)
        assert shop.plain.ledger.state.pending.keys() == {NAME}
        made.run()
        assert not made.idle()
        assert (shop.plain.ledger.state.pending, shop.plain.rows(NAME)) == ({}, [row(1)])
        made.run()
        assert made.idle()

    def test_a_run_that_is_to_end_gives_up_after_its_attempts(self, tmp_path: Path) -> None:
        shop = paused(tmp_path)

        def step(name: str) -> bool:
            raise Down("no answer", remedy="wait")

        made = chores(shop, step, gives_up=True)
        made.run()
        made.run()
        shop.clock = 2.0
        with pytest.raises(Down):
            made.run()

    def test_a_failure_that_does_not_pass_parks_its_table_alone(self, tmp_path: Path) -> None:
        shop = paused(tmp_path)

        def step(name: str) -> bool:
            if name == NAME:
                raise Broken("the file cannot be written", remedy="make room", file="x.parquet")
            return False

        made = chores(shop, step)
        do_all(made, StopSignal())

        parked = shop.table.parked
        assert parked == Parked(
            reason="failed",
            message="the file cannot be written [file=x.parquet]",
            remedy="make room",
            topic=TOPIC,
            partition=0,
            offset=1,
            resume={TOPIC: {0: 1}},
            skipped=1,
        )
        assert shop.plain.ledger.state.tables[USERS].status is TableStatus.CATCHING_UP

    def test_a_stop_that_comes_behind_a_commit_whose_answer_was_lost_is_made_later(self, tmp_path: Path) -> None:
        shop = paused(tmp_path)

        def step(name: str) -> bool:
            if name == NAME:
                if not shop.failures:
                    stamp = Stamp("run", "host", attempt=99, written_ms=0)
                    lost = commit_version(shop.plain.ledger.state, Draft(merging=(TOPIC,)), stamp)
                    shop.plain.state.put_if_absent(path_of(lost.version), encode(lost))
                raise Broken("the file cannot be written", remedy="make room")
            return False

        made = chores(shop, step)
        made.run()
        assert [type(error) for error in shop.failures] == [EarlierAttemptError]
        shop.clock = 3.0
        made.run()
        assert (shop.table.parked or Parked("", "", "", "", 0, 0)).message == "the file cannot be written"
        assert shop.plain.ledger.state.merging == (TOPIC,)

    def test_damage_of_a_folder_is_told_as_such(self, tmp_path: Path) -> None:
        shop = paused(tmp_path)

        def step(name: str) -> bool:
            raise TableResetError("the folder is gone", remedy="rebuild the table")

        chores(shop, step).run()
        assert shop.table.parked is not None
        assert (shop.table.parked.reason, shop.table.parked.resume) == ("zone:table_reset", {TOPIC: {0: 1}})

    def test_what_concerns_all_tables_ends_the_driver(self, tmp_path: Path) -> None:
        shop = paused(tmp_path)

        def step(name: str) -> bool:
            raise FencedError("another driver owns the zone", remedy="leave it")

        with pytest.raises(FencedError):
            chores(shop, step).run()

    def test_a_parked_table_is_looked_at_only_if_its_policy_asks_for_a_rebuild(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.read(row(1), 10), ORDERS.truncate(11))
        looked: list[str] = []

        def step(name: str) -> bool:
            looked.append(name)
            return False

        chores(shop, step).run()
        assert looked == []
        assert shop.table.parked is not None
        asking = replace(shop.table, parked=replace(shop.table.parked, rebuild=RebuildKind.KAFKA))
        shop.plain.ledger.commit(Draft(tables={NAME: asking}))
        chores(shop, step).run()
        assert looked == [NAME]
