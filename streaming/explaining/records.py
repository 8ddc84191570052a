"""Explaining consecutive records of one partition, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import BadRecord, ChangeChunk, Decoded, Op, RawRecords, SkipReason
from connectors.landing_zone.ledger.state import LandedFile, LedgerState
from connectors.landing_zone.storage.protocol import Storage
from streaming.explaining.explanation import Explanation, Fate, Place
from streaming.explaining.landed import LandedRange, range_of
from streaming.explaining.trial import Trial, TrialLanding
from streaming.plan import JobOptions
from streaming.policies import OnBadRecord
from streaming.wording import position_text

SKIPPED = {
    SkipReason.TOMBSTONE: "a tombstone: the delete before it says the same, or the settings skip it",
    SkipReason.HEARTBEAT: "a heartbeat of the connector",
    SkipReason.TRANSACTION: "the begin or end of a transaction",
    SkipReason.SCHEMA_CHANGE: "a schema-change event; columns are taken from the records themselves",
    SkipReason.SIGNAL: "a row of Debezium's signalling table",
    SkipReason.MESSAGE: "a logical decoding message",
    SkipReason.EXCLUDED_TABLE: "the settings leave this table out (tables.include, tables.exclude)",
    SkipReason.EXCLUDED_OPERATION: "the settings leave this operation out (excluded_operations)",
}


@dataclass(frozen=True)
class LedgerThen:
    """The ledger around the records.

    Attributes:
        ranges: of the partition, as far as its versions are kept.
        before: the state that a range, or None for what waits, was or would be landed on.
        other_topic: its offsets are those of another topic of that name.
    """

    ranges: list[LandedRange]
    before: Callable[[LandedRange | None], LedgerState]
    other_topic: bool = False


def explain_records(
    batches: Iterable[RawRecords], job: JobOptions, decoder: Decoder, ledger: LedgerThen, scratch: Storage
) -> Iterator[Explanation]:
    """What the job made, or would make, of each record, in offset order.

    A record that has landed is judged against what the ledger knew before its micro-batch, one that waits against what
    it knows now; either way on the state that the records explained before it have left.

    Args:
        scratch: a place for files that nobody keeps.

    Raises:
        Transient: the schema registry cannot be asked now.
    """
    current: LandedRange | None = None
    trial: Trial | None = None
    for records in batches:
        for index in range(len(records)):
            one = _single(records, index)
            landed = range_of(ledger.ranges, int(one.offsets[0]))
            if trial is None or landed != current:
                trial, current = Trial(job, ledger.before(landed), scratch), landed
            explanation = _explain(one, decoder.decode(one), job, trial, landed)
            yield replace(explanation, place=replace(explanation.place, other_topic=ledger.other_topic))


def _explain(
    record: RawRecords, decoded: Decoded, job: JobOptions, trial: Trial, landed: LandedRange | None
) -> Explanation:
    if decoded.bad:
        return _bad(record, decoded.bad[0], job, landed)
    if decoded.chunks:
        chunk = decoded.chunks[0]
        return _event(record, chunk, trial.land(chunk), job, landed)
    return Explanation(place=_place(record, landed), fate=Fate.SKIPPED, reason=SKIPPED[next(iter(decoded.skipped))])


def _event(
    record: RawRecords, chunk: ChangeChunk, outcome: TrialLanding, job: JobOptions, landed: LandedRange | None
) -> Explanation:
    fate, reason, remedy, parked = Fate.LANDS, "", "", None
    if outcome.parked_before is not None:
        parked = outcome.parked_before
        fate, reason = Fate.TABLE_IS_PARKED, f"the table stands still ({parked.reason}): {parked.message}"
        remedy = parked.remedy
    elif outcome.parks is not None:
        parked = outcome.parks
        fate, reason, remedy = Fate.PARKS_THE_TABLE, f"{parked.reason}: {parked.message}", parked.remedy
    elif outcome.left_out is not None:
        fate, reason, remedy = _set_aside(outcome.left_out, job)
    elif not outcome.rows:
        fate, reason = Fate.SKIPPED, "; ".join(outcome.notes) or "nothing of it lands"
    file = None if landed is None else landed.files.get(outcome.table)
    return Explanation(
        place=_place(record, landed),
        fate=fate,
        reason=reason,
        remedy=remedy,
        source=".".join(part for part in (chunk.table.database, chunk.table.schema, chunk.table.name) if part),
        table=outcome.table,
        operation=Op(int(chunk.ops[0])).name.lower(),
        position=position_text(outcome.words) if chunk.positioned else "",
        key={name: chunk.rows.column(name)[0].as_py() for name in chunk.schema.key} or None,
        rows=outcome.rows,
        notes=outcome.notes,
        parked=parked,
        file=file.target if file is not None and fate is Fate.LANDS and _holds(file, record) else None,
    )


def _bad(record: RawRecords, bad: BadRecord, job: JobOptions, landed: LandedRange | None) -> Explanation:
    fate, reason, remedy = _set_aside(bad, job)
    return Explanation(place=_place(record, landed), fate=fate, reason=reason, remedy=remedy)


def _set_aside(bad: BadRecord, job: JobOptions) -> tuple[Fate, str, str]:
    reason = f"{bad.reason}: {bad.detail}"
    if job.on_bad_record is OnBadRecord.FAIL or job.dead_letters is None:
        return (
            Fate.STOPS_THE_JOB,
            reason,
            "mend the source or the settings, or set tables.on_bad_record to dead_letter",
        )
    return (
        Fate.DEAD_LETTER,
        reason,
        f"it goes to {job.dead_letters.topic} with its bytes; mend the source or the settings",
    )


def _holds(file: LandedFile, record: RawRecords) -> bool:
    first, last = file.ranges.get(record.topic, {}).get(record.partition, (0, -1))
    return first <= int(record.offsets[0]) <= last


def _place(record: RawRecords, landed: LandedRange | None) -> Place:
    return Place(
        topic=record.topic,
        partition=record.partition,
        offset=int(record.offsets[0]),
        timestamp_ms=int(record.timestamps[0]),
        landed_by=None if landed is None else landed.version,
    )


def _single(records: RawRecords, index: int) -> RawRecords:
    return RawRecords(
        topic=records.topic,
        partition=records.partition,
        keys=records.keys.slice(index, 1),
        values=records.values.slice(index, 1),
        offsets=np.asarray(records.offsets[index : index + 1]),
        timestamps=np.asarray(records.timestamps[index : index + 1]),
        headers=None if records.headers is None else records.headers.slice(index, 1),
    )
