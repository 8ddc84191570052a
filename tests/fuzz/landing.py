"""What the job promises about any records and settings: what can be landed is, the rest is set aside or parks tables.

The records go to several partitions and land in up to three batches, under table options that nobody has chosen; what
of each partition has landed is then counted against its events.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import BadRecord, Op, RawRecords
from connectors.debezium.schema import SourceTable
from connectors.kafka.config import KafkaConfig
from connectors.kafka.dead_letters import DeadLetterConfig, DeadLetterProducer
from connectors.kafka.reading.ranges import PartitionRange
from connectors.landing_zone.ledger.state import TableState
from connectors.landing_zone.ledger.table_state import NAME_COLLISION, Parked
from connectors.landing_zone.replay import open_zone, replay
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.location import StorageLocation
from streaming.demo.workload import Record
from streaming.driver.checkpoint import Offsets
from streaming.plan import JobOptions
from streaming.policies import Compaction, TableMode
from streaming.sources import Source, source_of, sources_of
from streaming.task import bad_records
from tests.fuzz.contract import BrokenPromiseError
from tests.fuzz.mutation import Case
from tests.fuzz.table_options import columns_of_nobody, with_table_options
from tests.golden.traffic import GoldenRecord, KnownSchemas, raw_records
from tests.support.plain_job import Log, PlainJob, read_log

MOST_LANDED = 40
"""Records of a partition that a case is made from."""

ANY = SourceTable("a", "b", "c")
_OF_SETTINGS = ("name_taken", "expression")
"""Reasons of parking that one record may give at once, by the settings of added columns."""
_MILLISECONDS = (2**63 - 1, -(2**63), -1, 0, 253_402_300_800_000, 9_223_372_036_854_776)
_NAMES = (("a", "b", "c", "a.b", "b.c", "A", "", None, "a b"), ("a", "a.b", "b.c", "c"))


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
            has foreseen, a table has landed another number of rows than its events up to where it parked, if it did,
            or passed over another number than those behind.
        Exception: anything else, an error of the bridge's own too: whatever records hold, they stop no job.
    """
    random = Random(f"landing of {case.name}")
    with _folder() as folder, _folder() as other:
        options = _job_options(random, case, folder)
        log = _log(random, case, renames=random.random() < (0.7 if options.options_for(ANY).merge_sources else 0.2))
        cuts = _cuts(random, log)
        landed = _landed(random, case, folder, options, log, cuts)
        if cuts and all(len(partitions) == 1 for partitions in log.partitions.values()):
            _check_same(case, landed, _landed(random, case, other, options, log, []))


def _landed(
    random: Random, case: Case, folder: Path, options: JobOptions, log: Log, cuts: Sequence[Offsets]
) -> PlainJob:
    """The job after all batches, with what it has landed counted."""
    letters = Letters()
    job = PlainJob(
        folder,
        options,
        log,
        tasks=random.randint(1, 3),
        arrow_rows=random.randint(1, 5),
        one_machine=random.random() < 0.5,
        schemas=KnownSchemas(case.schemas),
        dead_letters=letters,
    )
    with patch.object(bad_records, "read_records", lambda _, *place: _read(log, *place)):
        start = reached = {topic: dict.fromkeys(ends, 0) for topic, ends in log.ends().items()}
        for end in [*cuts, log.ends()]:
            job.run_batch(reached, end)
            reached = end
        assert job.run_batch(start, reached).version is None, "what has landed is new once more"
    assert {path.name for path in folder.iterdir()} <= {"zone", "state"}
    for name, table in job.ledger.state.tables.items():
        if table.parked is not None and table.parked.reason == "unexpected":
            raise BrokenPromiseError(table.parked.message, f"{name} is parked: {table.parked}")
    _check_counts(case, job, letters)
    return job


