"""What becomes of records that cannot be decoded: sent to the dead-letter topic before the commit, or the end."""

from __future__ import annotations

from dataclasses import replace

from connectors.debezium.events import BadRecord
from connectors.errors import Terminal
from connectors.kafka.dead_letters import DeadLetterConfig, DeadLetterProducer
from connectors.kafka.raw import read_records
from streaming.policies import OnBadRecord
from streaming.worker import Worker

UNAVAILABLE_VALUE = "unavailable_value"


class BadRecordError(Terminal):
    """A record cannot be decoded and the settings say to stop then."""


def _with_bytes(record: BadRecord, config: DeadLetterConfig) -> BadRecord:
    """The record as Kafka has it, for one that was left out long after it was decoded."""
    if record.value is not None or record.key is not None or record.reason != UNAVAILABLE_VALUE:
        return record
    for raw in read_records(config.kafka, record.topic, record.partition, record.offset, record.offset + 1):
        headers = () if raw.headers is None else raw.headers[0].as_py() or ()
        return replace(
            record,
            key=raw.keys[0].as_py(),
            value=raw.values[0].as_py(),
            headers=tuple((header["key"], header["value"]) for header in headers),
        )
    return record


def settle_bad_records(bad: list[BadRecord], worker: Worker) -> None:
    """Send the records to the dead-letter topic and wait until Kafka has them.

    A task that is tried again sends them again: a dead letter's key is its coordinates, so a reader can tell.

    Raises:
        BadRecordError: the settings say ``on_bad_record: fail``.
        DeadLetterError: Kafka did not take them all (transient).
    """
    if not bad:
        return
    job = worker.job
    if job.on_bad_record is OnBadRecord.FAIL or job.dead_letters is None:
        first = bad[0]
        raise BadRecordError(
            f"a record cannot be decoded ({first.reason}): {first.detail}",
            remedy="look at it with `cdc-bridge explain`, mend the source or the settings, or set on_bad_record to "
            "dead_letter to set such records aside",
            topic=first.topic,
            partition=first.partition,
            offset=first.offset,
        )
    if worker.dead_letters is None:
        worker.dead_letters = DeadLetterProducer(job.dead_letters)
    for record in bad:
        worker.dead_letters.send(_with_bytes(record, job.dead_letters))
    worker.dead_letters.flush()
