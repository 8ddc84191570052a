"""The site's settings: what `make docs` refuses, and that a built page loads nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_INDEX = "# Home\n\n[there](other.md#here)\n"
_OTHER = "# Other\n\n## Here\n"


def build(folder: Path, pages: dict[str, str], nav: str = "[index.md, other.md]") -> tuple[int, str]:
    """Build pages with the project's settings, as `make docs` does; exit code and what was said."""
    (folder / "docs").mkdir()
    for name, text in pages.items():
        (folder / "docs" / name).write_text(text)
    (folder / "mkdocs.yml").write_text(f"INHERIT: {ROOT / 'mkdocs.yml'}\ndocs_dir: docs\nsite_dir: site\nnav: {nav}\n")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_a_page_loads_nothing_from_another_host(tmp_path: Path) -> None:
    code, said = build(tmp_path, {"index.md": _INDEX, "other.md": _OTHER})
    assert code == 0, said
    page = (tmp_path / "site" / "index.html").read_text()
    loading = re.findall(r"<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=\"?([^\"\s>]+)", page)
    assert loading
    assert [address for address in loading if re.match(r"(https?:)?//", address)] == []
    styles = "".join(sheet.read_text() for sheet in (tmp_path / "site").rglob("*.css"))
    assert re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", styles) == []


@pytest.mark.parametrize(
    ("pages", "nav", "said"),
    [
        ({"index.md": "[gone](gone.md)", "other.md": _OTHER}, "[index.md, other.md]", "gone.md"),
        ({"index.md": "[gone](other.md#gone)", "other.md": _OTHER}, "[index.md, other.md]", "#gone"),
        ({"index.md": "[gone](#gone)", "other.md": _OTHER}, "[index.md, other.md]", "#gone"),
        ({"index.md": "[out](../README.md)", "other.md": _OTHER}, "[index.md, other.md]", "../README.md"),
        ({"index.md": _INDEX, "other.md": _OTHER}, "[index.md]", "other.md"),
    ],
    ids=["page", "anchor", "own-anchor", "outside", "not-in-nav"],
)
def test_what_leads_nowhere_fails_the_build(pages: dict[str, str], nav: str, said: str, tmp_path: Path) -> None:
    code, printed = build(tmp_path, pages, nav)
    assert code == 1
    assert said in printed
