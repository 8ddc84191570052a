"""Writes ``rules.yaml`` and ``dashboard.json``: ``python -m streaming.monitoring helm/cdc-bridge/files``."""

from __future__ import annotations

import sys
from pathlib import Path

from streaming.monitoring.dashboard import dashboard_text
from streaming.monitoring.rules import rules_text

RULES, DASHBOARD = "rules.yaml", "dashboard.json"


def write(folder: Path) -> None:
    """Write both files into a folder."""
    (folder / RULES).write_text(rules_text(), encoding="utf-8")
    (folder / DASHBOARD).write_text(dashboard_text(), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
