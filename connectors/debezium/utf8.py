"""JSON is UTF-8 from its first byte to its last, or it is not read.

What reads JSON for its speed skips what it does not need, and some of it does not look at the bytes that it skips. Were
each reader the judge, a record's fate would depend on which of them has read it, and so on what was read before.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from connectors.debezium.bodies import Bodies
from connectors.debezium.events import Int64s
from connectors.debezium.verdicts import BadReason, Rejection


def not_utf8(payloads: pa.BinaryArray, places: Int64s) -> dict[int, Rejection]:
    """Which of the payloads at ``places``, ascending and none of them null, are not UTF-8, and where."""
    if len(places) == 0:
        return {}
    bodies = Bodies.of_array(payloads, places)
    span = bodies.content[int(bodies.starts[0]) : int(bodies.ends[-1])]
    if span.view(np.int8).min() >= 0:
        # ASCII, which is seen twice as fast.
        return {}
    others = len(payloads) - payloads.null_count - len(places)
    try:
        (payloads.take(pa.array(places)) if others else payloads).cast(pa.string())
    except pa.ArrowInvalid:
        return {
            place: wrong
            for place, body in zip(places.tolist(), bodies, strict=True)
            if (wrong := _wrong(body)) is not None
        }
    return {}


def _wrong(body: bytes) -> Rejection | None:
    try:
        body.decode()
    except UnicodeDecodeError as error:
        if body.startswith(b"\0"):
            return Rejection(BadReason.NOT_JSON, "the value starts with byte 0, as Avro does, and is to be JSON")
        return Rejection(BadReason.NOT_UTF8, f"{error.reason} at byte {error.start}")
    return None
