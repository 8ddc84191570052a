"""Looking at Kafka now and then, beside the job: where its topics end, and how old the records are that wait, or came
last.

One look sends the broker a handful of requests for all topics together, and reads one record of each partition that is
behind: of at most :data:`LONGEST_LOOK`, those that are behind most. A broker that does not answer leaves the last view
in place; the job itself says what is wrong with it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from connectors.errors import BridgeError
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.state import LedgerState
from streaming.metrics.lag import KafkaView, Place, places_that_wait
from streaming.watch import Watch

_log = logging.getLogger(__name__)

LONGEST_LOOK = 200
"""Records that one look reads at most."""


@dataclass(frozen=True)
class KafkaSource:
    """What is asked of Kafka.

    Attributes:
        describe: the subscribed topics as they are now.
        first_timestamps: when the first record at or behind each place was written; some may be missing.
        newest_timestamps: when the newest record of each topic was written; topics without records are missing.
        heartbeat_topics: globs of topics that hold the connector's heartbeats.
    """

    describe: Callable[[], Mapping[str, TopicDescription]]
    first_timestamps: Callable[[Iterable[Place]], Mapping[Place, int]]
    newest_timestamps: Callable[[Mapping[str, TopicDescription]], Mapping[str, int]]
    heartbeat_topics: tuple[str, ...] = ()


def look(source: KafkaSource, state: LedgerState, before: KafkaView | None, now_ms: int) -> KafkaView:
    """What Kafka says now; of places whose record's time is known from ``before`` nothing is asked.

    Raises:
        BrokerUnavailableError, KafkaAccessError: see :func:`connectors.kafka.topics.describe_topics`.
    """
    view = KafkaView(now_ms, source.describe())
    places = places_that_wait(state, view)
    earlier = {} if before is None else before.first_ms
    known = {
        (topic, partition, offset): earlier[topic, partition][offset]
        for topic, partition, offset in places
        if offset in earlier.get((topic, partition), {})
    }
    wanted = [place for place in places if place not in known]
    found = source.first_timestamps(wanted[:LONGEST_LOOK]) if wanted else {}
    first: dict[tuple[str, int], dict[int, int]] = {}
    for (topic, partition, offset), moment in {**known, **found}.items():
        first.setdefault((topic, partition), {})[offset] = moment
    return replace(
        view,
        first_ms=first,
        newest_ms=_newest(source, view, before),
        emptied_ms=_emptied(view, before),
        beats=any(_beats(source, topic, description) for topic, description in view.topics.items()),
    )


def _newest(source: KafkaSource, view: KafkaView, before: KafkaView | None) -> Mapping[str, int]:
    """What was known before stays so for a topic whose last record Kafka has removed since."""
    earlier = {} if before is None else before.newest_ms
    try:
        found = source.newest_timestamps(view.topics)
    except BridgeError as error:
        _log.debug("Kafka does not tell how old its newest records are: %s", error)
        found = {} if before is None else _grown(view, before)
    known = {name: max(found.get(name, 0), earlier.get(name, 0)) for name in view.topics}
    return {name: moment for name, moment in known.items() if moment}


def _grown(view: KafkaView, before: KafkaView) -> Mapping[str, int]:
    """The time of this look, for each topic that has had a record since the one before it."""
    ends = {
        (name, partition): end
        for name, description in before.topics.items()
        for partition, (_, end) in description.partitions.items()
    }
    return {
        name: view.at_ms
        for name, description in view.topics.items()
        if any(end > ends.get((name, partition), end) for partition, (_, end) in description.partitions.items())
    }


def _emptied(view: KafkaView, before: KafkaView | None) -> int | None:
    """Since when all topics are known to be empty of which one has had records; None where that is not so."""
    spans = [span for description in view.topics.values() for span in description.partitions.values()]
    if not any(end for _, end in spans) or any(first < end for first, end in spans):
        return None
    return view.at_ms if before is None or before.emptied_ms is None else before.emptied_ms


def _beats(source: KafkaSource, topic: str, description: TopicDescription) -> bool:
    named = any(fnmatchcase(topic, pattern) for pattern in source.heartbeat_topics)
    return named and any(end for _, end in description.partitions.values())


class KafkaWatch(Watch):
    """A thread that looks at Kafka every so often until it is stopped; it ends with the process in any case.

    Args:
        state: what the ledger knows now; None before the zone is claimed, when nothing is asked.
        seen: told of each view; failed: called when a look has failed.
        interval: seconds between the end of one look and the next.
        now_ms: wall clock, milliseconds since 1970.
    """

    def __init__(
        self,
        source: KafkaSource,
        state: Callable[[], LedgerState | None],
        seen: Callable[[KafkaView], None],
        failed: Callable[[], None],
        *,
        interval: float,
        now_ms: Callable[[], int],
    ) -> None:
        super().__init__("Kafka", interval)
        self._source = source
        self._state = state
        self._seen = seen
        self._failed = failed
        self._now_ms = now_ms
        self._view: KafkaView | None = None

    def look_once(self) -> float:
        """Look, unless the zone is not claimed yet; returns how many seconds to wait until the next look."""
        state = self._state()
        if state is None:
            return self.until_claimed
        try:
            self._view = look(self._source, state, self._view, self._now_ms())
        except BridgeError as error:
            _log.debug("Kafka was not looked at: %s", error)
            self._failed()
        else:
            self._seen(self._view)
        return self._interval

    def on_unforeseen(self) -> None:
        """As any other failure."""
        self._failed()
