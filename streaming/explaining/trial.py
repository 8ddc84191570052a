"""Landing one event for trial: the lander that the job runs, against the ledger's state, into a folder that goes away.

Nothing is decided here. The event goes through the same functions as in a micro-batch, and what they return is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from connectors.debezium.events import BadRecord, ChangeChunk
from connectors.debezium.merge_keys import merge_keys
from connectors.landing_zone.ledger.state import LandedFile, LedgerState, Parked, PlannedTopic
from connectors.landing_zone.metadata import metadata_of
from connectors.landing_zone.replay.content import ROW_MARKER, open_content
from connectors.landing_zone.replay.table_metadata import parse_metadata
from connectors.landing_zone.schema import PinnedSchema
from connectors.landing_zone.storage.protocol import Storage
from streaming.driver.assemble import MustMerge, assemble
from streaming.landing.carry import partition_carry
from streaming.landing.files import delimited_format
from streaming.landing.rows import OrderedRows
from streaming.landing.shaping.merged_sources import with_identity
from streaming.plan import BatchPlan, JobOptions, TableOptions, TopicPlan
from streaming.policies import FileFormat
from streaming.task.bad_records import TOO_MANY_TABLES
from streaming.task.guarded import GuardedLander
from streaming.task.results import Results
from streaming.task.table_room import TableRoom
from streaming.task.tables import TableDirectory


@dataclass(frozen=True)
class TrialRow:
    """A row as it would land; ``marker`` is empty for a row of a file without markers."""

    marker: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class TrialLanding:
    """What became of an event.

    Attributes:
        table: the landing zone's name.
        words: the event's merge key.
        rows: what lands, in order; empty when nothing does.
        parked_before: why the table stood still already; ``parks``: why this event stops it.
        left_out: set aside as a dead letter by the table's policy.
        notes: schema changes and the like.
    """

    table: str
    words: tuple[int, int, int]
    rows: tuple[TrialRow, ...]
    parked_before: Parked | None
    parks: Parked | None
    left_out: BadRecord | None
    notes: tuple[str, ...]


class Trial:
    """Lands events of one topic partition one by one, each on the state that the last one left.

    Args:
        state: of the ledger before the first event.
        storage: a place for files that nobody keeps.
    """

    def __init__(self, job: JobOptions, state: LedgerState, storage: Storage) -> None:
        self._job = job
        self._state = state
        self._storage = storage
        plan = self._plan({})
        self._room = TableRoom(plan, TableDirectory(plan))

    def land(self, chunk: ChangeChunk) -> TrialLanding:
        """What the job would do with the one event in ``chunk``."""
        offset = int(chunk.offsets[0])
        recorded = self._state.topics.get(chunk.topic)
        topic = TopicPlan(
            id="" if recorded is None else recorded.id, ranges={chunk.partition: (offset, offset + 1)}, merges=False
        )
        plan = self._plan({chunk.topic: topic})
        name, known = TableDirectory(plan).find(chunk.table)
        carry = partition_carry(known.partitions.get(chunk.topic, {}).get(chunk.partition))
        keys, carry, _ = merge_keys(chunk.positions, chunk.snapshots, carry, self._job.lasting_fall)
        first, high, low = (int(word) for word in keys[0])
        if not self._room.has(chunk.table):
            why = self._room.refusal(chunk.table)
            refused = BadRecord(chunk.topic, chunk.partition, offset, TOO_MANY_TABLES, why, None, None)
            return TrialLanding(name, (first, high, low), (), None, None, refused, ())
        lander = GuardedLander(plan, chunk.table, name, known, self._storage, direct=True)
        event = OrderedRows.of_chunk(chunk, keys)
        lander.add(with_identity(event, self._job.options_for(chunk.table)) if known.sources else event)
        lander.set_carry(chunk.topic, chunk.partition, carry)
        result = lander.finish()
        planned = {chunk.topic: PlannedTopic(topic.id, dict(topic.ranges))}
        match assemble(Results(tables=(result,), partitions=()), planned, self._state, frozenset()):
            case MustMerge(topics=topics):
                raise ValueError(f"one result cannot have to merge: {topics}")
            case draft:
                pass
        collided = draft.tables.keys() - {name}
        table = draft.tables[next(iter(collided))] if collided else draft.tables[name]
        rows: tuple[TrialRow, ...] = ()
        if result.file is not None and not collided:
            schema = {**self._state.schemas, **draft.schemas}[result.file.schema]
            rows = self._rows(result.file, schema, self._job.options_for(chunk.table))
        self._state = msgspec.structs.replace(
            self._state,
            tables={**self._state.tables, **draft.tables},
            schemas={**self._state.schemas, **draft.schemas},
        )
        return TrialLanding(
            table=name,
            words=(first, high, low),
            rows=rows,
            parked_before=known.parked,
            parks=None if known.parked is not None else table.parked,
            left_out=lander.left_out[0] if lander.left_out else None,
            notes=result.notes,
        )

    def _plan(self, topics: dict[str, TopicPlan]) -> BatchPlan:
        return BatchPlan(
            job=self._job,
            epoch=self._state.epoch,
            commit=self._state.commits + 1,
            unique="trial",
            topics=topics,
            tables=dict(self._state.tables),
            schemas=dict(self._state.schemas),
            streamed_runs=frozenset(run for table in self._state.tables.values() for run in table.streamed_runs),
        )

    def _rows(self, file: LandedFile, schema: str, options: TableOptions) -> tuple[TrialRow, ...]:
        text = delimited_format(options) if options.file_format is FileFormat.DELIMITED else None
        document = metadata_of(msgspec.json.decode(schema, type=PinnedSchema), text).to_json()
        content = open_content(self._storage.read(file.staged), parse_metadata(document, file.staged), file.staged)
        landed = [
            row
            for group in range(len(content.group_rows))
            for row in content.read(group, content.schema.names).to_pylist()
        ]
        return tuple(
            TrialRow(
                marker=str(row[ROW_MARKER]) if ROW_MARKER in row else "",
                values={name: value for name, value in row.items() if name != ROW_MARKER},
            )
            for row in landed
        )
