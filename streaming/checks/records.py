"""The last records of each topic, read and decoded as the job would: are they events, of which tables, with a key?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from connectors.command_lines import command
from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Decoded, Op, RawRecords
from connectors.errors import BridgeError
from connectors.kafka.config import KafkaConfig
from connectors.kafka.raw import read_records
from connectors.kafka.registry import Registry
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.side_by_side import side_by_side
from streaming.checks.check import Check, failed, ok, warning
from streaming.checks.patience import patiently
from streaming.plan import BatchPlan, JobOptions
from streaming.policies import OnMissingKey
from streaming.task.tables import TableDirectory
from streaming.wording import count_text

SAMPLE = 20
"""Newest records that are looked at, per partition."""
SPREAD_SAMPLE = 500
"""The same for a topic of several partitions, whose keys are compared with each other."""
PARTITIONS = 4
"""Partitions that are looked at, per topic: those that hold the most."""
THREADS = 8
_READ_SECONDS = 8.0


@dataclass(frozen=True)
class Sample:
    """How much of a topic was looked at.

    Attributes:
        partitions: that the topic has; ``places``: those that were looked at.
        offsets: from its first record to its end, over all partitions; ``newest``: those that were looked at.
    """

    partitions: int
    places: int
    offsets: int
    newest: int

    @property
    def told(self) -> str:
        """What was looked at, where that is not all of a topic whose keys are compared over partitions."""
        if self.partitions == 1 or self.newest >= self.offsets:
            return ""
        return (
            f"; keys were compared among the newest {self.newest:,} of {self.offsets:,} offsets, in {self.places} of "
            f"{self.partitions} partitions: one that was in two partitions before that is not seen"
        )


@dataclass(frozen=True)
class _Place:
    topic: str
    partition: int
    start: int
    end: int


def check_records(
    config: KafkaConfig, present: Mapping[str, TopicDescription], job: JobOptions, state: LedgerState
) -> Iterator[Check]:
    """What the newest records of every topic are."""
    try:
        decoder = Decoder(job.decode, Registry(job.registry) if job.registry is not None else None)
    except BridgeError as error:
        yield failed("records", error)
        return
    places = [place for topic, found in present.items() for place in _places(topic, found)]
    read = side_by_side(lambda place: _read(config, place), places, threads=THREADS)
    for topic, found in present.items():
        pieces = [piece for place, piece in zip(places, read, strict=True) if place.topic == topic]
        errors = [piece for piece in pieces if isinstance(piece, BridgeError)]
        if errors:
            yield failed(f"records of {topic}", errors[0])
            continue
        try:
            records = [one for piece in pieces if not isinstance(piece, BridgeError) for one in piece]
            decoded = patiently(f"records of {topic}", partial(_decode, decoder, records))
            yield from describe_records(topic, _sample(topic, found, places), decoded, job, state)
        except BridgeError as error:
            yield failed(f"records of {topic}", error)


def describe_records(
    topic: str, sample: Sample, decoded: Sequence[Decoded], job: JobOptions, state: LedgerState
) -> Iterator[Check]:
    """What a sample of a topic's records means for the bridge.

    Raises:
        BridgeError: a table's name cannot become a folder's.
    """
    subject = f"records of {topic}"
    bad = [record for one in decoded for record in one.bad]
    if bad:
        first = bad[0]
        look = command("explain CONFIG --topic {} --partition {} --offset {}", topic, first.partition, first.offset)
        yield warning(
            subject,
            f"{count_text(len(bad), 'record')} of the newest cannot be decoded; "
            f"offset {first.offset} of partition {first.partition}: {first.reason}, {first.detail}",
            f"look at it: {look}; tables.on_bad_record decides what becomes of such records",
        )
    keyed: dict[str, bool] = {}
    stopping: dict[str, None] = {}
    directory = TableDirectory(BatchPlan(job, state.epoch, 0, "check", {}, dict(state.tables)))
    for chunk in (chunk for one in decoded for chunk in one.chunks):
        name, table = directory.find(chunk.table)
        # A truncate has no key, whatever its table has.
        has_key = bool(chunk.schema.key) or bool((chunk.ops == Op.TRUNCATE).all())
        keyed[name] = keyed.get(name, True) and has_key
        appends = job.options_for(chunk.table).on_missing_key is OnMissingKey.APPEND
        if not has_key and not appends and not table.sequence:
            stopping[name] = None
    for name in stopping:
        yield warning(
            f"table {name}",
            f"the records of {topic} carry no key: the table would be parked at its first event",
            "declare its key columns (tables.overrides[].keys), or set policies.on_missing_key to append",
        )
    if sample.partitions > 1 and not all(keyed.values()):
        yield warning(
            subject,
            f"records without a key are spread over {sample.partitions} partitions: changes of one row may change "
            "places",
            "give the table a key at the source, or the topic one partition",
        )
    for name, key in spread_keys(decoded, directory).items():
        yield warning(
            subject,
            f"the key {key} of {name} is in several partitions: its changes may be applied in another order than the "
            "database made them",
            "let the topic have one partition; or keep the encoding of keys as it is (a new schema of the key, another "
            "number of partitions and a key type with two spellings move a key), and make a new snapshot",
        )
    skipped = sum(sum(one.skipped.values()) for one in decoded)
    known = [
        f"{name} ({'known' if name in state.tables else 'new'}{'' if key else ', no key'})"
        for name, key in keyed.items()
    ]
    if known:
        yield ok(subject, f"the newest are events of {', '.join(sorted(known))}{sample.told}")
    elif not bad:
        what = f"the newest {count_text(skipped, 'record')} carry no rows" if skipped else "there are none yet"
        yield ok(subject, what)


def spread_keys(decoded: Sequence[Decoded], directory: TableDirectory) -> dict[str, str]:
    """Tables with a key that is in more than one partition, and the first such key as text; keys compare parsed."""
    places: dict[tuple[str, str], int] = {}
    found: dict[str, str] = {}
    for chunk in (chunk for one in decoded for chunk in one.chunks):
        if not chunk.schema.key:
            continue
        name, _ = directory.find(chunk.table)
        for row in chunk.rows.select(list(chunk.schema.key)).to_pylist():
            # A truncate has none.
            if None in row.values():
                continue
            key = ", ".join(f"{column}={value}" for column, value in row.items())
            if places.setdefault((name, key), chunk.partition) != chunk.partition:
                found.setdefault(name, key)
    return found


def _places(topic: str, found: TopicDescription) -> list[_Place]:
    sample = SAMPLE if len(found.partitions) == 1 else SPREAD_SAMPLE
    filled = sorted(
        ((end - start, partition) for partition, (start, end) in found.partitions.items() if end > start), reverse=True
    )
    return [
        _Place(
            topic,
            partition,
            max(found.partitions[partition][1] - sample, found.partitions[partition][0]),
            found.partitions[partition][1],
        )
        for _, partition in filled[:PARTITIONS]
    ]


def _sample(topic: str, found: TopicDescription, places: Sequence[_Place]) -> Sample:
    looked = [place for place in places if place.topic == topic]
    return Sample(
        len(found.partitions),
        len(looked),
        sum(end - start for start, end in found.partitions.values()),
        sum(place.end - place.start for place in looked),
    )


def _decode(decoder: Decoder, records: Sequence[RawRecords]) -> list[Decoded]:
    return [decoder.decode(one) for one in records]


def _read(config: KafkaConfig, place: _Place) -> list[RawRecords] | BridgeError:
    try:
        return patiently(
            f"records of {place.topic}, partition {place.partition}",
            lambda: list(
                read_records(config, place.topic, place.partition, place.start, place.end, timeout=_READ_SECONDS)
            ),
        )
    except BridgeError as error:
        return error
