"""The landing file that a lander fills: where it grows, what its footer says, how it is staged."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import msgspec
import numpy as np
import pyarrow as pa

from connectors.debezium.converted import distinct
from connectors.failpoints import Failpoint, pass_failpoint
from connectors.landing_zone.delimited import DelimitedFileWriter
from connectors.landing_zone.delimited_format import DelimitedFormat
from connectors.landing_zone.footer import Footer, PartitionEnd, Vector
from connectors.landing_zone.landing_file import LandingFileWriter
from connectors.landing_zone.layout import data_path
from connectors.landing_zone.ledger.state import LandedFile, TableState
from connectors.landing_zone.numbering import SequenceNumber
from connectors.landing_zone.parquet import ParquetFileWriter
from connectors.landing_zone.row_marker import RowMarker
from connectors.landing_zone.schema import PinnedSchema
from connectors.landing_zone.staging import staged_path
from streaming.landing.places import place_of, places
from streaming.landing.rows import Int32s, OrderedRows
from streaming.landing.shaping.compaction import copy_last_states
from streaming.landing.steps import Step, Steps
from streaming.plan import BatchPlan, TableOptions
from streaming.policies import FileFormat


def delimited_format(options: TableOptions) -> DelimitedFormat:
    """How a table's text files are written."""
    return DelimitedFormat(column_separator=options.column_separator, gzip=options.gzip)


def file_extension(options: TableOptions) -> str:
    """Extension of a table's files, without the dot."""
    match options.file_format:
        case FileFormat.PARQUET:
            return "parquet"
        case FileFormat.DELIMITED:
            return delimited_format(options).file_extension


def column_separator(options: TableOptions) -> str:
    """What separates the columns of a table's text files; empty for other formats."""
    match options.file_format:
        case FileFormat.PARQUET:
            return ""
        case FileFormat.DELIMITED:
            return options.column_separator


class Staging(Protocol):
    """Where a task's finished files go: a storage, or uploads that go on while the task does."""

    def work_folder(self, path: str) -> Path:
        """The local folder in which the file for ``path`` is made."""
        ...

    def upload(self, local: Path, path: str) -> None:
        """Move ``local`` to ``path``, now or later; the attempt counts only once all have arrived."""
        ...


Another = Callable[[PinnedSchema, bool], LandingFileWriter]
"""Begins a second local file of the table, with this schema, and marked or not."""


