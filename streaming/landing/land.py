"""Landing one table's rows of one micro-batch: which of its events land, and what it has become after them.

A lander takes events in apply order and writes one file. Whatever the table cannot take parks it at that event: rows
before it land, it and later ones are counted and kept for the catch-up, and no other table notices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from connectors.debezium.events import BadRecord, Op
from connectors.debezium.merge_keys import PositionCarry
from connectors.debezium.schema import SourceTable
from connectors.landing_zone.ledger.state import Dropped, TableState
from streaming.landing.feeding import FeedingSources
from streaming.landing.files import Staging
from streaming.landing.generation import SUPERSEDED
from streaming.landing.rows import OrderedRows
from streaming.landing.snapshots import Streamed
from streaming.landing.source_drop import count_before, without_gone
from streaming.landing.standing import StandStill
from streaming.landing.steps import Step, Steps
from streaming.landing.stops.columns import format_stop
from streaming.landing.stops.events import first_stop
from streaming.landing.stops.recreated import made_again_text, recreated_stop
from streaming.landing.stops.stop import Stop
from streaming.landing.stops.truncates import without_truncates
from streaming.landing.table_writer import TableWriter
from streaming.plan import BatchPlan, TableResult
from streaming.policies import TableMode
from streaming.sources import Source


class TableLander:
    """Lands the rows of one table in one attempt at one micro-batch.

    Args:
        table: the landing zone's name of the table.
        state: what the ledger knows of it; a new table has sequence 0 and no schema.
        staging: where its file goes.
        direct: True when the rows come straight from one partition's decoder.
    """

    def __init__(
        self, plan: BatchPlan, source: SourceTable, table: str, state: TableState, staging: Staging, *, direct: bool
    ) -> None:
        self._plan = plan
        self._table = table
        self._before = state
        self._direct = direct
        self._options = plan.job.options_for(source)
        self._history = self._options.mode is TableMode.HISTORY
        self._sources = FeedingSources(plan, self._options, state)
        # Of several sources each is dropped by itself.
        self._dropped = None if self._options.merge_sources else plan.drops.get(state.source, state.dropped)
        self._standing = StandStill(plan, state)
        self._steps = Steps()
        self._writer = TableWriter(plan, source, table, state, staging, self._options, self._steps)
        self._gone: Dropped | None = None
        self._superseded = 0
        self._topics: dict[str, None] = {}
        self._events = 0

    @property
    def left_out(self) -> list[BadRecord]:
        """The events that do not land but go to the dead-letter topic; final after :meth:`finish`."""
        return self._writer.left_out

    def add(self, events: OrderedRows) -> None:
        """Land the next events; after the event that parks the table nothing lands any more."""
        with self._steps.measured(Step.ORDER):
            self._take(events)

    def _take(self, events: OrderedRows) -> None:
        self._events += len(events)
        self._topics.update(dict.fromkeys(events.topics))
        stop = None if not len(events) else self._sources.first_refused(events)
        if stop is None or self._standing.is_parked:
            self._take_admitted(events)
            return
        if stop.index:
            self._take_admitted(events.slice(0, stop.index))
        self._park(events.slice(stop.index, len(events)), 0, stop)

    def _take_admitted(self, events: OrderedRows) -> None:
        if self._gone is not None:
            kept = without_gone(events, self._gone)
            self._superseded += len(events) - len(kept)
            events = kept
        before = count_before(events, self._dropped, self._before)
        if before:
            self._add(events.slice(0, before))
        if before < len(events):
            self._add_recreated(events.slice(before, len(events)))

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources of a merged table so far; empty for any other table."""
        return self._sources.names

    def refuse(self, firsts: Sequence[OrderedRows], stop: Stop, count: int, sources: Iterable[Source]) -> None:
        """Land nothing of the batch: park at the first of its events, before any has been added.

        Args:
            firsts: the batch's first event of each partition so far, in apply order, one in each.
            stop: why, at the first of them.
            count: how many events there were so far.
            sources: of a merged table, those that they came from.
        """
        self._sources.remember(sources)
        for events in firsts:
            self._topics.update(dict.fromkeys(events.topics))
        self._standing.refuse(firsts, stop, count, self._feeding())
        self._events = count

    def set_carry(self, topic: str, partition: int, carry: PositionCarry) -> None:
        """The partition's running maximum after all of its events; a parked table keeps that of its last landed row."""
        if not self._standing.is_parked:
            self._writer.progress.set_carry(topic, partition, carry)

    def finish(self) -> TableResult:
        """Close and stage the file, if any row landed, and say what the table has become."""
        with self._steps.measured(Step.ORDER):
            state = self._writer.state()
            status, parked = self._standing.outcome(state.status)
            file, state, counts = self._writer.stage(
                msgspec.structs.replace(
                    state, status=status, parked=parked, sources=self._sources.names, dropped=self._dropped
                )
            )
        return TableResult(
            table=self._table,
            state=state,
            file=file,
            schemas=self._writer.new_schemas(),
            direct_topics=tuple(self._topics) if self._direct else (),
            events=self._events,
            clamped=self._writer.clamped,
            counts=counts | ({f"skipped.{SUPERSEDED}": self._superseded} if self._superseded else {}),
            left_out=dict(Counter(record.reason for record in self.left_out)),
            filled=self._writer.filled,
            figures=self._writer.figures,
            seconds=self._steps.seconds,
            notes=tuple(self._writer.notes),
        )

    def abandon(self) -> None:
        """Drop the unfinished file of an attempt that failed."""
        self._writer.abandon()

    def _add_recreated(self, events: OrderedRows) -> None:
        """Events from behind the place where the source dropped the table: the policies decide what they are."""
        dropped = self._dropped
        if dropped is None or self._standing.is_parked:
            self._add(events)
            return
        if not self._writer.has_landed and not self._history:
            # Nothing of the tables that are gone is in the mirror, and nothing of them may come in behind these.
            self._gone = dropped
            self._dropped = msgspec.structs.replace(dropped, generation=self._before.generation - 1, first="")
            self._take_admitted(events)
            return
        if not self._history:
            if stop := recreated_stop(events, self._options, dropped):
                self._park(events, 0, stop)
                return
            self._writer.taint(f"{made_again_text(dropped)}; the rows from before stay")
        if dropped.first:
            # These are of a table that is gone by now, too: it ends where the last of the drops is.
            self._dropped = msgspec.structs.replace(dropped, first="")
            self._take_admitted(events)
            return
        self._dropped = msgspec.structs.replace(dropped, back=True)
        self._add(events)

    def _add(self, events: OrderedRows) -> None:
        if self._standing.is_parked:
            self._standing.pass_over(events)
            return
        writer, progress = self._writer, self._writer.progress
        writer.load.look(events)
        stop = format_stop(events, self._options, self._before) or first_stop(
            events,
            self._options,
            writer.pinned_keys,
            writer.load.snapshot,
            Streamed(progress.streamed, frozenset(progress.runs), self._plan.streamed_runs, progress.run_starts),
            writer.inserted_to,
        )
        landed = events if stop is None else events.slice(0, stop.index)
        landed, truncates = without_truncates(landed, self._options)
        certain = int(truncates[0]) if len(truncates) else len(landed)
        if certain < len(landed):
            writer.load.end()
        if len(landed):
            stop = writer.write(landed, certain) or stop
        # Counted anew: the writer's stop does not count the truncates.
        index = len(events) if stop is None else stop.index_in(events)
        ignored = 0 if self._history else int((events.ops[:index] == Op.TRUNCATE).sum())
        if ignored:
            writer.taint(f"ignored {ignored} truncate event(s)")
        if stop is not None:
            self._park(events, index, stop)

    def _park(self, events: OrderedRows, index: int, stop: Stop) -> None:
        """Stand still at an event, unless the table does so since an earlier one."""
        if self._standing.is_parked:
            self._standing.pass_over(events.slice(index, len(events)))
        else:
            self._standing.park(events, index, stop, self._feeding())

    def _feeding(self) -> frozenset[str]:
        """The topics that feed the table, so far."""
        return self._writer.progress.topics.union(self._topics)
