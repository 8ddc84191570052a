"""What the job promises about any records: what can be landed is, the rest is set aside or parks its table."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import BadRecord, Op
from connectors.kafka.config import KafkaConfig
from connectors.kafka.dead_letters import DeadLetterConfig, DeadLetterProducer
from connectors.kafka.reading.ranges import PartitionRange
from connectors.landing_zone.replay import open_zone, replay
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.location import StorageLocation
from streaming.demo.workload import Record
from streaming.plan import JobOptions
from streaming.sources import Source, source_of
from tests.fuzz.mutation import Case
from tests.golden.traffic import KnownSchemas
from tests.support.plain_job import Log, PlainJob, read_log


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
        AssertionError: something outside the zone and the state was written, a table parked for a reason that nobody
            has foreseen, or a table that did not park has another number of rows than its events.
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
        _check_counts(case, job)


def _check_counts(case: Case, job: PlainJob) -> None:
    """Each row event is a row of a file, two where its key changed, or set aside."""
    expected: Counter[Source] = Counter()
    decoder = Decoder(case.options, KnownSchemas(case.schemas))
    for topic, partitions in job.log.partitions.items():
        for partition, records in partitions.items():
            for raw in read_log(job.log, [PartitionRange(topic, partition, 0, len(records))], job.arrow_rows):
                for chunk in decoder.decode(raw).chunks:
                    truncates = int((chunk.ops == Op.TRUNCATE).sum())
                    expected[source_of(chunk.table)] += len(chunk) + len(chunk.key_changed) - truncates
    tables = job.ledger.state.tables
    assert expected.keys() <= {table.source for table in tables.values()}, "a table is missing"
    for name, table in tables.items():
        if table.parked is None:
            files = (job.folder / "zone" / table.folder).glob("[0-9]*.parquet")
            landed = sum(pq.read_metadata(file).num_rows for file in files)
            assert landed + table.dead_letters == expected[table.source], f"{name} lacks rows, or has too many"


@contextmanager
def _folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="cdc-bridge-fuzz-"))
    try:
        yield made
    finally:
        shutil.rmtree(made)
