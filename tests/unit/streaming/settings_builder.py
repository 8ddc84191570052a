"""Settings for tests: the smallest file that loads, and whatever a test changes in it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from streaming.settings import BridgeSettings, SettingsError, settings_of

MINIMAL: dict[str, Any] = {
    "name": "shop",
    "kafka": {"bootstrap_servers": "localhost:9092", "topics": ["shop.public.orders"]},
    "landing_zone": {"url": "file:///zones/shop"},
}


def settings_text(**changes: Any) -> str:
    """The minimal file; ``kafka__security={...}`` sets ``kafka.security``, ``None`` takes a key away."""
    values = copy.deepcopy(MINIMAL)
    for name, value in changes.items():
        section, (*parents, last) = values, name.split("__")
        for parent in parents:
            section = section.setdefault(parent, {})
        if value is None:
            section.pop(last)
        else:
            section[last] = value
    return yaml.safe_dump(values, sort_keys=False)


def settings(**changes: Any) -> BridgeSettings:
    return settings_of(settings_text(**changes), "bridge.yaml")


def problems(text: str) -> list[str]:
    """What is wrong with a file, one sentence each."""
    with pytest.raises(SettingsError) as caught:
        settings_of(text, "bridge.yaml")
    return [str(problem) for problem in caught.value.problems]


def broken(**changes: Any) -> list[str]:
    """Path and message of what is wrong with the minimal file after these changes; without value and place."""
    with pytest.raises(SettingsError) as caught:
        settings(**changes)
    return [f"{problem.path} {problem.message}" for problem in caught.value.problems]
