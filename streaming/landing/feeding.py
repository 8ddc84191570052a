"""The source tables that feed one mirrored table, and whether the settings and the past let their events in."""

from __future__ import annotations

from connectors.debezium.schema import SourceTable
from connectors.landing_zone.ledger.state import TableState
from streaming.landing.rows import OrderedRows
from streaming.landing.shaping.merged_sources import with_identity
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

    def admit(self, events: OrderedRows) -> tuple[OrderedRows, Stop | None]:
        """The events as the table sees them, those of a merged table with their source's names in their key.

        Returns:
            the events, and the stop at their first one if none of them may land.
        """
        source = source_of(events.table)
        stop = self._differs(events)
        if self._may_be_late(source):
            stop = stop or late_stop(events, named=source in self._late)
        if not self._options.merge_sources:
            return events, stop
        stop = stop or identity_stop(events, self._options) or sources_alike(events, self._options, self._known)
        self._known[source] = None
        return with_identity(events, self._options), stop

    def _may_be_late(self, source: Source) -> bool:
        """Whether these are the first events of a source table that may have passed by."""
        if source in self._settled or source in self._begun or not (self._any_late or source in self._late):
            return False
        self._begun.add(source)
        return True

    def _differs(self, events: OrderedRows) -> Stop | None:
        """Whether the settings treat these events otherwise than those of the source which the table began with."""
        if not self._known:
            return None
        mine, others = self._job.options_for(events.table), self._job.options_for(SourceTable(*self._first))
        return sources_differ(events, mine, self._first, others)
