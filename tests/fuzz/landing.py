"""What the job promises about any records: what can be landed is, the rest is set aside or parks its table."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from connectors.debezium.events import BadRecord
from connectors.kafka.config import KafkaConfig
from connectors.kafka.dead_letters import DeadLetterConfig, DeadLetterProducer
from connectors.landing_zone.replay import open_zone, replay
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.location import StorageLocation
from streaming.demo.workload import Record
from streaming.plan import JobOptions
from tests.fuzz.mutation import Case
from tests.golden.traffic import KnownSchemas
from tests.support.plain_job import Log, PlainJob


class Letters(DeadLetterProducer):
    """Takes dead letters without a broker."""

    def __init__(self) -> None:
        self.taken: list[BadRecord] = []

    def send(self, bad: BadRecord) -> None:
        self.taken.append(bad)

    def flush(self) -> None:
        """They have arrived already."""


def check_landing(case: Case) -> None:
    """Land the case in a folder of its own and read every table back.

    Raises:
        AssertionError: something outside the zone and the state was written, or a table parked for a reason that
            nobody has foreseen.
        Exception: anything else, an error of the bridge's own too: whatever records hold, they stop no job.
    """
    with _folder() as folder:
        log = Log()
        for record in case.records:
            headers = tuple((name, value) for name, value in record.headers if value is not None)
            log.append(Record(record.topic, record.partition, record.key, record.value, headers))
        letters = Letters()
        job = PlainJob(
            folder,
            JobOptions(
                fingerprint="fuzz",
                decode=case.options,
                zone=StorageLocation(f"file://{folder}/zone"),
                dead_letters=DeadLetterConfig(KafkaConfig("127.0.0.1:1"), "letters"),
            ),
            log,
            schemas=KnownSchemas(case.schemas),
            dead_letters=letters,
        )
        start = {topic: dict.fromkeys(ends, 0) for topic, ends in log.ends().items()}
        job.run_batch(start, log.ends())
        assert {path.name for path in folder.iterdir()} <= {"zone", "state"}
        parked = {name: table.parked for name, table in job.ledger.state.tables.items() if table.parked is not None}
        assert "unexpected" not in {stop.reason for stop in parked.values()}, parked
        for table in open_zone(LocalStorage(folder / "zone")).tables():
            assert replay(table).stopped is None


@contextmanager
def _folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="cdc-bridge-fuzz-"))
    try:
        yield made
    finally:
        shutil.rmtree(made)
