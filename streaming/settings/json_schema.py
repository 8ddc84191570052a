"""The settings as a JSON Schema for the Helm chart, which keeps each source's settings among its values.

``python -m streaming.settings.json_schema helm/cdc-bridge`` writes ``values.schema.json`` and ``files/settings.json``
of the chart (``make chart-schema``). The schema judges parts: the chart merges what all sources share with what is a
source's own, and the environment may give any key. So it asks for no key (but in the items of lists); the chart's
templates do, with the facts of the second file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import FilePath, SecretStr

from streaming.settings.bridge import BridgeSettings
from streaming.settings.explain import alternatives, inner_section, keys_of
from streaming.settings.section import Section

JsonSchema = dict[str, Any]

_DEFINITION = "settings"
_LEFT_OUT = frozenset({"title", "default", "examples", "format", "writeOnly"})
# What YAML makes of a choice that is written without quotes.
_UNQUOTED = {"null": None, "off": False}


def definitions() -> dict[str, JsonSchema]:
    """``settings``, the whole of a settings file, and ``settings.<Section>`` for what it refers to (JSON Schema 7)."""
    model = BridgeSettings.model_json_schema(ref_template=f"#/$defs/{_DEFINITION}.{{model}}")
    inner = {f"{_DEFINITION}.{name}": part for name, part in model.pop("$defs").items()}
    found = {_DEFINITION: model, **inner}
    optional, items = set(_optional(found)), set(_items(found))
    return {name: _definition(part, name in optional, name in items) for name, part in found.items()}


def facts() -> dict[str, object]:
    """What the chart's templates have to know of the keys, by their dotted paths.

    ``secrets`` must not be among the values; ``files`` are paths of mounted files; ``required`` must be given, those
    with ``always`` in every file, the others where their section is written.
    """
    keys = tuple(_keys(BridgeSettings, (), always=True))
    return {
        "secrets": [path for path, field, _ in keys if SecretStr in alternatives(field.annotation)],
        "files": [path for path, field, _ in keys if FilePath in alternatives(field.annotation)],
        "required": [
            {"path": path, "always": always, "description": _one_line(field.description or "")}
            for path, field, always in keys
            # The chart takes the name of the source where none is written.
            if field.is_required() and inner_section(field) is None and path != "name"
        ],
    }


def chart_schema(chart: Path) -> str:
    """The text of ``values.schema.json``: the chart's own part, and the definitions of the settings in it."""
    own: JsonSchema = json.loads((chart / "schema" / "chart.json").read_text(encoding="utf-8"))
    own["$defs"] |= definitions()
    return _text(own)


def chart_facts() -> str:
    """The text of ``files/settings.json``."""
    return _text(facts())


def _keys(section: type[Section], path: tuple[str, ...], *, always: bool) -> Iterator[tuple[str, Any, bool]]:
    for name, field in keys_of(section).items():
        yield ".".join((*path, name)), field, always
        inner = inner_section(field)
        if inner is not None and inner[1] == "one":
            yield from _keys(inner[0], (*path, name), always=always and field.is_required())


def _optional(part: object) -> Iterator[str]:
    """Names of the definitions that stand in a union with null somewhere."""
    for schema in _schemas(part):
        choices = schema.get("anyOf", [])
        if {"type": "null"} in choices:
            yield from (_target(choice) for choice in choices if "$ref" in choice)


def _items(part: object) -> Iterator[str]:
    """Names of the definitions that are items of a list or values of a map."""
    for schema in _schemas(part):
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), dict) and "$ref" in schema[key]:
                yield _target(schema[key])


def _schemas(part: object) -> Iterator[JsonSchema]:
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _schemas(inner)


def _target(reference: JsonSchema) -> str:
    return str(reference["$ref"]).removeprefix("#/$defs/")


def _definition(part: JsonSchema, optional: bool, item: bool) -> JsonSchema:
    tidy = _tidied(part)
    if not item:
        tidy.pop("required", None)
    if "enum" in tidy:
        unquoted = [_UNQUOTED[choice] for choice in tidy["enum"] if choice in _UNQUOTED]
        nothing = [None] if optional and None not in unquoted else []
        tidy["enum"] = [*tidy["enum"], *unquoted, *nothing]
        del tidy["type"]
    elif optional:
        tidy["type"] = [tidy["type"], "null"]
    return tidy


def _tidied(part: JsonSchema) -> JsonSchema:
    """The part without what only editors use; a union with null, whose refusal nobody can read, becomes one type."""
    tidy: JsonSchema = {}
    for key, value in part.items():
        match key:
            case "properties":
                tidy[key] = {name: _tidied(inner) for name, inner in value.items()}
            case "items" | "additionalProperties" | "propertyNames" if isinstance(value, dict):
                tidy[key] = _tidied(value)
            case "description":
                tidy[key] = _one_line(value)
            case "anyOf":
                tidy |= _united([_tidied(choice) for choice in value])
            case _ if key not in _LEFT_OUT:
                tidy[key] = value
    return tidy


def _united(choices: list[JsonSchema]) -> JsonSchema:
    """One schema for a union of types, at most one of which says more than its type."""
    (first, *_), types = [each for each in choices if each != {"type": "null"}], []
    if "$ref" in first:
        return first  # what it refers to takes null
    for choice in choices:
        types += choice["type"] if isinstance(choice["type"], list) else [choice["type"]]
    return {**first, "type": types}


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _text(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    (folder / "values.schema.json").write_text(chart_schema(folder), encoding="utf-8")
    (folder / "files" / "settings.json").write_text(chart_facts(), encoding="utf-8")
