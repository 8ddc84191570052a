"""Writing an Avro schema with references as one schema that stands alone.

A registry stores schemas that use named types of others (Confluent: "Schema references"). A reader of datums wants one
text: each named type is put in full where it is first used, and by name after that (Avro 1.12, "Names").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from connectors.json_errors import DECODE_ERRORS
from connectors.kafka.registry_answers import AbsentError
from connectors.told import told

Json = object
_NAMED = ("record", "enum", "fixed", "error")


def inline_references(schema: str, referenced: Iterable[str]) -> str:
    """One schema's text with every referenced named type in it.

    Args:
        schema: the schema's JSON text.
        referenced: texts of the schemas that it refers to, directly or through others, in any order.

    Raises:
        AbsentError: a text is not JSON, or no Avro schema, or nested deeper than anything real, or not Unicode.
    """
    definitions: dict[str, Json] = {}
    try:
        for text in referenced:
            for definition in _top_level(msgspec.json.decode(text)):
                definitions[_full_name(definition, None)] = definition
        if not definitions:
            return schema
        return msgspec.json.encode(_Inliner(definitions).expand(msgspec.json.decode(schema), None)).decode()
    except (*DECODE_ERRORS, UnicodeEncodeError, KeyError) as problem:
        raise AbsentError(f"what it has, or refers to, is no Avro schema: {told(repr(problem))}") from problem


def _top_level(schema: Json) -> Iterator[dict[str, Json]]:
    for one in schema if isinstance(schema, list) else [schema]:
        if isinstance(one, dict) and one.get("type") in _NAMED:
            yield one


def _full_name(definition: dict[str, Json], namespace: str | None) -> str:
    name = str(definition["name"])
    if "." in name:
        return name
    given = definition.get("namespace") or namespace
    return f"{given}.{name}" if given else name


class _Inliner:
    def __init__(self, definitions: dict[str, Json]) -> None:
        self._definitions = definitions
        # Full name as referred to -> as written: a type without namespace takes the one where it is put, since nothing
        # inside a namespace can refer to a name outside of all.
        self._written: dict[str, str] = {}

    def expand(self, schema: Json, namespace: str | None) -> Json:
        """The schema with references in full; ``namespace`` is that of the enclosing named type."""
        if isinstance(schema, str):
            return self._named(schema, namespace)
        if isinstance(schema, list):
            return [self.expand(one, namespace) for one in schema]
        if not isinstance(schema, dict):
            return schema
        if schema.get("type") in _NAMED:
            full = _full_name(schema, namespace)
            return self._definition(schema, full, full)
        inner = {name: self.expand(schema[name], namespace) for name in ("type", "items", "values") if name in schema}
        return schema | inner

    def _named(self, name: str, namespace: str | None) -> Json:
        for candidate in [name] if "." in name or not namespace else [f"{namespace}.{name}", name]:
            if candidate in self._written:
                return self._written[candidate]
            definition = self._definitions.get(candidate)
            if isinstance(definition, dict):
                return self._definition(definition, candidate, _full_name(definition, namespace))
        return name

    def _definition(self, schema: dict[str, Json], known_as: str, full: str) -> Json:
        self._written[known_as] = full
        own, _, simple = full.rpartition(".")
        # Said in full: where it is put, another namespace may be in force.
        written = {key: value for key, value in schema.items() if key != "namespace"}
        written |= {"name": simple, "namespace": own}
        fields = schema.get("fields")
        if isinstance(fields, list):
            written["fields"] = [
                {**field, "type": self.expand(field.get("type"), own)} if isinstance(field, dict) else field
                for field in fields
            ]
        return written
