"""How keys, types and defaults are shown to people, in the example file and in the reference."""

from __future__ import annotations

import enum
import typing
from datetime import timedelta
from pathlib import Path

import yaml
from pydantic import SecretStr, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from streaming.settings.explain import alternatives, inner_section
from streaming.settings.scalars import parse_size


def yaml_text(value: object) -> str:
    """A value on one line of YAML."""
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000, allow_unicode=True, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...")


def default_value(field: FieldInfo) -> object:
    """A key's default as a file would write it; ``None`` where it has none."""
    if field.default is PydanticUndefined or field.default is None:
        return None
    return TypeAdapter(field.rebuild_annotation()).dump_python(field.default, mode="json")


def example_value(field: FieldInfo) -> object:
    """A value to show: the default, or an example where the default is nothing."""
    default = default_value(field)
    if default not in (None, [], {}):
        return default
    if field.examples:
        return field.examples[0]
    return "change-me" if SecretStr in alternatives(field.annotation) else ""


def choices_of(annotation: object) -> list[str]:
    """The values of an enum, of an optional one too, as text; empty for every other type."""
    for kind in alternatives(annotation):
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return [_choice_text(str(member.value)) for member in kind]
    return []


def _choice_text(choice: str) -> str:
    # The choice null needs no quotes here; signs do.
    return choice if choice[0].isalpha() else yaml_text(choice)


def type_text(field: FieldInfo) -> str:
    """What a key takes, in a few words: ``text``, ``list of text``, ``parquet, delimited``."""
    inner = inner_section(field)
    if inner is not None:
        return {"list": "list of sections", "map": "map of sections", "one": "section"}[inner[1]]
    if any(getattr(each, "func", None) is parse_size for each in field.metadata):
        return "size"
    return _kind_text(next(kind for kind in alternatives(field.annotation) if kind is not type(None)))


def _kind_text(kind: object) -> str:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _kind_text(arguments[0])
    if origin is list:
        return f"list of {_kind_text(arguments[0])}"
    if origin is dict:
        return f"map of {_kind_text(arguments[0])} to {_kind_text(arguments[1])}"
    choices = choices_of(kind)
    if choices:
        return ", ".join(choices)
    names: dict[object, str] = {
        str: "text",
        int: "number",
        bool: "true, false",
        timedelta: "duration",
        Path: "path",
        SecretStr: "secret",
    }
    return names[kind]
