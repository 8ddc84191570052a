"""The rows that the stages hand on: tables landed, partitions read, failures, and blobs on their way to a merge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
import pyarrow as pa

from connectors.errors import BridgeError, Transient, runbook_section
from streaming.plan import Failure, PartitionResult, ResultKind, TableResult

# One schema for both stages. ``table`` and ``sort_key`` order the blobs of a table; empty for other kinds.
RESULT_SCHEMA = pa.schema(
    [
        pa.field("kind", pa.string(), nullable=False),
        pa.field("table", pa.string(), nullable=False),
        pa.field("sort_key", pa.binary(), nullable=False),
        pa.field("payload", pa.binary(), nullable=False),
    ]
)

TOGETHER_BYTES = 1 << 16
"""Bytes of payload that :func:`together` makes one batch, at most."""


class TaskFailedError(BridgeError):
    """An error that a task reported, with the facts and the remedy that it had there; ``error`` is its class."""

    @property
    def runbook(self) -> str:
        """The section about the error that the task met."""
        return runbook_section(str(self.facts.get("error", BridgeError.__name__)))


class TaskFailedTransientError(TaskFailedError, Transient):
    """A task's error that trying again may mend."""


class ResultRow(NamedTuple):
    """What one row of :data:`RESULT_SCHEMA` says."""

    kind: ResultKind
    payload: bytes
    table: str = ""
    sort_key: bytes = b""


@dataclass(frozen=True)
class Results:
    """What all tasks of a batch said."""

    tables: tuple[TableResult, ...]
    partitions: tuple[PartitionResult, ...]


def table_row(result: TableResult) -> ResultRow:
    return ResultRow(ResultKind.TABLE, msgspec.json.encode(result))


def partition_row(result: PartitionResult) -> ResultRow:
    return ResultRow(ResultKind.PARTITION, msgspec.json.encode(result))


def failure_row(error: BridgeError) -> ResultRow:
    failure = Failure(
        kind=type(error).__name__,
        message=error.message,
        remedy=error.remedy,
        facts={name: str(value) for name, value in error.facts.items()},
        transient=isinstance(error, Transient),
        retry_after=error.retry_after if isinstance(error, Transient) else None,
    )
    return ResultRow(ResultKind.FAILURE, msgspec.json.encode(failure))


def blob_row(table: str, sort_key: bytes, payload: bytes) -> ResultRow:
    return ResultRow(ResultKind.BLOB, payload, table, sort_key)


def together(rows: Iterable[ResultRow]) -> Iterator[pa.RecordBatch]:
    """The rows in as few batches as hold :data:`TOGETHER_BYTES` of payload each; a larger row is alone in its own.

    Spark and its worker handle batch after batch, however little is in each.
    """
    waiting: list[ResultRow] = []
    size = 0
    for row in rows:
        if waiting and size + len(row.payload) > TOGETHER_BYTES:
            yield _batch(waiting)
            waiting, size = [], 0
        waiting.append(row)
        size += len(row.payload)
    if waiting:
        yield _batch(waiting)


def read_results(rows: Iterable[tuple[str, bytes]]) -> Results:
    """The batch's results from ``(kind, payload)`` pairs.

    Raises:
        TaskFailedError: a task reported a failure; a transient one only if no other is there.
    """
    tables: list[TableResult] = []
    partitions: list[PartitionResult] = []
    failures: list[Failure] = []
    for kind, payload in rows:
        match ResultKind(kind):
            case ResultKind.TABLE:
                tables.append(msgspec.json.decode(payload, type=TableResult))
            case ResultKind.PARTITION:
                partitions.append(msgspec.json.decode(payload, type=PartitionResult))
            case ResultKind.FAILURE:
                failures.append(msgspec.json.decode(payload, type=Failure))
            case ResultKind.BLOB:
                raise ValueError("a blob reached the driver: its table was not merged")
    if failures:
        raise _error(min(failures, key=lambda failure: (failure.transient, failure.kind, failure.message)))
    return Results(
        tables=tuple(sorted(tables, key=lambda result: result.table)),
        partitions=tuple(sorted(partitions, key=lambda result: (result.topic, result.partition))),
    )


def _error(failure: Failure) -> BridgeError:
    facts: dict[str, object] = {**failure.facts, "error": failure.kind}
    if not failure.transient:
        return TaskFailedError(failure.message, remedy=failure.remedy, **facts)
    error = TaskFailedTransientError(failure.message, remedy=failure.remedy, **facts)
    error.retry_after = failure.retry_after
    return error


def _batch(rows: list[ResultRow]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [
            pa.array([row.kind.value for row in rows], pa.string()),
            pa.array([row.table for row in rows], pa.string()),
            pa.array([row.sort_key for row in rows], pa.binary()),
            pa.array([row.payload for row in rows], pa.binary()),
        ],
        schema=RESULT_SCHEMA,
    )
