"""Snippets of the pages: settings load, connectors have keys that Debezium knows, commands parse, scripts are bash."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml
from typer.exceptions import TyperException

from streaming.settings import BridgeSettings, settings_of
from tests.docs.page import Block, blocks
from tests.unit.streaming.test_named_commands import parse

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GUIDES = sorted((DOCS / "how-to").glob("*.md"))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
OF_OTHERS = {"kubernetes.md": "values of the chart: tests/helm/test_documentation.py"}
"""Pages whose YAML is not the bridge's settings, and what tries it."""
NO_SETTINGS = ("transport:", "rules:")
"""How a file of OpenLineage's own client begins, and a role of Kubernetes."""
REST = {
    "name": "shop",
    "kafka": {"bootstrap_servers": "kafka.example.com:9092", "topics": ["shop.public.orders"]},
    "landing_zone": {"url": "file:///data/LandingZone"},
}
"""What a snippet of some settings leaves out."""

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
    "database.sslmode",
    "database.include.list",
    "table.include.list",
    "slot.name",
    "publication.name",
    "publication.autocreate.mode",
    "skipped.operations",
    "heartbeat.interval.ms",
    "heartbeat.action.query",
    "signal.enabled.channels",
    "signal.data.collection",
    "signal.kafka.topic",
    "signal.kafka.bootstrap.servers",
    "notification.enabled.channels",
    "notification.sink.topic.name",
    "topic.prefix",
    "schema.history.internal.kafka.bootstrap.servers",
    "schema.history.internal.kafka.topic",
    "topic.creation.default.partitions",
    "topic.creation.default.replication.factor",
    "topic.creation.default.cleanup.policy",
    "topic.creation.default.retention.ms",
    "schema.name.adjustment.mode",
    "key.converter",
    "value.converter",
}
"""Of Debezium 3.5 and 3.6 and Kafka Connect 4.1; the keys of a converter begin with its own name."""
_CONVERTER_KEYS = re.compile(
    r"(key|value)\.converter\.(replace\.null\.with\.default|schema\.registry\.url|"
    r"apicurio\.registry\.(url|auto-register|find-latest|headers\.enabled))"
)


def of_language(*languages: str) -> list[tuple[str, Block]]:
    return [(page.name, block) for page in PAGES for block in blocks(page) if block.language in languages]


def named(snippets: list[tuple[str, Block]]) -> list[str]:
    return [f"{page}-{number}" for number, (page, _) in enumerate(snippets)]


YAML = [
    (page, block)
    for page, block in of_language("yaml")
    if page not in OF_OTHERS and not block.text.startswith(NO_SETTINGS)
]
JSON, SHELL = of_language("json"), of_language("bash", "console")


def whole(text: str) -> str:
    """A page's settings with what a snippet leaves out: a table's options are those of all tables."""
    snippet = yaml.safe_load(text)
    if "name" in snippet:
        return text
    if not snippet.keys() & BridgeSettings.model_fields.keys():
        snippet = {"tables": {"defaults": snippet}}
    below = {key: value | snippet.get(key, {}) for key, value in REST.items() if isinstance(value, dict)}
    return yaml.safe_dump(REST | snippet | below)


@pytest.mark.parametrize(("_page", "block"), YAML, ids=named(YAML))
def test_settings_of_a_page_load(_page: str, block: Block, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("16 signs at least")
    text = re.sub(r"/run/secrets/[\w/-]+|/etc/cdc-bridge/[\w-]+\.pem", str(secret), block.text)
    text = re.sub(r"<[\w ]+>", "11111111-1111-1111-1111-111111111111", text)
    assert settings_of(whole(text), "bridge.yaml")


@pytest.mark.parametrize(("_page", "block"), JSON, ids=named(JSON))
def test_a_connectors_settings_have_keys_that_it_knows(_page: str, block: Block) -> None:
    keys = {key for key in json.loads(block.text) if not _CONVERTER_KEYS.fullmatch(key)}
    assert keys - CONNECTOR_KEYS == set()


@pytest.mark.parametrize(("_page", "block"), SHELL, ids=named(SHELL))
def test_commands_of_a_page_can_be_typed(_page: str, block: Block) -> None:
    for line in re.findall(r"^(?:\$ )?cdc-bridge ([^\n#|]+)", block.text, re.MULTILINE):
        if line.strip() != "--help":
            parse(shlex.join(shlex.split(line)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_a_page_s_sentences_exist_with_their_options(page: Path) -> None:
    wrong = []
    for line in re.findall(r"`cdc-bridge ([a-z][^`]*)`", page.read_text(encoding="utf-8")):
        try:
            parse(line)
        except TyperException as problem:
            # A sentence may leave out what the command is to do it to.
            if not str(problem).startswith("Missing parameter"):
                wrong.append(f"{line}: {problem}")
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_targets_of_make_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    typed = re.findall(r"(?:`|^(?:\$ )?)make ([a-z][a-z-]*)", text, re.MULTILINE)
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(typed) - targets == set()


@pytest.mark.parametrize(("_page", "block"), of_language("bash"), ids=named(of_language("bash")))
def test_a_script_is_bash(_page: str, block: Block) -> None:
    checked = subprocess.run(["bash", "-n"], input=block.text, text=True, capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_the_mirrored_databases_definition_is_json() -> None:
    [text] = re.findall(r"<<'JSON'\n(.*?)\nJSON", (DOCS / "how-to/fabric.md").read_text(), re.DOTALL)
    assert json.loads(text)["properties"]["source"]["type"] == "GenericMirror"


def test_every_guide_says_how_to_see_that_it_is_done() -> None:
    looking = r"^cdc-bridge (check|explain|status|reconcile|replay|verify|ledger log) "
    users = [page for page in GUIDES if page.name not in ("index.md", "release.md")]
    ours = {page.name: [one.text for one in blocks(page) if "cdc-bridge " in one.text] for page in users}
    assert [name for name, texts in ours.items() if not re.search(looking, texts[-1], re.MULTILINE)] == []
