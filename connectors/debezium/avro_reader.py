"""Reads many datums of one writer schema, as columns where that works and one by one where it does not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from connectors.debezium.avro_block import AvroBlock, CorruptBlockError, UnsupportedByBlocksError
from connectors.debezium.avro_datum import BadDatumError, DatumReader
from connectors.debezium.avro_records import ArrowRecords, AvroRecords, DictRecords
from connectors.debezium.avro_schema import row_schema_of
from connectors.debezium.errors import SchemaError
from connectors.debezium.events import Int64s
from connectors.debezium.record_schema import RecordSchema


@dataclass(frozen=True)
class ReadPart:
    """Some of the datums, decoded.

    Attributes:
        places: which ones, ascending.
    """

    places: Int64s
    records: AvroRecords


class AvroReader:
    """Reads datums of one writer schema.

    Args:
        text: the schema's JSON text, references resolved.

    Attributes:
        record: the schema as a tree.

    Raises:
        SchemaError: the schema cannot be understood.
    """

    def __init__(self, text: str) -> None:
        self.record: RecordSchema = row_schema_of(text)
        schema = _decoded(text)
        self._block: AvroBlock | None
        try:
            self._datums = DatumReader(schema)
            self._block = AvroBlock(schema)
        except UnsupportedByBlocksError:
            self._block = None
        except MemoryError:
            raise
        except Exception as error:  # fastavro raises whatever it meets, such as KeyError for an enum without symbols
            raise SchemaError(
                f"The Avro schema of a record cannot be used: {error!r}",
                remedy="look at the schema in the registry; Kafka Connect's Avro converter must have written it",
            ) from error

    @property
    def columnar(self) -> bool:
        """True when datums are read as columns."""
        return self._block is not None

    def read(self, datums: list[bytes], columns: list[str]) -> tuple[list[ReadPart], dict[int, BadDatumError]]:
        """All readable datums in ascending parts, and what is wrong with the others, by place.

        Args:
            datums: encoded datums without any prefix.
            columns: the top-level fields to read.
        """
        parts: list[ReadPart] = []
        bad: dict[int, BadDatumError] = {}
        # Halves of a corrupt block are read again until the corrupt datum stands alone.
        pending = [(0, len(datums))] if datums else []
        while pending:
            start, stop = pending.pop()
            columnar = self._columns(datums[start:stop], columns)
            if columnar is not None:
                parts.append(ReadPart(np.arange(start, stop), columnar))
            elif self._block is None or stop - start == 1:
                # The two readers are not equally strict with damaged datums, so no datum may decide how later ones
                # are read: what one comes to would depend on those before it.
                self._one_by_one(datums, start, stop, parts, bad)
            else:
                middle = (start + stop) // 2
                pending += [(middle, stop), (start, middle)]
        return parts, bad

    def read_whole(self, datum: bytes) -> object:
        """One datum as plain Python values of the physical types.

        Raises:
            BadDatumError: it is not what its schema says.
        """
        return self._datums.read(datum)

    def _columns(self, datums: list[bytes], columns: list[str]) -> ArrowRecords | None:
        if self._block is None:
            return None
        try:
            table = self._block.read(datums, columns)
        except CorruptBlockError:
            return None
        arrays = [column.combine_chunks() for column in table.columns]
        return ArrowRecords(pa.StructArray.from_arrays(arrays, names=table.column_names), self._block.enums)

    def _one_by_one(
        self, datums: list[bytes], start: int, stop: int, parts: list[ReadPart], bad: dict[int, BadDatumError]
    ) -> None:
        places: list[int] = []
        records: list[object] = []
        for place in range(start, stop):
            try:
                records.append(self._datums.read(datums[place]))
                places.append(place)
            except BadDatumError as error:
                bad[place] = error
        if places:
            parts.append(ReadPart(np.array(places, dtype=np.int64), DictRecords(records)))


def _decoded(text: str) -> Mapping[str, Any]:
    try:
        schema = json.loads(text)
    except ValueError:
        schema = text.strip()
    return schema if isinstance(schema, Mapping) else {"type": schema}
