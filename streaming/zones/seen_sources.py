"""Which source tables Kafka's newest records are of: what a folder of the zone is the mirror of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import RawRecords
from connectors.kafka.raw import read_records
from connectors.kafka.registry import Registry
from connectors.kafka.time_offsets import offsets_at
from connectors.kafka.topics import Admin, TopicDescription, describe_topics
from connectors.landing_zone.ledger.adopted import SeenSource
from connectors.landing_zone.naming import TableNaming, folder_of
from connectors.landing_zone.storage.open import open_storage
from streaming.driver.beginning import Beginning
from streaming.job_options import job_options, storage_location
from streaming.kafka_options import kafka_config, subscription
from streaming.plan import JobOptions
from streaming.settings import BridgeSettings
from streaming.sources import source_of
from streaming.zones.adopting import Adoption, AdoptRefusedError, Declared, adopt_zone, declared_topics
from streaming.zones.reading import reading_storage

NEWEST = 1_000
"""Offsets of each partition that are looked at, from its end."""

KAFKA_SECONDS = 30.0


def adopt(settings: BridgeSettings, *, look_only: bool, now_ms: Callable[[], int]) -> Adoption:
    """Adopt these settings' landing zone; see :func:`streaming.zones.adopting.adopt_zone`.

    Raises:
        AdoptRefusedError: the settings do not say where in Kafka to go on.
        StartingOffsetError: they name an offset that is not there.
        Transient: Kafka, the registry or the storage does not answer.
    """
    require_declared(settings)
    config, job = kafka_config(settings), job_options(settings)
    admin = Admin(config, timeout=KAFKA_SECONDS)
    present = describe_topics(admin, subscription(settings))
    beginning = Beginning(settings.kafka.starting, settings.kafka.starting_ms, settings.kafka.starting_offsets)
    decoder = Decoder(job.decode, Registry(job.registry) if job.registry is not None else None)
    read = partial(read_records, config, timeout=KAFKA_SECONDS)
    declared = Declared(
        source=settings.name,
        topics=declared_topics(present, beginning, partial(offsets_at, admin)),
        seen=seen_sources(job, newest(present, read), decoder),
    )
    opened = reading_storage if look_only else open_storage
    zone = opened(storage_location(settings, settings.landing_zone.url))
    state = opened(storage_location(settings, settings.state_url))
    return adopt_zone(zone, state, declared, look_only=look_only, now_ms=now_ms)


def require_declared(settings: BridgeSettings) -> None:
    """Return if the settings say where in Kafka to go on; the default is nobody's word.

    Raises:
        AdoptRefusedError: they do not.
    """
    if "starting" not in settings.kafka.model_fields_set:
        raise AdoptRefusedError(
            "the settings do not declare from where in Kafka the tables go on",
            remedy="set kafka.starting: earliest if Kafka still has everything that the tables lack; timestamp with "
            "kafka.starting_timestamp, of before the last file of the other tool, otherwise; then `cdc-bridge adopt "
            "CONFIG --dry-run`",
        )


def newest(
    present: Mapping[str, TopicDescription], read: Callable[[str, int, int, int], Iterable[RawRecords]]
) -> Iterator[RawRecords]:
    """The newest records of each partition."""
    for topic, found in sorted(present.items()):
        for partition, (earliest, end) in sorted(found.partitions.items()):
            yield from read(topic, partition, max(earliest, end - NEWEST), end)


def seen_sources(job: JobOptions, records: Iterable[RawRecords], decoder: Decoder) -> dict[str, SeenSource]:
    """By folder, the source table whose rows would land there; none where two tables would."""
    found: dict[str, SeenSource] = {}
    shared: set[str] = set()
    for each in records:
        for chunk in decoder.decode(each).chunks:
            options = job.options_for(chunk.table)
            naming = TableNaming(options.schema_template, options.table_template)
            folder = str(folder_of(naming, chunk.table.database, chunk.table.schema, chunk.table.name))
            known = found.get(folder)
            topics = frozenset({chunk.topic}) | (frozenset() if known is None else known.topics)
            if known is not None and known.source != source_of(chunk.table):
                shared.add(folder)
            key = chunk.schema.key or (() if known is None else known.key)
            found[folder] = SeenSource(source_of(chunk.table), key, topics)
    return {folder: seen for folder, seen in found.items() if folder not in shared}
