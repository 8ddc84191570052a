"""Snippets of the pages: settings load, connectors have keys that Debezium knows, commands parse, scripts are bash."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from streaming.settings import settings_of
from tests.docs.page import Block, blocks
from tests.unit.streaming.test_named_commands import parse

DOCS = Path(__file__).parents[2] / "docs"
GUIDES = sorted((DOCS / "how-to").glob("*.md"))
PAGES = [*GUIDES, DOCS / "tutorial.md", DOCS / "index.md", DOCS / "why-a-ledger.md", DOCS / "comparison.md"]

CONNECTOR_KEYS = {
    "connector.class",
    "tasks.max",
    "plugin.name",
    "database.hostname",
    "database.port",
    "database.user",
    "database.password",
    "database.dbname",
    "database.names",
    "database.server.id",
    "database.include.list",
    "table.include.list",
    "topic.prefix",
    "schema.history.internal.kafka.bootstrap.servers",
    "schema.history.internal.kafka.topic",
    "topic.creation.default.partitions",
    "topic.creation.default.replication.factor",
    "schema.name.adjustment.mode",
    "key.converter",
    "value.converter",
}
"""Of Debezium 3.5 and 3.6 and Kafka Connect 4.1; the keys of a converter begin with its own name."""
_CONVERTER_KEYS = re.compile(
    r"(key|value)\.converter\.(schema\.registry\.url|apicurio\.registry\.(url|auto-register|find-latest|headers\.enabled))"
)


def of_language(*languages: str) -> list[tuple[str, Block]]:
    return [(page.name, block) for page in PAGES for block in blocks(page) if block.language in languages]


def named(snippets: list[tuple[str, Block]]) -> list[str]:
    return [f"{page}-{number}" for number, (page, _) in enumerate(snippets)]


YAML, JSON, SHELL = of_language("yaml"), of_language("json"), of_language("bash", "console")


@pytest.mark.parametrize(("_page", "block"), YAML, ids=named(YAML))
def test_settings_of_a_guide_load(_page: str, block: Block, tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("secret")
    text = re.sub(r"/run/secrets/[\w/-]+", str(password), block.text)
    assert settings_of(text, "bridge.yaml").name in text


@pytest.mark.parametrize(("_page", "block"), JSON, ids=named(JSON))
def test_a_connectors_settings_have_keys_that_it_knows(_page: str, block: Block) -> None:
    keys = {key for key in json.loads(block.text) if not _CONVERTER_KEYS.fullmatch(key)}
    assert keys - CONNECTOR_KEYS == set()


@pytest.mark.parametrize(("_page", "block"), SHELL, ids=named(SHELL))
def test_commands_of_a_page_can_be_typed(_page: str, block: Block) -> None:
    for line in re.findall(r"^(?:\$ )?cdc-bridge ([^\n#|]+)", block.text, re.MULTILINE):
        if line.strip() != "--help":
            parse(shlex.join(shlex.split(line)))


@pytest.mark.parametrize(("_page", "block"), of_language("bash"), ids=named(of_language("bash")))
def test_a_script_is_bash(_page: str, block: Block) -> None:
    checked = subprocess.run(["bash", "-n"], input=block.text, text=True, capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_the_mirrored_databases_definition_is_json() -> None:
    [text] = re.findall(r"<<'JSON'\n(.*?)\nJSON", (DOCS / "how-to/fabric.md").read_text(), re.DOTALL)
    assert json.loads(text)["properties"]["source"]["type"] == "GenericMirror"


def test_every_guide_says_how_to_see_that_it_is_done() -> None:
    without = [page.name for page in GUIDES if page.name not in ("index.md", "scale.md", "release.md")]
    missing = [
        name for name in without if not re.search(r"^cdc-bridge ", (DOCS / "how-to" / name).read_text(), re.MULTILINE)
    ]
    assert missing == []
