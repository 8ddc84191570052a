"""Landing one table's rows of one micro-batch: checks, schema, markers, file, staging.

A lander takes events in apply order and writes one file. Whatever the table cannot take parks it at that event: rows
before it land, it and later ones are counted and kept for the catch-up, and no other table notices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
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
from connectors.landing_zone.row_marker import COLUMN as MARKER_COLUMN
from connectors.landing_zone.row_marker import RowMarker
from connectors.landing_zone.schema import PinnedSchema
from connectors.landing_zone.storage.protocol import Storage
from streaming.carry import position_text
from streaming.columns import Projected, landing_columns, project
from streaming.files import TableFile
from streaming.generation import asked_snapshot, place_text
from streaming.marking import Proof, mark
from streaming.plan import BatchPlan, TableResult
from streaming.policies import Compaction, OnCastFailure, OnUnavailable, TableMode
from streaming.progress import TableProgress, place_of, places
from streaming.rows import OrderedRows
from streaming.schema_notes import ignored_notes, schema_notes
from streaming.shaping.expressions import ExpressionFailedError
from streaming.shaping.merged_sources import in_order, source_of, with_identity
from streaming.shaping.refusals import (
    CAST_FAILURE,
    UNAVAILABLE_VALUE,
    cast_stop,
    expression_stop,
    first_of,
    landed_otherwise,
    sources_alike,
)
from streaming.shaping.reshaping import Reshaped, key_forms, reshape
from streaming.snapshots import Streamed
from streaming.source_drop import count_before, recreated_stop
from streaming.stops import (
    Stop,
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
from streaming.unavailable import EarlierValues

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
        self._mapping: dict[str, str] = {}
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
        self._loading = state.status is TableStatus.LOADING and not self._merges_sources
        self._tainted = (
            self._merges_sources or state.tainted or table in plan.doubtful or _leaves_events_out(plan, source)
        )
        self._parked: Parked | None = state.parked
        resume = {} if state.parked is None else state.parked.resume
        self._resume = {topic: dict(offsets) for topic, offsets in resume.items()}
        self._file: TableFile | None = None
        self._earlier: EarlierValues | None = None
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
        if self._merges_sources:
            alike = sources_alike(events, self._options, self._sources)
            self._sources[source_of(events.table)] = None
            events = with_identity(events, self._options)
            if alike is not None and self._parked is None:
                self._park(events, 0, alike)
                return
        for part in self._around_drop(events):
            self._add(part)

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
            Streamed(self._progress.streamed, frozenset(self._progress.runs), self._plan.streamed_runs),
        )
        landed = events if stop is None else events.slice(0, stop.index)
        landed, truncates = without_truncates(landed, self._options)
        certain = int(truncates[0]) if len(truncates) else len(landed)
        if certain < len(landed):
            self._loading = False
        if len(landed):
            stop = self._land(landed, certain) or stop
            self._tainted = self._tainted or bool(self.left_out)
        index = len(events) if stop is None else _index_of(events, stop)
        ignored = 0 if self._history else int((events.ops[:index] == Op.TRUNCATE).sum())
        if ignored:
            self._tainted, self._loading = True, False
            self._notes.append(f"ignored {ignored} truncate event(s)")
        if stop is not None:
            self._park(events, index, stop)

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
        reshaped = reshape(events, self._options, self._plan.job.secrecy, landing_columns(events, self._options, keys))
        stop = first_of(null_key_stop(reshaped.events, keys), cast_stop(reshaped, self._options))
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
        self._forget_retyped(incoming, keys)
        events, certain = self._settle_misfits(reshaped, certain)
        if self._earlier is not None or events.unavailable:
            landing = frozenset(column.source for column in incoming)
            events, certain, missing = self._fill(events, keys, landing, certain)
            stop = missing or stop
        events, projected, failed = self._project(events, keys)
        stop = failed or stop
        if projected is None:
            return stop
        self._keys = keys
        self._note_changes(evolution, events, incoming)
        self._snapshot = loading_snapshot(events, self._snapshot, self._plan.streamed_runs | self._progress.runs.keys())
        if not load_rows(events, self._snapshot).all():
            self._loading = False
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
        self._schema, self._mapping = evolution.schema, evolution.mapping
        if self._file is None:
            self._file = TableFile.open(
                self._storage, self._plan, self._options, self._before, self._schema, marked=markers is not None
            )
        self._file.prepare(self._schema, RowMarker.UPSERT if keys else RowMarker.INSERT, marked=markers is not None)
        rows = cast_rows(marked.rows, self._schema, evolution.mapping, evolution.unfollowed)
        self._ignored.update(ignored_values(marked.rows, rows, evolution.mapping, evolution.unfollowed))
        self._file.write(rows, markers, events)
        self._progress.remember(events)
        self._clamped += events.clamped
        return stop

    def _key_forms(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        return key_forms(keys, self._options, self._plan.job.secrecy)

    def _settle_misfits(self, reshaped: Reshaped, certain: int) -> tuple[OrderedRows, int]:
        """The events that land: all, with values that do not fit their cast counted, or those without such values."""
        events = reshaped.events
        if not reshaped.misfits:
            return events, certain
        if self._options.on_cast_failure is not OnCastFailure.DEAD_LETTER:
            self._counts["cast_failures"] += sum(int(mask.sum()) for mask in reshaped.misfits.values())
            return events, certain
        cells: Bools = np.logical_or.reduce(list(reshaped.misfits.values()))
        where = np.flatnonzero(cells)
        names = ", ".join(reshaped.misfits)
        self._leave_out(events, where, CAST_FAILURE, f"a value does not fit the type that it is cast to: {names}")
        return events.take(np.flatnonzero(~cells)), min(certain, int(where[0]))

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
        self, events: OrderedRows, keys: tuple[str, ...], landing: frozenset[str], certain: int
    ) -> tuple[OrderedRows, int, Stop | None]:
        """Fill the values of ``landing`` columns that were not sent; where that cannot be done the policy decides."""
        unavailable = {name: mask for name, mask in events.unavailable.items() if name in landing}
        events = replace(events, unavailable=unavailable)
        if not unavailable and self._earlier is None:
            return events, certain, None
        if self._earlier is None:
            self._earlier = EarlierValues(events.schema.key if self._history else keys, self._read_earlier)
        events, missing = self._earlier.fill(events)
        if not missing or self._options.on_unavailable is OnUnavailable.NULL:
            return events, certain, None
        cells: Bools = np.logical_or.reduce(list(missing.values()))
        where = np.flatnonzero(cells)
        first = int(where[0])
        if self._options.on_unavailable is OnUnavailable.DEAD_LETTER:
            names = ", ".join(missing)
            self._leave_out(events, where, UNAVAILABLE_VALUE, f"the source did not send the unchanged value of {names}")
            return events.take(np.flatnonzero(~cells)), min(certain, first), None
        names = ", ".join(name for name, mask in missing.items() if mask[first])
        stop = Stop.at(
            events,
            first,
            "unavailable_value",
            f"the source did not send the unchanged value of {names}, and no earlier row of the batch has it",
            "set REPLICA IDENTITY FULL on the table (PostgreSQL), or choose another policies.on_unavailable",
        )
        return events.slice(0, first), certain, stop

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
        if self._file is None or self._schema is None:
            return
        landed = {source: name for name, source in self._mapping.items()}
        known = [name for name in names if name in landed]
        for batch in self._file.read_back([*(landed[name] for name in known), *self._file.marker_columns()]):
            found = dict(zip([*known, *self._file.marker_columns()], batch.columns, strict=True))
            nothing = pa.nulls(batch.num_rows)
            wanted = (*names, MARKER_COLUMN)
            yield pa.RecordBatch.from_arrays([found.get(name, nothing) for name in wanted], names=list(wanted))

    def _forget_retyped(self, incoming: tuple[IncomingColumn, ...], keys: tuple[str, ...]) -> None:
        """Where a column's type has changed in this batch, its earlier values say nothing about the present ones."""
        types = {column.source: column.type for column in incoming}
        changed = [name for name, kind in types.items() if self._types.get(name, kind) != kind]
        self._types.update(types)
        if changed and keys:
            self._earlier = self._earlier or EarlierValues(keys, self._read_earlier)
            for name in changed:
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
            place=place_text((int(events.keys[index, 1]), int(events.keys[index, 2])), int(events.source_ms[index])),
        )
        self._skip(events.slice(index, len(events)))

    def _skip(self, events: OrderedRows) -> None:
        """Count events that do not land, and remember for each partition the first one."""
        self._skipped += len(events)
        numbers, firsts = np.unique(places(events), return_index=True)
        for number, offset in zip(numbers.tolist(), events.offsets[firsts].tolist(), strict=True):
            topic, partition = place_of(events, number)
            resume = self._resume.setdefault(topic, {})
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
            streamed_runs=tuple(self._progress.runs)[-KEPT_RUNS:],
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


def _leaves_events_out(plan: BatchPlan, source: SourceTable) -> bool:
    """Whether the settings drop operations without which a key may still be there when it is created again."""
    decoding = plan.job.decode.rules.decoding_for(source)
    return decoding is not None and not {Op.UPDATE, Op.DELETE, Op.TRUNCATE}.isdisjoint(decoding.excluded_operations)
