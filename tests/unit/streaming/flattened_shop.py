"""Rows of ``public.orders`` as Debezium's ExtractNewRecordState flattens them, with a position, for PostgreSQL."""

from __future__ import annotations

import json

from connectors.debezium.options import DecodeOptions, EnvelopeForm, TableRules, TombstonePolicy
from streaming.demo.workload import Record
from tests.support.records import declared
from tests.unit.streaming.landed_shop import TOPIC

_HEADERS = (("__debezium.context.runId", b"run-1"),)


def flattened(op: str | None, key: int, name: str, lsn: int, *, snapshot: str | None = None) -> Record:
    """A row; ``op`` and ``snapshot`` are left out where they are None."""
    value = {
        "id": key,
        "name": name,
        "__lsn": lsn,
        "__source_ts_ms": 1_700_000_000_000 + lsn,
        "__source_sequence": json.dumps([str(lsn), str(lsn)]),
        "__db": "shop",
        "__schema": "public",
        "__table": "orders",
    }
    said = {"__op": op, "__source_snapshot": snapshot}
    value |= {name: text for name, text in said.items() if text is not None}
    return Record(TOPIC, 0, json.dumps({"id": key}).encode(), json.dumps(value).encode(), _HEADERS)


def tombstone(key: int) -> Record:
    return Record(TOPIC, 0, json.dumps({"id": key}).encode(), None, _HEADERS)


def reading(tombstones: TombstonePolicy = TombstonePolicy.AUTO) -> DecodeOptions:
    return DecodeOptions(
        connector="postgresql",
        envelope=EnvelopeForm.FLATTENED,
        tombstones=tombstones,
        rules=TableRules(tables=(("*", declared()),)),
    )
