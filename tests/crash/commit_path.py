"""One start of the job without Spark and Kafka: the product's own driver, tasks and storages, to the last batch.

Only Spark's part is played here (:mod:`tests.crash.micro_batches`), and Kafka is a list in memory.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path

from connectors.debezium.decoder import Decoder
from connectors.landing_zone.partner import partner_events
from connectors.landing_zone.storage.location import StorageLocation
from connectors.landing_zone.storage.open import open_adls, open_storage
from connectors.landing_zone.storage.protocol import Storage
from streaming.driver.batch import DecodeAndLand, run_batch
from streaming.driver.checkpoint import Checkpoint
from streaming.driver.settling import settle_checkpoint
from streaming.driver.startup import check_topics, open_zone
from streaming.lifecycle.recreated_topics import park_recreated
from streaming.lifecycle.retention import park_behind_retention
from streaming.plan import BatchPlan
from streaming.task.results import Results
from streaming.task.worker import Worker
from tests.crash.kills import Kill
from tests.crash.micro_batches import MicroBatches
from tests.crash.shop_log import ShopLog, shop_options
from tests.crash.steps import Step, StepBoard
from tests.crash.watched_storage import WatchedStorage
from tests.emulators.dfs_server import EmulatorCredential
from tests.support.plain_job import local_action

PER_PARTITION = 8


@dataclass(frozen=True)
class Start:
    """One start of the driver.

    Attributes:
        checkpoint: Spark's, on the local disk.
        threads: requests side by side; tasks, arrow_rows: how a batch is cut, which must change no byte.
        kill: when it dies; None lets it finish.
    """

    zone: StorageLocation
    state: StorageLocation
    checkpoint: Path
    threads: int = 1
    tasks: int = 2
    arrow_rows: int = 64
    kill: Kill | None = None


def carry(start: Start, shop: ShopLog, board: StepBoard) -> None:
    """Claim, recover, and land every batch, in the order in which :mod:`streaming.driver.query` does it."""
    zone, state = (WatchedStorage(opened(place), board, start.kill) for place in (start.zone, start.state))
    job, topics = shop_options(start.zone), sorted(shop.log.partitions)
    present = shop.log.describe(topics)
    ids = {topic: found.id for topic, found in present.items()}
    held = open_zone(
        zone,
        state,
        job,
        source="shop",
        writer=uuid.uuid4().hex,
        host="here",
        partner=partner_events("postgresql"),
        threads=start.threads,
        told=lambda claimed: board.enter(Step.RECOVER),
    )
    board.enter(Step.PLAN)
    checkpoint = Checkpoint(start.checkpoint)
    park_behind_retention(held.ledger, present)
    park_recreated(held.ledger, present)
    check_topics(held.ledger.state, present)
    settle_checkpoint(checkpoint, held.ledger.state, present, drain=True)
    batches = MicroBatches(start.checkpoint, shop.log, held.ledger.state, PER_PARTITION)
    worker = Worker(job, Decoder(job.decode, shop.schemas), zone)
    while (number := batches.next()) is not None:
        planned = checkpoint.planned(number)
        action = local_action(shop.log, worker, tasks=start.tasks, arrow_rows=start.arrow_rows)
        leaders = shop.log.leaders
        run_batch(planned, lambda: ids, leaders, job, held.ledger, held.publisher, _noting(action, board))
        board.enter(Step.END)
        held.prune()
        batches.committed(number)
        board.enter(Step.PLAN)


def _noting(action: DecodeAndLand, board: StepBoard) -> DecodeAndLand:
    def noted(plan: BatchPlan) -> Results:
        board.enter(Step.LAND)
        results = action(plan)
        board.enter(Step.COMMIT)
        return results

    return noted


def opened(place: StorageLocation) -> Storage:
    """The storage that the job would open; with the emulator's token where it is on the network."""
    if place.scheme == "file":
        return open_storage(place)
    return open_adls(place, credential=EmulatorCredential())
