"""Landing one table's rows of one micro-batch: checks, schema, markers, file, staging.

A lander takes events in apply order and writes one file. Whatever the table cannot take parks it at that event: rows
before it land, it and later ones are counted and kept for the catch-up, and no other table notices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec
import numpy as np
import pyarrow as pa

from connectors.debezium.events import BadRecord, Bools, Int64s, Op
from connectors.debezium.merge_keys import PositionCarry
from connectors.debezium.schema import SourceTable
from connectors.landing_zone.casting import cast_rows, ignored_values
from connectors.landing_zone.evolution import Evolution, IncomingColumn, Refused, evolve
from connectors.landing_zone.ledger.state import (
    Parked,
    SnapshotIdentity,
    TableState,
    TableStatus,
)
from connectors.landing_zone.row_marker import RowMarker
from connectors.landing_zone.schema import PinnedSchema
from connectors.landing_zone.storage.protocol import Storage
from streaming.carry import position_text
from streaming.columns import Projected, is_masked, landing_columns, project
from streaming.earlier_rows import EarlierRows, written_before
from streaming.files import TableFile
from streaming.generation import asked_snapshot, place_text
from streaming.marking import Proof, leaves_events_out, mark
from streaming.places import place_of, places
from streaming.plan import BatchPlan, TableResult
from streaming.policies import Compaction, OnCastFailure, OnResnapshot, OnUnavailable, TableMode
from streaming.progress import TableProgress
from streaming.rows import OrderedRows, position_at
from streaming.schema_notes import ignored_notes, schema_notes
from streaming.shaping.expressions import ExpressionFailedError
from streaming.shaping.merged_sources import in_order, source_of, with_identity
from streaming.shaping.refusals import (
    CAST_FAILURE,
    UNAVAILABLE_VALUE,
    cast_stop,
    expression_stop,
    first_of,
    identity_stop,
    key_cast_stop,
    landed_otherwise,
    late_stop,
    name_stop,
    sources_alike,
    sources_differ,
    unavailable_stop,
)
from streaming.shaping.reshaping import Reshaped, key_forms, reshape
from streaming.snapshots import Streamed, initial_rows
from streaming.source_drop import count_before, recreated_stop
from streaming.stops import (
    Stop,
    accepted_snapshot,
    first_stop,
    format_stop,
    load_rows,
    loading_snapshot,
    null_key_stop,
    refusal_stop,
    text_refusal,
    type_policy,
    without_truncates,
)
from streaming.unavailable import EarlierValues, event_keys

KEPT_RUNS = 16
FILLED = (TableStatus.CLEARED, TableStatus.FILLING)
"""A table whose snapshot is on its way lands what comes; only the chores know when it is complete."""


class TableLander:
    """Lands the rows of one table in one attempt at one micro-batch.

    Args:
        table: the landing zone's name of the table.
        state: what the ledger knows of it; a new table has sequence 0 and no schema.
        storage: the landing zone.
        direct: True when the rows come straight from one partition's decoder.
    """

    def __init__(
        self, plan: BatchPlan, source: SourceTable, table: str, state: TableState, storage: Storage, *, direct: bool
    ) -> None:
        self._plan = plan
        self._table = table
        self._before = state
        self._storage = storage
        self._direct = direct
        self._options = plan.job.options_for(source)
        self._history = self._options.mode is TableMode.HISTORY
        self._schema: PinnedSchema | None = None
        if state.schema:
            self._schema = msgspec.json.decode(plan.schemas[state.schema], type=PinnedSchema)
        self._landed_as: dict[str, str] = {}
        self._types: dict[str, str] = {}
        self._gone = state.gone
        self._ignored: Counter[str] = Counter()
        self._dropped = None if self._options.merge_sources else plan.drops.get(state.source, state.dropped)
        self._keys = state.keys
        self._snapshot: SnapshotIdentity | None = state.snapshot
        self._progress = TableProgress(state)
        # Positions of several sources prove nothing to each other, and each source loads and is dropped by itself.
        self._merges_sources = self._options.merge_sources
        self._sources = dict.fromkeys(state.sources)
        self._late = plan.passed_over - (plan.by_source().keys() if plan.passed_over else set())
        self._loading = state.status is TableStatus.LOADING and not self._merges_sources
        self._tainted = (
            self._merges_sources
            or state.tainted
            or table in plan.doubtful
            or bool(self._options.soft_delete)
            or leaves_events_out(plan.job.decode, source)
        )
        self._parked: Parked | None = state.parked
        resume = {} if state.parked is None else state.parked.resume
        self._resume = {topic: dict(offsets) for topic, offsets in resume.items()}
        self._file: TableFile | None = None
        self._written = EarlierRows()
        self._earlier = EarlierValues(self._read_earlier, self._written)
        self._fills = False
        self._topics: dict[str, None] = {}
        self._events = 0
        self._skipped = 0
        self._clamped = 0
        self._counts: Counter[str] = Counter()
        self._notes: list[str] = []
        self.left_out: list[BadRecord] = []

    def add(self, events: OrderedRows) -> None:
        """Land the next events; after the event that parks the table nothing lands any more."""
        self._events += len(events)
        self._topics.update(dict.fromkeys(events.topics))
        source = source_of(events.table)
        unlike = self._differs(events)
        if source in self._late:
            self._late -= {source}
            unlike = unlike or late_stop(events)
        if self._merges_sources:
            alike = identity_stop(events, self._options) or sources_alike(events, self._options, self._sources)
            unlike = unlike or alike
            self._sources[source] = None
            events = with_identity(events, self._options)
        if unlike is not None and self._parked is None:
            self._park(events, 0, unlike)
            return
        for part in self._around_drop(events):
            self._add(part)

    def _differs(self, events: OrderedRows) -> Stop | None:
        """Whether the settings treat these events otherwise than those of the source which the table began with."""
        if not self._sources:
            return None
        first, job = self._before.source, self._plan.job
        return sources_differ(events, job.options_for(events.table), first, job.options_for(SourceTable(*first)))

    def _around_drop(self, events: OrderedRows) -> Iterator[OrderedRows]:
        """The events before and after the place where the source dropped the table; after it the policies decide."""
        dropped = self._dropped
        if dropped is None or dropped.back or dropped.generation < self._before.generation:
            yield events
            return
        before = count_before(events, dropped)
        if before:
            yield events.slice(0, before)
        if before == len(events):
            return
        after = events.slice(before, len(events))
        landed = self._before.sequence > 0 or self._file is not None
        if landed and not self._history and self._parked is None:
            if stop := recreated_stop(after, self._options):
                self._park(after, 0, stop)
                return
            self._tainted, self._loading = True, False
            self._notes.append("the source dropped the table and made it again; the rows from before stay")
        if self._parked is None:
            self._dropped = msgspec.structs.replace(dropped, back=True)
        yield after

    def _add(self, events: OrderedRows) -> None:
        if self._parked is not None:
            self._skip(events)
            return
        self._snapshot = self._snapshot or asked_snapshot(self._before, events)
        stop = format_stop(events, self._options, self._before) or first_stop(
            events,
            self._options,
            self._keys if self._schema else None,
            self._snapshot,
            Streamed(
                self._progress.streamed,
                frozenset(self._progress.runs),
                self._plan.streamed_runs,
                self._progress.run_starts,
            ),
        )
        landed = events if stop is None else events.slice(0, stop.index)
        landed, truncates = without_truncates(landed, self._options)
        certain = int(truncates[0]) if len(truncates) else len(landed)
        if certain < len(landed):
            self._loading = False
        letters = len(self.left_out)
        if len(landed):
            stop = self._land(landed, certain) or stop
        index = len(events) if stop is None else _index_of(events, stop)
        if stop is not None and len(self.left_out) > letters:
            # What comes behind the stop lands, or is left out, when the table goes on.
            self.left_out[letters:] = _among(self.left_out[letters:], events.slice(0, index))
        self._tainted = self._tainted or bool(self.left_out)
        ignored = 0 if self._history else int((events.ops[:index] == Op.TRUNCATE).sum())
        if ignored:
            self._tainted, self._loading = True, False
            self._notes.append(f"ignored {ignored} truncate event(s)")
        if stop is not None:
            self._park(events, index, stop)

    def refuse(self, firsts: Sequence[OrderedRows], stop: Stop, count: int) -> None:
        """Land nothing of the batch: park at the first of its events, before any has been added.

        Args:
            firsts: the batch's first event of each partition so far, in apply order, one in each.
            stop: why, at the first of them.
            count: how many events there were so far.
        """
        for events in firsts:
            self._topics.update(dict.fromkeys(events.topics))
        self._park(firsts[0], 0, stop)
        for events in firsts[1:]:
            self._skip(events)
        self._events = self._skipped = count

    def set_carry(self, topic: str, partition: int, carry: PositionCarry) -> None:
        """The partition's running maximum after all of its events; a parked table keeps that of its last landed row."""
        if self._parked is None:
            self._progress.set_carry(topic, partition, carry)

    def finish(self) -> TableResult:
        """Close and stage the file, if any row landed, and say what the table has become."""
        state = self._state()
        landed = None
        if self._file is not None:
            if self._options.compaction is Compaction.LAST_STATE and self._schema is not None and self._keys:
                self._file.keep_last_states(self._schema.key_columns)
                self._counts["compacted"] += self._file.compacted
            landed, state = self._file.stage(self._storage, self._plan, self._table, state)
        schemas = {}
        if self._schema is not None and self._schema.fingerprint not in self._plan.schemas:
            schemas[str(self._schema.fingerprint)] = msgspec.json.encode(self._schema).decode()
        if self._ignored and self._schema is not None:
            self._counts["ignored_values"] += self._ignored.total()
            self._notes += ignored_notes(self._ignored, self._schema)
        return TableResult(
            table=self._table,
            state=state,
            file=landed,
            schemas=schemas,
            direct_topics=tuple(self._topics) if self._direct else (),
            events=self._events,
            clamped=self._clamped,
            counts=dict(self._counts),
            left_out=dict(Counter(record.reason for record in self.left_out)),
            filled=self._earlier.filled,
            notes=tuple(self._notes),
        )

    def abandon(self) -> None:
        """Drop the unfinished file of an attempt that failed."""
        if self._file is not None:
            self._file.abandon()

    def _land(self, events: OrderedRows, certain: int) -> Stop | None:
        """Evolve, fill, mark and write; returns where the table has to stop, when only the rows' columns could tell.

        Args:
            certain: how many of the events come before anything was left out.
        """
        keys = () if self._history else self._keys if self._schema else events.schema.key
        if stop := landed_otherwise(events, self._options, self._before, self._key_forms(keys)):
            return stop
        if stop := name_stop(events, self._options, self._schema):
            return stop
        chosen = landing_columns(events, self._options, keys)
        reshaped = reshape(events, self._options, self._plan.job.secrecy, chosen, keys)
        stop = first_of(
            key_cast_stop(reshaped, self._options, keys),
            null_key_stop(reshaped.events, keys),
            cast_stop(reshaped, self._options),
        )
        if stop is not None:
            reshaped = reshaped.slice(0, stop.index)
        if not len(reshaped.events):
            return stop
        try:
            incoming = project(reshaped.events.slice(0, 0), self._options, keys).incoming
        except ExpressionFailedError as error:
            return expression_stop(reshaped.events, error)
        evolution = evolve(self._schema, incoming, type_policy(self._options))
        if not isinstance(evolution, Refused) and self._schema is not None and evolution.changes:
            evolution = text_refusal(self._options, evolution) or evolution
        if isinstance(evolution, Refused):
            return refusal_stop(events, evolution, self._options)
        row_keys = events.schema.key if self._history else keys
        self._forget_retyped(events, incoming, evolution, row_keys)
        landing = frozenset(column.source for column in incoming)
        events, certain, missing = self._settle(reshaped, landing, row_keys, certain)
        stop = missing or stop
        events, projected, failed = self._project(events, keys)
        stop = failed or stop
        if projected is None:
            return stop
        self._keys = keys
        self._note_changes(evolution, events, incoming)
        runs = self._plan.streamed_runs | self._progress.runs.keys()
        self._snapshot = loading_snapshot(events, self._snapshot, runs)
        loads = load_rows(events, self._snapshot)
        if self._options.on_resnapshot is OnResnapshot.UPSERT:
            self._snapshot = accepted_snapshot(events, self._snapshot, runs)
        if not loads.all():
            self._loading = False
        # Rows of another snapshot than the one that loads the table: what was deleted in between is still there.
        foreign = np.flatnonzero(initial_rows(events) & ~loads)
        if len(foreign):
            certain = min(certain, int(foreign[0]))
        proof: Proof | None = None
        if not self._tainted:
            proof, self._tainted = self._progress.proof(events, certain)
        marked = mark(
            events,
            projected.rows,
            projected.old_rows,
            self._plan.job.markers,
            keys,
            proof,
            keep_deleted=bool(self._options.soft_delete),
        )
        markers = None if self._loading else marked.markers
        self._schema = evolution.schema
        self._landed_as.update({source: name for name, source in evolution.mapping.items()})
        if self._file is None:
            self._file = TableFile.open(
                self._storage, self._plan, self._options, self._before, self._schema, marked=markers is not None
            )
        self._file.prepare(self._schema, RowMarker.UPSERT if keys else RowMarker.INSERT, marked=markers is not None)
        rows = cast_rows(marked.rows, self._schema, evolution.mapping, evolution.unfollowed)
        self._ignored.update(ignored_values(marked.rows, rows, evolution.mapping, evolution.unfollowed))
        self._file.write(rows, markers, events)
        self._written.write(events, marked.origin, landing, row_keys)
        self._progress.remember(events)
        self._clamped += events.clamped
        return stop

    def _key_forms(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        return key_forms(keys, self._options, self._plan.job.secrecy)

    def _settle(
        self, reshaped: Reshaped, landing: frozenset[str], row_keys: tuple[str, ...], certain: int
    ) -> tuple[OrderedRows, int, Stop | None]:
        """The events that land, with the values that were not sent, and where the table stops for want of one.

        Args:
            landing: names of the columns that land; row_keys: of those that tell the table's rows apart.
        """
        letters_unfit = self._options.on_cast_failure is OnCastFailure.DEAD_LETTER
        unfit: Bools = np.zeros(len(reshaped.events), np.bool_)
        if reshaped.misfits and letters_unfit:
            unfit = np.logical_or.reduce(list(reshaped.misfits.values()))
        events, missing = self._fill(reshaped.events, landing, row_keys, unfit)
        lacking: Bools = np.zeros(len(events), np.bool_)
        stop = None
        if missing and self._options.on_unavailable is OnUnavailable.DEAD_LETTER:
            lacking = np.logical_or.reduce(list(missing.values()))
        elif missing and self._options.on_unavailable is OnUnavailable.PARK:
            stop = unavailable_stop(events, missing)
            events, reshaped = events.slice(0, stop.index), reshaped.slice(0, stop.index)
            unfit, lacking = unfit[: stop.index], lacking[: stop.index]
        if reshaped.misfits and not letters_unfit:
            self._counts["cast_failures"] += sum(int(mask.sum()) for mask in reshaped.misfits.values())
        out = unfit | lacking
        if not out.any():
            return events, certain, stop
        if unfit.any():
            names = ", ".join(reshaped.misfits)
            detail = f"a value does not fit the type that it is cast to: {names}"
            self._leave_out(events, np.flatnonzero(unfit), CAST_FAILURE, detail)
        if lacking.any():
            names = ", ".join(missing)
            detail = f"the source did not send the unchanged value of {names}"
            self._leave_out(events, np.flatnonzero(lacking), UNAVAILABLE_VALUE, detail)
        kept = events.take(np.flatnonzero(~out))
        self._remember_left_out(events.take(np.flatnonzero(out)), np.flatnonzero(out), kept, row_keys)
        return kept, min(certain, int(np.flatnonzero(out)[0])), stop

    def _remember_left_out(
        self, events: OrderedRows, where: Int64s, kept: OrderedRows, row_keys: tuple[str, ...]
    ) -> None:
        """What earlier rows say of the keys of these events is out of date; ``where`` they were among those kept."""
        if not row_keys:
            return
        ranks = where - np.arange(len(where))
        for keys, rank in zip(event_keys(events, row_keys), ranks.tolist(), strict=True):
            for key in keys:
                self._written.leave_out(key, self._written.count + written_before(kept, rank))

    def _project(self, events: OrderedRows, keys: tuple[str, ...]) -> tuple[OrderedRows, Projected | None, Stop | None]:
        """What lands of the events before the first that a computed column fails on; None where nothing does."""
        stop = None
        if len(events):
            try:
                return events, project(events, self._options, keys), None
            except ExpressionFailedError as error:
                stop = expression_stop(events, error)
                events = events.slice(0, stop.index)
        return events, project(events, self._options, keys) if len(events) else None, stop

    def _fill(
        self, events: OrderedRows, landing: frozenset[str], row_keys: tuple[str, ...], left_out: Bools
    ) -> tuple[OrderedRows, dict[str, Bools]]:
        """Fill the values of ``landing`` columns that were not sent; says which cells of which columns stay empty."""
        unavailable = {name: mask for name, mask in events.unavailable.items() if name in landing}
        self._fills = self._fills or bool(unavailable)
        events = replace(events, unavailable=unavailable)
        if not self._fills:
            return events, {}
        # A record that was set aside may have been any event: no row is known to hold the latest value then.
        keys = () if self._table in self._plan.doubtful else row_keys
        letters = self._options.on_unavailable is OnUnavailable.DEAD_LETTER
        return self._earlier.fill(events, keys, left_out, unfilled_left_out=letters)

    def _leave_out(self, events: OrderedRows, where: Int64s, reason: str, detail: str) -> None:
        for index in where.tolist():
            self.left_out.append(
                BadRecord(
                    topic=events.topics[events.topic_index[index]],
                    partition=int(events.partitions[index]),
                    offset=int(events.offsets[index]),
                    reason=reason,
                    detail=detail,
                    key=None,
                    value=None,
                )
            )

    def _read_earlier(self, names: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        if self._file is None:
            return
        known = [name for name in dict.fromkeys(names) if name in self._landed_as]
        for batch in self._file.read_back([self._landed_as[name] for name in known]):
            found = dict(zip(known, batch.columns, strict=True))
            nothing = pa.nulls(batch.num_rows)
            yield pa.RecordBatch.from_arrays([found.get(name, nothing) for name in names], names=list(names))

    def _forget_retyped(
        self,
        events: OrderedRows,
        incoming: tuple[IncomingColumn, ...],
        evolution: Evolution,
        row_keys: tuple[str, ...],
    ) -> None:
        """Where a column's type has changed in this batch, its earlier values say nothing about the present ones.

        Nor does the file say what a column's values were that it holds in another form. Those are remembered from the
        first one on, so that what can be filled in does not depend on where the events were cut.
        """
        types = {column.source: column.type for column in incoming}
        changed = {name for name, kind in types.items() if self._types.get(name, kind) != kind}
        new = types.keys() - self._types.keys()
        self._types.update(types)
        held = {
            source: next(column.type for column in evolution.schema.columns if column.name == name)
            for name, source in evolution.mapping.items()
        }
        keys_otherwise = any(
            types.get(name) is None or types[name] != held[name] or (self._history and is_masked(name, self._options))
            for name in row_keys
        )
        keys_changed = not changed.isdisjoint(row_keys)
        for field in events.rows.schema:
            name = field.name
            # The placeholder is text or bytes; what such a column is cast to may be anything.
            if name not in types or not (pa.types.is_string(field.type) or pa.types.is_binary(field.type)):
                continue
            otherwise = name in new and (types[name] != held[name] or keys_otherwise)
            if name in changed or keys_changed or otherwise:
                self._fills = True
                self._earlier.begin_anew(name)

    def _note_changes(self, evolution: Evolution, events: OrderedRows, incoming: tuple[IncomingColumn, ...]) -> None:
        if self._schema is None:
            return
        # Learned columns are those that a record happens to have, and a delete may have its key's alone.
        partial = events.schema.learned or bool((events.ops == Op.DELETE).all())
        landing = [column.source for column in incoming]
        rows = None if partial else events.schema
        found = schema_notes(self._schema, evolution.changes, rows, landing, self._gone)
        self._gone = found.gone
        self._notes += found.notes

    def _park(self, events: OrderedRows, index: int, stop: Stop) -> None:
        """Stand still at the event at ``index``: from now on every partition's first event is where it resumes."""
        for topic, plan in self._plan.topics.items():
            if topic in self._topics or topic in self._progress.topics:
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
        self._skip(events.slice(index, len(events)))

    def _skip(self, events: OrderedRows) -> None:
        """Count events that do not land, and remember for each partition the first one."""
        self._skipped += len(events)
        numbers, firsts = np.unique(places(events), return_index=True)
        for number, offset in zip(numbers.tolist(), events.offsets[firsts].tolist(), strict=True):
            topic, partition = place_of(events, number)
            ranges = self._plan.topics[topic].ranges
            resume = self._resume.setdefault(topic, {number: end for number, (_, end) in ranges.items()})
            resume[partition] = min(offset, resume.get(partition, offset))

    def _state(self) -> TableState:
        status = TableStatus.LOADING if self._loading else TableStatus.STREAMING
        if self._before.status in FILLED:
            status = self._before.status
        parked = self._parked
        if parked is not None:
            # A table that stood still before may be on its way back: only the chores move it.
            status = TableStatus.PARKED if self._before.parked is None else self._before.status
            parked = msgspec.structs.replace(
                parked, skipped=parked.skipped + self._skipped, resume=self._resume or parked.resume
            )
        runs = tuple(self._progress.runs)[-KEPT_RUNS:]
        return msgspec.structs.replace(
            self._before,
            status=status,
            schema=str(self._schema.fingerprint) if self._schema else "",
            keys=self._keys,
            key_forms=self._key_forms(self._keys),
            history=self._history,
            sources=in_order(self._sources),
            snapshot=self._snapshot,
            partitions=self._progress.partitions,
            streamed_runs=runs,
            run_starts={run: start for run, start in self._progress.run_starts.items() if run in runs},
            loaded=position_text(self._progress.loaded),
            gone=self._gone,
            dropped=self._dropped,
            ignored_values=self._before.ignored_values + self._ignored.total(),
            tainted=self._tainted,
            parked=parked,
            late=self._before.late + (0 if self._merges_sources else self._progress.late),
            dead_letters=self._before.dead_letters + len(self.left_out),
            source_ms=self._progress.source_ms,
        )


def _index_of(events: OrderedRows, stop: Stop) -> int:
    """The index of the event at which the table stops; events may have been left out since it was counted."""
    number = events.topics.index(stop.topic) << 32 | stop.partition
    return int(np.flatnonzero((places(events) == number) & (events.offsets == stop.offset))[0])


def _among(records: list[BadRecord], events: OrderedRows) -> list[BadRecord]:
    """Those of the records that are among the events."""
    topics = (events.topics[index] for index in events.topic_index.tolist())
    known = set(zip(topics, events.partitions.tolist(), events.offsets.tolist(), strict=True))
    return [record for record in records if (record.topic, record.partition, record.offset) in known]
