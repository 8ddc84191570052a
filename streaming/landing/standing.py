"""A table that stands still: why, and where each partition goes on.

From the event that parks the table on, nothing lands: events are counted, and the first of each partition is kept as
the place to resume.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec
import numpy as np

from connectors.landing_zone.ledger.state import Parked, TableState, TableStatus
from streaming.landing.generation import place_text
from streaming.landing.places import place_of, places
from streaming.landing.rows import OrderedRows, position_at
from streaming.landing.stops.stop import Stop
from streaming.plan import BatchPlan


class StandStill:
    """Whether a table stands still, and what it passes over, in one attempt at one micro-batch."""

    def __init__(self, plan: BatchPlan, state: TableState) -> None:
        self._topics = plan.topics
        self._before = state
        self._parked: Parked | None = state.parked
        resume = {} if state.parked is None else state.parked.resume
        self._resume = {topic: dict(offsets) for topic, offsets in resume.items()}
        self._skipped = 0

    @property
    def is_parked(self) -> bool:
        """Whether the table stands still, since an earlier batch or by now."""
        return self._parked is not None

    def park(self, events: OrderedRows, index: int, stop: Stop, feeding: Collection[str]) -> None:
        """Stand still at the event at ``index``: from now on every partition's first event is where it resumes.

        Args:
            feeding: the topics that feed the table.
        """
        for topic, plan in self._topics.items():
            if topic in feeding:
                self._resume[topic] = {partition: end for partition, (_, end) in plan.ranges.items()}
        self._parked = Parked(
            reason=stop.reason,
            message=stop.message,
            remedy=stop.remedy,
            topic=stop.topic,
            partition=stop.partition,
            offset=stop.offset,
            rebuild=stop.rebuild,
            run=events.run_ids[index].as_py() or "",
            place=place_text(position_at(events, index), int(events.source_ms[index])),
        )
        self.pass_over(events.slice(index, len(events)))

    def refuse(self, firsts: Sequence[OrderedRows], stop: Stop, count: int, feeding: Collection[str]) -> None:
        """Stand still before a whole batch.

        Args:
            firsts: the batch's first event of each partition so far, in apply order, one in each.
            stop: why, at the first of them.
            count: how many events there were so far.
            feeding: as in :meth:`park`.
        """
        self.park(firsts[0], 0, stop, feeding)
        for events in firsts[1:]:
            self.pass_over(events)
        self._skipped = count

    def pass_over(self, events: OrderedRows) -> None:
        """Count events that do not land, and remember for each partition the first one."""
        self._skipped += len(events)
        numbers, firsts = np.unique(places(events), return_index=True)
        for number, offset in zip(numbers.tolist(), events.offsets[firsts].tolist(), strict=True):
            topic, partition = place_of(events, number)
            ranges = self._topics[topic].ranges
            resume = self._resume.setdefault(topic, {number: end for number, (_, end) in ranges.items()})
            resume[partition] = min(offset, resume.get(partition, offset))

    def outcome(self, landing: TableStatus) -> tuple[TableStatus, Parked | None]:
        """The table's status after the batch, ``landing`` unless it stands still, and why it does."""
        if self._parked is None:
            return landing, None
        parked = msgspec.structs.replace(
            self._parked, skipped=self._parked.skipped + self._skipped, resume=self._resume or self._parked.resume
        )
        # A table that stood still before may be on its way back: only the chores move it.
        return TableStatus.PARKED if self._before.parked is None else self._before.status, parked
