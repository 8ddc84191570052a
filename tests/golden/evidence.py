"""What a traffic shows: the capabilities of a connector that its records, and what is decoded from them, prove.

Nothing here is asserted by hand. A capability counts as shown when a record of its kind is in the traffic and the
decoder took it for that; that the right rows come of it is what the tests of the same traffic say.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from itertools import pairwise

from connectors.debezium.events import ChangeChunk, Decoded, Op, SkipReason, SnapshotKind
from tests.golden.traffic import Traffic, WireFormat


class Capability(enum.Enum):
    """A line of the matrix."""

    JSON = "format: JSON"
    JSON_WITH_SCHEMA = "format: JSON with schema"
    AVRO = "format: Avro, id in the value"
    AVRO_HEADER_IDS = "format: Avro, id in headers"
    CREATE = "create (`c`)"
    UPDATE = "update (`u`)"
    DELETE = "delete (`d`)"
    TOMBSTONE = "tombstone"
    KEY_CHANGE = "key change"
    TRUNCATE = "truncate (`t`)"
    INITIAL_SNAPSHOT = "initial snapshot (`r`)"
    INCREMENTAL_SNAPSHOT = "incremental snapshot"
    POSITIONS = "position order"
    UNAVAILABLE = "unavailable values"
    SIGNALS = "signalling table"
    SCHEMA_CHANGES = "schema change topic"
    TRANSACTIONS = "transaction topic"
    HEARTBEATS = "heartbeats"


FORMATS = {
    WireFormat.JSON: Capability.JSON,
    WireFormat.JSON_WITH_SCHEMA: Capability.JSON_WITH_SCHEMA,
    WireFormat.AVRO: Capability.AVRO,
    WireFormat.AVRO_HEADER_IDS: Capability.AVRO_HEADER_IDS,
}
_OPS = {
    Op.CREATE: Capability.CREATE,
    Op.UPDATE: Capability.UPDATE,
    Op.DELETE: Capability.DELETE,
    Op.TRUNCATE: Capability.TRUNCATE,
}
_SKIPPED = {
    SkipReason.TOMBSTONE: Capability.TOMBSTONE,
    SkipReason.SIGNAL: Capability.SIGNALS,
    SkipReason.SCHEMA_CHANGE: Capability.SCHEMA_CHANGES,
    SkipReason.TRANSACTION: Capability.TRANSACTIONS,
    SkipReason.HEARTBEAT: Capability.HEARTBEATS,
}
_SNAPSHOTS = {
    SnapshotKind.INITIAL: Capability.INITIAL_SNAPSHOT,
    SnapshotKind.INCREMENTAL: Capability.INCREMENTAL_SNAPSHOT,
}


def shown_by(traffic: Traffic) -> frozenset[Capability]:
    """The capabilities that the traffic shows; none when one of its records is bad."""
    decoded = traffic.decode()
    if any(part.bad for part in decoded):
        return frozenset()
    return frozenset({FORMATS[traffic.format], *_of_records(decoded)})


def _of_records(decoded: list[Decoded]) -> Iterator[Capability]:
    chunks = [chunk for part in decoded for chunk in part.chunks]
    for part in decoded:
        yield from (capability for reason, capability in _SKIPPED.items() if part.skipped[reason])
    for chunk in chunks:
        ops, snapshots = chunk.ops.tolist(), chunk.snapshots.tolist()
        yield from (_OPS[Op(op)] for op in ops if Op(op) in _OPS)
        for op, snapshot in zip(ops, snapshots, strict=True):
            if op == Op.READ and SnapshotKind(snapshot) in _SNAPSHOTS:
                yield _SNAPSHOTS[SnapshotKind(snapshot)]
        if any(mask.any() for mask in chunk.unavailable.values()):
            yield Capability.UNAVAILABLE
    if any(_moves(part) for part in decoded):
        yield Capability.KEY_CHANGE
    if _ordered(decoded):
        yield Capability.POSITIONS


def _moves(part: Decoded) -> bool:
    """A delete and, as the next row event at the same place of the log, a create with another key."""
    return any(
        (left[0], right[0]) == (Op.DELETE, Op.CREATE) and left[1] == right[1] and left[2] != right[2]
        for left, right in pairwise(_events(part.chunks))
    )


def _events(chunks: list[ChangeChunk]) -> Iterator[tuple[int, tuple[int, ...], tuple[object, ...]]]:
    """Operation, position and time, and key of each event, in offset order."""
    for chunk in chunks:
        keys = zip(*(chunk.rows.column(name).to_pylist() for name in chunk.schema.key), strict=True)
        places = zip(chunk.positions.tolist(), chunk.source_ms.tolist(), strict=True)
        for op, (position, millis), key in zip(chunk.ops.tolist(), places, keys, strict=True):
            yield op, (*position, millis), key


def _ordered(decoded: list[Decoded]) -> bool:
    """Streamed events of every partition have positions, which never fall and are not all the same."""
    found: set[tuple[int, int]] = set()
    for part in decoded:
        streamed = [
            (position[0], position[1])
            for chunk in part.chunks
            for position, kind in zip(chunk.positions.tolist(), chunk.snapshots.tolist(), strict=True)
            if kind != SnapshotKind.INITIAL
        ]
        if (0, 0) in streamed or streamed != sorted(streamed):
            return False
        found |= set(streamed)
    return len(found) > 1
