"""Writing one table's rows of one micro-batch: casts, schema, values that were not sent, markers, file, staging."""

from __future__ import annotations

import msgspec

from connectors.debezium.events import BadRecord, Op
from connectors.debezium.schema import SourceTable
from connectors.landing_zone.evolution import IncomingColumn, Refused
from connectors.landing_zone.ledger.state import LandedFile, TableState
from connectors.landing_zone.row_marker import RowMarker
from streaming.landing.carry import position_text
from streaming.landing.columns import Projected, first_computed, landing_columns, project
from streaming.landing.files import Staging, TableFile
from streaming.landing.gaps import Gaps
from streaming.landing.inserted import highest_inserted, inserted_text, inserted_to
from streaming.landing.loading import Load
from streaming.landing.marking import mark, proves_nothing
from streaming.landing.progress import TableProgress
from streaming.landing.rows import OrderedRows
from streaming.landing.schema_notes import mask_notes
from streaming.landing.shaping.expressions import ExpressionFailedError
from streaming.landing.shaping.refusals import (
    cast_stop,
    expression_stop,
    key_cast_stop,
    landed_otherwise,
    masked_key_stop,
    name_stop,
    no_columns_stop,
)
from streaming.landing.shaping.reshaping import key_forms, reshape
from streaming.landing.steps import Steps
from streaming.landing.stops.columns import refusal_stop
from streaming.landing.stops.keys import null_key_stop
from streaming.landing.stops.stop import Stop, first_of
from streaming.landing.table_schema import TableSchema
from streaming.plan import BatchPlan, TableOptions
from streaming.policies import Compaction, OnResnapshot, TableMode

KEPT_RUNS = 16
"""Connector runs that a table's state remembers, the latest ones."""


