"""Avro values become event groups: datums are grouped by writer schema and each group is read together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, assert_never

import numpy as np

from connectors.debezium.avro_reader import AvroReader, ReadPart
from connectors.debezium.avro_records import AvroRecords
from connectors.debezium.avro_registry import AvroReaders
from connectors.debezium.avro_schema import GENERIC_UNION
from connectors.debezium.bodies import Bodies
from connectors.debezium.converted import distinct
from connectors.debezium.event_group import EventGroup, NoImages, present_mask
from connectors.debezium.events import Bools, Int64s, SkipReason
from connectors.debezium.flattened import first_present, is_metadata, metadata_fields, operations, topic_table
from connectors.debezium.framing import AvroRows
from connectors.debezium.json_layout import DocumentImages
from connectors.debezium.options import DecodeOptions
from connectors.debezium.origin import RecordForm, form_of
from connectors.debezium.physical import Images
from connectors.debezium.record_key import RecordKeys
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.source_block import is_constant, kinds_of, name_fields, position_members, tables_of
from connectors.debezium.verdicts import BadReason, Rejection, Verdicts

_TEXT = frozenset({ConnectType.STRING})


class AvroCodec:
    """Decodes Avro values; belongs to one decoder."""

    def __init__(self, options: DecodeOptions, readers: AvroReaders) -> None:
        self._options = options
        self._readers = readers

    def decode(
        self, topic: str, part: AvroRows, datums: Bodies, keys: RecordKeys, verdicts: Verdicts
    ) -> list[EventGroup]:
        """The row events among the datums of one writer schema; verdicts on all others.

        Raises:
            Transient: the schema registry cannot be asked.
        """
        reader = self._readers.reader(part.schema_id)
        if isinstance(reader, Rejection):
            for row in part.rows.tolist():
                verdicts.settle(row, reader)
            return []
        groups: list[EventGroup] = []
        for form, places in self._forms(reader, topic, keys, part.rows).items():
            if isinstance(form, RecordForm):
                mine = datums if len(places) == len(datums) else datums.select(places)
                groups += self._groups(topic, reader, form, part.rows[places], mine, verdicts)
                continue
            for row in part.rows[places].tolist():
                verdicts.settle(row, form)
        return groups

    def _forms(
        self, reader: AvroReader, topic: str, keys: RecordKeys, rows: Int64s
    ) -> dict[RecordForm | SkipReason | Rejection, Int64s]:
        """What the records are, each with the places of its own: their schema is one, their keys need not be."""
        names = frozenset(field.name for field in reader.record.root.children)
        shapes = keys.shape_of[rows]
        several = distinct(shapes)
        if len(several) == 1:
            form = form_of(names, topic, keys.names_at(int(rows[0])), self._options)
            return {form: np.arange(len(rows))}
        found: dict[RecordForm | SkipReason | Rejection, list[Int64s]] = {}
        for shape in several:
            places = np.flatnonzero(shapes == shape)
            form = form_of(names, topic, keys.names_at(int(rows[places[0]])), self._options)
            found.setdefault(form, []).append(places)
        return {form: np.sort(np.concatenate(parts)) for form, parts in found.items()}

    def _groups(
        self,
        topic: str,
        reader: AvroReader,
        form: RecordForm,
        rows: Int64s,
        bodies: Bodies,
        verdicts: Verdicts,
    ) -> list[EventGroup]:
        parts, bad = reader.read(bodies)
        for place, error in bad.items():
            verdicts.reject(int(rows[place]), error.reason, str(error))
        groups: list[EventGroup] = []
        for part in parts:
            mine = rows[part.places]
            match form:
                case RecordForm.ENVELOPE:
                    groups += self._envelopes(reader, part, mine, verdicts)
                case RecordForm.FLATTENED:
                    groups += self._flattened(topic, reader, part, mine, verdicts)
                case _:
                    assert_never(form)
        return groups

    def _envelopes(self, reader: AvroReader, part: ReadPart, rows: Int64s, verdicts: Verdicts) -> list[EventGroup]:
        records = part.records
        block = reader.record.child("source")
        members = () if block is None else block.children
        if block is not None and not _is_struct(block):
            kind = "a union" if block.semantic == GENERIC_UNION else f"of type {block.type.value}"
            for row in rows.tolist():
                verdicts.reject(row, BadReason.MISSING_SOURCE, f"the source block is {kind}")
            return []
        if _refused({"op": _TEXT}, reader.record.root.children, rows, verdicts):
            return []
        ops = records.values("op")
        connectors = self._connectors(records.values("source", "connector"))
        source_there = records.images("source").present
        usable = source_there & present_mask(ops)
        for place in np.flatnonzero(~usable).tolist():
            if ops[place] is None:
                verdicts.reject(int(rows[place]), BadReason.MISSING_OP, "op is null")
            else:
                verdicts.reject(int(rows[place]), BadReason.MISSING_SOURCE, "the source block is null")
        groups: list[EventGroup] = []
        for connector, mine in _each(connectors):
            documents = connector == "mongodb"
            images = {"before": _TEXT, "after": _TEXT} if documents else {}
            if _refused(kinds_of(connector), members, rows[mine], verdicts, of="source.") or _refused(
                images, reader.record.root.children, rows[mine], verdicts
            ):
                continue
            named = [records.values("source", name) for name in name_fields(connector)]
            source = {
                name: records.values("source", name) if name == "snapshot" else records.column("source", name)
                for name in position_members(connector)
            }
            for table, places in tables_of(*named).items():
                chosen = places[mine[places] & usable[places]]
                if table is None:
                    for row in rows[chosen].tolist():
                        verdicts.reject(row, BadReason.MISSING_SOURCE, "the source block names no table")
                    continue
                group = EventGroup(
                    rows=rows,
                    connector=connector,
                    table=table,
                    ops=ops,
                    source=source,
                    fields=() if documents else reader.record.row_fields,
                    before=_images(reader, records, "before", documents),
                    after=_images(reader, records, "after", documents),
                    documents=documents,
                )
                groups.append(group.select(chosen))
        return [group for group in groups if len(group)]

    def _flattened(
        self, topic: str, reader: AvroReader, part: ReadPart, rows: Int64s, verdicts: Verdicts
    ) -> list[EventGroup]:
        prefix = self._options.metadata_prefix
        records = part.records
        connectors = self._connectors(self._member(records, "connector"))
        groups: list[EventGroup] = []
        for connector, mine in _each(connectors):
            kinds = {
                name: kind for member, kind in kinds_of(connector).items() for name in metadata_fields(member, prefix)
            }
            if _refused(kinds, reader.record.fields, rows[mine], verdicts):
                continue
            like = topic_table(topic, connector)
            named = [
                [value or default for value in self._member(records, member)]
                for member, default in zip(name_fields(connector), (like.database, like.schema, like.name), strict=True)
            ]
            for table, places in tables_of(*named).items():
                if table is None:
                    for row in rows[places[mine[places]]].tolist():
                        verdicts.reject(row, BadReason.MISSING_SOURCE, "neither the record nor its topic names a table")
                    continue
                group = EventGroup(
                    rows=rows,
                    connector=connector,
                    table=table,
                    ops=operations(self._member(records, "op"), self._member(records, "deleted")),
                    source={member: self._member(records, member) for member in position_members(connector)},
                    fields=tuple(field for field in reader.record.fields if not is_metadata(field.name, prefix)),
                    before=NoImages(len(rows)),
                    after=records.images(),
                )
                groups.append(group.select(places[mine[places]]))
        return [group for group in groups if len(group)]

    def _connectors(self, named: list[Any]) -> list[str]:
        """The connector per record, as the settings or the records say."""
        if self._options.connector != "auto":
            return [self._options.connector] * len(named)
        if is_constant(named) and isinstance(named[0], str):
            return named
        return [name if isinstance(name, str) else "" for name in named]

    def _member(self, records: AvroRecords, member: str) -> list[Any]:
        found = [records.values(name) for name in metadata_fields(member, self._options.metadata_prefix)]
        return reduce(first_present, found)


def _refused(
    kinds: Mapping[str, frozenset[ConnectType]],
    fields: Sequence[Field],
    rows: Int64s,
    verdicts: Verdicts,
    of: str = "",
) -> bool:
    """Whether the schema gives one of the fields a type that it cannot have; then all of its records are bad."""
    for field in fields:
        if field.name in kinds and field.type not in kinds[field.name]:
            for row in rows.tolist():
                verdicts.reject(row, BadReason.TYPE_MISMATCH, f"{of}{field.name} is of type {field.type.value}")
            return True
    return False


def _images(reader: AvroReader, records: AvroRecords, name: str, documents: bool) -> Images:
    if documents:
        return DocumentImages(records.values(name))
    field = reader.record.child(name)
    return records.images(name) if field is not None and _is_struct(field) else NoImages(len(records))


def _is_struct(field: Field) -> bool:
    return field.type is ConnectType.STRUCT and field.semantic != GENERIC_UNION


def _each(connectors: list[str]) -> list[tuple[str, Bools]]:
    """Each connector and a mask of its records."""
    if is_constant(connectors):
        return [(connectors[0], np.ones(len(connectors), dtype=np.bool_))]
    return [
        (connector, np.array([name == connector for name in connectors], dtype=np.bool_))
        for connector in dict.fromkeys(connectors)
    ]
