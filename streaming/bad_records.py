"""What becomes of records that cannot be decoded: sent to the dead-letter topic before the commit, or the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from connectors.debezium.events import BadRecord
from connectors.errors import Terminal
from connectors.kafka.dead_letters import DeadLetterConfig, DeadLetterProducer, read_dead_letters
from connectors.kafka.errors import KafkaAccessError, TopicNotFoundError
from connectors.kafka.raw import read_records
from streaming.policies import OnBadRecord
from streaming.shaping.refusals import CAST_FAILURE, UNAVAILABLE_VALUE
from streaming.worker import Worker

LEFT_OUT_LATE = frozenset({CAST_FAILURE, UNAVAILABLE_VALUE})
"""Reasons of events that are left out after they were decoded, when their bytes are gone."""


class BadRecordError(Terminal):
    """A record cannot be decoded and the settings say to stop then."""


def _with_bytes(record: BadRecord, config: DeadLetterConfig) -> BadRecord:
    """The record as Kafka has it, for one that was left out long after it was decoded."""
    if record.value is not None or record.key is not None or record.reason not in LEFT_OUT_LATE:
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


def settling(worker: Worker, *, again: bool) -> Callable[[list[BadRecord]], None]:
    """What settles the bad records of one task.

    Args:
        again: the range was read before, so most of its bad records have their letter and are not sent a second time.
            Those that are bad only now, because the settings or the registry are others, get theirs: a record is never
            passed over in silence.
    """
    job = worker.job
    if not again or job.on_bad_record is OnBadRecord.FAIL or job.dead_letters is None:
        return lambda bad: settle_bad_records(bad, worker)
    letters = job.dead_letters
    sent: frozenset[tuple[str, int, int]] | None = None

    def settle(bad: list[BadRecord]) -> None:
        nonlocal sent
        if bad and sent is None:
            sent = _coordinates_of_letters(letters)
        settle_bad_records(
            [record for record in bad if (record.topic, record.partition, record.offset) not in (sent or ())], worker
        )

    return settle


def _coordinates_of_letters(config: DeadLetterConfig) -> frozenset[tuple[str, int, int]]:
    try:
        return frozenset(
            (letter.record.topic, letter.record.partition, letter.record.offset)
            for letter in read_dead_letters(config.kafka, config.topic)
            if letter.bridge == config.bridge
        )
    except (KafkaAccessError, TopicNotFoundError):
        # Whoever may only write there sends a letter twice; its key tells.
        return frozenset()
