"""What an executor's Python worker keeps from batch to batch: decoder, registry, storage, dead-letter producer.

One entry per process and per job options. Workers are forked from a daemon that has made none of these, and a worker
runs one task at a time, so nothing here is shared between processes, and of one task's threads only storage and
registry are: several of them upload its files side by side (:mod:`streaming.task.uploads`) or ask for schemas, while
decoder and dead-letter producer belong to the thread that runs the task, and the reader to one thread at a time
(:mod:`streaming.task.ahead`). The key holds the process id so that a fork
made later could not inherit a connection.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import RawRecords
from connectors.errors import BridgeError, Transient
from connectors.kafka.dead_letters import DeadLetterProducer
from connectors.kafka.errors import RecordsGoneError, TopicNotFoundError
from connectors.kafka.reading.open import open_reader
from connectors.kafka.reading.ranges import PartitionRange, RecordReader
from connectors.kafka.registry import Registry
from connectors.landing_zone.storage.open import open_storage
from connectors.landing_zone.storage.protocol import Storage
from streaming.plan import JobOptions
from streaming.task.archives import forget_archives


class RecordsMissingError(Transient):
    """Kafka had records when a micro-batch was planned, and not when they were read: the next start explains it."""


@dataclass
class Worker:
    """The long-lived parts of one worker process for one job.

    Attributes:
        dead_letters: made at the first bad record; None before.
        settles: False where the bad records were settled when the stream passed them, and nothing is to be sent.
    """

    job: JobOptions
    decoder: Decoder
    zone: Storage
    dead_letters: DeadLetterProducer | None = None
    settles: bool = True
    reader: RecordReader | None = None

    def read(self, ranges: Sequence[PartitionRange]) -> Generator[RawRecords]:
        """The records of ranges of Kafka's partitions.

        Raises:
            RecordsMissingError: Kafka does not hold the beginning of one any more.
            BridgeError: as :meth:`connectors.kafka.reading.ranges.RecordReader.read`.
        """
        if self.reader is None:
            self.reader = open_reader(self.job.kafka, isolation=self.job.isolation)
        try:
            yield from self.reader.read(ranges)
        except BridgeError as error:
            # The next attempt has connections of its own, and is told anew what is wrong with them.
            self.reader.close()
            self.reader = None
            if not isinstance(error, RecordsGoneError | TopicNotFoundError):
                raise
            raise RecordsMissingError(
                f"records of a micro-batch are not in Kafka any more: {error.message}",
                remedy="nothing: the job starts again by itself, and then says what is missing and what to do",
                **error.facts,
            ) from error


_workers: dict[tuple[int, JobOptions], Worker] = {}


def worker_for(job: JobOptions) -> Worker:
    """This process's parts for ``job``, made at the first call; called once in each task."""
    forget_archives()
    key = (os.getpid(), job)
    worker = _workers.get(key)
    if worker is None:
        registry = Registry(job.registry) if job.registry is not None else None
        worker = Worker(job=job, decoder=Decoder(job.decode, registry), zone=open_storage(job.zone))
        _workers.clear()
        _workers[key] = worker
        # Spark collects garbage after every task; the imported libraries need not be walked each time.
        gc.freeze()
    return worker
