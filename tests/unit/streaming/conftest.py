"""What the tests of the job share: an environment without settings, and a world in which tables are rebuilt."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.unit.streaming.rebuild_world import World


@pytest.fixture(autouse=True)
def _no_settings_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.upper().startswith("CDC_BRIDGE_"):
            monkeypatch.delenv(name)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """One zone, its ledger, Kafka and Debezium, all of them empty."""
    return World(tmp_path)
