"""One reader per Avro writer schema, for as long as the decoder lives."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from connectors.debezium.avro_kernel.native import Kernel
from connectors.debezium.avro_reader import AvroReader
from connectors.debezium.errors import SchemaError, UnknownSchemaError
from connectors.debezium.schema import Field
from connectors.debezium.verdicts import BadReason, Rejection
from connectors.debezium.wire import QUESTIONS_AT_ONCE, SchemaId, SchemaLookup

# Somebody who names another schema in every record must not fill the memory. A field takes about 600 bytes, with the
# hundred characters that it has in the schema's text.
_KEPT_READERS = 4096
_KEPT_FIELDS = 400_000
_CHARACTERS_OF_FIELD = 100
_KEPT_UNKNOWN = 4096


class AvroReaders:
    """Readers by schema id. A schema never changes under its id, so a reader is kept, and that there can be none too;
    that the registry has no such schema only for one batch: all of its records were written before the question, and a
    schema is registered before it is written with.

    Anybody who may write into a topic can name an id that nobody knows in each record. Each of them is asked for all
    the same, several at a time: an id that was not asked for could be that of a table's rows.

    Args:
        schemas: the registry, or ``None`` when the settings name none.
        kernel: reads most datums; ``None`` to do without.
    """

    def __init__(self, schemas: SchemaLookup | None, kernel: Kernel | None = None) -> None:
        self._schemas = schemas
        self._kernel = kernel
        self._kept: dict[SchemaId, AvroReader | Rejection] = {}
        self._fields = 0
        self._unknown: dict[SchemaId, Rejection] = {}

    def begin(self, *, continued: bool) -> None:
        """Further records come.

        Args:
            continued: of the batch that those before belong to. Otherwise schemas that were unknown are asked for
                again: they may have been registered since.
        """
        if not continued or len(self._unknown) > _KEPT_UNKNOWN:
            self._unknown.clear()

    def look_up(self, named: Iterable[SchemaId]) -> None:
        """Ask for the schemas that are not known yet.

        Raises:
            Transient: the registry cannot be asked now.
        """
        schemas = self._schemas
        asked = [one for one in dict.fromkeys(named) if one not in self._kept and one not in self._unknown]
        if schemas is None or not asked:
            return
        with ThreadPoolExecutor(min(len(asked), QUESTIONS_AT_ONCE)) as threads:
            for start in range(0, len(asked), QUESTIONS_AT_ONCE):
                together = asked[start : start + QUESTIONS_AT_ONCE]
                answers = threads.map(lambda schema_id: _ask(schemas, schema_id), together)
                for schema_id, answer in zip(together, answers, strict=True):
                    self._note(schema_id, answer)

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
        return self._note(schema_id, _ask(self._schemas, schema_id))

    def _note(self, schema_id: SchemaId, answer: str | UnknownSchemaError) -> AvroReader | Rejection:
        if isinstance(answer, str):
            return self._keep(schema_id, answer)
        unknown = self._unknown[schema_id] = Rejection(BadReason.UNKNOWN_SCHEMA_ID, str(answer))
        return unknown

    def _keep(self, schema_id: SchemaId, text: str) -> AvroReader | Rejection:
        fields = len(text) // _CHARACTERS_OF_FIELD
        made: AvroReader | Rejection
        try:
            made = AvroReader(text, self._kernel)
            fields += _count(made.record.root)
        except SchemaError as error:
            made = Rejection(BadReason.UNUSABLE_SCHEMA, f"{schema_id.kind} schema id {schema_id.value}: {error}")
        if len(self._kept) >= _KEPT_READERS or self._fields + fields > _KEPT_FIELDS:
            self._kept.clear()
            self._fields = 0
        self._kept[schema_id] = made
        self._fields += fields
        return made


def _ask(schemas: SchemaLookup, schema_id: SchemaId) -> str | UnknownSchemaError:
    try:
        return schemas.avro_schema(schema_id.value, schema_id.kind)
    except UnknownSchemaError as error:
        return error


def _count(field: Field) -> int:
    return 1 + sum(map(_count, field.children))
