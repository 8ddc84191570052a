"""Rules across keys that a file breaks beside other problems.

Pydantic judges a section's rules once all of its keys are valid. So that a file is mended in one go, they are judged
again here: each section without its unknown keys, and the rules across sections where those concerned are valid.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_settings import EnvSettingsSource

from streaming.settings.bridge import BridgeSettings
from streaming.settings.explain import explained, keys_of
from streaming.settings.section import BrokenRulesError, KeyPath

_UNKNOWN = "extra_forbidden"
_REQUIRED = "is required"


def error_hides_rules(error: ValidationError) -> bool:
    """Whether some rules may not have been judged: all that is wrong is broken rules across sections otherwise."""
    return any(details["loc"] for details in error.errors(include_url=False))


def hidden_rules(error: ValidationError, values: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str, str]]:
    """(path, message, empty value) of each broken rule, those in the error included.

    A key that is required by a rule is not asked for where an unknown key beside it may be the same one misspelt.

    Args:
        values: the file's content, as yet without the environment.
    """
    unknown = [details["loc"] for details in error.errors(include_url=False) if details["type"] == _UNKNOWN]
    beside = {path[:-1] for path in unknown}
    for path, message in _rules(_without(_merged(values, EnvSettingsSource(BridgeSettings)()), unknown)):
        if not (message.startswith(_REQUIRED) and path[:-1] in beside):
            yield path, message, ""


def _rules(values: dict[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    sound: dict[str, Any] = {}
    for name, field in keys_of(BridgeSettings).items():
        if name not in values:
            if not field.is_required():
                sound[name] = field.get_default(call_default_factory=True, validated_data={})
            continue
        try:
            sound[name] = TypeAdapter(field.rebuild_annotation()).validate_python(values[name])
        except ValidationError as error:
            for details in error.errors(include_url=False):
                if isinstance(details.get("ctx", {}).get("error"), BrokenRulesError):
                    for path, message, _ in explained(details, BridgeSettings):
                        yield (name, *path), message
    yield from BridgeSettings.model_construct(**sound).problems_among(sound.keys())


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """A deep copy of ``under`` with ``over`` winning, mapping by mapping."""
    merged = {name: copy.deepcopy(value) for name, value in under.items()}
    for name, value in over.items():
        below = merged.get(name)
        merged[name] = _merged(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged


def _without(values: dict[str, Any], paths: list[KeyPath]) -> dict[str, Any]:
    for path in paths:
        place: Any = values
        for part in path[:-1]:
            place = place[part]
        del place[path[-1]]
    return values
