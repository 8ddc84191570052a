"""Events without a pause at a share of what the machine can carry, while the bridge is stopped and killed again."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.wide_events import Judgement, WideTable, bulk_producer, create_topics, produce
from tests.load.job import Job, wait_until_landed
from tests.load.outcome import Outcome, judgement_failures, judgement_text

SHARE = 0.8
"""Of what the machine carries where it makes the events, too."""
ENDS = (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM, signal.SIGKILL)
"""How the bridge is ended, one after the other."""
LATE_S = 10.0
BEHIND_S = 60.0
"""How far the producer, and the bridge at the end, may be behind."""
AT_LEAST_S = 240
"""How long the events keep coming: several times as long as a bridge needs to start and to catch up."""
_TICK_S = 0.1
_TABLES = 4
_WARM_UP_EVENTS = 200_000
_FASTER_THAN_ANY = 1_000_000.0
"""Events per second that no producer here comes to."""


class Source:
    """Produces so many events a second into several tables, in a thread, until so many were sent.

    ``sent`` ones were before, and count.
    """

    def __init__(
        self, tables: list[WideTable], bootstrap_servers: str, *, rate: float, events: int, sent: int = 0
    ) -> None:
        self.sent = sent
        self.late_s = 0.0
        """How far the producer itself fell behind its pace, at most."""
        self._tables = tables
        self._producer = bulk_producer(bootstrap_servers)
        self._rate = rate
        self._events = events
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Source:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()

    @property
    def sending(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        began, begin = time.monotonic(), self.sent // len(self._tables)
        each = begin
        while each * len(self._tables) < self._events:
            wanted = begin + int((time.monotonic() - began) * self._rate / len(self._tables))
            upto = min(wanted, self._events // len(self._tables))
            for table in self._tables:
                produce(self._producer, table, each, upto)
            each = max(each, upto)
            self.sent = each * len(self._tables)
            self.late_s = max(
                self.late_s, time.monotonic() - began - (each - begin) * len(self._tables) / self._rate - _TICK_S
            )
            time.sleep(_TICK_S)
        self._producer.flush()


@dataclass(frozen=True)
class Course:
    """How events that came without a pause were carried.

    Attributes:
        maximum: events per second that can be produced and landed at once.
        sent_s: how long they came; late_s: how far the producer fell behind its pace, at most.
        lags: events that were sent and had not landed, second by second.
        caught_up_s: from the last event sent to the last one landed; ended: how often the bridge was ended meanwhile.
    """

    maximum: float
    sent_s: float
    late_s: float
    lags: Sequence[int]
    caught_up_s: float
    ended: int

    @property
    def rate(self) -> float:
        """Events per second that were to come."""
        return SHARE * self.maximum


MAXIMUM_EVENTS = 8_000_000
HOUR_EVENTS = 2_000 * 3_600
"""An hour's worth: 2,000 events a second, for an hour."""


def both_at_once(folder: Path, bootstrap_servers: str, *, events: int = MAXIMUM_EVENTS) -> float:
    """Events per second that can be produced and landed at the same time: the producer has the same cores.

    The bridge has started before, and has landed something.
    """
    job, tables = _job_on_tables(folder, "maximum", bootstrap_servers)
    running = job.start()
    with Source(tables, bootstrap_servers, rate=_FASTER_THAN_ANY, events=_WARM_UP_EVENTS):
        wait_until_landed(running, _WARM_UP_EVENTS)
    began = time.monotonic()
    both = _WARM_UP_EVENTS + events
    with Source(tables, bootstrap_servers, rate=_FASTER_THAN_ANY, events=both, sent=_WARM_UP_EVENTS):
        wait_until_landed(running, both, every=0.2)
    seconds = time.monotonic() - began
    running.end(signal.SIGTERM)
    return events / seconds


def sustained(folder: Path, bootstrap_servers: str, *, maximum: float, events: int = HOUR_EVENTS) -> Outcome:
    """At least so many events at 80 % of ``maximum`` events per second, for at least ``AT_LEAST_S`` seconds.

    The bridge is ended ``len(ENDS)`` times, at even distances, and started again at once; each time once it has landed
    something since its start, so that all of its starts go on under the load.
    """
    rate = SHARE * maximum
    events = max(events, int(rate * AT_LEAST_S)) // _TABLES * _TABLES
    job, tables = _job_on_tables(folder, "sustained", bootstrap_servers)
    lags: list[int] = []
    running = job.start()
    began, ended, landed_before = time.monotonic(), 0, 0
    with Source(tables, bootstrap_servers, rate=rate, events=events) as source:
        while source.sending:
            time.sleep(1)
            landed = job.landed()
            lags.append(source.sent - landed)
            if ended < len(ENDS) and landed > landed_before and source.sent > events * (ended + 1) / (len(ENDS) + 1):
                running.end(ENDS[ended])
                ended, landed_before = ended + 1, job.landed()
                running = job.start()
    sent_s, last = time.monotonic() - began, time.monotonic()
    wait_until_landed(running, source.sent)
    caught_up_s = time.monotonic() - last
    running.end(signal.SIGTERM)
    judgement = job.judged(tables, [source.sent // len(tables)] * len(tables))
    course = Course(maximum, sent_s, source.late_s, lags, caught_up_s, ended)
    return carried(course, judgement, {"batches": f"{len(job.batches())}, {job.files()} files"})


def carried(course: Course, judgement: Judgement, beside: Mapping[str, str]) -> Outcome:
    """What the course of the events and the rows that landed come to; ``beside`` are further figures."""
    lags, rate = course.lags, course.rate
    return Outcome(
        f"{judgement.records:,} events at {rate:,.0f} a second, {course.ended} times ended on the way",
        {
            "rows": judgement_text(judgement),
            "of a maximum of": f"{course.maximum:,.0f} a second that can be produced and landed at once",
            "sent in": f"{course.sent_s:.0f} s, the producer at most {course.late_s:.1f} s behind",
            "behind, at most": f"{max(lags):,} events, {max(lags) / rate:.0f} s",
            "behind, at the end": f"{lags[-1]:,} events, worked off in {course.caught_up_s:.0f} s",
            **beside,
        },
        (*judgement_failures(judgement), *_not_sustained(course)),
    )


def _job_on_tables(folder: Path, prefix: str, bootstrap_servers: str) -> tuple[Job, list[WideTable]]:
    """A job whose topics and settings are made."""
    tables = [WideTable(prefix, f"t{number}", 50_000, 1 + number % 2) for number in range(_TABLES)]
    create_topics(tables, bootstrap_servers)
    job = Job(folder / prefix, prefix, bootstrap_servers, trigger={"interval": "2s"})
    job.write_settings()
    return job, tables


def _not_sustained(course: Course) -> list[str]:
    ended, late_s, behind_s = course.ended, course.late_s, course.lags[-1] / course.rate
    failures = {
        f"the bridge was ended {ended} times, not {len(ENDS)}": ended < len(ENDS),
        f"the producer fell {late_s:.0f} s behind its pace: this was not {SHARE:.0%} of the maximum": late_s > LATE_S,
        f"the bridge was {behind_s:.0f} s behind at the end, so it does not keep up": behind_s > BEHIND_S,
    }
    return [failure for failure, failed in failures.items() if failed]
