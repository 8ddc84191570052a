"""What mutation starts from: the records of the golden traffic, partition by partition."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from connectors.debezium.decoder import Decoder
from connectors.debezium.options import DecodeOptions
from tests.golden.capture_file import capture_names, read_capture
from tests.golden.documented.encoding import documented_traffic
from tests.golden.documented.streams import STREAMS
from tests.golden.traffic import GoldenRecord, KnownSchemas, WireFormat, raw_records


@dataclass(frozen=True)
class Seed:
    """The records of one partition, in offset order, with what reading them needs.

    Attributes:
        name: of the traffic that they are from.
        schemas: Avro schemas by registry id.
    """

    name: str
    records: Sequence[GoldenRecord]
    schemas: Mapping[int, str]
    options: DecodeOptions


@functools.cache
def seeds_of_rows() -> tuple[Seed, ...]:
    """The seeds whose first record becomes a row: most of the reading is done for these."""
    return tuple(seed for seed in seeds() if _becomes_row(seed))


@functools.cache
def seeds() -> tuple[Seed, ...]:
    """All partitions of all golden traffic, in an order that stays."""
    traffics = [read_capture(name) for name in capture_names()]
    traffics += [documented_traffic(stream, wire) for stream in STREAMS.values() for wire in WireFormat]
    found: list[Seed] = []
    for traffic in traffics:
        partitions: dict[tuple[str, int], list[GoldenRecord]] = defaultdict(list)
        for record in traffic.records:
            partitions[record.topic, record.partition].append(record)
        found += [
            Seed(traffic.name, partitions[place], traffic.schemas, traffic.options) for place in sorted(partitions)
        ]
    return tuple(found)


def _becomes_row(seed: Seed) -> bool:
    decoder = Decoder(seed.options, KnownSchemas(seed.schemas))
    return bool(decoder.decode(raw_records(seed.records[:1])).chunks)
