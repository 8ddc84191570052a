"""What becomes of records that cannot be decoded: sent to the dead-letter topic before the commit, or the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from connectors.command_lines import command
from connectors.debezium.events import BadRecord
from connectors.errors import Terminal
from connectors.kafka.config import KafkaConfig
from connectors.kafka.dead_letters import DeadLetterConfig, DeadLetterProducer
from connectors.kafka.errors import KafkaAccessError, TopicNotFoundError
from connectors.kafka.letters import read_dead_letters
from connectors.kafka.raw import read_records
from streaming.landing.shaping.refusals import CAST_FAILURE, UNAVAILABLE_VALUE
from streaming.policies import OnBadRecord
from streaming.task.worker import Worker

TOO_MANY_TABLES = "too many tables"
"""Reason of an event of a table that would be one more than ``tables.most``."""

MORE_TABLES = (
    "look who names so many tables, and leave out what nobody mirrors (tables.include, tables.exclude); carry more "
    "with a second bridge, or raise tables.most"
)

LEFT_OUT_LATE = frozenset({CAST_FAILURE, UNAVAILABLE_VALUE, TOO_MANY_TABLES})
"""Reasons of events that are left out after they were decoded."""


READ_OVER = 10_000
"""Offsets between two records up to which reading on costs less than a second read, which takes a consumer's start."""


class BadRecordError(Terminal):
    """A record cannot be decoded and the settings say to stop then."""


def with_bytes(bad: Iterable[BadRecord], config: KafkaConfig) -> Iterator[BadRecord]:
    """The records as Kafka has them, also those that were left out long after they were decoded; they come last.

    What Kafka does not hold any more stays without bytes.
    """
    late: list[BadRecord] = []
    for record in bad:
        if record.reason in LEFT_OUT_LATE and record.key is None and record.value is None:
            late.append(record)
        else:
            yield record
    for records in reads(late):
        wanted = {record.offset: record for record in records}
        first, last = records[0], records[-1]
        for raw in read_records(config, first.topic, first.partition, first.offset, last.offset + 1):
            for index in np.flatnonzero(np.isin(raw.offsets, list(wanted))).tolist():
                headers = () if raw.headers is None else raw.headers[index].as_py() or ()
                yield replace(
                    wanted.pop(int(raw.offsets[index])),
                    key=raw.keys[index].as_py(),
                    value=raw.values[index].as_py(),
                    headers=tuple((header["key"], header["value"]) for header in headers),
                )
        yield from wanted.values()


def reads(records: Iterable[BadRecord]) -> list[list[BadRecord]]:
    """The records by ascending offset, grouped into those that one read of their partition brings."""
    groups: list[list[BadRecord]] = []
    before: BadRecord | None = None
    for record in sorted(records, key=lambda record: (record.topic, record.partition, record.offset)):
        near = (
            before is not None
            and (before.topic, before.partition) == (record.topic, record.partition)
            and record.offset - before.offset <= READ_OVER
        )
        if near:
            groups[-1].append(record)
        else:
            groups.append([record])
        before = record
    return groups


def settle_bad_records(bad: list[BadRecord], worker: Worker) -> None:
    """Send the records to the dead-letter topic and wait until Kafka has them.

    A task that is tried again sends them again: a dead letter's key is its coordinates, so a reader can tell.

    Raises:
        BadRecordError: the settings say ``on_bad_record: fail``.
        DeadLetterError: Kafka did not take them all (transient).
    """
    if not bad or not worker.settles:
        return
    job = worker.job
    if job.on_bad_record is OnBadRecord.FAIL or job.dead_letters is None:
        first = bad[0]
        what, mend = "look at it, and at what is wrong with its values,", "mend the source or the settings"
        if first.reason == TOO_MANY_TABLES:
            what, mend = "see which one", MORE_TABLES
        raise BadRecordError(
            # Without the detail, which may quote the row: an error stands in logs and on the status page.
            f"a record {_cannot(first.reason)} ({first.reason})",
            remedy=f"{what} with "
            + command(
                "explain CONFIG --topic {} --partition {} --offset {}", first.topic, first.partition, first.offset
            )
            + f", {mend}, or set on_bad_record to dead_letter to set such records aside",
            topic=first.topic,
            partition=first.partition,
            offset=first.offset,
        )
    if worker.dead_letters is None:
        worker.dead_letters = DeadLetterProducer(job.dead_letters)
    for record in with_bytes(bad, job.dead_letters.kafka):
        worker.dead_letters.send(record)
    worker.dead_letters.flush()


def _cannot(reason: str) -> str:
    if reason == TOO_MANY_TABLES:
        return "would begin a table more than tables.most"
    return "cannot land" if reason in LEFT_OUT_LATE else "cannot be decoded"


def settling(worker: Worker, *, again: bool) -> Callable[[list[BadRecord]], None]:
    """What settles the bad records of one task.

    Args:
        again: the range was read before, so most of its bad records have their letter and are not sent a second time.
            Those that are bad only now, because the settings or the registry are others, get theirs: a record is never
            passed over in silence.
    """
    job = worker.job
    if not again or not worker.settles or job.on_bad_record is OnBadRecord.FAIL or job.dead_letters is None:
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
