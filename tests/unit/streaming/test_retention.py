"""Records that retention removed before they were landed stop the table that they belong to, and no other."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from connectors.landing_zone.errors import OffsetGapError, TopicRecreatedError
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Parked, TableStatus
from connectors.landing_zone.requests import Action, new_request
from streaming.driver.startup import check_topics
from streaming.lifecycle.retention import park_behind_retention
from streaming.log_context import version_in_hand
from tests.support.records import Table
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, OTHER_NAME, REQUEST, USERS, Driver, World, shop

REMEDY = (
    "rebuild the table with `cdc-bridge resync CONFIG public.orders`, and give its topics a longer retention than the "
    "longest outage"
)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return shop(World(tmp_path))


@pytest.fixture
def versions() -> Iterator[list[tuple[str, int | None]]]:
    """What is logged of tables that stand still, each line with the version that it is about."""
    told: list[tuple[str, int | None]] = []

    class Noting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append((record.getMessage(), version_in_hand()))

    log, noting = logging.getLogger("streaming.lifecycle.retention"), Noting()
    log.addHandler(noting)
    yield told
    log.removeHandler(noting)


def start(world: World) -> Driver:
    """A driver that has looked at Kafka, as each does before its query begins."""
    driver = world.driver()
    present = world.log.describe(sorted(world.log.partitions))
    park_behind_retention(driver.ledger, present)
    check_topics(driver.ledger.state, present)
    return driver


def outage(world: World) -> None:
    """Two of three records of a table were removed while nobody read them."""
    world.send(
        ORDERS.create(row(5), 50), ORDERS.create(row(6), 51), ORDERS.create(row(7), 52), USERS.create(row(3), 53)
    )
    world.log.earliest[(TOPIC, 0)] = 5


def test_the_table_is_parked_where_its_records_are_gone_and_the_others_go_on(world: World) -> None:
    outage(world)
    before = world.rows()
    start(world).drain()
    table = world.table
    assert table.parked == Parked(
        reason="retention_passed",
        message=f"Kafka's retention has removed offsets that were not landed: 3 to 4 of {TOPIC}/0",
        remedy=REMEDY,
        topic=TOPIC,
        partition=0,
        offset=3,
        resume={TOPIC: {0: 3}},
        skipped=1,
    )
    assert (table.status, world.rows()) == (TableStatus.PARKED, before)
    assert world.rows(OTHER_NAME) == [row(1), row(2), row(3)]
    assert world.ledger.topics[TOPIC].partitions == {0: 6}


def test_the_version_that_parks_the_table_is_the_one_that_passes_the_lost_offsets(
    world: World, versions: list[tuple[str, int | None]]
) -> None:
    outage(world)
    version = world.ledger.version
    driver = start(world)
    assert driver.ledger.state.version == version + 2  # the claim, and the parking
    [(line, about)] = versions
    assert (line.partition(":")[0], about) == (f"{NAME} stands still", version + 2)
    assert driver.ledger.state.topics[TOPIC].partitions == {0: 5}
    again = start(world)
    assert again.ledger.state.version == version + 3


def widened(world: World) -> None:
    """A partition was added while nobody read it, and two of its three records were removed."""
    added = ORDERS.at(1)
    world.send(*(added.create(row(key), 45 + key) for key in (5, 6, 7)))
    world.log.earliest[(TOPIC, 1)] = 2


def test_a_partition_that_was_added_begins_at_0_and_what_retention_removed_of_it_stops_the_table(world: World) -> None:
    widened(world)
    before = world.rows()
    start(world).drain()
    parked = world.table.parked
    assert parked is not None
    assert (parked.reason, parked.message) == (
        "retention_passed",
        f"Kafka's retention has removed offsets that were not landed: 0 to 1 of {TOPIC}/1",
    )
    assert (world.rows(), world.ledger.topics[TOPIC].partitions) == (before, {0: 3, 1: 3})


def test_a_partition_that_was_added_to_a_topic_of_several_tables_stops_the_job(world: World) -> None:
    driver = world.driver()
    users = driver.ledger.state.tables[OTHER_NAME]
    shared = replace(users, partitions={**users.partitions, **world.table.partitions})
    driver.ledger.commit(Draft(tables={OTHER_NAME: shared}))
    widened(world)
    with pytest.raises(OffsetGapError, match=r"removed 2 offsets .* partition=1, offset=0, earliest=2\]"):
        start(world)


def test_resume_is_refused_and_a_resync_brings_the_rows_back(world: World) -> None:
    outage(world)
    start(world).drain()
    request = new_request(Action.RESUME, now_ms=2, by="ann@home", table=NAME)
    world.ask(request)
    start(world).drain()
    answer = world.answered(request)
    assert (answer.accepted, world.table.status) == (False, TableStatus.PARKED)
    world.snapshot = (ORDERS.reread(row(6), 60), ORDERS.reread(row(7), 60))
    world.ask(REQUEST)
    world.live()
    assert (world.rows(), world.table.status) == ([row(6), row(7)], TableStatus.STREAMING)


def test_a_table_that_stands_still_already_keeps_its_place_and_reason(world: World) -> None:
    world.ask(new_request(Action.PAUSE, now_ms=1, by="ann@home", table=NAME))
    world.driver().do_chores()
    parked = world.table.parked
    outage(world)
    start(world)
    assert (world.table.parked, world.ledger.topics[TOPIC].partitions) == (parked, {0: 5})


def test_a_table_that_two_topics_feed_is_parked_once_where_both_have_lost_records(world: World) -> None:
    west = Table("west.public.orders")
    world.send(west.create(row(8), 45))
    world.live()
    outage(world)
    world.send(west.create(row(9), 54))
    world.log.earliest[(west.topic, 0)] = 2
    start(world)
    parked = world.table.parked
    assert parked is not None
    assert parked.resume == {TOPIC: {0: 3}, west.topic: {0: 1}}
    assert {topic: each.partitions[0] for topic, each in world.ledger.topics.items() if "orders" in topic} == {
        TOPIC: 5,
        west.topic: 2,
    }


def test_a_topic_that_may_have_carried_another_tables_records_stops_the_job(world: World) -> None:
    outage(world)
    driver = world.driver()
    users = driver.ledger.state.tables[OTHER_NAME]
    shared = replace(users, partitions={**users.partitions, **world.table.partitions})
    driver.ledger.commit(Draft(tables={OTHER_NAME: shared}))
    with pytest.raises(OffsetGapError, match="Kafka's retention has removed 2 offsets that are not landed"):
        start(world)


def test_a_topic_with_another_name_than_its_table_stops_the_job(world: World) -> None:
    routed = Table("routed")
    world.send(Table(routed.topic, "lines").create(row(1), 30))
    world.live()
    world.send(Table(routed.topic, "lines").create(row(2), 31))
    world.log.earliest[(routed.topic, 0)] = 2
    with pytest.raises(OffsetGapError):
        start(world)


def test_a_name_that_a_topic_cannot_hold_is_known_by_what_debezium_makes_of_it(world: World) -> None:
    spaced = Table("shop.public.order_items", "order items")
    world.send(spaced.create(row(1), 30))
    world.live()
    world.send(spaced.create(row(2), 31), spaced.create(row(3), 32))
    world.log.earliest[(spaced.topic, 0)] = 2
    start(world).drain()
    parked = world.ledger.tables["public.order items"].parked
    assert parked is not None
    assert (parked.reason, parked.resume) == ("retention_passed", {spaced.topic: {0: 1}})
    assert world.table.parked is None


def test_a_topic_that_was_made_again_is_no_matter_of_retention(world: World) -> None:
    outage(world)
    world.log.ids[TOPIC] = "another"
    with pytest.raises(TopicRecreatedError):
        start(world)
