"""Raw Kafka records become change events, column by column.

Steps of one call, in this order: formats; writer schemas; keys; values per format, grouped by wire schema; chunks per
table; what became of the rest. Every record ends up in exactly one of a chunk's rows, the bad records and the skipped
ones; the last step is to count them.
"""

from __future__ import annotations

import contextlib

import numpy as np
import pyarrow as pa

from connectors.debezium.assembly import pieces_of
from connectors.debezium.avro_check import BadDatumError
from connectors.debezium.avro_codec import AvroCodec
from connectors.debezium.avro_registry import AvroReaders
from connectors.debezium.batch import Batch
from connectors.debezium.bodies import Bodies
from connectors.debezium.chunks import in_offset_order
from connectors.debezium.event_group import EventGroup
from connectors.debezium.events import BadRecord, Decoded, RawRecords
from connectors.debezium.fates import require_one_fate_each
from connectors.debezium.framing import AvroRows, Framed, frame
from connectors.debezium.headers import RecordHeaders, seen_runs
from connectors.debezium.isolated import isolated
from connectors.debezium.json_codec import JsonCodec
from connectors.debezium.kernels import KERNELS, Kernels
from connectors.debezium.options import DecodeOptions
from connectors.debezium.record_key import KeyReader
from connectors.debezium.schema_changes import payload_of, read_table_changes
from connectors.debezium.tombstones import named_by_topic, tombstone_groups
from connectors.debezium.unavailable import Placeholder
from connectors.debezium.verdicts import Rejection, Verdicts
from connectors.debezium.wire import SchemaIdHeaders, SchemaLookup


class Decoder:
    """Decodes the records of any topics; keep one per worker, since it remembers schemas.

    Args:
        options: what the settings say.
        schemas: the schema registry; ``None`` when there is none, then Avro records are bad records.
        kernels: read most records.
    """

    def __init__(self, options: DecodeOptions, schemas: SchemaLookup | None = None, kernels: Kernels = KERNELS) -> None:
        self._options = options
        self._readers = AvroReaders(schemas, kernels.avro)
        self._keys = KeyReader(self._readers, kernels.json)
        self._json = JsonCodec(options, kernels.json)
        self._avro = AvroCodec(options, self._readers)
        self._placeholder = Placeholder(options.placeholder)

    def decode(self, records: RawRecords, *, continued: bool = False) -> Decoded:
        """The row events of the records, the records that are bad, and the number of those skipped.

        Args:
            continued: they go on with those of the call before, in one batch: what the registry did not know then is
                not asked for again.

        Raises:
            Transient: the schema registry cannot be asked now; nothing has been decided about any record.
        """
        if len(records) == 0:
            return Decoded()
        self._readers.begin(continued=continued)
        return isolated(self._decoded, records)

    def _decoded(self, records: RawRecords) -> Decoded:
        headers = RecordHeaders(records.headers, len(records))
        options = self._options
        key_format = options.key_format_of(records.topic)
        framed_keys = frame(records.keys, SchemaIdHeaders(headers, "key"), key_format, options.framing)
        value_format = options.value_format_of(records.topic)
        framed = frame(records.values, SchemaIdHeaders(headers, "value"), value_format, options.framing)
        self._readers.look_up(part.schema_id for part in (*framed_keys.avro, *framed.avro))
        batch = Batch(
            topic=records.topic,
            partition=records.partition,
            offsets=records.offsets,
            run_ids=headers.run_ids(),
            keys=self._keys.read(records.topic, records.keys, framed_keys),
            options=options,
            placeholder=self._placeholder,
            verdicts=Verdicts(),
        )
        groups = named_by_topic(batch, self._groups(batch, records.values, framed))
        if records.values.null_count:
            empty = np.flatnonzero(np.asarray(records.values.is_null()))
            groups += tombstone_groups(batch, empty)
        pieces = [piece for group in groups for piece in pieces_of(batch, group)]
        changes = {row: records.values[row].as_py() for row in sorted(batch.verdicts.schema_changes)}
        avro = {row: part for part in framed.avro for row in part.rows.tolist()} if changes else {}
        decoded = Decoded(
            chunks=in_offset_order(pieces),
            bad=[
                BadRecord.of(records, row, str(wrong.reason), wrong.detail)
                for row, wrong in sorted(batch.verdicts.bad.items())
            ],
            skipped=batch.verdicts.skipped,
            table_changes=[
                change
                for row, value in changes.items()
                for change in read_table_changes(self._whole(value, avro.get(row)), options.connector)
            ],
            excluded=frozenset(batch.verdicts.excluded),
            runs=seen_runs(records.headers, batch.run_ids, records.timestamps, batch.topic, options.topic_prefix),
        )
        require_one_fate_each(decoded, len(records))
        return decoded

    def _whole(self, value: bytes | None, part: AvroRows | None) -> object:
        """A value as plain Python values, JSON without a ``part`` among the Avro ones; None where it cannot be read."""
        if value is None or part is None:
            return None if value is None else payload_of(value)
        reader = self._readers.reader(part.schema_id)
        with contextlib.suppress(BadDatumError):
            return None if isinstance(reader, Rejection) else reader.read_whole(value[part.start :])
        return None

    def _groups(self, batch: Batch, values: pa.BinaryArray, framed: Framed) -> list[EventGroup]:
        """The row events among the values, by format and wire schema."""
        for row, wrong in framed.rejected.items():
            batch.verdicts.settle(row, wrong)
        groups: list[EventGroup] = []
        if len(framed.json):
            bodies = Bodies.of_array(values, framed.json)
            groups += self._json.decode(batch.topic, framed.json, bodies, batch.keys, batch.verdicts)
        for part in framed.avro:
            datums = Bodies.of_array(values, part.rows).without(part.start, 0)
            groups += self._avro.decode(batch.topic, part, datums, batch.keys, batch.verdicts)
        return groups
