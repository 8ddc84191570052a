"""Values that the source did not send: Debezium's placeholder for unchanged TOAST and LOB columns.

A string column holds the placeholder itself, bytes its UTF-8 bytes (as base64 or hex text where the connector encodes
them), an array one placeholder element, an hstore an object or its text (Debezium documentation, "Toasted values" and
``unavailable.value.placeholder``; connector sources ``UnchangedToastedPlaceholder``).
"""

from __future__ import annotations

import base64
import hashlib
import uuid

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium import semantics
from connectors.debezium.events import Bools
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.types import LogicalType, logical_type

# Below so many values, looking at each costs less than calling Arrow.
_FEW = 100
_HEXADECIMAL = b"hex:"


class Placeholder:
    """Finds the placeholder in columns of physical type.

    Args:
        configured: ``unavailable.value.placeholder`` of the connector, as bytes; after ``hex:`` in front, hexadecimal
            digits stand for the bytes that they spell, as for the connector.
    """

    def __init__(self, configured: bytes) -> None:
        content = _spelled(configured)
        self._bytes = pa.array([content], pa.binary())
        text = content.decode("utf-8", "replace")
        encoded = base64.b64encode(content).decode()
        as_map = msgspec.json.encode({text: text}).decode()
        texts = [text, encoded, base64.urlsafe_b64encode(content).decode(), content.hex(), as_map]
        self._texts = pa.array(list(dict.fromkeys(texts)), pa.string())
        elements: list[list[str] | list[int]] = [[text], [encoded], [_name_uuid(content)], list(content)]
        # Java's bytes are signed.
        elements.append([code - 256 if code > 127 else code for code in content])
        nested = [msgspec.json.encode(element).decode() for element in elements] + [as_map]
        self._nested = pa.array(nested, pa.string())
        self._json = pa.array(list(dict.fromkeys(texts + nested)), pa.string())
        self._known = frozenset([content, *texts, *nested])
        known = [content, *(form.encode() for form in texts + nested)]
        sizes = [len(form) for form in known]
        self._sizes = np.zeros(max(sizes) + 2, dtype=np.bool_)
        self._sizes[sizes] = True
        self._empty = b"" in known
        self._firsts = np.zeros(256, dtype=np.bool_)
        self._firsts[[form[0] for form in known if form]] = True

    def mask(self, values: pa.Array, field: Field) -> Bools | None:
        """The cells that hold the placeholder; ``None`` when there are none."""
        if field.type is ConnectType.STRING:
            # Learned arrays and objects are text that holds JSON.
            forms = self._json if field.semantic == semantics.JSON else self._texts
        elif field.type is ConnectType.BYTES and logical_type(field) is LogicalType.BYTES:
            forms = self._bytes
        elif field.type in (ConnectType.ARRAY, ConnectType.MAP) and pa.types.is_string(values.type):
            forms = self._nested
        else:
            return None
        if len(values) <= _FEW and self._known.isdisjoint(values.to_pylist()):
            return None
        if not self._may_hold(values):
            return None
        mask: Bools = np.asarray(pc.is_in(values, value_set=forms), dtype=np.bool_)
        return mask if mask.any() else None

    def _may_hold(self, values: pa.Array) -> bool:
        """Whether any has the size and the first byte of a placeholder: seldom, and seen faster than by comparing."""
        _, offsets_buffer, content_buffer = values.buffers()
        offsets = np.frombuffer(offsets_buffer, np.int32, len(values) + 1, values.offset * 4)
        starts = offsets[:-1][self._sizes.take(np.diff(offsets), mode="clip")]
        if self._empty or not len(starts) or content_buffer is None:
            return len(starts) > 0
        return bool(self._firsts[np.frombuffer(content_buffer, np.uint8)[starts]].any())


def _spelled(configured: bytes) -> bytes:
    if not configured.startswith(_HEXADECIMAL):
        return configured
    try:
        return bytes.fromhex(configured.removeprefix(_HEXADECIMAL).decode())
    except ValueError:
        return configured


def _name_uuid(content: bytes) -> str:
    """What Java's ``UUID.nameUUIDFromBytes`` gives: version 3 without a namespace."""
    digest = hashlib.md5(content, usedforsecurity=False).digest()
    return str(uuid.UUID(bytes=digest, version=3))
