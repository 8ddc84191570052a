"""What the tests of the table options ask of a landed table, and the secret that they disguise its columns with."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from connectors.landing_zone.ledger.state import TableStatus
from streaming.landing.rows import OrderedRows
from streaming.landing.shaping.secrecy import Secrecy
from streaming.plan import TableResult
from tests.unit.streaming.events import landed

SALT, KEY = "a salt of sixteen or more", "a key of sixteen or more"
SECRECY = Secrecy(SALT, KEY, "5a17", "0c11")


def with_images(events: OrderedRows, **old: list[Any]) -> OrderedRows:
    """The events as they come where before images are asked for: old keys are whole rows."""
    columns = {name: pa.array(old[name], events.rows.schema.field(name).type) for name in events.rows.schema.names}
    return replace(events, old_keys=pa.RecordBatch.from_pydict(columns))


def only(zone: Path, result: TableResult, *names: str) -> list[tuple[Any, ...]]:
    """These columns of the staged file's rows; None where a row has no such column."""
    return [tuple(line.get(name) for name in names) for line in landed(zone, result)]


def digest(value: str) -> str:
    """What a hashed column holds instead of ``value``."""
    return hashlib.sha256((SALT + value).encode()).hexdigest()


def stop_of(result: TableResult) -> tuple[str, str, str, int]:
    """Reason, message, remedy and offset of the event that parked the table."""
    assert result.state.parked is not None
    assert result.state.status is TableStatus.PARKED
    parked = result.state.parked
    return parked.reason, parked.message, parked.remedy, parked.offset