def _check_same(case: Case, cut: PlainJob, whole: PlainJob) -> None:
    """Of one partition, tables have the same rows and stops in several batches as in one."""
    tables, others = cut.ledger.state.tables, whole.ledger.state.tables
    stops = [table.parked.reason for table in (*tables.values(), *others.values()) if table.parked is not None]
    if NAME_COLLISION in stops or _lacks_values(case, cut):
        return
    assert tables.keys() == others.keys()
    for name, table in tables.items():
        mine, theirs = table.parked, others[name].parked
        assert _stop(mine) == _stop(theirs), f"{name} is parked otherwise in one batch: {mine}, {theirs}"
        assert bool(table.sequence) == bool(others[name].sequence)
        if table.sequence:
            rows, expected = _content(cut, name), _content(whole, name)
            assert rows == expected, f"{name} is another table in one batch: {rows - expected}, {expected - rows}"


def _stop(parked: Parked | None) -> tuple[str, int, int] | None:
    """What is the same of a stop; of two faults of the settings that one record shows, either may be told."""
    if parked is None:
        return None
    reason = "settings" if parked.reason in _OF_SETTINGS else parked.reason
    return reason, parked.offset, parked.skipped


def _lacks_values(case: Case, job: PlainJob) -> bool:
    """Whether the source did not send a value; what takes its place is an earlier value of the batch."""
    decoder = Decoder(job.job.decode, KnownSchemas(case.schemas))
    return any(chunk.unavailable for chunk in decoder.decode(raw_records(case.records)).chunks)


def _content(job: PlainJob, name: str) -> Counter[str]:
    """The mirrored table's rows; no value counts like no column, since a learned one comes with its first value."""
    folder = job.ledger.state.tables[name].folder
    zone = open_zone(LocalStorage(job.folder / "zone"))
    rows = next(replay(table) for table in zone.tables() if table.folder == folder).table.to_pylist()
    return Counter(repr({key: value for key, value in sorted(row.items()) if value is not None}) for row in rows)


def _job_options(random: Random, case: Case, folder: Path) -> JobOptions:
    plain = JobOptions(
        fingerprint="fuzz",
        decode=case.options,
        zone=StorageLocation(f"file://{folder}/zone"),
        dead_letters=DeadLetterConfig(KafkaConfig("127.0.0.1:1"), "letters"),
    )
    if random.random() < 0.2:
        return plain
    chunks = Decoder(case.options, KnownSchemas(case.schemas)).decode(raw_records(case.records)).chunks
    names = dict.fromkeys(field.name for chunk in chunks for field in chunk.schema.fields)
    return with_table_options(random, plain, [*names, *columns_of_nobody(random)])


def _log(random: Random, case: Case, *, renames: bool) -> Log:
    log = Log()
    partitions = random.choice((1, 2, 3))
    late = random.random() < 0.2
    names = random.choice(_NAMES)
    # Debezium may send everything once more, and Kafka Connect again.
    for golden in case.records * random.choice((1, 3, 6)):
        headers = tuple((name, value) for name, value in golden.headers if value is not None)
        value = _of_another_source(random, golden, names) if renames else golden.value
        record = Record(golden.topic, random.randrange(partitions), golden.key, value, headers)
        log.append(record)
        if late and random.random() < 0.3:
            last = len(log.partitions[record.topic][record.partition]) - 1
            log.sent_ms[record.topic, record.partition, last] = random.choice(_MILLISECONDS)
    for topic in list(log.partitions):
        for partition in range(partitions):
            log.partitions[topic].setdefault(partition, [])
    return log


def _of_another_source(random: Random, record: GoldenRecord, names: Sequence[str | None]) -> bytes | None:
    """The record as another table's, whose names may read as another's do, and of another time."""
    try:
        tree: Any = json.loads(record.value or b"")
        source = tree.get("payload", tree)["source"]
        for name, often in (("db", 0.7), ("schema", 0.7), ("table", 0.3)):
            if name in source and random.random() < often:
                source[name] = random.choice(names)
        if random.random() < 0.3:
            source["ts_ms"] = random.choice(_MILLISECONDS)
        return json.dumps(tree).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError, AttributeError, LookupError, TypeError):
        return record.value


