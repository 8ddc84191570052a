"""Example, reference and schema are written from the model, so none of them can fall behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from streaming.settings import BridgeSettings, SettingsError, settings_of
from streaming.settings.example import example_yaml
from streaming.settings.explain import keys_of, known_keys, section_at
from streaming.settings_docs import reference

_ROOT = Path(__file__).parents[3]
# A list and a map of sections: the example shows them on one line, the reference by sections of their own.
_SEVERAL = (("format", "topics"), ("tables", "overrides"))


def test_the_example_loads_as_it_is() -> None:
    loaded = settings_of(example_yaml(), "example")
    written = BridgeSettings.model_validate(
        {
            "name": "shop",
            "kafka": {
                "bootstrap_servers": "localhost:9092",
                "topics": ["shop.public.orders", "shop.public.customers"],
            },
            "landing_zone": {"url": "file:///var/lib/cdc-bridge/shop/LandingZone"},
        }
    )
    assert loaded == written


def _with_everything_set() -> str:
    return re.sub(r"^( *)#((?:  )*[a-z_]+:)", r"\1\2", example_yaml(), flags=re.MULTILINE)


def test_the_example_shows_every_key() -> None:
    shown: set[tuple[str, ...]] = set()

    def walk(value: object, path: tuple[str, ...]) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                shown.add((*path, key))
                if (*path, key) not in _SEVERAL:
                    walk(inner, (*path, key))

    walk(yaml.safe_load(_with_everything_set()), ())
    expected = {
        tuple(map(str, path))
        for path in known_keys(BridgeSettings)
        if not any(path[: len(several)] == several and len(path) > len(several) for several in _SEVERAL)
    }
    assert expected <= shown


def test_what_the_example_shows_is_right_but_for_files_that_are_not_there_and_keys_that_exclude_each_other() -> None:
    with pytest.raises(SettingsError) as caught:
        settings_of(_with_everything_set(), "example")
    messages = {problem.message for problem in caught.value.problems}
    assert messages == {"is not the path of an existing file", "can't be set together with topic: keep one of the two"}


def test_every_key_is_described() -> None:
    for path in known_keys(BridgeSettings):
        places = [part for key in path for part in ((key, 0) if key in ("overrides", "topics") else (key,))]
        section = section_at(BridgeSettings, tuple(places[: places.index(path[-1])]))
        assert section is not None, path
        assert keys_of(section)[str(path[-1])].description, path


def test_the_reference_in_the_repository_is_current() -> None:
    assert (_ROOT / "docs" / "configuration.md").read_text(encoding="utf-8") == reference(), "run: make docs-config"


def test_each_row_of_the_reference_s_tables_is_one_line_of_four_cells() -> None:
    sections = reference().split("\n|---|---|---|---|\n")[1:]
    rows = [row for section in sections for row in section.partition("\n\n")[0].strip().split("\n")]
    assert len(sections) > 20
    assert [row for row in rows if not (row.startswith("| `") and row.endswith(" |"))] == []
    assert {len(re.split(r"(?<!\\)\|", row)) for row in rows} == {6}


def test_the_reference_has_a_row_for_every_key() -> None:
    text = reference()
    missing = [path for path in known_keys(BridgeSettings) if f"| `{path[-1]}` |" not in text]
    assert missing == []


def test_the_schema_refuses_unknown_keys_and_describes_the_known_ones() -> None:
    schema = BridgeSettings.model_json_schema()
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["name", "kafka", "landing_zone"]
    assert schema["properties"]["markers"]["description"].startswith("safe never writes row marker 0")
    assert schema["$defs"]["Naming"]["properties"].keys() == {"schema", "table"}
    assert schema["$defs"]["Trigger"]["properties"]["interval"]["type"] == "string"
