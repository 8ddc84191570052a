"""What proves that the mirror has everything up to a place in the source's log, and what does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from connectors.landing_zone.ledger.state import LedgerState, PartitionState, Phase, TopicOffsets
from connectors.source_database.position import LogPosition
from streaming.reconciling.coverage import Covered, Ends, Evidence, Uncovered, Watch, standing_still
from tests.unit.reconciling.moving import Silent
from tests.unit.streaming.landed_shop import TOPIC, parked, two_batches

TABLE = "public.orders"
PLACE = LogPosition(0, 100)


class World:
    """A ledger whose table has landed up to offset 6 and position 22, topics, and a clock."""

    def __init__(self, folder: Path) -> None:
        self.state = two_batches(folder).ledger.state
        self.waiting: frozenset[str] = frozenset()
        self.ends: Ends = {TOPIC: {0: 6}}
        self.reach = Silent()
        self.reach.sent = None
        self.seconds = 0.0
        self.passing: Callable[[], None] = lambda: None

    def with_partitions(self, *partitions: tuple[Phase, int, int, int]) -> None:
        """(phase, high word, low word, events below it) per partition."""
        known = {
            number: PartitionState(phase, 0, f"{high:016x}{low:016x}", below)
            for number, (phase, high, low, below) in enumerate(partitions)
        }
        table = msgspec.structs.replace(self.state.tables[TABLE], partitions={TOPIC: known})
        self.state = msgspec.structs.replace(self.state, tables={TABLE: table})

    def pause(self, seconds: float) -> None:
        self.seconds += seconds
        self.passing()

    def watch(self) -> Watch:
        return Watch(
            head=lambda: self.state,
            unpublished=lambda state: self.waiting,
            ends=lambda topics: self.ends,
            reach=self.reach,
            now=lambda: self.seconds,
            pause=self.pause,
            settle=2.0,
        )

    def cover(self, position: LogPosition | None = PLACE, seconds: float = 10.0) -> Evidence | str:
        found = self.watch().cover(TABLE, position, seconds)
        match found:
            case Covered(_, evidence):
                return evidence
            case Uncovered(reason):
                return reason


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


STREAMING, SNAPSHOT = Phase.STREAMING, Phase.SNAPSHOT


class TestEvents:
    @pytest.mark.parametrize(
        ("partitions", "position", "covered"),
        [
            ([(STREAMING, 100, 90, 0)], PLACE, True),
            ([(STREAMING, 40, 100, 0)], PLACE, True),
            ([(STREAMING, 99, 99, 0)], PLACE, False),
            ([(SNAPSHOT, 200, 200, 0)], PLACE, False),
            ([(STREAMING, 200, 200, 3)], PLACE, False),
            ([(STREAMING, 3, 700, 0)], LogPosition(3, 700), True),
            ([(STREAMING, 3, 700, 0)], LogPosition(4, 4), False),
            ([(STREAMING, 200, 200, 0), (STREAMING, 50, 50, 0)], PLACE, False),
            ([], PLACE, False),
        ],
    )
    def test_of_every_partition_are_behind_the_place(
        self, world: World, partitions: list[tuple[Phase, int, int, int]], position: LogPosition, covered: bool
    ) -> None:
        world.with_partitions(*partitions)
        assert (world.cover(position) is Evidence.EVENTS) is covered

    def test_a_partition_without_any_event_of_the_table_proves_nothing(self, world: World) -> None:
        world.with_partitions((STREAMING, 200, 200, 0))
        world.state = msgspec.structs.replace(world.state, topics={TOPIC: TopicOffsets("id", {0: 6, 1: 0})})
        assert world.cover() is not Evidence.EVENTS

    def test_a_file_that_is_not_published_is_waited_for(self, world: World) -> None:
        world.with_partitions((STREAMING, 200, 200, 0))
        world.waiting = frozenset({TABLE})
        assert world.cover() == "its last file is bound and not published yet"


class TestAcknowledged:
    def test_what_is_in_the_topics_then_has_landed(self, world: World) -> None:
        world.reach.position = PLACE
        assert world.cover() is Evidence.ACKNOWLEDGED
        assert world.seconds == 0

    def test_it_is_waited_for_until_it_has_landed_and_no_longer(self, world: World) -> None:
        world.reach.position, world.ends = PLACE, {TOPIC: {0: 8}}

        def lands() -> None:
            world.ends = {TOPIC: {0: 90}}
            world.state = msgspec.structs.replace(world.state, topics={TOPIC: TopicOffsets("id", {0: 8})})

        world.passing = lands
        assert world.cover() is Evidence.ACKNOWLEDGED
        assert world.seconds == 0.5

    def test_what_has_not_landed_in_time(self, world: World) -> None:
        world.reach.position, world.ends = PLACE, {TOPIC: {0: 8}}
        assert world.cover() == "2 offsets of its topics have not landed: is the bridge running?"

    def test_an_older_place_proves_nothing(self, world: World) -> None:
        world.reach.position = LogPosition(0, 99)
        assert world.cover() == (
            "the connector has acknowledged 0/63, not 0/64: wait longer, or set its heartbeat.interval.ms and "
            "heartbeat.action.query"
        )


class TestSilence:
    def test_after_the_whole_log_was_sent(self, world: World) -> None:
        world.reach.sent = True
        assert world.cover() is Evidence.SILENCE
        assert world.seconds == 2.0

    def test_it_is_no_proof(self, world: World) -> None:
        world.reach.sent = True
        found = world.watch().cover(TABLE, PLACE, 10.0, proof=True)
        assert isinstance(found, Uncovered)
        assert found.reason.startswith("the connector was sent every change and its topics are silent")
        assert world.seconds == 2.0
        world.reach.position = LogPosition(0, 99)
        found = world.watch().cover(TABLE, PLACE, 10.0, proof=True)
        assert isinstance(found, Uncovered)
        assert found.reason.startswith("the connector has acknowledged 0/63, not 0/64")
        assert world.seconds == 12.0

    def test_it_begins_anew_with_each_record(self, world: World) -> None:
        world.reach.sent = True

        def grows() -> None:
            end = 6 + int(world.seconds)
            world.ends = {TOPIC: {0: end}}
            world.state = msgspec.structs.replace(world.state, topics={TOPIC: TopicOffsets("id", {0: end})})

        world.passing = grows
        assert world.cover() == "its topics keep growing: wait longer"

    @pytest.mark.parametrize(
        ("sent", "reason"),
        [
            (False, "the database has not sent its log up to 0/64 to a connector: is the connector running?"),
            (None, "nothing tells whether the connector has read the log up to 0/64: set source.connect, or let the"),
        ],
    )
    def test_it_proves_nothing_while_the_database_has_not_sent_its_log(
        self, world: World, sent: bool | None, reason: str
    ) -> None:
        world.reach.sent = sent
        said = world.cover()
        assert isinstance(said, str)
        assert said.startswith(reason)


def test_a_table_that_stands_still_is_not_waited_for(tmp_path: Path) -> None:
    world = World(tmp_path / "a")
    world.state = parked(tmp_path / "b").ledger.state
    assert world.cover() == "the table is parked (truncate): its mirror stands still on purpose"
    assert world.seconds == 0
    world.state = LedgerState("", 0, 0, "")
    assert world.cover() == "the ledger no longer knows the table"


def test_a_table_that_is_being_made_is_told_from_one_that_streams(tmp_path: Path) -> None:
    state = two_batches(tmp_path).ledger.state
    assert standing_still(state, TABLE) is None


def test_what_waits_at_the_beginning_is_given_time_to_land(world: World) -> None:
    world.ends = {TOPIC: {0: 8}}
    assert world.watch().caught_up(TABLE, 3.0) == world.state
    assert world.seconds == 3.0
    world.ends = {TOPIC: {0: 6}}
    world.watch().caught_up(TABLE, 3.0)
    assert world.seconds == 3.0