class TableFile:
    """One table's file in one attempt at one micro-batch.

    Attributes:
        compacted: rows that :meth:`keep_last_states` has left out.
    """

    def __init__(self, writer: LandingFileWriter, staged: str, another: Another, steps: Steps) -> None:
        self.compacted = 0
        self._writer = writer
        self._staged = staged
        self._another = another
        self._steps = steps
        self._ranges: dict[str, dict[int, tuple[int, int]]] = {}

    @staticmethod
    def open(
        staging: Staging,
        plan: BatchPlan,
        options: TableOptions,
        state: TableState,
        schema: PinnedSchema,
        steps: Steps,
        *,
        marked: bool,
    ) -> TableFile:
        """Begin the table's next file on the local disk."""
        # The attempt's own id: a task that Spark runs twice must not write over its twin.
        unique = f"{plan.unique}-{uuid.uuid4().hex[:12]}"
        staged = staged_path(plan.epoch, state.folder, state.sequence + 1, unique, state.extension)
        path = staging.work_folder(staged) / staged.rsplit("/", 1)[-1]
        writer = _writer(path, schema, plan, options, marked=marked)
        beside = path.with_name(f"last-states-{path.name}")
        return TableFile(
            writer, staged, lambda schema, marked: _writer(beside, schema, plan, options, marked=marked), steps
        )

    def prepare(self, schema: PinnedSchema, marker: RowMarker, *, marked: bool) -> None:
        """Add columns and markers to what is written, if the next rows bring them; ``marker`` is for rows so far."""
        if schema != self._writer.schema:
            self._writer.widen(schema)
        if marked and not self._writer.marked:
            self._writer.mark(marker)

    def write(self, rows: pa.RecordBatch, markers: Int32s | None, events: OrderedRows) -> None:
        """Append rows; ``events`` are those that they come from."""
        if markers is None and self._writer.marked:
            markers = np.full(rows.num_rows, RowMarker.UPSERT, np.int32)
        with self._steps.measured(Step.ENCODE):
            self._writer.write(rows, markers)
        numbers = places(events)
        for number in distinct(numbers):
            offsets = events.offsets[numbers == number]
            topic, partition = place_of(events, number)
            partitions = self._ranges.setdefault(topic, {})
            first, _ = partitions.get(partition, (int(offsets[0]), 0))
            partitions[partition] = (first, int(offsets[-1]))

    def read_back(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """See :meth:`connectors.landing_zone.landing_file.LandingFileWriter.read_back`."""
        return self._writer.read_back(columns)

    def keep_last_states(self, keys: Sequence[str]) -> None:
        """Leave of each key's rows only the last one; nothing may be written afterwards.

        Args:
            keys: the key columns as in the file.
        """
        last = self._another(self._writer.schema, self._writer.marked)
        try:
            self.compacted = copy_last_states(self._writer, keys, last)
        except BaseException:
            last.abandon()
            raise
        self._writer.abandon()
        self._writer = last

    def stage(self, staging: Staging, plan: BatchPlan, table: str, state: TableState) -> tuple[LandedFile, TableState]:
        """Close the file and have it uploaded under its staged name.

        Returns:
            the file as the ledger will bind it, and ``state`` with its number, digest and rows.
        """
        number = SequenceNumber(state.sequence + 1)
        ranges = {topic: dict(sorted(self._ranges[topic].items())) for topic in sorted(self._ranges)}
        footer = Footer(
            table=table,
            generation=state.generation,
            sequence=number,
            commit=plan.commit,
            schema=self._writer.schema,
            state=_carried_state(state, plan.job.fingerprint),
            topics={topic: plan.topics[topic].id for topic in sorted(state.partitions.keys() & plan.topics.keys())},
            vector=_vector(state, plan),
            ranges=ranges,
        )
        with self._steps.measured(Step.ENCODE):
            finished = self._writer.close(footer.to_metadata())
        pass_failpoint(Failpoint.STAGE_BEFORE)
        with self._steps.measured(Step.STAGE):
            staging.upload(finished.path, self._staged)
        landed = LandedFile(
            table=table,
            generation=state.generation,
            sequence=number,
            staged=self._staged,
            target=data_path(state.folder, number, state.extension),
            sha256=finished.sha256,
            logical=finished.logical,
            bytes=finished.bytes,
            rows=finished.rows,
            schema=str(self._writer.schema.fingerprint),
            ranges=ranges,
        )
        total = {
            marker: state.rows.get(marker, 0) + finished.rows.get(marker, 0)
            for marker in sorted({*state.rows, *finished.rows})
        }
        return landed, msgspec.structs.replace(state, sequence=number, sha256=finished.sha256, rows=total)

    def abandon(self) -> None:
        self._writer.abandon()


def _writer(
    path: Path, schema: PinnedSchema, plan: BatchPlan, options: TableOptions, *, marked: bool
) -> LandingFileWriter:
    match options.file_format:
        case FileFormat.PARQUET:
            return ParquetFileWriter(
                path,
                schema,
                marked=marked,
                compression=plan.job.compression,
                compression_level=plan.job.compression_level,
                row_group_rows=plan.job.row_group_rows,
            )
        case FileFormat.DELIMITED:
            return DelimitedFileWriter(path, schema, marked=marked, text=delimited_format(options))


def _carried_state(state: TableState, fingerprint: str) -> str:
    """What a lost ledger's rebuild needs beside the vector; nothing that depends on when or where the file was made."""
    carried = {
        "settings": fingerprint,
        "source": state.source,
        "sources": state.sources,
        "history": state.history,
        "key_forms": state.key_forms,
        "folder": state.folder,
        "extension": state.extension,
        "column_separator": state.column_separator,
        "status": state.status,
        "keys": state.keys,
        "rows": state.rows,
        "snapshot": state.snapshot,
        "partitions": state.partitions,
        "streamed_runs": state.streamed_runs,
        "loaded": state.loaded,
        "tainted": state.tainted,
        "parked": state.parked,
        "dropped": state.dropped,
    }
    bounds = {
        "loaded_ms": state.loaded_ms,
        "starts": state.starts,
        "first_run": state.first_run,
        "runs_before": state.runs_before,
        "first_ms": state.first_ms,
        "first_position": state.first_position,
        "truncated": state.truncated,
        "run_starts": state.run_starts,
        "replayed": state.replayed,
        "replayed_to": state.replayed_to,
    }
    carried |= {name: bound for name, bound in bounds.items() if bound}
    return msgspec.json.encode(msgspec.to_builtins(carried, str_keys=True), order="deterministic").decode()


def _vector(state: TableState, plan: BatchPlan) -> Vector:
    """The end of every partition that feeds the table, be it that of this batch or, for a parked table, of its rows.

    A batch that reads records once more, since the ledger was made again, ends before what the table has landed.
    """
    vector: Vector = {}
    for topic in sorted(state.partitions.keys() & plan.topics.keys()):
        resume = {} if state.parked is None else state.parked.resume.get(topic, {})
        known, landed_to = state.partitions[topic], state.landed_to.get(topic, {})
        vector[topic] = {
            partition: PartitionEnd(
                max(resume.get(partition, end), landed_to.get(partition, 0)),
                known[partition].high if partition in known else "",
            )
            for partition, (_, end) in sorted(plan.topics[topic].ranges.items())
        }
    return vector
