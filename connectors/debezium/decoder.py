"""Raw Kafka records become change events, column by column.

Steps of one call, in this order: keys; formats; values per format, grouped by wire schema; chunks per table; what
became of the rest. Every record ends up in exactly one of a chunk's rows, the bad records and the skipped ones.
"""

from __future__ import annotations

import contextlib

import numpy as np

from connectors.debezium.assembly import pieces_of
from connectors.debezium.avro_codec import AvroCodec
from connectors.debezium.avro_datum import BadDatumError
from connectors.debezium.avro_registry import AvroReaders
from connectors.debezium.batch import Batch
from connectors.debezium.chunks import in_offset_order
from connectors.debezium.event_group import EventGroup
from connectors.debezium.events import BadRecord, Decoded, Int64s, RawRecords
from connectors.debezium.framing import Framed, frame
from connectors.debezium.headers import RecordHeaders, seen_runs
from connectors.debezium.isolated import isolated
from connectors.debezium.json_codec import JsonCodec
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
    """

    def __init__(self, options: DecodeOptions, schemas: SchemaLookup | None = None) -> None:
        self._options = options
        self._readers = AvroReaders(schemas)
        self._keys = KeyReader(self._readers)
        self._json = JsonCodec(options)
        self._avro = AvroCodec(options, self._readers)
        self._placeholder = Placeholder(options.placeholder)

    def decode(self, records: RawRecords) -> Decoded:
        """The row events of the records, the records that are bad, and the number of those skipped.

        Raises:
            Transient: the schema registry cannot be asked now; nothing has been decided about any record.
        """
        if len(records) == 0:
            return Decoded()
        self._readers.new_batch()
        return isolated(self._decoded, records)

    def _decoded(self, records: RawRecords) -> Decoded:
        headers = RecordHeaders(records.headers, len(records))
        options = self._options
        key_format = options.key_format_of(records.topic)
        framed_keys = frame(records.keys, SchemaIdHeaders(headers, "key"), key_format, options.framing)
        values = records.values.to_pylist()
        batch = Batch(
            topic=records.topic,
            partition=records.partition,
            offsets=records.offsets,
            run_ids=headers.run_ids(),
            keys=self._keys.read(records.topic, records.keys.to_pylist(), framed_keys),
            options=options,
            placeholder=self._placeholder,
            verdicts=Verdicts(),
        )
        value_format = options.value_format_of(records.topic)
        framed = frame(records.values, SchemaIdHeaders(headers, "value"), value_format, options.framing)
        groups = named_by_topic(batch, self._groups(batch, values, framed))
        if records.values.null_count:
            empty = np.flatnonzero(np.asarray(records.values.is_null()))
            groups += tombstone_groups(batch, empty)
        pieces = [piece for group in groups for piece in pieces_of(batch, group)]
        return Decoded(
            chunks=in_offset_order(pieces),
            bad=[_bad_record(records, row, wrong) for row, wrong in sorted(batch.verdicts.bad.items())],
            skipped=batch.verdicts.skipped,
            table_changes=[
                change
                for row in sorted(batch.verdicts.schema_changes)
                for change in read_table_changes(self._whole(values[row], row, framed), options.connector)
            ],
            excluded=frozenset(batch.verdicts.excluded),
            runs=seen_runs(records.headers, batch.run_ids, records.timestamps),
        )

    def _whole(self, value: bytes | None, row: int, framed: Framed) -> object:
        """A value as plain Python values; None where it cannot be read."""
        part = next((part for part in framed.avro if row in part.rows), None)
        if value is None or part is None:
            return None if value is None else payload_of(value)
        reader = self._readers.reader(part.schema_id)
        with contextlib.suppress(BadDatumError):
            return None if isinstance(reader, Rejection) else reader.read_whole(value[part.start :])
        return None

    def _groups(self, batch: Batch, values: list[bytes | None], framed: Framed) -> list[EventGroup]:
        """The row events among the values, by format and wire schema."""
        for row, wrong in framed.rejected.items():
            batch.verdicts.settle(row, wrong)
        groups: list[EventGroup] = []
        if len(framed.json):
            bodies = _chosen(values, framed.json)
            groups += self._json.decode(batch.topic, framed.json, bodies, batch.keys, batch.verdicts)
        for part in framed.avro:
            datums = [value[part.start :] for value in _chosen(values, part.rows)]
            groups += self._avro.decode(batch.topic, part, datums, batch.keys, batch.verdicts)
        return groups


def _chosen(values: list[bytes | None], rows: Int64s) -> list[bytes]:
    """The values at ``rows``, none of which is null."""
    if len(rows) == len(values):
        return [value for value in values if value is not None]
    return [value for value in map(values.__getitem__, rows.tolist()) if value is not None]


def _bad_record(records: RawRecords, row: int, wrong: Rejection) -> BadRecord:
    headers: list[tuple[str, bytes | None]] = []
    if records.headers is not None:
        headers = [(entry["key"], entry["value"]) for entry in records.headers[row].as_py() or ()]
    return BadRecord(
        topic=records.topic,
        partition=records.partition,
        offset=int(records.offsets[row]),
        reason=str(wrong.reason),
        detail=wrong.detail,
        key=records.keys[row].as_py(),
        value=records.values[row].as_py(),
        headers=tuple(headers),
    )
