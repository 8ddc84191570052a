"""What the probes answer, from what the process knows of itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from connectors.errors import Terminal, Transient
from streaming.health import probes
from streaming.health.probes import SILENCE_SECONDS
from streaming.health.state import Failure, Health, Work

STUCK_AFTER = 1_800.0
PAUSE = 30.0
BROKER = Transient("no broker answered", remedy="check the brokers", topic="orders")
FENCED = Terminal("another driver owns the zone", remedy="leave it to that driver")


class Watched:
    """The process' health under a clock of the test's own."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.health = Health(clock=lambda: self.now, now_ms=lambda: int(self.now * 1000))

    def after(self, seconds: float) -> Watched:
        self.now += seconds
        return self

    @property
    def live(self) -> tuple[bool, str]:
        verdict = probes.live(self.health.state, self.now, STUCK_AFTER, PAUSE)
        return verdict.ok, "; ".join(verdict.reasons)

    @property
    def ready(self) -> tuple[bool, str]:
        verdict = probes.ready(self.health.state, self.now, STUCK_AFTER, PAUSE)
        return verdict.ok, "; ".join(verdict.reasons)

    def looked(self, *, waits: bool) -> Watched:
        """The chores say that nothing is to be done, as ten times a second, and Kafka is looked at."""
        self.health.at_work(Work.CHORES)
        self.health.at_work(Work.WAITING)
        self.health.looked_at_kafka(waits=waits)
        return self

    @property
    def started(self) -> bool:
        return probes.started(self.health.state).ok


def running() -> Watched:
    watched = Watched()
    watched.health.running()
    return watched


def test_a_start_is_live_but_neither_started_nor_ready() -> None:
    watched = Watched().after(20)
    assert watched.live == (True, "a start has been under way for 20.0 s")
    assert watched.ready == (False, "the landing zone is not claimed yet")
    assert not watched.started


def test_a_running_query_is_all_three() -> None:
    watched = running()
    assert watched.live == (True, "the query waits for records")
    assert watched.ready == (True, "the landing zone is claimed and the query runs")
    assert watched.started


@pytest.mark.parametrize(
    ("work", "doing"),
    [
        (Work.START, "a start"),
        (Work.BATCH, "a micro-batch"),
        (Work.CHORES, "the work between two batches"),
    ],
)
def test_work_that_takes_longer_than_the_bound_is_stuck(work: Work, doing: str) -> None:
    watched = running()
    watched.health.at_work(work)
    assert watched.after(STUCK_AFTER).live == (True, f"{doing} has been under way for 30 min 0 s")
    stuck = (False, f"{doing} has been under way for 30 min 1 s, longer than 30 min 0 s (http.stuck_after)")
    assert watched.after(1).live == stuck
    assert watched.ready == stuck


def test_a_loop_that_says_nothing_any_more_is_dead_but_not_while_a_batch_is_in_hand() -> None:
    watched = running()
    watched.health.at_work(Work.BATCH)
    assert watched.after(SILENCE_SECONDS + 1).live[0]
    watched.health.at_work(Work.WAITING)
    assert watched.after(SILENCE_SECONDS).live[0]
    watched.health.at_work(Work.WAITING)
    assert watched.after(SILENCE_SECONDS + 1).live == (
        False,
        "the loop that watches the query has been silent for 1 min 1 s",
    )


LATE = (
    False,
    "records have waited in Kafka for 30 min 31 s, and the query has not begun a micro-batch: longer than 30 min 30 s "
    "(trigger and http.stuck_after)",
)


def test_a_query_that_is_active_and_begins_no_micro_batch_is_stuck_although_the_chores_go_on() -> None:
    watched = running().looked(waits=True)
    assert watched.after(STUCK_AFTER + PAUSE).looked(waits=True).live == (True, "the query waits for records")
    assert watched.after(1).looked(waits=True).live == LATE
    assert watched.ready == LATE
    watched.health.at_work(Work.CHORES)
    assert watched.live == LATE


def test_a_source_that_is_quiet_for_a_day_is_well_and_has_its_time_when_a_record_comes() -> None:
    watched = running()
    for _ in range(3):
        assert watched.after(28_800).looked(waits=False).live[0]
    assert watched.looked(waits=True).live[0]
    assert watched.after(STUCK_AFTER).looked(waits=True).live[0]


@pytest.mark.parametrize("anew", [Health.succeeded, Health.running], ids=["a micro-batch", "a start"])
def test_what_still_waits_has_its_time_anew_after(anew: Callable[[Health], None]) -> None:
    watched = running().looked(waits=True).after(STUCK_AFTER).looked(waits=True)
    anew(watched.health)
    assert watched.after(STUCK_AFTER).looked(waits=True).live[0]
    assert watched.after(STUCK_AFTER + PAUSE).looked(waits=True).live[0]
    assert not watched.after(1).looked(waits=True).live[0]


