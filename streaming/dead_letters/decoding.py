"""Decoding a letter as the record that it once was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pyarrow as pa

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import BadRecord, ChangeChunk, RawRecords, SkipReason
from connectors.kafka.headers import HEADERS_TYPE
from connectors.kafka.letters import DeadLetter


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
    [alone] = letters_records([letter])
    decoded = decoder.decode(alone)
    if decoded.bad:
        return DecodedLetter(letter, bad=decoded.bad[0])
    if decoded.chunks:
        return DecodedLetter(letter, chunk=decoded.chunks[0])
    return DecodedLetter(letter, skipped=next(iter(decoded.skipped)))


def letters_records(letters: Iterable[DeadLetter]) -> Iterator[RawRecords]:
    """The letters' records as they once were.

    Args:
        letters: of each partition together and in offset order.
    """
    for (topic, partition), group in groupby(letters, lambda letter: (letter.record.topic, letter.record.partition)):
        together = list(group)
        yield RawRecords(
            topic=topic,
            partition=partition,
            keys=pa.array([letter.record.key for letter in together], pa.binary()),
            values=pa.array([letter.record.value for letter in together], pa.binary()),
            offsets=np.array([letter.record.offset for letter in together], np.int64),
            timestamps=np.array([letter.timestamp for letter in together], np.int64),
            headers=pa.array([_headers(letter.record) for letter in together], HEADERS_TYPE),
        )


def _headers(record: BadRecord) -> list[dict[str, object]]:
    return [{"key": name, "value": value} for name, value in record.headers]
