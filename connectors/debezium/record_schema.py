"""A record's schema as a tree, and where its row is.

One tree for both wire formats: :mod:`connectors.debezium.connect_schema` and
:mod:`connectors.debezium.avro_schema` build it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from connectors.debezium.schema import ConnectType, Field

MAX_DEPTH = 64
"""Deepest nesting of a schema that is read; a real one has fewer than ten levels."""

MAX_FIELDS = 100_000
"""Most fields that a schema may have when written out; 10,000 columns are 20,000 in an envelope."""


@dataclass(frozen=True)
class RecordSchema:
    """The schema of a record's key or value.

    Attributes:
        root: the whole tree; its name is empty.
    """

    root: Field

    @cached_property
    def is_envelope(self) -> bool:
        """True for a change event with ``before``, ``after``, ``source`` and ``op``; a flattened record has none."""
        names = {child.name for child in self.root.children}
        return self.root.type is ConnectType.STRUCT and {"op", "source"} <= names and bool({"before", "after"} & names)

    @property
    def fields(self) -> tuple[Field, ...]:
        """All fields of a key or a flattened record, whatever their names; empty for a root that is not a struct."""
        return self.root.children if self.root.type is ConnectType.STRUCT else ()

    @cached_property
    def row_fields(self) -> tuple[Field, ...]:
        """The fields of the row, in the order of the schema.

        Of an envelope, those of ``after``, else of ``before``; empty when they are not structs (MongoDB sends documents
        as JSON text). Of anything else, all its fields.
        """
        if not self.is_envelope:
            return self.fields
        for image in ("after", "before"):
            field = self.child(image)
            if field is not None and field.type is ConnectType.STRUCT:
                return field.children
        return ()

    def child(self, name: str) -> Field | None:
        """The root's field of that name, such as ``source``; ``None`` when there is none."""
        return next((field for field in self.root.children if field.name == name), None)
