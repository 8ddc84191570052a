"""No variable of the machine's environment reaches a test of the settings."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _no_settings_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.upper().startswith("CDC_BRIDGE_"):
            monkeypatch.delenv(name)
