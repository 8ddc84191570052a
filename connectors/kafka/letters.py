"""What a dead letter looks like in its topic, and reading those that lie there.

A letter's key is the record's coordinates ``topic/partition/offset``; a task that is tried again sends a letter again,
so readers take the last one of each key. Its value is the record's own value, null staying null. Of a record that is
larger than any letter may be, the letter tells without holding it: what a topic takes is limited after compression, so
records may come out of it at any size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from connectors.debezium.events import BadRecord, RawRecords
from connectors.kafka.config import KafkaConfig
from connectors.kafka.raw import read_records
from connectors.kafka.topics import Admin, describe_topics

PREFIX = "cdc-bridge."
ORIGINAL_PREFIX = f"{PREFIX}header."
MAX_DETAIL = 2_000
_AROUND_A_HEADER = 10
"""Bytes that say how long a header's name and value are, at most."""
_NUMBER = re.compile(r"\d{1,19}", re.ASCII)


@dataclass(frozen=True)
class DeadLetter:
    """A letter as it lies in its topic.

    Attributes:
        record: the bad record, its headers included.
        bridge: who sent it.
        partition, offset: of the letter itself.
        timestamp: when it was sent, milliseconds since the epoch.
        left_out: bytes of the record that the letter does not hold, because no letter can; they are in its topic.
    """

    record: BadRecord
    bridge: str
    partition: int
    offset: int
    timestamp: int
    left_out: int = 0


def read_dead_letters(config: KafkaConfig, topic: str) -> Iterator[DeadLetter]:
    """The letters that are in the topic now, partition by partition, oldest first.

    Records that no bridge has sent are left out.

    Raises:
        TopicNotFoundError: there is no such topic.
        BrokerUnavailableError: no broker answered.
        KafkaAccessError: the broker refuses these credentials.
    """
    description = describe_topics(Admin(config), [topic])[topic]
    for partition, (start, end) in description.partitions.items():
        for records in read_records(config, topic, partition, start, end):
            yield from letters_in(records)


def letters_in(records: RawRecords) -> Iterator[DeadLetter]:
    """The letters among records of the topic; whoever may write to it can put anything there, which is left out."""
    headers: pa.ListArray | None = records.headers
    listed = headers.to_pylist() if headers is not None else []
    for index, pairs in enumerate(listed):
        said: dict[str, bytes | None] = {one["key"]: one["value"] for one in pairs or ()}
        place = (_text(said, "partition"), _text(said, "offset"))
        if not all(_NUMBER.fullmatch(number) for number in place):
            continue
        yield DeadLetter(
            record=BadRecord(
                topic=_text(said, "topic"),
                partition=int(place[0]),
                offset=int(place[1]),
                reason=_text(said, "reason"),
                detail=_text(said, "detail"),
                key=said.get(f"{PREFIX}source-key"),
                value=records.values[index].as_py(),
                headers=tuple(
                    (one["key"].removeprefix(ORIGINAL_PREFIX), one["value"])
                    for one in pairs
                    if one["key"].startswith(ORIGINAL_PREFIX)
                ),
            ),
            bridge=_text(said, "bridge"),
            partition=records.partition,
            offset=int(records.offsets[index]),
            timestamp=int(records.timestamps[index]),
            left_out=_count(said, "left-out"),
        )


def letter_size(bad: BadRecord) -> int:
    """Bytes that the record takes in a letter: key, value and headers."""
    headers = sum(
        len(f"{ORIGINAL_PREFIX}{name}".encode()) + len(value or b"") + _AROUND_A_HEADER for name, value in bad.headers
    )
    return len(bad.key or b"") + len(bad.value or b"") + headers


def without_bytes(bad: BadRecord, size: int) -> BadRecord:
    """What a letter tells of a record of ``size`` bytes that it cannot hold."""
    return replace(
        bad,
        detail=f"the record's {size} bytes are more than a letter can hold, and stay in its topic; {bad.detail}",
        key=None,
        value=None,
        headers=(),
    )


def letter_headers(bad: BadRecord, bridge: str) -> list[tuple[str, str | bytes | None]]:
    """A letter's headers: what the bridge says, then the record's own."""
    own: list[tuple[str, str | bytes | None]] = [
        (f"{PREFIX}reason", bad.reason.encode()),
        (f"{PREFIX}detail", bad.detail[:MAX_DETAIL].encode(errors="replace")),
        (f"{PREFIX}topic", bad.topic.encode()),
        (f"{PREFIX}partition", str(bad.partition).encode()),
        (f"{PREFIX}offset", str(bad.offset).encode()),
        (f"{PREFIX}source-key", bad.key),
        (f"{PREFIX}bridge", bridge.encode()),
    ]
    return own + [(f"{ORIGINAL_PREFIX}{name}", value) for name, value in bad.headers]


def _count(said: dict[str, bytes | None], name: str) -> int:
    text = _text(said, name)
    return int(text) if _NUMBER.fullmatch(text) else 0


def _text(said: dict[str, bytes | None], name: str) -> str:
    return (said.get(f"{PREFIX}{name}") or b"").decode(errors="replace")
