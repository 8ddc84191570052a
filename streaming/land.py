"""Landing one table's rows of one micro-batch: checks, schema, markers, file, staging.

A lander takes events in apply order and writes one file. Whatever the table cannot take parks it at that event: rows
before it land, it and later ones are counted and kept for the catch-up, and no other table notices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from connectors.debezium.events import BadRecord, Bools
from connectors.debezium.merge_keys import PositionCarry
from connectors.debezium.schema import SourceTable
from connectors.landing_zone.evolution import Evolution, Refused, TypeChangePolicy, cast_rows, evolve
from connectors.landing_zone.ledger.state import Parked, PartitionState, SnapshotIdentity, TableState, TableStatus
from connectors.landing_zone.row_marker import COLUMN as MARKER_COLUMN
from connectors.landing_zone.row_marker import RowMarker
from connectors.landing_zone.schema import PinnedSchema
from connectors.landing_zone.storage.protocol import Storage
from streaming.carry import carry_at, high_words, partition_state, table_high_water
from streaming.columns import project
from streaming.files import TableFile
from streaming.marking import HighWater, mark
from streaming.plan import BatchPlan, TableResult
from streaming.policies import OnUnavailable
from streaming.rows import OrderedRows
from streaming.stops import (
    Stop,
    first_stop,
    format_stop,
    load_rows,
    loading_snapshot,
    null_key_stop,
    streamed_runs,
    text_refusal,
    without_truncates,
)
from streaming.unavailable import EarlierValues

KEPT_RUNS = 16


class _Place(NamedTuple):
    topic: str
    partition: int


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
        self._schema: PinnedSchema | None = None
        if state.schema:
            self._schema = msgspec.json.decode(plan.schemas[state.schema], type=PinnedSchema)
        self._mapping: dict[str, str] = {}
        self._keys = state.keys
        self._snapshot: SnapshotIdentity | None = state.snapshot
        self._runs = dict.fromkeys(state.streamed_runs)
        self._loading = state.status is TableStatus.LOADING
        self._tainted = state.tainted
        self._parked: Parked | None = state.parked
        self._high: HighWater | None = table_high_water(state)
        self._file: TableFile | None = None
        self._earlier: EarlierValues | None = None
        self._partitions: dict[_Place, PartitionState] = {
            _Place(topic, partition): known
            for topic, partitions in state.partitions.items()
            for partition, known in partitions.items()
        }
        self._topics: dict[str, None] = {}
        self._skipped = 0
        self._late = 0
        self._clamped = 0
        self._source_ms = state.source_ms
        self._notes: list[str] = []
        self.left_out: list[BadRecord] = []

    def add(self, events: OrderedRows) -> None:
        """Land the next events; after the event that parks the table nothing lands any more."""
        self._topics.update(dict.fromkeys(events.topics))
        if self._parked is not None:
            self._skipped += len(events)
            return
        streamed = self._plan.streamed_runs | self._runs.keys()
        stop = format_stop(events, self._options, self._before) or first_stop(
            events, self._options, self._keys if self._schema else None, self._loading, self._snapshot, streamed
        )
        landed = events if stop is None else events.slice(0, stop.index)
        landed, truncates = without_truncates(landed)
        if truncates:
            self._tainted, self._loading = True, False
            self._notes.append(f"ignored {truncates} truncate event(s)")
        if len(landed):
            stop = self._land(landed, streamed) or stop
        if stop is not None:
            self._park(events, stop)

    def set_carry(self, topic: str, partition: int, carry: PositionCarry) -> None:
        """The partition's running maximum after all of its events; a parked table keeps that of its last landed row."""
        if self._parked is None:
            self._partitions[_Place(topic, partition)] = partition_state(carry)

    def finish(self) -> TableResult:
        """Close and stage the file, if any row landed, and say what the table has become."""
        state = self._state()
        landed = None
        if self._file is not None:
            landed, state = self._file.stage(self._storage, self._plan, self._table, state)
        schemas = {}
        if self._schema is not None and self._schema.fingerprint not in self._plan.schemas:
            schemas[str(self._schema.fingerprint)] = msgspec.json.encode(self._schema).decode()
        return TableResult(
            table=self._table,
            state=state,
            file=landed,
            schemas=schemas,
            direct_topics=tuple(self._topics) if self._direct else (),
            clamped=self._clamped,
            notes=tuple(self._notes),
        )

    def abandon(self) -> None:
        """Drop the unfinished file of an attempt that failed."""
        if self._file is not None:
            self._file.abandon()

    def _land(self, events: OrderedRows, streamed: frozenset[str]) -> Stop | None:
        """Fill, evolve, mark and write; returns where the table has to stop, when only the rows' columns could tell."""
        keys = self._keys if self._schema else events.schema.key
        events, stop = self._fill(events, keys)
        null_key = null_key_stop(events, keys)
        if null_key is not None:
            events, stop = events.slice(0, null_key.index), null_key
        if not len(events):
            return stop
        rows, incoming = project(events, self._options, keys)
        evolution = evolve(self._schema, incoming, TypeChangePolicy(self._options.on_type_change.value))
        if not isinstance(evolution, Refused) and self._schema is not None and evolution.changes:
            evolution = text_refusal(self._options, evolution) or evolution
        if isinstance(evolution, Refused):
            return Stop.at(events, 0, evolution.reason.value, evolution.message, evolution.remedy)
        self._keys = keys
        self._note_changes(evolution)
        self._snapshot = loading_snapshot(events, self._snapshot, streamed)
        if not load_rows(events, self._snapshot).all():
            self._loading = False
        if int((events.keys[:, 0] >> np.uint64(32)).max()):
            # After a reset of the source's log no position proves anything about rows landed before it.
            self._tainted = True
        marked = mark(events, rows, self._plan.job.markers, keys, None if self._tainted else self._high)
        markers = None if self._loading else marked.markers
        self._schema, self._mapping = evolution.schema, evolution.mapping
        if self._file is None:
            self._file = TableFile.open(
                self._storage, self._plan, self._options, self._before, self._schema, marked=markers is not None
            )
        self._file.prepare(self._schema, RowMarker.UPSERT if keys else RowMarker.INSERT, marked=markers is not None)
        self._file.write(cast_rows(marked.rows, self._schema, evolution.mapping), markers, events)
        self._remember(events)
        return stop

    def _fill(self, events: OrderedRows, keys: tuple[str, ...]) -> tuple[OrderedRows, Stop | None]:
        if not events.unavailable and self._earlier is None:
            return events, None
        if self._earlier is None:
            self._earlier = EarlierValues(keys, self._read_earlier)
        events, missing = self._earlier.fill(events)
        if not missing or self._options.on_unavailable is OnUnavailable.NULL:
            return events, None
        cells: Bools = np.logical_or.reduce(list(missing.values()))
        where = np.flatnonzero(cells)
        if self._options.on_unavailable is OnUnavailable.DEAD_LETTER:
            self._leave_out(events, where, tuple(missing))
            return events.take(np.flatnonzero(~cells)), None
        first = int(where[0])
        names = ", ".join(name for name, mask in missing.items() if mask[first])
        stop = Stop.at(
            events,
            first,
            "unavailable_value",
            f"the source did not send the unchanged value of {names}, and no earlier row of the batch has it",
            "set REPLICA IDENTITY FULL on the table (PostgreSQL), or choose another policies.on_unavailable",
        )
        return events.slice(0, first), stop

    def _leave_out(
        self, events: OrderedRows, where: np.ndarray[tuple[int], np.dtype[np.int64]], names: tuple[str, ...]
    ) -> None:
        self._tainted = True
        for index in where.tolist():
            self.left_out.append(
                BadRecord(
                    topic=events.topics[events.topic_index[index]],
                    partition=int(events.partitions[index]),
                    offset=int(events.offsets[index]),
                    reason="unavailable_value",
                    detail=f"the source did not send the unchanged value of {', '.join(names)}",
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

    def _note_changes(self, evolution: Evolution) -> None:
        if self._schema is not None:
            for change in evolution.changes:
                instead = f" instead of {change.replaces}" if change.replaces else ""
                self._notes.append(f"new column {change.column.name} ({change.column.type}){instead}")

    def _remember(self, events: OrderedRows) -> None:
        """Positions, late rows, runs and time of the rows that have just landed."""
        self._late += self._count_late(events)
        self._runs.update(dict.fromkeys(streamed_runs(events)))
        self._clamped += events.clamped
        self._source_ms = max(self._source_ms, int(events.source_ms.max(initial=0)))
        places = events.topic_index.astype(np.int64) << 32 | events.partitions
        for place in np.unique(places).tolist():
            last = int(np.flatnonzero(places == place)[-1])
            where = _Place(events.topics[place >> 32], place & 0xFFFFFFFF)
            self._partitions[where] = partition_state(carry_at(events.keys, last))
        words = max(tuple(row) for row in events.keys[[0, -1]].tolist())
        if self._high is None or words > self._high.words:
            self._high = HighWater(epoch=words[0] >> 32, words=words)

    def _count_late(self, events: OrderedRows) -> int:
        """Rows behind what another partition had reached before this batch: their cross-partition order is gone."""
        others = {
            _Place(topic, partition): words
            for topic, partitions in self._before.partitions.items()
            for partition, state in partitions.items()
            if (words := high_words(state)) is not None
        }
        if len(others) < 2 and not (set(others) - {_Place(t, p) for t in events.topics for p in events.partitions[:1]}):
            return 0
        late = 0
        places = events.topic_index.astype(np.int64) << 32 | events.partitions
        for place in np.unique(places).tolist():
            own = _Place(events.topics[place >> 32], place & 0xFFFFFFFF)
            high = max((words for where, words in others.items() if where != own), default=None)
            if high is not None:
                late += sum(tuple(key) < high for key in events.keys[places == place].tolist())
        return late

    def _park(self, events: OrderedRows, stop: Stop) -> None:
        """Stand still at ``stop``: remember for each partition the first offset that has not landed."""
        resume: dict[str, dict[int, int]] = {}
        for topic, plan in self._plan.topics.items():
            if topic in self._topics or any(place.topic == topic for place in self._partitions):
                resume[topic] = {partition: end for partition, (_, end) in plan.ranges.items()}
        rest = events.slice(stop.index, len(events))
        for index in range(len(rest) - 1, -1, -1):
            resume.setdefault(rest.topics[rest.topic_index[index]], {})[int(rest.partitions[index])] = int(
                rest.offsets[index]
            )
        self._skipped += len(rest)
        self._parked = Parked(
            reason=stop.reason,
            message=stop.message,
            remedy=stop.remedy,
            topic=stop.topic,
            partition=stop.partition,
            offset=stop.offset,
            resume=resume,
        )

    def _state(self) -> TableState:
        status = TableStatus.LOADING if self._loading else TableStatus.STREAMING
        parked = self._parked
        if parked is not None:
            status = TableStatus.PARKED
            parked = msgspec.structs.replace(parked, skipped=parked.skipped + self._skipped)
        partitions: dict[str, dict[int, PartitionState]] = {}
        for place, known in sorted(self._partitions.items()):
            partitions.setdefault(place.topic, {})[place.partition] = known
        return msgspec.structs.replace(
            self._before,
            status=status,
            schema=str(self._schema.fingerprint) if self._schema else "",
            keys=self._keys,
            snapshot=self._snapshot,
            partitions=partitions,
            streamed_runs=tuple(self._runs)[-KEPT_RUNS:],
            tainted=self._tainted,
            parked=parked,
            late=self._before.late + self._late,
            dead_letters=self._before.dead_letters + len(self.left_out),
            source_ms=self._source_ms,
        )