def test_where_kafka_cannot_be_looked_at_nobody_knows_that_anything_waits() -> None:
    watched = running().looked(waits=True)
    # No look at all: what it saw last says nothing of what has landed since.
    watched.after(10 * STUCK_AFTER).health.at_work(Work.WAITING)
    assert watched.live[0]
    # A look that failed.
    watched.looked(waits=False).after(1).looked(waits=True)
    assert watched.live[0]


def test_a_micro_batch_in_hand_takes_what_waits() -> None:
    watched = running().looked(waits=True).after(STUCK_AFTER + PAUSE + 1).looked(waits=True)
    watched.health.at_work(Work.BATCH)
    assert watched.live == (True, "a micro-batch has been under way for 0.0 s")


def test_a_beat_does_not_begin_the_same_work_anew() -> None:
    watched = running()
    watched.health.at_work(Work.BATCH)
    watched.after(40).health.at_work(Work.BATCH)
    assert watched.live == (True, "a micro-batch has been under way for 40.0 s")


def test_a_failure_that_is_waited_out_is_live_but_not_ready() -> None:
    watched = running()
    watched.health.retrying(BROKER, 8)
    told = "Transient: no broker answered [topic=orders]. Remedy: check the brokers"
    assert watched.live == (True, f"the next attempt begins in 8.0 s, after {told}")
    assert watched.ready == (False, f"the last attempt failed, after {told}")
    assert watched.started
    watched.after(2).health.at_work(Work.START)
    assert watched.ready == (False, f"the last attempt failed, after {told}")
    watched.health.running()
    assert watched.ready[0]


def test_a_start_that_is_tried_again_has_started_but_is_not_ready() -> None:
    watched = Watched()
    watched.health.retrying(BROKER, 8)
    told = "after Transient: no broker answered [topic=orders]. Remedy: check the brokers"
    for _ in ("the pause", "the next attempt"):
        verdict = probes.started(watched.health.state)
        assert (verdict.ok, verdict.reasons) == (True, (f"the start is tried again, {told}",))
        assert watched.live[0]
        assert watched.ready == (False, f"the landing zone is not claimed yet, {told}")
        watched.after(8).health.at_work(Work.START)


@pytest.mark.parametrize("error", [FENCED, BROKER], ids=["at once", "after the last attempt"])
def test_a_start_that_has_failed_for_good_has_not_started(error: Exception) -> None:
    watched = Watched()
    watched.health.ended(error)
    assert not watched.started


def test_an_attempt_that_never_begins_is_dead() -> None:
    watched = running()
    watched.health.retrying(BROKER, 8)
    live, reason = watched.after(8 + SILENCE_SECONDS + 1).live
    assert not live
    assert reason.startswith("the next attempt is 1 min 1 s overdue")


def test_a_failure_is_forgotten_with_the_next_batch_that_ends_well() -> None:
    watched = running()
    watched.health.retrying(BROKER, 1)
    watched.health.running()
    assert watched.health.state.failure is not None
    watched.health.succeeded()
    assert watched.health.state.failure is None


def test_an_error_that_ends_the_job_is_neither_live_nor_ready() -> None:
    watched = running()
    watched.health.ended(FENCED)
    reason = "the job has ended with Terminal: another driver owns the zone. Remedy: leave it to that driver"
    assert watched.live == (False, reason)
    assert watched.ready == (False, reason)


def test_a_job_that_ended_as_asked_is_live_but_not_ready() -> None:
    watched = running()
    watched.health.ended(None)
    assert watched.live == (True, "the job has ended as asked")
    assert watched.ready == (False, "the job has ended")


def test_an_error_that_the_bridge_does_not_know_has_a_remedy_too() -> None:
    failure = Failure.of(ValueError("odd"), 7)
    assert (failure.kind, failure.message, failure.passes) == ("ValueError", "odd", False)
    assert failure.remedy.startswith("the process starts again and goes on where the ledger ends")


def test_a_verdict_is_plain_text() -> None:
    watched = running()
    verdict = probes.ready(watched.health.state, watched.now, STUCK_AFTER, PAUSE)
    assert verdict.text == "ok\nthe landing zone is claimed and the query runs\n"
    watched.health.ended(FENCED)
    ended = probes.live(watched.health.state, watched.now, STUCK_AFTER, PAUSE)
    assert ended.text.startswith("failing\nthe job has ended")
