"""What becomes of records that cannot be decoded: sent to the dead-letter topic before the commit, or the end."""

from __future__ import annotations

from connectors.debezium.events import BadRecord
from connectors.errors import Terminal
from connectors.kafka.dead_letters import DeadLetterProducer
from streaming.policies import OnBadRecord
from streaming.worker import Worker


class BadRecordError(Terminal):
    """A record cannot be decoded and the settings say to stop then."""


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
        worker.dead_letters.send(record)
    worker.dead_letters.flush()