class TableWriter:
    """Writes the rows of one table in one attempt at one micro-batch.

    Args:
        source: the table at the source whose rows come first; table: the landing zone's name of it.
        state: what the ledger knows of it.

    Attributes:
        progress: how far the table has come; load: the snapshot that loads it.
        clamped: cells changed by a type's range rule; from_before: filled with what the row held before.
        notes: what to tell a person, in the order in which it happened.
    """

    def __init__(
        self,
        plan: BatchPlan,
        source: SourceTable,
        table: str,
        state: TableState,
        staging: Staging,
        options: TableOptions,
        steps: Steps,
    ) -> None:
        self._plan = plan
        self._table = table
        self._before = state
        self._staging = staging
        self._options = options
        self._history = options.mode is TableMode.HISTORY
        self._steps = steps
        self.progress = TableProgress(state)
        # Of several sources each loads by itself.
        self.load = Load(state, alone=not options.merge_sources)
        self._tainted = state.tainted or table in plan.doubtful or proves_nothing(options, plan.job.decode, source)
        self._keys = state.keys
        self.inserted_to = inserted_to(state)
        self._schema = TableSchema(plan, state)
        self._file: TableFile | None = None
        self._gaps = Gaps(
            options, lambda names: self._schema.read_back(self._file, names), doubtful=table in plan.doubtful
        )
        self.clamped = 0
        self.from_before = 0
        self.notes: list[str] = []

    @property
    def left_out(self) -> list[BadRecord]:
        """The events that do not land but go to the dead-letter topic."""
        return self._gaps.left_out

    @property
    def filled(self) -> bool:
        """Whether a value that the source did not send was taken from an earlier row."""
        return self._gaps.filled > 0

    @property
    def figures(self) -> dict[str, int]:
        """What there is to count of the rows beside what the ledger counts; see :class:`streaming.plan.TableResult`."""
        counted = {
            "unavailable.before": self.from_before,
            "unavailable.earlier_row": self._gaps.filled,
            "unavailable.null": self._gaps.nulls,
            **{f"schema_changes.{kind}": count for kind, count in sorted(self._schema.changes.items())},
        }
        return {name: count for name, count in counted.items() if count}

    @property
    def pinned_keys(self) -> tuple[str, ...] | None:
        """The table's key columns; None while nothing has landed yet."""
        return self._keys if self._schema.pinned else None

    @property
    def has_landed(self) -> bool:
        """Whether anything of the table has landed, in an earlier batch or by now."""
        return self._before.sequence > 0 or self._file is not None

    def taint(self, note: str) -> None:
        """Take no row for new any more, and the load for over; ``note`` says why."""
        self._tainted = True
        self.load.end()
        self.notes.append(note)

    def write(self, events: OrderedRows, certain: int) -> Stop | None:
        """Write events without truncates; returns the stop, where only the rows' columns could tell that there is one.

        Nothing is written or left out from the stop on.

        Args:
            certain: how many of the events come before anything was left out.
        """
        letters = len(self.left_out)
        stop = self._write(events, certain)
        if stop is not None:
            # What comes behind the stop lands, or is left out, when the table goes on.
            self._gaps.keep_left_out(letters, events.slice(0, stop.index_in(events)))
        self._tainted = self._tainted or bool(self.left_out)
        return stop

    def stage(self, state: TableState) -> tuple[LandedFile | None, TableState, dict[str, int]]:
        """Close the file and upload it under its staged name, if any row was written.

        Args:
            state: as :meth:`state` and the lander have made it.

        Returns:
            the file, the state with its number, and what the ledger adds to its counters.
        """
        counts: dict[str, int] = {}
        if self._gaps.cast_failures:
            counts["cast_failures"] = self._gaps.cast_failures
        landed = None
        if self._file is not None:
            pinned = self._schema.pinned
            if self._options.compaction is Compaction.LAST_STATE and pinned is not None and self._keys:
                self._file.keep_last_states(pinned.key_columns)
                counts["compacted"] = self._file.compacted
            landed, state = self._file.stage(self._staging, self._plan, self._table, state)
        if self._schema.ignored:
            counts["ignored_values"] = self._schema.ignored.total()
            self.notes += self._schema.ignored_notes()
        return landed, state, counts

    def new_schemas(self) -> dict[str, str]:
        """The pinned schema as JSON by fingerprint, if the ledger does not know it yet."""
        return self._schema.new()

    def state(self) -> TableState:
        """The table after what was written, but for its place among the landed files and what parks it."""
        pinned = self._schema.pinned
        runs = tuple(self.progress.runs)[-KEPT_RUNS:]
        # Files stay what they are, whatever the settings ask for by now: that may be the very reason why nothing lands.
        landed = self._before.sequence > 0
        return msgspec.structs.replace(
            self._before,
            status=self.load.status,
            schema=str(pinned.fingerprint) if pinned else "",
            keys=self._keys,
            key_forms=self._before.key_forms if landed else self._key_forms(self._keys),
            history=self._before.history if landed else self._history,
            snapshot=self.load.snapshot,
            partitions=self.progress.partitions,
            streamed_runs=runs,
            run_starts={run: start for run, start in self.progress.run_starts.items() if run in runs},
            loaded=position_text(self.progress.loaded),
            loaded_ms=self.progress.loaded_ms,
            gone=self._schema.gone,
            ignored_values=self._before.ignored_values + self._schema.ignored.total(),
            tainted=self._tainted,
            inserted_to=inserted_text(self.inserted_to),
            late=self._before.late + (0 if self._options.merge_sources else self.progress.late),
            dead_letters=self._before.dead_letters + len(self.left_out),
            source_ms=self.progress.source_ms,
        )

    def abandon(self) -> None:
        """Drop the unfinished file of an attempt that failed."""
        if self._file is not None:
            self._file.abandon()

    def _write(self, events: OrderedRows, certain: int) -> Stop | None:
        """Evolve, fill, mark and write."""
        keys = () if self._history else self._keys if self._schema.pinned else events.schema.key
        if stop := landed_otherwise(events, self._options, self._before, self._key_forms(keys)):
            return stop
        if stop := masked_key_stop(events, self._options, keys):
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
        first = first_computed(reshaped.events, self._options)
        try:
            incoming = self._incoming(reshaped.events, keys, computes=first < len(reshaped.events))
        except ExpressionFailedError as error:
            stop = expression_stop(reshaped.events, ExpressionFailedError(error.column, first, error.detail))
            reshaped = reshaped.slice(0, first)
            if not first:
                return stop
            incoming = self._incoming(reshaped.events, keys, computes=False)
        if not incoming:
            return no_columns_stop(events)
        if taken := name_stop(reshaped.events, incoming, self._options, self._schema.pinned):
            return taken
        evolution = self._schema.evolved(incoming, self._options)
        if isinstance(evolution, Refused):
            return refusal_stop(events, evolution, self._options)
        row_keys = events.schema.key if self._history else keys
        self._gaps.forget_retyped(events, incoming, evolution, row_keys)
        landing = frozenset(column.source for column in incoming)
        closed = self._gaps.close(reshaped, landing, row_keys, certain)
        events, projected, failed = self._project(closed.events, keys)
        stop = failed or closed.stop or stop
        if projected is None:
            return stop
        if self._schema.pinned is None and (events.ops != Op.DELETE).any():
            self.notes += mask_notes(events.rows.schema.names, self._options)
        self._keys = keys
        schema, notes = self._schema.follow(evolution, events, incoming)
        self.notes += notes
        foreign = self.load.follow(
            events,
            self._plan.streamed_runs | self.progress.runs.keys(),
            accepts_another=self._options.on_resnapshot is OnResnapshot.UPSERT,
        )
        proof, spoilt = self.progress.proof(events, min(closed.certain, foreign))
        tainted, self._tainted = self._tainted, self._tainted or spoilt
        marked = mark(
            events,
            projected.rows,
            projected.old_rows,
            self._plan.job.markers,
            keys,
            None if tainted else proof,
            keep_deleted=bool(self._options.soft_delete),
        )
        markers = None if self.load.goes_on else marked.markers
        if self._file is None:
            self._file = TableFile.open(
                self._staging, self._plan, self._options, self._before, schema, self._steps, marked=markers is not None
            )
        self._file.prepare(schema, RowMarker.UPSERT if keys else RowMarker.INSERT, marked=markers is not None)
        self._file.write(self._schema.cast(marked.rows, evolution), markers, events)
        if keys:
            self.inserted_to = highest_inserted(events, marked) or self.inserted_to
        self._gaps.remember(events, marked.origin, landing, row_keys)
        self.progress.remember(events)
        self.clamped += events.clamped
        self.from_before += events.from_before
        return stop

    def _incoming(self, events: OrderedRows, keys: tuple[str, ...], *, computes: bool) -> tuple[IncomingColumn, ...]:
        """The columns that the events land with; see :func:`streaming.landing.columns.project`."""
        none = events.slice(0, 0)
        return project(none, self._options, keys, self._schema.pinned, computes=computes).incoming

    def _project(self, events: OrderedRows, keys: tuple[str, ...]) -> tuple[OrderedRows, Projected | None, Stop | None]:
        """What lands of the events before the first that a computed column fails on; None where nothing does."""
        stop, pinned = None, self._schema.pinned
        if len(events):
            try:
                return events, project(events, self._options, keys, pinned), None
            except ExpressionFailedError as error:
                stop = expression_stop(events, error)
                events = events.slice(0, stop.index)
        return events, project(events, self._options, keys, pinned) if len(events) else None, stop

    def _key_forms(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        return key_forms(keys, self._options, self._plan.job.secrecy)
