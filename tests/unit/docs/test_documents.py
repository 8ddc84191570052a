"""The documents say what is: links lead somewhere, named tests exist, configurations load."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from streaming.settings import settings_of

ROOT = Path(__file__).parents[3]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def named_in_tests() -> Counter[str]:
    """How many tests have each name."""
    names: Counter[str] = Counter()
    for path in (ROOT / "tests").rglob("test_*.py"):
        tree = ast.parse(path.read_text())
        names.update(
            node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        )
    return names


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_within_the_project_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", document.read_text())
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_every_guarantee_names_tests() -> None:
    rows = [line for line in (ROOT / "docs/guarantees.md").read_text().splitlines() if line.startswith("| ")]
    claims = [line for line in rows if not line.startswith(("| promise |", "|---"))]
    named = {claim: re.findall(r"`(test_\w+)`", claim) for claim in claims}
    assert [claim for claim, tests in named.items() if not tests] == []


def test_every_test_that_a_document_names_is_there_and_no_other_has_its_name() -> None:
    known = named_in_tests()
    named = {
        (str(document.relative_to(ROOT)), name)
        for document in DOCUMENTS
        for name in re.findall(r"`(test_\w+)`", document.read_text())
    }
    assert len(named) > 400
    assert sorted((document, name, known[name]) for document, name in named if known[name] != 1) == []


def test_the_configuration_in_the_readme_loads_and_is_short(tmp_path: Path) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(blocks) == 1
    assert len(blocks[0].splitlines()) <= 20
    password = tmp_path / "password"
    password.write_text("secret")
    settings = settings_of(blocks[0].replace("/run/secrets/kafka-password", str(password)), "README.md")
    assert settings.name == "shop"


def test_every_decision_is_in_the_list_of_decisions() -> None:
    listed = set(re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", (ROOT / "docs/adr/README.md").read_text()))
    assert {path.name for path in (ROOT / "docs/adr").glob("0*.md")} == listed
