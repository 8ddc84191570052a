"""The source tables that feed one mirrored table, and whether the settings and the past let their events in."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from connectors.debezium.schema import SourceTable
from connectors.landing_zone.ledger.state import TableState
from streaming.landing.rows import OrderedRows
from streaming.landing.shaping.refusals import identity_stop, late_stop, sources_alike, sources_differ
from streaming.landing.stops.stop import Stop
from streaming.plan import BatchPlan, TableOptions
from streaming.sources import Source, in_order, source_of


class FeedingSources:
    """The source tables that feed a table in one attempt at one micro-batch.

    Args:
        options: of the source whose events come first.
    """

    def __init__(self, plan: BatchPlan, options: TableOptions, state: TableState) -> None:
        self._job = plan.job
        self._options = options
        self._first = state.source
        self._known = dict.fromkeys(state.sources)
        self._settled = plan.by_source
        self._late = plan.late
        self._any_late = plan.passed_over_full
        self._begun: set[Source] = set()

    @property
    def names(self) -> tuple[Source, ...]:
        """The sources of a merged table by name; empty for any other table."""
        return in_order(self._known)

    def remember(self, sources: Iterable[Source]) -> None:
        """Count these among the sources that feed the table."""
        self._known.update(dict.fromkeys(sources))

    def first_refused(self, events: OrderedRows) -> Stop | None:
        """The stop at the first event of a source that may not land, if one of them may not.

        All sources of a merged table's events count as feeding it, also those behind the stop.
        """
        if len(events.tables) == 1:
            firsts = [0]
        else:
            firsts = sorted(np.unique(events.table_index, return_index=True)[1].tolist())
        stop: Stop | None = None
        for first in firsts:
            stop = stop or self._refused(events, first)
            if self._options.merge_sources:
                self._known[source_of(events.table_at(first))] = None
        return stop

    def _refused(self, events: OrderedRows, first: int) -> Stop | None:
        source = source_of(events.table_at(first))
        stop = self._differs(events, first)
        if self._may_be_late(source):
            stop = stop or late_stop(events, first, named=source in self._late)
        if not self._options.merge_sources:
            return stop
        return (
            stop
            or identity_stop(events, first, self._options)
            or sources_alike(events, first, self._options, self._known)
        )

    def _may_be_late(self, source: Source) -> bool:
        """Whether these are the first events of a source table that may have passed by."""
        if source in self._settled or source in self._begun or not (self._any_late or source in self._late):
            return False
        self._begun.add(source)
        return True

    def _differs(self, events: OrderedRows, first: int) -> Stop | None:
        """Whether the settings treat the event's source otherwise than the one which the table began with."""
        if not self._known:
            return None
        mine, others = self._job.options_for(events.table_at(first)), self._job.options_for(SourceTable(*self._first))
        return sources_differ(events, first, mine, self._first, others)
