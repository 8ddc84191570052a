"""Decoding what is hostile, and what became of it."""

from __future__ import annotations

import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Decoded
from connectors.debezium.options import DecodeOptions
from tests.unit.debezium.builders import COLUMNS, DECLARED, Message, SchemaRegistry, avro_envelope, event, records

DEEP = b"[" * 50_000 + b"]" * 50_000
DECIMAL = "org.apache.kafka.connect.data.Decimal"
GOOD = event("c", after={"id": 1, "name": "a"})
SOURCE = json.dumps(GOOD.source).encode()
HALF = "\ud800"
EMPTY = {"type": "record", "name": "Empty", "fields": []}
MOST_BYTES = 64 * 1024 * 1024
SLACK_BYTES = 32 * 1024 * 1024
"""What tracing the memory takes, and pages that are not given back at once."""


def decoded(*messages: Message, rules: Any = DECLARED, registry: SchemaRegistry | None = None) -> Decoded:
    """What the messages come to, within a bounded amount of memory: Python's, and the process's (Arrow, Polars, C)."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = status_bytes("VmRSS")
    tracemalloc.start()
    try:
        found = Decoder(DecodeOptions(rules=rules), registry).decode(records(*messages))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MOST_BYTES
    assert status_bytes("VmHWM") - before < MOST_BYTES + SLACK_BYTES
    return found


def status_bytes(name: str) -> int:
    """A figure of the kernel's about this process."""
    found = re.search(rf"^{name}:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024


def fates(found: Decoded) -> tuple[list[int], list[tuple[int, str]]]:
    """Offsets of the rows, and offsets and reasons of what is bad."""
    landed = sorted(int(offset) for chunk in found.chunks for offset in chunk.offsets)
    return landed, [(bad.offset, bad.reason) for bad in found.bad]


def envelope_with(kind: Any) -> dict[str, Any]:
    """An envelope's Avro schema with one more column."""
    schema = avro_envelope(COLUMNS, GOOD.source or {})
    schema["fields"][0]["type"][1]["fields"].append({"name": "bomb", "type": kind})
    return schema


def naming(number: int) -> Message:
    """Six bytes that name a schema."""
    return Message(b'{"id":1}', b"\0" + number.to_bytes(4) + b"\0")
