"""Explaining real records of a topic: which ones, what the ledger knew, and what becomes of each."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from connectors.command_lines import command
from connectors.debezium.decoder import Decoder
from connectors.errors import Terminal
from connectors.kafka.raw import read_records
from connectors.kafka.registry import Registry
from connectors.kafka.topics import Admin, TopicDescription, describe_topics
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.protocol import Storage
from streaming.explaining.explanation import Explanation
from streaming.explaining.landed import landed_ranges, state_before
from streaming.explaining.records import LedgerThen, explain_records
from streaming.job_options import job_options
from streaming.kafka_options import kafka_config
from streaming.settings import BridgeSettings
from streaming.zones.reading import head_state, state_storage

KAFKA_SECONDS = 15.0


class NoSuchRecordError(Terminal):
    """The topic has no record where one was asked for."""


@dataclass(frozen=True)
class Asked:
    """Which records to explain.

    Attributes:
        partition: None for the only one, or with ``offset`` None for all.
        offset: one record; None for the last ``last`` offsets of each partition.
    """

    topic: str
    partition: int | None
    offset: int | None
    last: int


def explain(settings: BridgeSettings, asked: Asked) -> Iterator[Explanation]:
    """The records, partition by partition in offset order. Nothing is written but files in a temporary folder.

    Raises:
        TopicNotFoundError, NoSuchRecordError, RecordsGoneError: there is no such topic, partition or record.
        BrokerUnavailableError, RegistryUnavailableError: one of them does not answer.
        LedgerCorruptError: the ledger cannot be read.
    """
    config, job = kafka_config(settings), job_options(settings)
    found = describe_topics(Admin(config, timeout=KAFKA_SECONDS), [asked.topic])[asked.topic]
    state = state_storage(settings)
    head = head_state(state)
    decoder = Decoder(job.decode, Registry(job.registry) if job.registry is not None else None)
    for partition, (start, end) in spans(asked, found).items():
        ledger = ledger_then(state, head, (asked.topic, found.id), partition, start)
        records = read_records(config, asked.topic, partition, start, end, timeout=KAFKA_SECONDS)
        explained = 0
        with tempfile.TemporaryDirectory(prefix="cdc-bridge-explain-") as folder:
            for explanation in explain_records(records, job, decoder, ledger, LocalStorage(Path(folder))):
                explained += 1
                yield explanation
        if asked.offset is not None and not explained:
            raise NoSuchRecordError(
                "there is no record at this offset: a transaction's marker, or a record that was aborted or compacted",
                remedy=f"ask for a neighbouring offset, or for the last ones: {_last(asked)}",
                topic=asked.topic,
                partition=partition,
                offset=asked.offset,
            )


def _last(asked: Asked) -> str:
    return command("explain CONFIG --topic {} --last 5", asked.topic)


def ledger_then(state: Storage, head: LedgerState, topic: tuple[str, str], partition: int, first: int) -> LedgerThen:
    """The ledger around a partition's records from the offset ``first`` on.

    Args:
        head: the ledger's present state.
        topic: its name, and the id that Kafka gave it.

    Raises:
        LedgerCorruptError: a version is missing or cannot be read.
    """
    name, topic_id = topic
    recorded = head.topics.get(name)
    return LedgerThen(
        landed_ranges(state, name, topic_id, partition, first),
        lambda landed: state_before(state, head, landed),
        other_topic=recorded is not None and recorded.id != topic_id,
    )


def spans(asked: Asked, found: TopicDescription) -> dict[int, tuple[int, int]]:
    """``[start, end)`` of the offsets to read, per partition that has any.

    Raises:
        NoSuchRecordError: no such partition, or the offset is outside of what the partition holds, or of which
            partition it is was not said.
    """
    if asked.partition is not None and asked.partition not in found.partitions:
        raise NoSuchRecordError(
            f"the topic has no partition {asked.partition}",
            remedy=f"name one from 0 to {max(found.partitions, default=0)}, or none: {_last(asked)}",
            topic=asked.topic,
        )
    if asked.offset is None:
        chosen = found.partitions if asked.partition is None else {asked.partition: found.partitions[asked.partition]}
        return {
            partition: (max(start, end - asked.last), end) for partition, (start, end) in chosen.items() if end > start
        }
    if asked.partition is None and len(found.partitions) > 1:
        raise NoSuchRecordError(
            f"the topic has {len(found.partitions)} partitions, each with offsets of its own",
            remedy=f"name the partition with --partition; each one's last offsets: {_last(asked)}",
            topic=asked.topic,
            offset=asked.offset,
        )
    partition = next(iter(found.partitions)) if asked.partition is None else asked.partition
    start, end = found.partitions[partition]
    if not start <= asked.offset < end:
        raise NoSuchRecordError(
            f"the partition holds the offsets {start} to {end - 1}" if end > start else "the partition is empty",
            remedy=f"ask for an offset among them, or for the last ones: {_last(asked)}",
            topic=asked.topic,
            partition=partition,
            offset=asked.offset,
        )
    return {partition: (asked.offset, asked.offset + 1)}
