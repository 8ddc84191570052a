"""How a connector run began, by its id and what the connector tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from connectors.kafka.errors import TopicNotFoundError
from connectors.kafka.signals import INCREMENTAL_SNAPSHOT, Notification
from connectors.kafka.signals import SnapshotProgress as Progress
from streaming.lifecycle.connector_runs import (
    RowsOrigin,
    RunBeginning,
    ToldSnapshots,
    began_ms,
    beginning_of,
    rows_origin,
    snapshot_under_way,
)
from streaming.lifecycle.debezium import Debezium
from streaming.settings.format import Connector
from tests.unit.streaming.told_runs import run_id, scan, snapshot, told


@pytest.mark.parametrize(
    ("run", "ms"),
    [
        ("01a1ffee-2cf5-7a77-a571-4dc1b636c5cc", 1795295161589),
        ("f47ac10b-58cc-4372-a567-0e02b2c3d479", None),
        ("run-1", None),
        ("", None),
    ],
)
def test_a_runs_id_holds_the_moment_of_its_beginning(run: str, ms: int | None) -> None:
    assert began_ms(run) == ms


class TestBeginning:
    FIRST, RESTARTED, ANEW = run_id(1_000), run_id(5_000), run_id(9_000)
    INITIAL = scan(1_102, 3)
    BLOCKING = scan(2_002, 0)
    AGAIN = scan(9_102, 0)
    TOLD: Sequence[Notification] = (
        *snapshot(1_100, INITIAL),
        *snapshot(2_000, BLOCKING),
        told(Progress.SKIPPED, 5_300),
        *snapshot(6_000, BLOCKING),
        *snapshot(9_100, AGAIN),
    )

    def test_with_an_initial_snapshot_and_not_with_the_blocking_one_behind_it(self) -> None:
        assert beginning_of(self.FIRST, self.TOLD) == RunBeginning(
            self.FIRST, snapshot=True, told_ms=1_100, scans=(self.INITIAL,), next_ms=2_000
        )

    def test_without_one_although_a_blocking_one_follows(self) -> None:
        assert beginning_of(self.RESTARTED, self.TOLD) == RunBeginning(self.RESTARTED, snapshot=False, told_ms=5_300)

    def test_the_last_one_has_what_was_told_so_far(self) -> None:
        assert beginning_of(self.ANEW, self.TOLD[:-1]) == RunBeginning(
            self.ANEW, snapshot=True, told_ms=9_100, scans=(self.AGAIN,)
        )

    def test_a_start_that_follows_is_not_that_of_the_next_run(self) -> None:
        restarted = [*snapshot(1_100, self.INITIAL), told(Progress.SKIPPED, 5_300)]
        assert beginning_of(self.FIRST, restarted) == RunBeginning(
            self.FIRST, snapshot=True, told_ms=1_100, scans=(self.INITIAL,)
        )

    @pytest.mark.parametrize(
        ("earlier", "after", "surely"),
        [(None, 600_000, True), (None, 600_001, False), (4_999, 600_001, True), (5_000, 600_001, False)],
    )
    def test_only_what_is_told_soon_or_behind_older_word_is_surely_its_own(
        self, earlier: int | None, after: int, surely: bool
    ) -> None:
        before = [] if earlier is None else [told(Progress.COMPLETED, earlier)]
        found = beginning_of(self.RESTARTED, [*before, told(Progress.SKIPPED, 5_000 + after)])
        assert found == RunBeginning(self.RESTARTED, snapshot=False, told_ms=5_000 + after, surely=surely)

    def test_in_the_very_millisecond_of_the_run(self) -> None:
        assert beginning_of(run_id(9_100), self.TOLD) is not None

    @pytest.mark.parametrize("run", ["run-1", run_id(9_101)])
    def test_unknown_where_the_id_or_the_topic_does_not_tell(self, run: str) -> None:
        assert beginning_of(run, self.TOLD) is None


@pytest.mark.parametrize(
    ("says", "under_way"),
    [
        ([], False),
        (snapshot(1_100, scan(1_101, 1))[:-1], True),
        (snapshot(1_100), False),
        ([told(Progress.STARTED, 1_100), told(Progress.ABORTED, 1_200)], False),
        ([told(Progress.STARTED, 1_100), told(Progress.SKIPPED, 5_000)], False),
        ([*snapshot(1_100), told(Progress.STARTED, 2_000)], True),
    ],
)
def test_a_snapshot_is_under_way_from_its_start_to_its_end(says: list[Notification], under_way: bool) -> None:
    assert snapshot_under_way(says) is under_way


class TestRowsOrigin:
    """Of rows of a run that has not streamed before them."""

    BEGAN = 20_000

    def origin(self, row_ms: int, *says: Notification) -> RowsOrigin:
        return rows_origin(beginning_of(run_id(self.BEGAN), says), "public.orders", row_ms)

    @pytest.mark.parametrize(
        ("row_ms", "origin"),
        [
            (20_050, RowsOrigin.ASKED),
            (20_049, RowsOrigin.UNCLEAR),
            (20_000, RowsOrigin.ASKED),
            (15_050, RowsOrigin.UNCLEAR),
            (15_049, RowsOrigin.UNTOLD),
            (0, RowsOrigin.UNCLEAR),
        ],
    )
    def test_a_run_that_went_on_from_its_offsets_told_so_before_them(self, row_ms: int, origin: RowsOrigin) -> None:
        assert self.origin(row_ms, told(Progress.SKIPPED, 20_050)) is origin

    @pytest.mark.parametrize(
        ("row_ms", "origin"), [(25_000, RowsOrigin.ASKED), (24_999, RowsOrigin.UNCLEAR), (19_999, RowsOrigin.UNTOLD)]
    )
    def test_the_runs_own_snapshot_left_the_table_out_and_another_one_began(
        self, row_ms: int, origin: RowsOrigin
    ) -> None:
        others = scan(20_101, 1, "public.users")
        assert self.origin(row_ms, *snapshot(20_100, others), *snapshot(25_000)) is origin

    @pytest.mark.parametrize(
        "says",
        [
            [],
            snapshot(19_000),
            snapshot(20_100),
            snapshot(20_100, scan(20_101, 1)),
            [*snapshot(20_100, scan(20_101, 1)), *snapshot(25_000)],
        ],
    )
    def test_nothing_speaks_against_the_runs_own_initial_snapshot(self, says: list[Notification]) -> None:
        assert self.origin(30_000, *says) is RowsOrigin.UNTOLD

    @pytest.mark.parametrize(("row_ms", "origin"), [(900_100, RowsOrigin.UNCLEAR), (20_100, RowsOrigin.UNTOLD)])
    def test_what_is_told_long_behind_the_runs_beginning_may_be_of_any_snapshot(
        self, row_ms: int, origin: RowsOrigin
    ) -> None:
        assert self.origin(row_ms, *snapshot(900_000, scan(900_001, 1))) is origin


@dataclass
class Topic:
    """The notifications topic, one partition.

    Attributes:
        reads: the offsets from which it was read.
        unseen: how many of the records come only behind the question where it ends.
    """

    records: list[Notification] = field(default_factory=list)
    reads: list[int] = field(default_factory=list)
    exists: bool = True
    unseen: int = 0

    def debezium(self) -> Debezium:
        def heard() -> Mapping[int, int]:
            if not self.exists:
                raise TopicNotFoundError("no such topic", remedy="create it")
            return {0: len(self.records) - self.unseen}

        def notifications(since: Mapping[int, int]) -> Sequence[Notification]:
            self.reads.append(since.get(0, 0))
            return self.records[self.reads[-1] :]

        return Debezium(Connector.AUTO, None, None, lambda topics: {}, heard, notifications, list)


class TestLooking:
    def test_each_look_reads_what_is_new(self) -> None:
        topic = Topic(snapshot(1_100, scan(1_102, 3)))
        seen = ToldSnapshots(topic.debezium())
        assert (seen.look(), seen.look(), seen.latest_ms) == (True, False, 1_110)
        topic.records.append(told(Progress.SKIPPED, 5_000))
        assert (seen.look(), seen.latest_ms, topic.reads) == (True, 5_000, [0, 3])
        assert [one.timestamp for one in seen.of("shop")] == [1_100, 1_102, 1_110, 5_000]

    def test_what_is_read_twice_or_delivered_twice_is_known_once(self) -> None:
        anew = told(Progress.STARTED, 9_100)
        topic = Topic([*snapshot(1_100, scan(1_102, 3)), anew], unseen=1)
        seen = ToldSnapshots(topic.debezium())
        seen.look()
        topic.unseen = 0
        topic.records += [anew, scan(9_102, 0)]
        seen.look()
        assert topic.reads == [0, 3]
        assert beginning_of(run_id(9_000), seen.of("shop")) == RunBeginning(
            run_id(9_000), snapshot=True, told_ms=9_100, scans=(scan(9_102, 0),)
        )

    def test_what_tells_nothing_of_beginnings_and_what_others_tell_is_left_out(self) -> None:
        incremental = Notification("x", INCREMENTAL_SNAPSHOT, Progress.STARTED, {}, 3_000)
        topic = Topic([*snapshot(1_100, scan(1_102, 0)), incremental, *snapshot(2_000, connector="mall")])
        seen = ToldSnapshots(topic.debezium())
        seen.look()
        assert [(one.progress, one.timestamp) for one in seen.of("shop")] == [
            (Progress.STARTED, 1_100),
            (Progress.TABLE_SCAN_COMPLETED, 1_102),
            (Progress.COMPLETED, 1_110),
        ]
        assert [one.timestamp for one in seen.of("mall")] == [2_000, 2_010]

    def test_partitions_are_put_in_order_of_time_and_a_start_before_its_scans(self) -> None:
        topic = Topic([scan(1_100, 0), told(Progress.STARTED, 1_100), told(Progress.SKIPPED, 900)])
        seen = ToldSnapshots(topic.debezium())
        seen.look()
        assert [one.progress for one in seen.of("shop")] == [
            Progress.SKIPPED,
            Progress.STARTED,
            Progress.TABLE_SCAN_COMPLETED,
        ]

    def test_before_the_first_notification_there_is_no_topic(self) -> None:
        topic = Topic(exists=False)
        seen = ToldSnapshots(topic.debezium())
        assert (seen.look(), seen.latest_ms, seen.of("shop")) == (False, 0, [])

    def test_without_a_topic_in_the_settings_nothing_is_told(self) -> None:
        debezium = Debezium(Connector.AUTO, None, None, lambda topics: {}, None, None, list)
        assert ToldSnapshots(debezium).look() is False
