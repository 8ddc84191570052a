"""Errors about change events: what their schemas and settings say, and what cannot be read from them."""

from __future__ import annotations

from connectors.errors import Terminal


class SchemaError(Terminal):
    """An event's own schema (embedded JSON schema, Avro writer schema) cannot be understood."""


class ColumnDeclarationError(Terminal):
    """A column's type, as the settings declare it, is not one that the bridge knows."""


class UnknownSchemaError(Terminal):
    """The schema registry answers, and has no schema of this id: the record that names it is a bad record."""
