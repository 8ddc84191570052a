"""One record's unforeseen error sets that record aside alone.

What a decoder foresees makes a bad record. Anything else that one record sets off would end the task, the batch and,
restart after restart, the query with all of its tables: whoever may write to one topic could stop them all. So the
batch is read again in halves until the record stands alone, and that record is bad.

Where many records fail in such a way, the fault is the bridge's and not theirs: then the error goes on, and the query
stops before anything is set aside.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import pyarrow as pa

from connectors.debezium.errors import SchemaError
from connectors.debezium.events import BadRecord, Decoded, RawRecords
from connectors.debezium.headers import merge_runs
from connectors.debezium.verdicts import BadReason
from connectors.errors import BridgeError
from connectors.raised import raised_at

_log = logging.getLogger(__name__)

MOST_SET_ASIDE = 100
"""Records of one call that may fail in a way that nobody has foreseen."""

# Errors on purpose, of the machine, and a task that is to end: another attempt may do better. A schema that cannot be
# understood is an error on purpose as well, and yet that of the records that it came with.
_NOT_OF_A_RECORD = (BridgeError, OSError, MemoryError, pa.ArrowCancelled)


def isolated(decode: Callable[[RawRecords], Decoded], records: RawRecords) -> Decoded:
    """What ``decode`` makes of the records, those that it fails on being bad.

    Raises:
        Exception: of more than :data:`MOST_SET_ASIDE` records; or an error that is no record's own.
    """
    found = Decoded()
    failed = 0
    pending = [(0, len(records))]
    while pending:
        start, stop = pending.pop()
        part = records if stop - start == len(records) else _slice(records, start, stop)
        try:
            _join(found, decode(part))
        except Exception as error:
            if isinstance(error, _NOT_OF_A_RECORD) and not isinstance(error, SchemaError):
                raise
            if stop - start > 1:
                middle = (start + stop) // 2
                pending += [(middle, stop), (start, middle)]
                continue
            failed += 1
            if failed > MOST_SET_ASIDE:
                raise
            _log.error(
                "Reading a record failed in a way that is not foreseen: %s",
                raised_at(error),
                extra={"facts": {"topic": part.topic, "partition": part.partition, "offset": int(part.offsets[0])}},
            )
            found.bad.append(_bad(part, error))
    return found


def _slice(records: RawRecords, start: int, stop: int) -> RawRecords:
    length = stop - start
    headers = None if records.headers is None else records.headers.slice(start, length)
    return RawRecords(
        topic=records.topic,
        partition=records.partition,
        keys=records.keys.slice(start, length),
        values=records.values.slice(start, length),
        offsets=records.offsets[start:stop],
        timestamps=records.timestamps[start:stop],
        headers=headers,
    )


def _join(found: Decoded, more: Decoded) -> None:
    found.chunks += more.chunks
    found.bad += more.bad
    found.skipped.update(more.skipped)
    found.table_changes += more.table_changes
    found.excluded |= more.excluded
    merge_runs(found.runs, more.runs)


def _bad(record: RawRecords, error: Exception) -> BadRecord:
    said = (str(error).strip().splitlines() or [""])[0][:200]
    detail = f"reading the record failed in a way that the bridge does not foresee: {type(error).__name__}: {said}"
    return BadRecord.of(record, 0, BadReason.UNFORESEEN, detail)
