"""docs/reference/cli.md is what the commands say."""

from __future__ import annotations

from pathlib import Path

from tests.docs.cli_reference import cli_reference

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def test_the_reference_of_commands_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == cli_reference(), "make docs-cli"


def test_it_has_every_command_and_its_options() -> None:
    text = cli_reference()
    headings = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert {"run", "check", "ledger log", "dead-letters replay", "config schema"} <= set(headings)
    assert "| `--topic TEXT` | **required** |" in text
    assert "| `--rows NUMBER` | `2000` |" in text
    assert "completion" not in text
