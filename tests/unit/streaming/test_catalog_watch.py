"""Looks into the source's catalog: which tables, when, how long they are waited for, and among the chores."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from connectors.debezium.options import DecodeOptions, TableRules
from connectors.kafka.loopback import free_ports
from connectors.landing_zone.errors import FencedError
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.storage.local import LocalStorage
from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.errors import DatabaseUnreachableError
from streaming.driver.query import Retries
from streaming.lifecycle.beside import GIVEN_UP_SECONDS, OVERDUE_SECONDS
from streaming.lifecycle.catalog_look import Gone, Look, Mirrored, Missing
from streaming.lifecycle.catalog_watch import PATIENCE, CatalogWatch, look_into, mirrored_tables
from streaming.lifecycle.chores import Chores, Pace
from tests.support.plain_job import Log, PlainJob
from tests.support.records import Table
from tests.unit.streaming.catalog_shop import DROPPED, END, FIRST, NAME, USERS, Shop, Source
from tests.unit.streaming.landed_shop import job, row
from tests.unit.streaming.settings_builder import settings


class TestWhichTables:
    def test_not_those_that_the_settings_leave_out_or_that_outlive_each_of_their_sources(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        mine = shop.mirrored()
        assert mine == Mirrored(NAME, 1, "shop", DatabaseTable("public", "orders"), FIRST)
        shop.set(sources=(("shop", "public", "orders"),))
        assert [one.name for one in mirrored_tables(shop.plain.ledger.state, shop.plain.job)] == [USERS]
        left_out = job(tmp_path, decode=DecodeOptions(rules=TableRules(exclude=(USERS,))))
        assert mirrored_tables(shop.plain.ledger.state, left_out) == ()


class TestWhen:
    def test_now_and_then_and_never_two_at_a_time(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        for _ in range(3):
            shop.watch()
        assert len(shop.source.waiting) == 1
        shop.source.end()
        shop.watch()
        shop.clock += 29.9
        shop.watch()
        assert shop.source.waiting == []
        shop.clock += 0.1
        shop.watch()
        assert len(shop.source.waiting) == 1

    def test_at_once_for_a_table_that_has_just_landed(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.look()
        shop.watch()
        assert shop.source.waiting == []
        shop.plain.receive(Table("shop.public.new", "new").create(row(1), 20))
        shop.watch()
        shop.source.end()
        assert [one.name for one in shop.source.asked[-1]] == ["public.new", NAME, USERS]

    def test_not_before_there_are_tables(self, tmp_path: Path) -> None:
        plain = PlainJob(tmp_path, job(tmp_path), Log())
        source = Source()
        watch = CatalogWatch(plain.opened(), plain.job, source, print, start=source.waiting.append)
        watch()
        assert (source.waiting, watch.looking) == ([], False)

    def test_soon_again_while_a_drop_has_no_place_yet(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        waiting = {NAME: Missing(FIRST, END, frozenset({7}))}
        shop.source.answers += [Look((), waiting)] * (PATIENCE + 1)
        for turn in range(PATIENCE + 1):
            shop.watch()
            assert len(shop.source.waiting) == 1
            shop.source.end()
            shop.watch()
            assert shop.watch.looking == (turn + 1 < PATIENCE), "nobody waits for ever"
            shop.clock += 1.0
        assert shop.source.missing == [{}, *[waiting] * PATIENCE]

    def test_what_was_found_is_recorded_again_after_a_failure(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.source.answers.append(Look((Gone(shop.mirrored(), END),)))
        shop.watch()
        shop.source.end()
        Ledger.open(LocalStorage(tmp_path / "state"), now_ms=lambda: 0).claim("other", "elsewhere")
        for _ in range(2):
            with pytest.raises(FencedError):
                shop.watch()
            assert shop.watch.looking


class TestFailures:
    def test_a_database_that_is_down_is_told_once_and_once_when_it_is_back(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        shop = Shop(tmp_path)
        down = DatabaseUnreachableError("it is down", remedy="start it")
        shop.source.answers += [down, down, ValueError("odd"), Look(), Look(), down]
        with caplog.at_level(logging.INFO):
            for _ in range(6):
                shop.watch()
                shop.source.end()
                assert shop.watch() is False
                shop.clock += 30
        assert [record.message for record in caplog.records] == [
            "the source's catalog cannot be looked into, so tables that are dropped, made again or renamed go "
            "unnoticed for now; everything lands all the same: it is down; start it",
            "the source's catalog can be looked into again",
            "the source's catalog cannot be looked into, so tables that are dropped, made again or renamed go "
            "unnoticed for now; everything lands all the same: it is down; start it",
        ]

    def test_an_unforeseen_failure_is_told_with_where_it_happened(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        shop = Shop(tmp_path)
        shop.source.answers.append(ValueError("odd"))
        shop.watch()
        shop.source.end()
        shop.watch()
        [record] = caplog.records
        assert record.message.endswith("ValueError('odd')")
        assert record.exc_info is not None

    def test_a_database_that_never_answers_is_told_once_and_nobody_waits_for_it(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        shop = Shop(tmp_path)
        shop.watch()
        shop.clock += OVERDUE_SECONDS - 1
        shop.watch()
        assert (shop.watch.looking, caplog.records) == (True, [])
        for _ in range(3):
            shop.clock += 1
            shop.watch()
            assert not shop.watch.looking
        [record] = caplog.records
        assert "takes a query and does not answer it; look at what is between" in record.message

    def test_an_answer_that_comes_late_counts(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        shop = Shop(tmp_path)
        shop.source.answers.append(Look((Gone(shop.mirrored(), END),)))
        shop.watch()
        shop.clock += OVERDUE_SECONDS
        shop.watch()
        shop.source.end()
        with caplog.at_level(logging.INFO):
            assert shop.watch() is True
        assert shop.state().dropped == DROPPED
        assert caplog.records[-1].message == "the source's catalog can be looked into again"

    def test_the_next_look_begins_beside_one_that_never_ends(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.source.answers += [Look(), Look((Gone(shop.mirrored(), END),))]
        shop.watch()
        hanging = shop.source.waiting.pop()
        shop.clock += GIVEN_UP_SECONDS
        shop.watch()
        [second] = shop.source.waiting
        hanging()
        assert shop.watch() is False
        second()
        assert shop.watch() is True

    def test_nobody_waits_for_a_database_that_goes_down_while_a_drop_has_no_place(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        down = DatabaseUnreachableError("it is down", remedy="start it")
        shop.source.answers += [Look((), {NAME: Missing(FIRST, END, frozenset({7}))}), down]
        for waits in (True, False):
            shop.watch()
            shop.source.end()
            shop.watch()
            assert shop.watch.looking is waits
            shop.clock += 1.0

    def test_a_standby_is_told_once(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        shop = Shop(tmp_path)
        shop.source.answers += [Look(standby=True)] * 2
        for _ in range(2):
            shop.watch()
            shop.source.end()
            shop.watch()
            shop.clock += 30
        assert [record.message for record in caplog.records] == [
            "the source database is a standby, which cannot tell where a table was dropped: dropped, recreated and "
            "renamed tables go unnoticed; let source.database.url lead to the primary"
        ]


class TestAmongTheChores:
    def chores(self, shop: Shop, *, gives_up: bool) -> Chores:
        return Chores(
            shop.plain.opened(),
            {},
            (),
            Pace(0.0, Retries(1, 1.0, 1.0), gives_up=gives_up),
            on_failure=lambda error, pause: None,
            survey=shop.watch,
            clock=lambda: shop.clock,
        )

    def test_a_driver_that_ends_when_nothing_is_left_waits_for_the_look(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        chores = self.chores(shop, gives_up=True)
        shop.source.answers.append(Look((Gone(shop.mirrored(), END),)))
        chores.run()
        assert not chores.idle()
        shop.source.end()
        chores.run()
        assert not chores.idle()
        chores.run()
        assert chores.idle()
        assert shop.state().dropped == DROPPED

    def test_one_that_goes_on_has_nothing_to_do_meanwhile(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        chores = self.chores(shop, gives_up=False)
        chores.run()
        assert chores.idle()
        assert len(shop.source.waiting) == 1

    def test_one_that_has_lost_the_zone_ends(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        chores = self.chores(shop, gives_up=False)
        shop.source.answers.append(Look((Gone(shop.mirrored(), END),)))
        chores.run()
        shop.source.end()
        Ledger.open(LocalStorage(tmp_path / "state"), now_ms=lambda: 0).claim("other", "elsewhere")
        with pytest.raises(FencedError):
            chores.run()


class TestSettings:
    @pytest.mark.parametrize("url", [None, "mysql://reader@localhost/shop"])
    def test_only_postgresql_is_looked_into(self, url: str | None) -> None:
        assert look_into(settings(**({} if url is None else {"source__database": {"url": url}}))) is None

    def test_a_database_that_does_not_answer_is_an_error_of_the_look(self) -> None:
        [port] = free_ports(1)
        now = look_into(settings(source__database={"url": f"postgresql://reader@127.0.0.1:{port}/shop"}))
        assert now is not None
        with pytest.raises(DatabaseUnreachableError):
            now((), {})
