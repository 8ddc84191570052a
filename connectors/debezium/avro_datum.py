"""Avro datums read one by one: for schemas that have no columnar reader, and to say what is wrong with a datum."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from typing import Any

import fastavro

from connectors.debezium.verdicts import BadReason

_NOT_ENCODING = frozenset({"logicalType", "precision", "scale", "default", "doc", "aliases"})
_PLACE = re.compile(r"(?: from)? <[\w.]+ object at 0x[0-9a-f]+>")


class BadDatumError(ValueError):
    """A datum that is not what its schema says.

    Attributes:
        reason: the reason code for the dead letter.
    """

    def __init__(self, reason: BadReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class DatumReader:
    """Reads single datums as Python values of the physical types: logical types are not applied.

    Args:
        schema: the writer schema, decoded from JSON.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = fastavro.parse_schema(json.loads(json.dumps(_physical(schema))))

    def read(self, datum: bytes) -> object:
        """The datum's value: a dict for a record.

        Raises:
            BadDatumError: it ends too early, something follows it, or a value cannot be.
        """
        stream = io.BytesIO(datum)
        try:
            value = fastavro.schemaless_reader(stream, self._schema, None)
        except (EOFError, IndexError) as error:
            reason = BadReason.TRUNCATED if stream.tell() >= len(datum) else BadReason.CORRUPT_AVRO
            raise BadDatumError(reason, f"the datum of {len(datum)} bytes cannot be read: {_told(error)}") from error
        except UnicodeDecodeError as error:
            raise BadDatumError(BadReason.NOT_UTF8, f"a string is not UTF-8: {error}") from error
        except MemoryError:
            raise  # the machine's: the next attempt may have more
        except Exception as error:  # fastavro raises whatever its C code meets
            raise BadDatumError(BadReason.CORRUPT_AVRO, f"the datum cannot be read: {_told(error)}") from error
        if stream.tell() != len(datum):
            rest = len(datum) - stream.tell()
            raise BadDatumError(BadReason.TRAILING_BYTES, f"{rest} bytes follow the datum of {stream.tell()} bytes")
        return value


def _told(error: Exception) -> str:
    """An error of fastavro's, without the place in memory that some name: the same datum has the same reason."""
    return _PLACE.sub("", repr(error))


def _physical(node: object) -> object:
    if isinstance(node, list):
        return [_physical(branch) for branch in node]
    if not isinstance(node, Mapping):
        return node
    return {name: _physical(value) for name, value in node.items() if name not in _NOT_ENCODING}
