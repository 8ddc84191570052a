"""One reader per Avro writer schema, for as long as the decoder lives."""

from __future__ import annotations

from connectors.debezium.avro_reader import AvroReader
from connectors.debezium.errors import SchemaError, UnknownSchemaError
from connectors.debezium.verdicts import BadReason, Rejection
from connectors.debezium.wire import SchemaId, SchemaLookup


class AvroReaders:
    """Readers by schema id. A schema never changes under its id, so a reader is kept, and that there can be none too;
    that the registry has no such schema only for one batch.

    Args:
        schemas: the registry, or ``None`` when the settings name none.
    """

    def __init__(self, schemas: SchemaLookup | None) -> None:
        self._schemas = schemas
        self._readers: dict[SchemaId, AvroReader] = {}
        self._refused: dict[SchemaId, Rejection] = {}

    def new_batch(self) -> None:
        """Ask again for schemas that were unknown: they may have been registered since."""
        unusable = {at: wrong for at, wrong in self._refused.items() if wrong.reason is BadReason.UNUSABLE_SCHEMA}
        self._refused = unusable

    def reader(self, schema_id: SchemaId) -> AvroReader | Rejection:
        """The reader for a writer schema, or why its records cannot be read.

        Raises:
            Transient: the registry cannot be asked now.
        """
        found = self._readers.get(schema_id) or self._refused.get(schema_id)
        if found is None:
            loaded = self._load(schema_id)
            if isinstance(loaded, AvroReader):
                self._readers[schema_id] = loaded
            else:
                self._refused[schema_id] = loaded
            found = loaded
        return found

    def _load(self, schema_id: SchemaId) -> AvroReader | Rejection:
        if self._schemas is None:
            return Rejection(
                BadReason.UNKNOWN_SCHEMA_ID,
                f"the record is Avro with {schema_id.kind} schema id {schema_id.value}, and no registry is configured",
            )
        try:
            text = self._schemas.avro_schema(schema_id.value, schema_id.kind)
        except UnknownSchemaError as error:
            return Rejection(BadReason.UNKNOWN_SCHEMA_ID, str(error))
        try:
            return AvroReader(text)
        except SchemaError as error:
            return Rejection(BadReason.UNUSABLE_SCHEMA, f"{schema_id.kind} schema id {schema_id.value}: {error}")
