"""A table whose first events have passed by because the settings left it out, and that they include later."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from connectors.debezium.options import DecodeOptions, PayloadFormat, TableRules
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import KEPT_PASSED_OVER, TableState, TableStatus
from streaming.demo.encoding import Encoding
from streaming.demo.workload import Record
from streaming.driver.checkpoint import Planned
from streaming.driver.planning import plan_batch, planned_topics
from streaming.policies import TableMode
from tests.support.plain_job import local_action
from tests.support.records import Table
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME
from tests.unit.streaming.resumable import Shop

EXCLUDING = {"decode": DecodeOptions(rules=TableRules(exclude=(NAME,)))}
USERS = Table("shop.public.users", "users")


def passed_by(folder: Path) -> Shop:
    """Two rows of the table have passed by, and then the settings include it."""
    shop = Shop(folder, options=dict(EXCLUDING))
    shop.receive(ORDERS.read(row(1), 10), ORDERS.create(row(2), 11), USERS.create(row(1), 12))
    shop.options = {}
    shop.restart()
    return shop


def table(shop: Shop) -> TableState:
    return shop.plain.ledger.state.tables[NAME]


def test_it_is_parked_at_its_first_event_and_says_so(tmp_path: Path) -> None:
    shop = passed_by(tmp_path)
    assert set(shop.plain.ledger.state.tables) == {"public.users"}
    shop.receive(ORDERS.create(row(3), 13), USERS.create(row(2), 14))
    parked = table(shop).parked
    assert parked is not None
    assert (table(shop).status, parked.reason, parked.message, parked.remedy, parked.resume) == (
        TableStatus.PARKED,
        "included_late",
        "events of shop.public.orders have passed by while the settings excluded it, so the rows from before this one "
        "would be missing",
        "`cdc-bridge resync CONFIG public.orders` for all rows; `cdc-bridge resume CONFIG public.orders` if it may "
        "begin in the middle",
        {TOPIC: {0: 2}},
    )
    assert shop.plain.ledger.state.tables["public.users"].parked is None


def test_a_person_may_let_it_begin_in_the_middle(tmp_path: Path) -> None:
    shop = passed_by(tmp_path)
    shop.receive(ORDERS.create(row(3), 13))
    shop.receive(ORDERS.create(row(4), 14))
    assert shop.resume().accepted
    shop.catch_up_wholly()
    shop.receive(ORDERS.create(row(5), 15))
    assert shop.rows() == [row(3), row(4), row(5)]


def test_it_streams_if_it_begins_with_a_snapshot(tmp_path: Path) -> None:
    shop = passed_by(tmp_path)
    shop.receive(ORDERS.read(row(1), 13), ORDERS.read(row(2), 13), ORDERS.create(row(3), 14))
    shop.receive(ORDERS.update(row(3, "b"), 15))
    assert table(shop).parked is None
    assert shop.rows() == [row(1), row(2), row(3, "b")]


def test_a_history_that_would_lack_its_beginning_is_parked_as_well(tmp_path: Path) -> None:
    shop = passed_by(tmp_path)
    shop.restart(mode=TableMode.HISTORY)
    shop.receive(ORDERS.create(row(3), 13))
    assert table(shop).status is TableStatus.PARKED


def test_a_table_of_the_same_topic_that_was_never_left_out_begins_where_its_first_event_is(tmp_path: Path) -> None:
    shop = passed_by(tmp_path)
    shop.receive(replace(USERS, topic=TOPIC, name="clients").create(row(1), 13))
    assert shop.plain.ledger.state.tables["public.clients"].parked is None


def test_records_that_carry_no_schema_pass_by_as_well(tmp_path: Path) -> None:
    decode = DecodeOptions(value_format=PayloadFormat.JSON, rules=EXCLUDING["decode"].rules)
    shop = Shop(tmp_path, options={"decode": decode})
    shop.receive(ORDERS.create(row(1), 10))
    assert shop.plain.ledger.state.passed_over == (("shop", "public", "orders"),)


def test_what_has_passed_by_is_noted_once_and_kept_over_starts(tmp_path: Path) -> None:
    shop = Shop(tmp_path, options=dict(EXCLUDING))
    shop.receive(ORDERS.create(row(1), 10))
    shop.receive(ORDERS.create(row(2), 11))
    noted = (("shop", "public", "orders"),)
    assert Ledger.open(shop.plain.state, now_ms=lambda: 0).state.passed_over == noted
    shop.restart()
    assert shop.plain.ledger.state.passed_over == noted


def test_a_table_that_has_landed_is_parked_by_the_start_instead(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.receive(ORDERS.create(row(1), 10))
    shop.options = dict(EXCLUDING)
    shop.restart()
    shop.receive(ORDERS.create(row(2), 11))
    assert shop.plain.ledger.state.passed_over == ()


def left_out(number: int, encoding: Encoding = Encoding.JSON_WITH_SCHEMA) -> Record:
    return replace(USERS, name=f"work_{number}", encoding=encoding).create(row(1), 11)


class TestMoreTablesThanTheLedgerNames:
    """Whoever can write to a topic can name as many tables as they like."""

    @pytest.fixture
    def full(self, tmp_path: Path) -> Shop:
        shop = Shop(tmp_path, options={"decode": DecodeOptions(rules=TableRules(exclude=("public.work_*",)))})
        shop.receive(USERS.create(row(1), 10))
        named = (("shop", "public", f"work_{number}") for number in range(KEPT_PASSED_OVER - 1))
        shop.plain.ledger.commit(Draft(passed_over=tuple(named)))
        shop.receive(*(left_out(number) for number in range(KEPT_PASSED_OVER - 3, KEPT_PASSED_OVER + 20)))
        return shop

    def test_it_names_so_many_and_each_once(self, full: Shop) -> None:
        noted = full.plain.ledger.state.passed_over
        assert len(set(noted)) == len(noted) == KEPT_PASSED_OVER

    def test_a_task_reports_as_many_that_no_table_is_known_of(self, full: Shop) -> None:
        rules = TableRules(exclude=("public.work_*", "public.users"))
        full.options = {"decode": DecodeOptions(value_format=PayloadFormat.JSON, rules=rules)}
        full.restart()
        start = full.log.ends()
        full.send(replace(USERS, encoding=Encoding.JSON).create(row(2), 12))
        full.send(*(left_out(number, Encoding.JSON) for number in range(KEPT_PASSED_OVER + 1)))
        planned = Planned(start, full.log.ends())
        job, state = full.plain.job, full.plain.ledger.state
        topics = planned_topics(planned, state, {topic: full.log.topic_id(topic) for topic in planned.end})
        read = local_action(full.log, full.plain.worker, arrow_rows=4_000)
        (partition,) = read(plan_batch(job, state, topics, "unique", frozenset())).partitions
        assert len(partition.passed_over) == KEPT_PASSED_OVER
        assert ("shop", "public", "users") not in partition.passed_over

    def test_a_table_that_is_known_goes_on(self, full: Shop) -> None:
        full.receive(USERS.create(row(2), 12))
        assert full.plain.ledger.state.tables["public.users"].parked is None

    def test_any_new_one_may_have_passed_by(self, full: Shop) -> None:
        full.receive(ORDERS.create(row(3), 13), ORDERS.create(row(4), 14))
        parked = table(full).parked
        assert parked is not None
        assert (parked.reason, parked.message) == (
            "included_late",
            "events of shop.public.orders may have passed by: the settings have left out more than the 10,000 tables "
            "that the ledger names, so rows from before this one may be missing",
        )
        assert full.resume().accepted
        full.catch_up_wholly()
        assert full.rows() == [row(3), row(4)]

    def test_a_new_one_that_begins_with_a_snapshot_streams(self, full: Shop) -> None:
        items = Table("shop.public.items", "items")
        full.receive(items.read(row(1), 15), items.create(row(2), 16))
        full.receive(items.create(row(3), 17))
        assert full.plain.ledger.state.tables["public.items"].parked is None
