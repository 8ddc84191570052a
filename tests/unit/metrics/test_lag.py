"""How far what has landed is behind Kafka, and how long until Kafka forgets what has not."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest

from connectors.kafka.errors import BrokerUnavailableError
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.state import Parked
from streaming.metrics.kafka_watch import LONGEST_LOOK, KafkaSource, KafkaWatch, look
from streaming.metrics.lag import (
    KafkaView,
    Place,
    Waiting,
    headroom_seconds,
    places_that_wait,
    stream_waiting,
    table_waiting,
    waited_seconds,
)
from streaming.metrics.mirrored import KEPT_TIMES, Mirrored, PublishTimes, unmirrored_seconds
from tests.unit.landing_zone.ledger_builders import NOON_MS
from tests.unit.metrics.worlds import DAY, kafka, ledger, parked, table

SECOND = 1_000


class TestWaiting:
    def test_a_partition_that_the_ledger_does_not_know_waits_from_its_first_record(self) -> None:
        [one] = stream_waiting(ledger(), kafka({"orders": (10, 100)}))
        assert (one.place, one.behind) == (("orders", 0, 10), 90)

    @pytest.mark.parametrize("stop", [None, parked(topic="orders", offset=40)], ids=["the stream", "a stopped table"])
    def test_the_lag_of_a_partition_that_was_added_to_a_known_topic_counts_from_0(self, stop: Parked | None) -> None:
        spans = {0: (0, 50), 1: (10, 100)}
        view = replace(kafka({}), topics={"orders": TopicDescription("id", spans)})
        fed = table(stop=stop)
        state = ledger(fed, offsets={"orders": 50})
        found = stream_waiting(state, view) if stop is None else table_waiting(fed, state, view)
        assert [one.landed for one in found] == [50 if stop is None else 40, 0]

    def test_what_has_landed_since_kafka_was_looked_at_is_not_behind(self) -> None:
        [one] = stream_waiting(ledger(offsets={"orders": 120}), kafka({"orders": (10, 100)}))
        assert one.behind == 0

    def test_a_table_that_stands_still_waits_from_where_it_stopped(self) -> None:
        stopped = table("users", stop=parked(offset=40))
        view = kafka({"users": (10, 100)})
        [one] = table_waiting(stopped, ledger(stopped, offsets={"users": 100}), view)
        assert (one.place, one.behind) == (("users", 0, 40), 60)

    def test_a_topic_that_kafka_does_not_have_any_more_does_not_wait(self) -> None:
        assert table_waiting(table(), ledger(table(), offsets={"orders": 1}), kafka({})) == []

    def test_places_are_the_stream_s_first_and_those_behind_most_before_others(self) -> None:
        state = ledger(
            table("users", stop=parked(offset=40)), offsets={"orders": 90, "carts": 20, "users": 100, "idle": 5}
        )
        view = kafka({"orders": (0, 100), "carts": (0, 100), "users": (0, 100), "idle": (0, 5)})
        assert places_that_wait(state, view) == [("carts", 0, 20), ("orders", 0, 90), ("users", 0, 40)]


class TestWaited:
    def seconds(self, landed: int, first_ms: Mapping[tuple[str, int], int]) -> float | None:
        view = kafka({"orders": (10, 100)}, first_ms)
        return waited_seconds(stream_waiting(ledger(offsets={"orders": landed}), view), view, NOON_MS)

    def test_nothing_waits(self) -> None:
        assert self.seconds(100, {}) == 0

    def test_the_oldest_record_counts(self) -> None:
        assert self.seconds(40, {("orders", 40): NOON_MS - 30 * SECOND}) == 30

    def test_a_ledger_that_has_gone_on_counts_from_where_it_was_when_kafka_was_looked_at(self) -> None:
        assert self.seconds(60, {("orders", 40): NOON_MS - 30 * SECOND}) == 30

    def test_without_the_record_s_time_it_is_unknown(self) -> None:
        assert self.seconds(40, {("orders", 50): NOON_MS}) is None

    def test_a_clock_that_is_ahead_does_not_make_it_negative(self) -> None:
        assert self.seconds(40, {("orders", 40): NOON_MS + SECOND}) == 0


class TestHeadroom:
    def seconds(self, landed: int, retention_ms: int | None, first_ms: int | None = None) -> float | None:
        known = {} if first_ms is None else {("orders", landed): first_ms}
        view = kafka({"orders": (10, 100)}, known, retention_ms)
        [one] = stream_waiting(ledger(offsets={"orders": landed}), view)
        return headroom_seconds(one, view, NOON_MS)

    def test_what_retention_leaves_of_the_first_record_that_waits(self) -> None:
        assert self.seconds(40, DAY * SECOND, NOON_MS - 3_600 * SECOND) == DAY - 3_600

    def test_a_partition_that_is_not_behind_has_all_of_it(self) -> None:
        assert self.seconds(100, DAY * SECOND) == DAY

    def test_a_record_that_is_older_than_retention_may_go_at_any_time(self) -> None:
        assert self.seconds(40, DAY * SECOND, NOON_MS - 2 * DAY * SECOND) == 0

    def test_what_is_lost_already_has_none(self) -> None:
        assert self.seconds(5, -1) == 0

    def test_a_topic_that_keeps_all_has_no_end(self) -> None:
        assert self.seconds(40, -1) == math.inf

    @pytest.mark.parametrize(("retention_ms", "first_ms"), [(None, NOON_MS), (DAY * SECOND, None)])
    def test_it_is_unknown_without_the_limit_or_the_record_s_time(
        self, retention_ms: int | None, first_ms: int | None
    ) -> None:
        assert self.seconds(40, retention_ms, first_ms) is None

    def test_offsets_below_zero_are_lost(self) -> None:
        assert Waiting("orders", 0, 5, 10, 100, -1).landed - 10 == -5


class Broker:
    """What Kafka tells, and what it was asked."""

    def __init__(self, ends: Mapping[str, tuple[int, int]], moment: int = NOON_MS - 9 * SECOND) -> None:
        self.ends = ends
        self.asked: list[list[Place]] = []
        self.down = False
        self._moment = moment

    def describe(self) -> Mapping[str, TopicDescription]:
        if self.down:
            raise BrokerUnavailableError("no answer", remedy="wait")
        return kafka(self.ends).topics

    def first(self, places: Iterable[Place]) -> dict[Place, int]:
        self.asked.append(list(places))
        return dict.fromkeys(self.asked[-1], self._moment)

    @property
    def source(self) -> KafkaSource:
        return KafkaSource(self.describe, self.first, lambda topics: {})


class TestLook:
    def test_it_asks_for_the_time_of_what_waits_and_once_only(self) -> None:
        broker = Broker({"orders": (0, 100), "users": (0, 100)})
        state = ledger(offsets={"orders": 90, "users": 100})
        first = look(broker.source, state, None, NOON_MS)
        second = look(broker.source, state, first, NOON_MS + SECOND)
        assert broker.asked == [[("orders", 0, 90)]]
        assert first.first_ms == second.first_ms == {("orders", 0): {90: NOON_MS - 9 * SECOND}}
        assert second.at_ms == NOON_MS + SECOND

    def test_nothing_is_read_where_nothing_waits(self) -> None:
        broker = Broker({"orders": (0, 100)})
        assert look(broker.source, ledger(offsets={"orders": 100}), None, NOON_MS).first_ms == {}
        assert broker.asked == []

    def test_one_look_reads_a_bounded_number_of_records(self) -> None:
        ends = {f"t{number}": (0, number + 1) for number in range(LONGEST_LOOK + 50)}
        broker = Broker(ends)
        look(broker.source, ledger(), None, NOON_MS)
        assert len(broker.asked[0]) == LONGEST_LOOK
        assert broker.asked[0][0] == (f"t{LONGEST_LOOK + 49}", 0, 0)


class TestWatch:
    def watch(self, broker: Broker, seen: list[KafkaView], claimed: bool = True) -> KafkaWatch:
        state = ledger(offsets={"orders": 90}) if claimed else None
        return KafkaWatch(broker.source, lambda: state, seen.append, self.fail, interval=30, now_ms=lambda: NOON_MS)

    failed = 0

    def fail(self) -> None:
        self.failed += 1

    def test_it_tells_what_it_sees(self) -> None:
        seen: list[KafkaView] = []
        assert self.watch(Broker({"orders": (0, 100)}), seen).look_once() == 30
        assert [view.topics["orders"].partitions for view in seen] == [{0: (0, 100)}]

    def test_it_asks_nothing_before_the_zone_is_claimed_and_looks_again_soon(self) -> None:
        seen: list[KafkaView] = []
        assert self.watch(Broker({}), seen, claimed=False).look_once() == 1
        assert seen == []

    def test_a_broker_that_does_not_answer_leaves_the_last_view(self) -> None:
        seen: list[KafkaView] = []
        broker = Broker({"orders": (0, 100)})
        watch = self.watch(broker, seen)
        watch.look_once()
        assert self.failed == 0
        broker.down = True
        assert watch.look_once() == 30
        assert (len(seen), self.failed) == (1, 1)

    def test_the_thread_looks_until_it_is_stopped_and_outlives_whatever_goes_wrong(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        again = threading.Event()
        calls: list[KafkaView] = []

        def seen(view: KafkaView) -> None:
            calls.append(view)
            if len(calls) == 1:
                raise ValueError("defect")
            again.set()

        state = ledger(offsets={"orders": 90})
        source = Broker({"orders": (0, 100)}).source
        watch = KafkaWatch(source, lambda: state, seen, self.fail, interval=0.001, now_ms=lambda: NOON_MS)
        watch.start()
        assert again.wait(120)
        watch.stop()
        assert self.failed == 1
        assert "looking at Kafka failed in a way that is not foreseen" in caplog.text


class TestMirrored:
    def test_nothing_waits_where_the_mirror_has_the_last_file(self) -> None:
        assert unmirrored_seconds(3, {3: 0}, Mirrored(3, 0), NOON_MS) == 0

    def test_the_oldest_file_that_is_not_mirrored_counts(self) -> None:
        times = {2: NOON_MS - 50 * SECOND, 3: NOON_MS - 10 * SECOND}
        assert unmirrored_seconds(3, times, Mirrored(1, NOON_MS - 9_999 * SECOND), NOON_MS) == 50

    def test_of_files_from_before_the_start_it_counts_how_long_the_mirror_stands_there(self) -> None:
        assert unmirrored_seconds(3, {}, Mirrored(1, NOON_MS - 70 * SECOND), NOON_MS) == 70

    def test_times_of_another_generation_are_forgotten_and_old_ones_too(self) -> None:
        times = PublishTimes()
        for number in range(1, KEPT_TIMES + 3):
            times.add("public.orders", number, number)
        assert min(times.of("public.orders")) == 3
        times.add("public.orders", 1, 99)
        assert times.of("public.orders") == {1: 99}
        assert times.of("public.users") == {}
