"""From what pydantic found wrong to what a person has to change."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Literal

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from streaming.settings.section import BrokenRulesError, KeyPath, Section, path_text

_LONGEST_VALUE = 60
_CHOICES = frozenset({"enum", "literal_error"})
_MESSAGES = {
    "missing": "is required",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "list_type": "must be a list, such as [first, second]",
    "dict_type": "must be a mapping of keys to values",
    "model_type": "must be a section with keys of its own",
    "model_attributes_type": "must be a section with keys of its own",
    "path_not_file": "is not the path of an existing file",
    "path_type": "must be the path of a file",
    "string_type": "must be text: write it in quotes",
}


def explained(error: ErrorDetails, root: type[Section]) -> Iterator[tuple[KeyPath, str, str]]:
    """(path, message, value) of one of pydantic's errors; several when a section breaks several rules.

    The value is empty where it is missing, is a whole section, or could be a secret.
    """
    path: KeyPath = error["loc"]
    context = error.get("ctx", {})
    cause = context.get("error")
    if isinstance(cause, BrokenRulesError):
        for inner, message in cause.rules:
            yield (*path, *inner), message, ""
        return
    if error["type"] == "extra_forbidden":
        yield path, _unknown_key(path, root), ""
        return
    yield path, _message(error, context), _shown_value(path, error, root)


def _message(error: ErrorDetails, context: Mapping[str, object]) -> str:
    match error["type"]:
        case kind if kind in _CHOICES:
            choices = re.findall(r"'([^']+)'", str(context["expected"]))
            by_lower = {choice.lower(): choice for choice in choices}
            nearest = get_close_matches(str(error["input"]).lower(), by_lower, n=1)
            meant = f"; did you mean {by_lower[nearest[0]]}?" if nearest else ""
            return f"must be one of {_listed(choices)}{meant}"
        case "value_error":
            return str(context["error"])
        case kind if kind in _MESSAGES:
            return _MESSAGES[kind]
        case _:
            text = error["msg"]
            return text.replace("Input should be", "must be").replace("String should", "must")


def _listed(choices: list[str]) -> str:
    # Only column separators are not words.
    return ", ".join(choice if choice[0].isalpha() else f'"{choice}"' for choice in choices)


def _unknown_key(path: KeyPath, root: type[Section]) -> str:
    section = section_at(root, path[:-1])
    siblings = list(keys_of(section)) if section is not None else []
    name = str(path[-1])
    nearest = get_close_matches(name, siblings, n=1)
    if nearest:
        return f"is not a known key; did you mean {path_text((*path[:-1], nearest[0]))}?"
    elsewhere = [known for known in known_keys(root) if known[-1] == name]
    if elsewhere:
        return f"is not a known key here; did you mean {path_text(elsewhere[0])}?"
    return f"is not a known key; known here: {', '.join(siblings)}"


def keys_of(section: type[Section]) -> dict[str, FieldInfo]:
    """The keys of a section as a file writes them, in the order of their declaration."""
    return {field.alias or name: field for name, field in section.model_fields.items()}


Count = Literal["one", "list", "map"]


def inner_section(field: FieldInfo) -> tuple[type[Section], Count] | None:
    """The section that a key holds, and whether it holds one, a list or a map of them."""
    for kind in alternatives(field.annotation):
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin in (list, dict):
            if isinstance(arguments[-1], type) and issubclass(arguments[-1], Section):
                return arguments[-1], "list" if origin is list else "map"
        elif isinstance(kind, type) and issubclass(kind, Section):
            return kind, "one"
    return None


def json_shape(field: FieldInfo) -> str | None:
    """How a list, a map or a section looks as JSON; ``None`` for plain values."""
    kinds = [typing.get_origin(kind) or kind for kind in alternatives(field.annotation)]
    if list in kinds:
        return '["first", "second"]'
    return '{"key": "value"}' if dict in kinds or inner_section(field) is not None else None


def alternatives(annotation: object) -> tuple[object, ...]:
    """The members of a union; the type itself where it is none."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return typing.get_args(annotation)
    return (annotation,)


def is_secret(field: FieldInfo) -> bool:
    """Whether a key holds a secret, or values of which the bridge can't know whether they are (client options)."""
    return SecretStr in alternatives(field.annotation) or not field.repr


def section_at(root: type[Section], path: KeyPath) -> type[Section] | None:
    """The section that a path leads to; ``None`` where it leads elsewhere."""
    section, rest = root, list(path)
    while rest:
        field = keys_of(section).get(str(rest.pop(0)))
        inner = inner_section(field) if field is not None else None
        if inner is None:
            return None
        section, count = inner
        if count != "one" and rest:
            rest.pop(0)
    return section


def known_keys(root: type[Section], path: KeyPath = ()) -> Iterator[KeyPath]:
    """Paths of all keys, section by section; those below a list or map of sections go without index."""
    for name, field in keys_of(root).items():
        yield (*path, name)
        inner = inner_section(field)
        if inner is not None:
            yield from known_keys(inner[0], (*path, name))


def _shown_value(path: KeyPath, error: ErrorDetails, root: type[Section]) -> str:
    value = error["input"]
    if error["type"] == "missing" or not isinstance(value, str | int | float) or _could_be_secret(path, root):
        return ""
    if _beside_secrets(path, error, root):
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    # Of a URL, what stands before its host or behind its path may be a password or a token.
    if "@" in text or ("://" in text and ("?" in text or "#" in text)):
        return ""
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def _could_be_secret(path: KeyPath, root: type[Section]) -> bool:
    section: type[Section] | None = root
    for depth, part in enumerate(path):
        if section is None:
            return False
        field = keys_of(section).get(str(part))
        if field is not None and is_secret(field):
            return True
        if field is not None:
            section = section_at(root, path[: depth + 1])
    return False


def _beside_secrets(path: KeyPath, error: ErrorDetails, root: type[Section]) -> bool:
    """Whether free text stands where a secret may have been meant: beside one, or instead of a section with one."""
    whole = section_at(root, path)
    if whole is not None and _holds_secrets(whole):
        return True
    around = section_at(root, path[:-1])
    if around is None or error["type"] in _CHOICES:
        return False
    return any(SecretStr in alternatives(field.annotation) for field in keys_of(around).values())


def _holds_secrets(section: type[Section]) -> bool:
    inner = (inner_section(field) for field in keys_of(section).values())
    return any(is_secret(field) for field in keys_of(section).values()) or any(
        _holds_secrets(each[0]) for each in inner if each is not None
    )
