"""Reads many datums of one writer schema: by the kernel, and one by one where there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import fastavro
import numpy as np

from connectors.debezium.avro_check import BadDatumError
from connectors.debezium.avro_datum import DatumReader
from connectors.debezium.avro_expanded import expanded
from connectors.debezium.avro_kernel.native import Kernel
from connectors.debezium.avro_kernel.nodes import Program
from connectors.debezium.avro_kernel.scan import Scan
from connectors.debezium.avro_records import AvroRecords, DictRecords, ScannedRecords
from connectors.debezium.avro_schema import row_schema_of
from connectors.debezium.bodies import Bodies
from connectors.debezium.errors import SchemaError
from connectors.debezium.events import Int64s
from connectors.debezium.record_schema import RecordSchema

_NOT_ENCODING = frozenset({"logicalType", "precision", "scale", "default", "doc", "aliases"})
_CELLS = 1_000_000
"""Values that are noted at a time, whether they are there or not: each takes nine bytes."""


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
        kernel: reads most of them; ``None`` to do without.

    Attributes:
        record: the schema as a tree.

    Raises:
        SchemaError: the schema cannot be understood.
    """

    def __init__(self, text: str, kernel: Kernel | None) -> None:
        self.record: RecordSchema = row_schema_of(text)
        try:
            decoded = _decoded(text)
            # Names are looked at here: written out, each type has a new one.
            fastavro.parse_schema(json.loads(json.dumps(_physical(decoded))))
            schema = expanded(decoded)
            self._datums = DatumReader(schema)
            self._program = None if kernel is None else Program(kernel, schema)
        except MemoryError:
            raise
        except Exception as error:  # fastavro raises whatever it meets, such as KeyError for an enum without symbols
            raise SchemaError(
                f"The Avro schema of a record cannot be used: {error!r}",
                remedy="look at the schema in the registry; Kafka Connect's Avro converter must have written it",
            ) from error

    def read(self, datums: Bodies) -> tuple[list[ReadPart], dict[int, BadDatumError]]:
        """All readable datums, and what is wrong with the others, by place.

        Args:
            datums: encoded datums without any prefix.
        """
        every = np.arange(len(datums))
        if self._program is None:
            return self._one_by_one(datums, every)
        scans, left = self._scanned(self._program, datums)
        parts, bad = self._one_by_one(datums, left)
        if len(left):
            # No cell of a scan says which of its datums are void: those that can be read are scanned by themselves.
            every = np.delete(every, left)
            scans, _ = self._scanned(self._program, datums.select(every))
        if len(every):
            parts.append(ReadPart(every, ScannedRecords(self._program.root, scans)))
        return parts, bad

    def read_whole(self, datum: bytes) -> object:
        """One datum as plain Python values of the physical types.

        Raises:
            BadDatumError: it is not what its schema says.
        """
        return self._datums.read(datum)

    def _scanned(self, program: Program, datums: Bodies) -> tuple[list[Scan], Int64s]:
        """Scans of the datums, and the places of those that the kernel leaves."""
        together = max(1, _CELLS // max(1, program.cells))
        starts = range(0, len(datums), together)
        scans = [Scan(program, datums.part(start, start + together)) for start in starts]
        left = [start + scan.elsewhere for start, scan in zip(starts, scans, strict=True)]
        return scans, np.concatenate([np.empty(0, dtype=np.int64), *left])

    def _one_by_one(self, datums: Bodies, chosen: Int64s) -> tuple[list[ReadPart], dict[int, BadDatumError]]:
        places: list[int] = []
        records: list[object] = []
        bad: dict[int, BadDatumError] = {}
        for place in chosen.tolist():
            try:
                records.append(self._datums.read(datums[place]))
                places.append(place)
            except BadDatumError as error:
                bad[place] = error
        parts = [ReadPart(np.array(places, dtype=np.int64), DictRecords(records))] if places else []
        return parts, bad


def _physical(node: object) -> object:
    """A schema without what has nothing to do with the encoding."""
    if isinstance(node, list):
        return [_physical(branch) for branch in node]
    if not isinstance(node, Mapping):
        return node
    return {name: _physical(value) for name, value in node.items() if name not in _NOT_ENCODING}


def _decoded(text: str) -> Mapping[str, Any]:
    try:
        schema = json.loads(text)
    except ValueError:
        schema = text.strip()
    return schema if isinstance(schema, Mapping) else {"type": schema}
