"""Avro datums read one by one: those that the kernel leaves, all where there is none, and what is nested in columns."""

from __future__ import annotations

import io

import fastavro

from connectors.debezium.avro_check import BadDatumError, check
from connectors.debezium.avro_expanded import AvroType
from connectors.debezium.verdicts import BadReason


class DatumReader:
    """Reads single datums as Python values of the physical types: logical types are not applied.

    Args:
        schema: the datums', as :func:`connectors.debezium.avro_expanded.expanded` writes it.
    """

    def __init__(self, schema: AvroType) -> None:
        self._schema = schema
        self._parsed = fastavro.parse_schema(schema)

    def read(self, datum: bytes) -> object:
        """The datum's value: a dict for a record.

        Raises:
            BadDatumError: it ends too early, something follows it, or a value cannot be.
        """
        check(self._schema, datum)
        try:
            return self.read_sound(datum)
        except MemoryError:
            raise  # the machine's: the next attempt may have more
        except Exception as error:  # fastavro raises whatever its C code meets
            told = f"the datum cannot be read: {type(error).__name__}"
            raise BadDatumError(BadReason.CORRUPT_AVRO, told) from error

    def read_sound(self, datum: bytes) -> object:
        """The value of a datum that has been checked: fastavro makes something of much that is none."""
        return fastavro.schemaless_reader(io.BytesIO(datum), self._parsed, None)
