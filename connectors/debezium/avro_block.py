"""Avro datums read column by column: one in-memory object container block for many records.

The container's header names the writer schema, the block's body is the datums one after another (Avro 1.11
specification, "Object Container Files"), so polars reads it whole. The schema is rewritten into an equal encoding that
polars can read: logical types dropped (values stay physical), named types written out under new names, an enum as its
int, a map as an array of key and value.

A guard after each datum, a field of our own at the end of the record, proves that every datum ended where the next one
starts; without it, one corrupt datum would silently shift all that follow. It is drawn anew for each block, so that
nobody can write it into a record: it stands behind the datums and nowhere else. The reader only goes forward, so n
guards read from n such places are each read from its own: every row is its datum's from the first byte to the last.
"""

from __future__ import annotations

import io
import json
import secrets
from collections.abc import Mapping
from typing import Any

import polars as pl
import pyarrow as pa

GUARD = "__cdc_bridge_guard"
_GUARD_BYTES = 16
_SYNC = b"cdc-bridge-block"
_MOST_OF_A_NULL = 64
"""Fields of a record that may be null in an array: a null of one byte takes a place in the column of each."""
_PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "string", "bytes"})


class CorruptBlockError(ValueError):
    """Some datum of the block is not what the schema says; which one, only reading them one by one tells."""


class UnsupportedByBlocksError(ValueError):
    """The schema has a type that the columnar reader cannot read, such as a union that is not "null or T"."""


class AvroBlock:
    """Reads datums of one record schema.

    Args:
        schema: the writer schema, decoded from JSON; a record.

    Attributes:
        enums: symbols of the enums that are read as ints, by the path of field names that leads to them.

    Raises:
        UnsupportedByBlocksError: see there.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        rewriter = _Rewriter()
        record = rewriter.rewrite(schema, "", ())
        if not isinstance(record, dict) or record.get("type") != "record":
            raise UnsupportedByBlocksError("not a record")
        record["fields"].append({"name": GUARD, "type": {"type": "fixed", "name": GUARD, "size": _GUARD_BYTES}})
        self.enums: dict[tuple[str, ...], tuple[str, ...]] = rewriter.enums
        metadata = [(b"avro.schema", json.dumps(record).encode()), (b"avro.codec", b"null")]
        pairs = b"".join(_sized(name) + _sized(value) for name, value in metadata)
        self._header = b"Obj\x01" + _zigzag(len(metadata)) + pairs + b"\0" + _SYNC

    def read(self, datums: list[bytes], columns: list[str]) -> pa.Table:
        """The chosen top-level fields, one row per datum, physical types (int, binary, struct, list, ...).

        Raises:
            CorruptBlockError: see there.
        """
        count = len(datums)
        guard = secrets.token_bytes(_GUARD_BYTES)
        body = guard.join((*datums, b""))
        block = b"".join((self._header, _zigzag(count), _zigzag(len(body)), body, _SYNC))
        try:
            frame = pl.read_avro(io.BytesIO(block), columns=[*columns, GUARD])
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:
            # polars panics on bytes that make no sense; its PanicException is no Exception.
            raise CorruptBlockError(str(error)) from error
        if frame.height != count or not (frame[GUARD] == pl.Series([guard])).all():
            raise CorruptBlockError("a datum does not end where the next one starts")
        return frame.drop(GUARD).to_arrow()


class _Rewriter:
    """Writes a schema out without references; remembers named types by full name and counts new names."""

    def __init__(self) -> None:
        self.enums: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._named: dict[str, tuple[Mapping[str, Any], str]] = {}
        self._count = 0
        self._fields = 0

    def rewrite(self, node: object, namespace: str, path: tuple[str, ...] | None) -> object:
        """``path`` leads to the field from the root; ``None`` inside arrays and maps."""
        if isinstance(node, list):
            return self._union(node, namespace, path)
        if isinstance(node, str):
            return self._reference(node, namespace, path)
        if not isinstance(node, Mapping):
            raise UnsupportedByBlocksError(f"not a type: {node!r}")
        kind = node["type"]
        if isinstance(kind, (list, Mapping)):
            return self.rewrite(kind, namespace, path)
        if kind == "array":
            return {"type": "array", "items": self.rewrite(node["items"], namespace, None)}
        if kind == "map":
            pair = [
                {"name": "key", "type": "string"},
                {"name": "value", "type": self.rewrite(node["values"], namespace, None)},
            ]
            return {"type": "array", "items": {"type": "record", "name": self._name(), "fields": pair}}
        if kind in ("record", "error", "enum", "fixed"):
            full_name = qualified(node["name"], node.get("namespace") or namespace)
            home = full_name.rpartition(".")[0]
            self._named[full_name] = (node, home)
            return self._named_type(node, home, path)
        return self._reference(kind, namespace, path)

    def _union(self, branches: list[Any], namespace: str, path: tuple[str, ...] | None) -> object:
        if len(branches) != 2 or "null" not in branches:
            raise UnsupportedByBlocksError(f"a union of {len(branches)} types")
        before = self._fields
        rewritten = [branch if branch == "null" else self.rewrite(branch, namespace, path) for branch in branches]
        if path is None and self._fields - before > _MOST_OF_A_NULL:
            raise UnsupportedByBlocksError("records of very many fields in an array, of which any may be null")
        return rewritten

    def _reference(self, name: str, namespace: str, path: tuple[str, ...] | None) -> object:
        if name == "null":
            raise UnsupportedByBlocksError("a field that is always null")
        if name in _PRIMITIVES:
            return name
        full_name = qualified(name, namespace)
        node, home = self._named[full_name if full_name in self._named else name]
        return self._named_type(node, home, path)

    def _named_type(self, node: Mapping[str, Any], home: str, path: tuple[str, ...] | None) -> object:
        if node["type"] == "enum":
            if path is None:
                raise UnsupportedByBlocksError("an enum inside an array or a map")
            self.enums[path] = tuple(node["symbols"])
            return "int"
        if node["type"] == "fixed":
            return {"type": "fixed", "name": self._name(), "size": node["size"]}
        if not node["fields"]:
            raise UnsupportedByBlocksError("a record without fields: without a column nothing says how many there are")
        self._fields += len(node["fields"])
        fields = [
            {
                "name": field["name"],
                "type": self.rewrite(field["type"], home, None if path is None else (*path, field["name"])),
            }
            for field in node["fields"]
        ]
        return {"type": "record", "name": self._name(), "fields": fields}

    def _name(self) -> str:
        self._count += 1
        return f"T{self._count}"


def qualified(name: str, namespace: str) -> str:
    """A named type's full name."""
    return name if "." in name or not namespace else f"{namespace}.{name}"


def _sized(content: bytes) -> bytes:
    return _zigzag(len(content)) + content


def _zigzag(number: int) -> bytes:
    """A non-negative long in Avro's variable-length encoding."""
    rest = number << 1
    encoded = bytearray()
    while rest > 0x7F:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)
