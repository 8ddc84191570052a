"""Avro datums read one by one: those that the kernel leaves, and what is nested in the others."""

from __future__ import annotations

import io
import re

import fastavro

from connectors.debezium.avro_expanded import AvroType
from connectors.debezium.verdicts import BadReason

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
        schema: the datums', as :func:`connectors.debezium.avro_expanded.expanded` writes it.
    """

    def __init__(self, schema: AvroType) -> None:
        self._schema = fastavro.parse_schema(schema)

    def read(self, datum: bytes) -> object:
        """The datum's value: a dict for a record.

        Raises:
            BadDatumError: it ends too early, something follows it, or a value cannot be.
        """
        stream = io.BytesIO(datum)
        try:
            value = fastavro.schemaless_reader(stream, self._schema, None)
        except (EOFError, IndexError) as error:
            told = f"the datum of {len(datum)} bytes cannot be read: {_told(error)}"
            if stream.tell() >= len(datum):
                raise BadDatumError(BadReason.TRUNCATED, told) from error
            where = f"before byte {stream.tell()} it names a symbol or a union's branch that its schema does not have"
            raise BadDatumError(BadReason.CORRUPT_AVRO, f"{told}; {where}") from error
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
