"""What a message names as a key of the settings is one."""

from __future__ import annotations

import re

import pytest

from streaming.settings import BridgeSettings
from streaming.settings.explain import known_keys
from tests.unit.streaming.test_named_commands import ROOT, SOURCES, texts

PATHS = set(known_keys(BridgeSettings))
KEYS = {".".join(path[start:end]) for path in PATHS for end in range(len(path) + 1) for start in range(end)}
"""Every key, whole or from a section in its midst on: ``policies.on_truncate`` is one of each rule of ``tables``."""
SECTIONS = sorted({name for path in PATHS for name in path[:-1]})
_FOREIGN = re.compile(
    r"spark\.[A-Za-z.]+|log\.(dirs|retention\.ms|cleaner\..+)|connector\.class|publish\.via\.partition\.root"
    r"|kafka\.tools|connect\.(name|version|type|parameters|internal\.type|decimal\.precision)|tables\.json"
    r"|database(\.schema)?\.table"
)
"""What others call so: Spark, Kafka, Debezium, Kafka Connect and Fabric; and how a table is named."""
_DOTTED = re.compile(rf"(?<![\w./@-])(?:{'|'.join(SECTIONS)})(?:\[\])?(?:\.[a-z_]+(?:\[\])?)+(?![\w/(-])")
_IN_BRACKETS = re.compile(rf"\(({'|'.join(SECTIONS)}): ([a-z_]+)\)")


def named(text: str) -> set[str]:
    """The keys that a sentence names, as ``tables.overrides[].keys`` or in brackets as ``(tables: overrides)``."""
    dotted = {found[0].replace("[]", "") for found in _DOTTED.finditer(text)}
    return {key for key in dotted if _FOREIGN.fullmatch(key) is None} | {
        f"{section}.{key}" for section, key in _IN_BRACKETS.findall(text)
    }


NAMED = sorted({(str(path.relative_to(ROOT)), key) for path in SOURCES for text in texts(path) for key in named(text)})


def test_keys_are_named_all_over_the_project() -> None:
    assert {place.split("/")[0] for place, _ in NAMED} == {"connectors", "streaming"}
    assert {"kafka.topics", "tables.overrides.keys", "policies.on_missing_key"} <= {key for _, key in NAMED}


def test_a_key_that_a_text_names_can_be_set() -> None:
    assert [(place, key) for place, key in NAMED if key not in KEYS] == []


@pytest.mark.parametrize(
    "text", ["declare keys (tables: key_columns)", "set kafka.topic", "correct tables.overrides[].key first"]
)
def test_one_that_cannot_be_set_is_found(text: str) -> None:
    assert named(text)
    assert not named(text) & KEYS
