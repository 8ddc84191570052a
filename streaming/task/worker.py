"""What an executor's Python worker keeps from batch to batch: decoder, registry, storage, dead-letter producer.

One entry per process and per job options. Workers are forked from a daemon that has made none of these, and a worker
runs one task at a time, so nothing here is shared between threads or processes; the key holds the process id so that a
fork made later could not inherit a connection.
"""

from __future__ import annotations

import gc
import os
from dataclasses import dataclass

from connectors.debezium.decoder import Decoder
from connectors.kafka.dead_letters import DeadLetterProducer
from connectors.kafka.registry import Registry
from connectors.landing_zone.storage.open import open_storage
from connectors.landing_zone.storage.protocol import Storage
from streaming.plan import JobOptions


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


_workers: dict[tuple[int, JobOptions], Worker] = {}


def worker_for(job: JobOptions) -> Worker:
    """This process's parts for ``job``, made at the first call."""
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
