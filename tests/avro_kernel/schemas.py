"""Avro schemas and values as they come, and as they do not."""

from __future__ import annotations

import io
from typing import Any

import fastavro
from hypothesis import strategies as st

from connectors.debezium import semantics
from connectors.debezium.avro_expanded import expanded

FIXED = {"type": "fixed", "name": "F", "size": 3}
ENUM = {"type": "enum", "name": "E", "symbols": ["new", "paid", "gone"]}
DECIMAL_STRUCT = {
    "type": "record",
    "name": "VariableScaleDecimal",
    "namespace": "io.debezium.data",
    "connect.name": semantics.VARIABLE_SCALE_DECIMAL,
    "fields": [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}],
}
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63), 2**63 - 1) | st.integers(-70, 70),
    "float": st.floats(width=32),
    "double": st.floats(),
    "string": st.text(max_size=40),
    "bytes": st.binary(max_size=40),
}
_PRIMITIVES = st.sampled_from([kind for kind in VALUES if kind != "null"])
_MEANING = st.sampled_from(
    [
        semantics.DECIMAL,
        semantics.CONNECT_DATE,
        semantics.MICRO_TIME,
        semantics.NANO_TIMESTAMP,
        semantics.VARIABLE_SCALE_DECIMAL,
        semantics.UUID,
    ]
)
_MEANT = st.builds(lambda kind, meaning: {"type": kind, "connect.name": meaning}, _PRIMITIVES, _MEANING)
_NAMED = st.sampled_from(
    [
        FIXED,
        ENUM,
        DECIMAL_STRUCT,
        *(
            DECIMAL_STRUCT | {"fields": [{"name": "scale", "type": scale}, {"name": "value", "type": value}]}
            for scale, value in (("string", "bytes"), (ENUM, "bytes"), ("long", ["null", "bytes"]), ("int", FIXED))
        ),
    ]
)


def _unions(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    optional = st.tuples(inner, st.booleans()).map(lambda both: [both[0], "null"] if both[1] else ["null", both[0]])
    several = st.lists(_PRIMITIVES, min_size=2, max_size=3, unique=True)
    return optional | several | several.map(lambda kinds: ["null", *kinds])


def _records(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3).map(
        lambda kinds: {
            "type": "record",
            "name": "Inner",
            "fields": [{"name": f"m{place}", "type": kind} for place, kind in enumerate(kinds)],
        }
    )


def _is_union(kind: Any) -> bool:
    return isinstance(kind, list)


_TYPES = st.recursive(
    _PRIMITIVES | _MEANT | _NAMED,
    lambda inner: (
        _unions(inner.filter(lambda kind: not _is_union(kind)))
        | _records(inner)
        | inner.map(lambda kind: {"type": "array", "items": kind})
        | inner.map(lambda kind: {"type": "map", "values": kind})
    ),
    max_leaves=6,
)
COLUMNS = st.lists(_TYPES, min_size=1, max_size=5)
"""Types of a record's fields."""


def record(columns: list[Any]) -> Any:
    """A record of fields ``c0``, ``c1`` and so on, that stands alone."""
    fields = [{"name": f"c{place}", "type": _renamed(kind, str(place))} for place, kind in enumerate(columns)]
    return {"type": "record", "name": "Row", "fields": fields}


def values_of(schema: Any) -> st.SearchStrategy[Any]:
    """What a schema that is written out can hold, as fastavro writes it."""
    if isinstance(schema, list):
        return st.one_of(map(values_of, schema))
    if isinstance(schema, str):
        return VALUES[schema]
    match schema["type"]:
        case "record":
            return st.fixed_dictionaries({field["name"]: values_of(field["type"]) for field in schema["fields"]})
        case "array":
            return st.lists(values_of(schema["items"]), max_size=3)
        case "map":
            return st.dictionaries(st.text(max_size=5), values_of(schema["values"]), max_size=3)
        case "fixed":
            return st.binary(min_size=schema["size"], max_size=schema["size"])
        case "enum":
            return st.sampled_from(schema["symbols"])
        case other:
            return values_of(other)


def datum(schema: Any, value: Any) -> bytes:
    """The value's encoding."""
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(expanded(schema)), value)
    return stream.getvalue()


def _renamed(kind: Any, suffix: str, known: list[int] | None = None) -> Any:
    """A type whose named types have names of their own, but for what Connect's names say."""
    known = known if known is not None else []
    if isinstance(kind, list):
        return [_renamed(branch, suffix, known) for branch in kind]
    if isinstance(kind, str):
        return kind
    changed = dict(kind)
    if "name" in changed:
        known.append(0)
        changed["name"] = f"{changed['name']}_{suffix}_{len(known)}"
    for part in ("items", "values"):
        if part in changed:
            changed[part] = _renamed(changed[part], suffix, known)
    if "fields" in changed:
        changed["fields"] = [each | {"type": _renamed(each["type"], suffix, known)} for each in changed["fields"]]
    return changed
