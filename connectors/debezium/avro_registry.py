"""One reader per Avro writer schema, for as long as the decoder lives."""

from __future__ import annotations

from connectors.debezium.avro_reader import AvroReader
from connectors.debezium.errors import SchemaError, UnknownSchemaError
from connectors.debezium.schema import Field
from connectors.debezium.verdicts import BadReason, Rejection
from connectors.debezium.wire import SchemaId, SchemaLookup

MOST_UNKNOWN = 200
"""Ids that the registry has not known, after which it is asked for no other one in the same batch."""

# Somebody who names another schema in every record must not fill the memory. A field takes about 600 bytes, with the
# hundred characters that it has in the schema's text.
_KEPT_READERS = 4096
_KEPT_FIELDS = 400_000
_CHARACTERS_OF_FIELD = 100


class AvroReaders:
    """Readers by schema id. A schema never changes under its id, so a reader is kept, and that there can be none too;
    that the registry has no such schema only for one batch.

    Each id that nobody knows is a question, and anybody who may write into a topic can name another one in each record.
    So not all of them are asked for; those of most records first (:func:`connectors.debezium.framing.frame`).

    Args:
        schemas: the registry, or ``None`` when the settings name none.
    """

    def __init__(self, schemas: SchemaLookup | None) -> None:
        self._schemas = schemas
        self._kept: dict[SchemaId, AvroReader | Rejection] = {}
        self._fields = 0
        self._unknown: dict[SchemaId, Rejection] = {}

    def new_batch(self) -> None:
        """Ask again for schemas that were unknown: they may have been registered since."""
        self._unknown.clear()

    def reader(self, schema_id: SchemaId) -> AvroReader | Rejection:
        """The reader for a writer schema, or why its records cannot be read.

        Raises:
            Transient: the registry cannot be asked now.
        """
        found = self._kept.get(schema_id) or self._unknown.get(schema_id)
        if found is not None:
            return found
        if self._schemas is None:
            return Rejection(
                BadReason.UNKNOWN_SCHEMA_ID,
                f"the record is Avro with {schema_id.kind} schema id {schema_id.value}, and no registry is configured",
            )
        if len(self._unknown) >= MOST_UNKNOWN:
            return Rejection(
                BadReason.UNKNOWN_SCHEMA_ID,
                f"the registry was not asked for the {schema_id.kind} schema id {schema_id.value}, since it did not "
                f"know {MOST_UNKNOWN} others of the same partition's records; "
                "`cdc-bridge dead-letters replay CONFIG` asks it",
            )
        try:
            text = self._schemas.avro_schema(schema_id.value, schema_id.kind)
        except UnknownSchemaError as error:
            unknown = self._unknown[schema_id] = Rejection(BadReason.UNKNOWN_SCHEMA_ID, str(error))
            return unknown
        return self._keep(schema_id, text)

    def _keep(self, schema_id: SchemaId, text: str) -> AvroReader | Rejection:
        fields = len(text) // _CHARACTERS_OF_FIELD
        made: AvroReader | Rejection
        try:
            made = AvroReader(text)
            fields += _count(made.record.root)
        except SchemaError as error:
            made = Rejection(BadReason.UNUSABLE_SCHEMA, f"{schema_id.kind} schema id {schema_id.value}: {error}")
        if len(self._kept) >= _KEPT_READERS or self._fields + fields > _KEPT_FIELDS:
            self._kept.clear()
            self._fields = 0
        self._kept[schema_id] = made
        self._fields += fields
        return made


def _count(field: Field) -> int:
    return 1 + sum(map(_count, field.children))
