"""What the probes answer: functions of the process' state and of a clock.

* live: the process makes progress, or waits for something that may come. If not, only another start helps.
* ready: it owns the landing zone, and its last batch or check was well.
* started: it has been ready once, or waits out a failure of its start; until then it is given the time that a start
  takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from streaming.health.state import Failure, HealthState, Work
from streaming.printable import one_line
from streaming.wording import seconds_text

SILENCE_SECONDS = 60.0
"""How long the loop that watches the query may be silent between two batches; it says something ten times a second."""


@dataclass(frozen=True)
class Verdict:
    """A probe's answer and what it rests on, a sentence each."""

    ok: bool
    reasons: tuple[str, ...]

    @property
    def text(self) -> str:
        """The body of the answer, a line each."""
        return "\n".join(("ok" if self.ok else "failing", *map(one_line, self.reasons))) + "\n"


def live(state: HealthState, now: float, stuck_after: float, pause: float) -> Verdict:
    """Whether the process makes progress.

    Args:
        now: of the clock that the state's times are of.
        stuck_after: seconds that one micro-batch, the chores between two, or a start may take; and that the query may
            be late with a micro-batch.
        pause: seconds that records wait at most in Kafka, by the trigger, until a query that is well takes them;
            infinite where it may leave them there.
    """
    busy, silent = now - state.since, now - state.beat
    match state.work:
        case Work.ENDED:
            if state.failure is None:
                return Verdict(True, ("the job has ended as asked",))
            return Verdict(False, (f"the job has ended with {_told(state.failure)}",))
        case Work.START | Work.BATCH | Work.CHORES:
            doing = {Work.START: "a start", Work.BATCH: "a micro-batch", Work.CHORES: "the work between two batches"}
            said = f"{doing[state.work]} has been under way for {seconds_text(busy)}"
            if busy > stuck_after:
                return Verdict(False, (f"{said}, longer than {seconds_text(stuck_after)} (http.stuck_after)",))
            # Chores are looked for all the time, whatever Spark does or does not do.
            hung = _hung(state, stuck_after + pause) if state.work is Work.CHORES else None
            return hung or Verdict(True, (said,))
        case Work.RETRY:
            late = now - state.retry_at
            if late > SILENCE_SECONDS:
                return Verdict(False, (f"the next attempt is {seconds_text(late)} overdue{_after(state)}",))
            return Verdict(True, (f"the next attempt begins in {seconds_text(max(0.0, -late))}{_after(state)}",))
        case Work.WAITING:
            if silent > SILENCE_SECONDS:
                return Verdict(False, (f"the loop that watches the query has been silent for {seconds_text(silent)}",))
            return _hung(state, stuck_after + pause) or Verdict(True, ("the query waits for records",))
        case _:
            assert_never(state.work)


def ready(state: HealthState, now: float, stuck_after: float, pause: float) -> Verdict:
    """Whether the process owns the zone and carries events; arguments as for :func:`live`."""
    reasons: list[str] = []
    alive = live(state, now, stuck_after, pause)
    if not alive.ok:
        reasons += alive.reasons
    elif not state.claimed:
        reasons.append(f"the landing zone is not claimed yet{_after(state)}")
    elif state.work is Work.RETRY or (state.work is Work.START and state.failure is not None):
        reasons.append(f"the last attempt failed{_after(state)}")
    elif state.work is Work.ENDED:
        reasons.append("the job has ended")
    return Verdict(not reasons, tuple(reasons) or ("the landing zone is claimed and the query runs",))


def started(state: HealthState) -> Verdict:
    """Whether the query has been started once, or its start has failed and is tried again."""
    if state.claimed:
        return Verdict(True, ("the landing zone is claimed and the query has been started",))
    if state.failure is not None and state.failure.passes:
        return Verdict(True, (f"the start is tried again{_after(state)}",))
    return Verdict(False, (f"the landing zone is not claimed yet{_after(state)}",))


def _hung(state: HealthState, longest: float) -> Verdict | None:
    """What a query is told of that is active, but begins no micro-batch: by the looks at Kafka, not by the clock."""
    waited = 0.0 if state.waits_since is None else state.waits_seen - state.waits_since
    if waited <= longest:
        return None
    told = f"records have waited in Kafka for {seconds_text(waited)}, and the query has not begun a micro-batch"
    return Verdict(False, (f"{told}: longer than {seconds_text(longest)} (trigger and http.stuck_after)",))


def _after(state: HealthState) -> str:
    return "" if state.failure is None else f", after {_told(state.failure)}"


def _told(failure: Failure) -> str:
    where = f" [{failure.facts}]" if failure.facts else ""
    return f"{failure.kind}: {failure.message}{where}. Remedy: {failure.remedy}"