def _cuts(random: Random, log: Log) -> list[Offsets]:
    """Where up to two batches end before the last one does."""
    ends: list[Offsets] = []
    reached = {topic: dict.fromkeys(places, 0) for topic, places in log.ends().items()}
    for _ in range(random.choice((0, 1, 1, 2))):
        reached = {
            topic: {partition: random.randint(reached[topic][partition], end) for partition, end in places.items()}
            for topic, places in log.ends().items()
        }
        ends.append(reached)
    return ends


def _read(log: Log, topic: str, partition: int, start: int, end: int) -> Iterator[RawRecords]:
    return read_log(log, [PartitionRange(topic, partition, start, end)], 100)


@dataclass(frozen=True)
class _Event:
    """A row event by its place, and how many rows it is."""

    place: tuple[str, int, int]
    rows: int
    truncates: bool


def _check_counts(case: Case, job: PlainJob, letters: Letters) -> None:
    """Each row event is a row of a file, two where its key changed, or set aside, or behind where its table parked."""
    events = _events(case, job)
    tables = job.ledger.state.tables
    known = {source for table in tables.values() for source in sources_of(table)}
    set_aside = {(bad.topic, bad.partition, bad.offset) for bad in letters.taken}
    assert {source for source, each in events.items() if any(event.place not in set_aside for event in each)} <= known
    zone = {table.folder: table for table in open_zone(LocalStorage(job.folder / "zone")).tables()}
    left_out = 0
    for name, table in tables.items():
        if table.parked is not None and table.parked.reason == NAME_COLLISION:
            # Its folder is another's, and nothing of it has landed.
            continue
        replayed = replay(zone[table.folder]) if table.sequence else None
        assert replayed is None or replayed.stopped is None, replayed
        landed = 0 if replayed is None else sum(replayed.rows_per_marker.values())
        mine = [event for source in sources_of(table) for event in events[source]]
        passed = [event for event in mine if _is_passed_over(event, table)]
        taken = [event for event in mine if not _is_passed_over(event, table) and event.place not in set_aside]
        options = job.job.options_for(SourceTable(*table.source))
        expected = sum(event.rows for event in taken if options.mode is TableMode.HISTORY or not event.truncates)
        if options.compaction is Compaction.LAST_STATE:
            left_out += expected - landed
        else:
            assert landed == expected, f"{name} has {landed} rows of {expected}, parked: {table.parked}"
        if table.parked is not None:
            assert table.parked.skipped == len(passed), f"{name} has passed over {len(passed)}: {table.parked}"
    # What is landed of a table that then finds its folder taken is counted, too.
    if all(table.parked is None or table.parked.reason != NAME_COLLISION for table in tables.values()):
        assert left_out == job.ledger.state.counters.get("compacted", 0), "compaction has left out other rows"


def _events(case: Case, job: PlainJob) -> dict[Source, list[_Event]]:
    """The row events by the table that they come from."""
    found: dict[Source, list[_Event]] = defaultdict(list)
    decoder = Decoder(job.job.decode, KnownSchemas(case.schemas))
    for topic, partitions in job.log.partitions.items():
        for partition, records in partitions.items():
            for raw in read_log(job.log, [PartitionRange(topic, partition, 0, len(records))], job.arrow_rows):
                for chunk in decoder.decode(raw).chunks:
                    changed = set(chunk.key_changed.tolist())
                    found[source_of(chunk.table)] += [
                        _Event((topic, partition, offset), 2 if index in changed else 1, op == Op.TRUNCATE)
                        for index, (offset, op) in enumerate(
                            zip(chunk.offsets.tolist(), chunk.ops.tolist(), strict=True)
                        )
                    ]
    return found


def _is_passed_over(event: _Event, table: TableState) -> bool:
    """Whether it lies behind where its table stands still."""
    if table.parked is None:
        return False
    topic, partition, offset = event.place
    resume = table.parked.resume.get(topic, {}).get(partition)
    return resume is not None and offset >= resume


@contextmanager
def _folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="cdc-bridge-fuzz-"))
    try:
        yield made
    finally:
        shutil.rmtree(made)
