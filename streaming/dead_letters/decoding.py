"""Decoding a letter as the record that it once was."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import BadRecord, ChangeChunk, RawRecords, SkipReason
from connectors.kafka.dead_letters import DeadLetter
from connectors.kafka.raw import HEADERS_TYPE

_SCHEMA = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
        ("headers", HEADERS_TYPE),
    ]
)


@dataclass(frozen=True)
class DecodedLetter:
    """What a letter's record decodes to; exactly one of ``chunk``, ``bad`` and ``skipped`` is there.

    Attributes:
        chunk: the event alone.
        bad: it still cannot be decoded.
        skipped: it carries no row, or the settings leave it out.
    """

    letter: DeadLetter
    chunk: ChangeChunk | None = None
    bad: BadRecord | None = None
    skipped: SkipReason | None = None


def decode_letter(letter: DeadLetter, decoder: Decoder) -> DecodedLetter:
    """Decode one letter with the settings and the registry of now; one that does not hold its record is bad for good.

    Raises:
        Transient: the schema registry cannot be asked now.
    """
    record = letter.record
    if letter.left_out:
        return DecodedLetter(letter, bad=record)
    decoded = decoder.decode(
        RawRecords(
            topic=record.topic,
            partition=record.partition,
            keys=pa.array([record.key], pa.binary()),
            values=pa.array([record.value], pa.binary()),
            offsets=np.array([record.offset], np.int64),
            timestamps=np.array([letter.timestamp], np.int64),
            headers=pa.array([_headers(record)], HEADERS_TYPE),
        )
    )
    if decoded.bad:
        return DecodedLetter(letter, bad=decoded.bad[0])
    if decoded.chunks:
        return DecodedLetter(letter, chunk=decoded.chunks[0])
    return DecodedLetter(letter, skipped=next(iter(decoded.skipped)))


def letters_batch(letters: Iterable[DeadLetter]) -> pa.RecordBatch:
    """The letters' records as Spark's Kafka source would hand them on: :data:`streaming.task.runs.SOURCE_COLUMNS`.

    Args:
        letters: of each partition together and in offset order.
    """
    rows = [
        {
            "key": letter.record.key,
            "value": letter.record.value,
            "topic": letter.record.topic,
            "partition": letter.record.partition,
            "offset": letter.record.offset,
            "timestamp": datetime.fromtimestamp(letter.timestamp / 1000, tz=UTC),
            "headers": _headers(letter.record),
        }
        for letter in letters
    ]
    return pa.RecordBatch.from_pylist(rows, schema=_SCHEMA)


def _headers(record: BadRecord) -> list[dict[str, object]]:
    return [{"key": name, "value": value} for name, value in record.headers]
