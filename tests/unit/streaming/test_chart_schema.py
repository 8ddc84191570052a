"""The JSON Schema by which the chart judges settings takes what the bridge takes, and says what the templates need."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from streaming.settings import settings_of
from streaming.settings.example import example_yaml
from streaming.settings.json_schema import chart_facts, chart_schema, definitions, facts
from tests.unit.streaming.settings_builder import settings_text

_CHART = Path(__file__).parents[3] / "helm" / "cdc-bridge"


def test_the_schema_in_the_repository_is_current() -> None:
    assert (_CHART / "values.schema.json").read_text(encoding="utf-8") == chart_schema(_CHART), "run: make chart-schema"


def test_the_facts_in_the_repository_are_current() -> None:
    assert (_CHART / "files" / "settings.json").read_text(encoding="utf-8") == chart_facts(), "run: make chart-schema"


def _problems(values: Any) -> list[str]:
    schema = {"$ref": "#/$defs/settings", "$defs": definitions()}
    validator = jsonschema.Draft7Validator(schema)
    return sorted(f"{'.'.join(map(str, error.path))}: {error.message}" for error in validator.iter_errors(values))


def test_every_default_is_allowed() -> None:
    loaded = settings_of(settings_text(), "bridge.yaml").model_dump(mode="json", by_alias=True)
    assert _problems(loaded) == []


def test_the_example_is_allowed() -> None:
    assert _problems(yaml.safe_load(example_yaml())) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"spark__conf": {"spark.task.maxFailures": 8, "spark.eventLog.enabled": True, "spark.locality.wait": "0s"}},
        {"kafka__client": {"socket.keepalive.enable": True}},
        {"spark__driver_memory": "2 GiB"},
        {"spark__driver_memory": 2_147_483_648},
        {"trigger__interval": "1h30m"},
        {"tables__defaults": {"compaction": False, "policies": {"on_unavailable": None, "on_cast_failure": "null"}}},
        {"format": {"out_of_range": None}},
        {"source": {"database": None}},
        {"kafka__security": {"mechanism": None}},
        {"tables__overrides": [{"match": "public.*", "naming": None, "compaction": "off"}]},
    ],
)
def test_what_the_bridge_takes_is_allowed(changes: dict[str, Any]) -> None:
    text = settings_text(**changes)
    assert settings_of(text, "bridge.yaml")
    assert _problems(yaml.safe_load(text)) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"kafka__topic": "t"}, "kafka: Additional properties are not allowed ('topic' was unexpected)"),
        ({"trigger__interval": 30}, "trigger.interval: 30 is not of type 'string'"),
        ({"trigger__max_offsets": "many"}, "trigger.max_offsets: 'many' is not of type 'integer'"),
        ({"registry": {"urll": "x"}}, "registry: Additional properties are not allowed ('urll' was unexpected)"),
        ({"tables__overrides": [{}]}, "tables.overrides.0: 'match' is a required property"),
        ({"markers": "unsafe"}, "markers: 'unsafe' is not one of ['safe', 'natural']"),
        ({"spark__driver_memory": "2GB"}, "spark.driver_memory: '2GB' does not match"),
    ],
)
def test_what_the_bridge_refuses_is_refused_with_its_place(changes: dict[str, Any], problem: str) -> None:
    (found,) = _problems(yaml.safe_load(settings_text(**changes)))
    assert found.startswith(problem)


def test_parts_are_judged_without_the_keys_that_are_elsewhere() -> None:
    assert _problems({}) == []
    assert _problems({"kafka": {"isolation": "read_committed"}}) == []


def test_every_key_of_the_schema_is_described_and_nothing_is_left_that_only_editors_use() -> None:
    text = json.dumps(definitions())
    for word in ('"title"', '"default":', '"examples"', '"path"'):
        assert word not in text
    assert definitions()["settings.Trigger"]["properties"]["interval"]["description"].startswith("Time between")


def test_secrets_files_and_required_keys_are_told_by_their_paths() -> None:
    told = facts()
    assert {"kafka.security.password", "registry.password", "tables.secrecy.key"} <= set(told["secrets"])
    assert {"kafka.security.ca_file", "landing_zone.ca_file"} <= set(told["files"])
    required = {each["path"]: each["always"] for each in told["required"]}
    assert required["kafka.bootstrap_servers"] is required["landing_zone.url"] is True
    assert required["registry.url"] is required["source.database.url"] is False
    assert "name" not in required
