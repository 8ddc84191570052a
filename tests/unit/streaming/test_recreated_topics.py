"""A topic that was deleted and made again: its table waits for a person, and a resync brings it back."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from connectors.landing_zone.errors import InvalidDraftError, TopicRecreatedError
from connectors.landing_zone.ledger.draft import Draft, check
from connectors.landing_zone.ledger.state import PlannedTopic, TableStatus
from streaming.driver.startup import check_topics
from streaming.lifecycle.recreated_topics import park_recreated
from streaming.log_context import version_in_hand
from tests.support.records import Table
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, OTHER_NAME, USERS, Driver, World, shop


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

    log, noting = logging.getLogger("streaming.lifecycle.recreated_topics"), Noting()
    log.addHandler(noting)
    yield told
    log.removeHandler(noting)


def start(world: World) -> Driver:
    """A driver that has looked at Kafka, as each does before its query begins."""
    driver = world.driver()
    present = world.log.describe(sorted(world.log.partitions))
    park_recreated(driver.ledger, present)
    check_topics(driver.ledger.state, present)
    return driver


def make_again(world: World, topic: str = TOPIC, *, earliest: int = 0) -> None:
    """Another topic of the name, with two records, of which retention has removed some."""
    world.log.ids[topic] = "another"
    world.log.partitions[topic] = {0: [ORDERS.create(row(8), 60), ORDERS.update(row(8, "eight"), 61)]}
    world.log.earliest[topic, 0] = earliest


def test_a_resync_brings_the_table_back(world: World) -> None:
    make_again(world)
    start(world).drain()
    assert (world.table.status, world.rows()) == (TableStatus.PARKED, [row(1, "uno"), row(2, "stale")])
    world.ask()
    world.live()
    assert world.answered().accepted
    assert (world.table.status, world.table.generation) == (TableStatus.STREAMING, 2)
    assert world.rows() == [row(1, "uno"), row(3, "three")]
    world.send(ORDERS.create(row(9), 70))
    world.live()
    assert world.rows() == [row(1, "uno"), row(3, "three"), row(9)]


def test_the_version_that_parks_the_table_is_the_one_that_begins_the_topic(
    world: World, versions: list[tuple[str, int | None]]
) -> None:
    make_again(world, earliest=1)
    version = world.ledger.version
    driver = start(world)
    assert driver.ledger.state.version == version + 2  # the claim, and the parking
    [(line, about)] = versions
    assert (line.partition(":")[0], about) == (f"{NAME} stands still", version + 2)
    known = driver.ledger.state.topics[TOPIC]
    assert (known.id, known.partitions) == ("another", {0: 1})
    assert start(world).ledger.state.version == version + 3, "the next start has nothing to say"


def test_a_table_that_stands_still_already_does_so_for_this_reason_now(world: World) -> None:
    world.send(ORDERS.truncate(30))
    world.live()
    make_again(world)
    start(world)
    parked = world.table.parked
    assert parked is not None
    assert (parked.reason, parked.resume) == ("topic_recreated", {TOPIC: {0: 0}})


def test_that_a_letter_of_the_old_topic_has_landed_says_nothing_of_one_of_the_new(world: World) -> None:
    driver = world.driver()
    replayed = {TOPIC: {0: ((1, 1),)}, "elsewhere": {0: ((7, 7),)}}
    driver.ledger.commit(Draft(tables={NAME: replace(world.table, replayed=replayed)}))
    make_again(world)
    start(world)
    assert world.table.replayed == {"elsewhere": {0: ((7, 7),)}}


def test_a_cluster_in_which_every_topic_is_another_one_parks_no_table(world: World) -> None:
    version = world.ledger.version
    right = dict(world.log.partitions)
    make_again(world)
    make_again(world, USERS.topic)
    with pytest.raises(TopicRecreatedError) as raised:
        start(world)
    assert world.ledger.version == version + 1, "the claim, and nothing else"
    assert (world.table.status, world.ledger.tables[OTHER_NAME].status) == (TableStatus.STREAMING,) * 2
    assert str(raised.value) == (
        "none of the 2 topics that the ledger knows is there as the one whose offsets it holds: this is another "
        "cluster, or all of them were deleted and created again [topic=shop.public.orders, "
        "recorded_id=id-shop.public.orders, found_id=another, topics=2]. Remedy: check kafka.bootstrap_servers: "
        "nothing was changed, and with the right cluster the next start goes on. If the cluster was really made anew:"
        " start once with kafka.topics naming one table's topic alone, which parks that table; then with all of them,"
        " which parks the others; and rebuild each with `cdc-bridge resync CONFIG TABLE`. Where that is refused, "
        "carry its tables with a second bridge: another name, landing zone and state, and a snapshot of its own"
    )
    world.log.ids.clear()
    world.log.partitions = right
    assert start(world).ledger.state.tables[NAME].status is TableStatus.STREAMING


def test_a_cluster_that_was_made_anew_is_taken_up_by_one_topic_first(world: World) -> None:
    make_again(world)
    make_again(world, USERS.topic)
    driver = world.driver()
    park_recreated(driver.ledger, world.log.describe([TOPIC]))
    assert (world.table.status, world.ledger.tables[OTHER_NAME].status) == (TableStatus.PARKED, TableStatus.STREAMING)
    start(world).drain()
    assert {table.status for table in world.ledger.tables.values()} == {TableStatus.PARKED}
    world.ask()
    world.live()
    assert world.rows() == [row(1, "uno"), row(3, "three")]


def test_a_topic_with_another_name_than_its_table_stops_the_job(world: World) -> None:
    other = Table("shop.elsewhere", "users")
    world.send(other.create(row(5), 50))
    world.live()
    make_again(world, other.topic)
    version = world.ledger.version
    with pytest.raises(TopicRecreatedError):
        start(world)
    assert world.ledger.version == version + 1


def test_a_table_that_is_being_rebuilt_stops_the_job(world: World) -> None:
    world.release_wait = 60.0
    world.ask()
    world.driver().drain()
    assert world.table.status is TableStatus.DELETING
    make_again(world)
    with pytest.raises(TopicRecreatedError):
        start(world)


def test_the_ledger_begins_no_topic_anew_under_a_table_that_goes_on(world: World) -> None:
    state = world.ledger
    begun = PlannedTopic("another", {0: (0, 0)})
    with pytest.raises(InvalidDraftError, match="A topic would begin anew under a table that goes on"):
        check(Draft(recreated={TOPIC: begun}), state)
    with pytest.raises(InvalidDraftError, match="A topic would begin anew that is not another one"):
        check(Draft(recreated={TOPIC: replace(begun, id=state.topics[TOPIC].id)}), state)
    with pytest.raises(InvalidDraftError, match="A topic would begin anew with records that are not read"):
        check(Draft(recreated={TOPIC: replace(begun, partitions={0: (0, 2)})}), state)


def test_the_other_tables_go_on(world: World) -> None:
    make_again(world)
    world.send(USERS.create(row(3), 62))
    start(world).drain()
    assert world.rows(OTHER_NAME) == [row(1), row(2), row(3)]
    assert NAME in world.ledger.tables


def test_partitions_that_the_new_topic_does_not_have_are_forgotten(world: World) -> None:
    world.send(ORDERS.at(1).create(row(5), 50))
    world.live()
    assert world.ledger.topics[TOPIC].partitions == {0: 3, 1: 1}
    make_again(world)
    start(world).drain()
    assert (world.ledger.topics[TOPIC].partitions, world.table.status) == ({0: 2}, TableStatus.PARKED)
    world.ask()
    world.live()
    assert world.rows() == [row(1, "uno"), row(3, "three")]
