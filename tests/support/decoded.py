"""All that a decoder has said, in a form that compares: two readings of the same records have to say the same."""

from __future__ import annotations

import dataclasses

from connectors.debezium.events import ChangeChunk, Decoded


def told(decoded: Decoded) -> dict[str, object]:
    """Every part of what was decoded; NaN equals NaN, and 0.0 differs from -0.0."""
    parts = {field.name: getattr(decoded, field.name) for field in dataclasses.fields(decoded)}
    return parts | {"chunks": [_chunk(chunk) for chunk in decoded.chunks]}


def _chunk(chunk: ChangeChunk) -> dict[str, str]:
    shown = {field.name: getattr(chunk, field.name) for field in dataclasses.fields(chunk)}
    shown["rows"] = (chunk.rows.schema, chunk.rows.to_pylist())
    shown["old_keys"] = chunk.old_keys and (chunk.old_keys.schema, chunk.old_keys.to_pylist())
    shown["unavailable"] = {name: mask.tolist() for name, mask in chunk.unavailable.items()}
    for name in ("ops", "offsets", "positions", "run_ids", "snapshots", "source_ms", "key_changed"):
        shown[name] = shown[name].tolist()
    return {name: repr(value) for name, value in shown.items()}
