"""``cdc-bridge config`` tells of keys and their meaning, and nothing of this machine."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from streaming.commands.config import app
from streaming.settings import BridgeSettings
from streaming.settings.explain import known_keys

PLANTED = {
    f"CDC_BRIDGE_{'__'.join(path).upper()}": f"canary of {'.'.join(path)}" for path in known_keys(BridgeSettings)
}


@pytest.mark.parametrize("command", [["schema"], ["schema", "--json"], ["example"], ["example", "--json"]])
def test_no_value_of_the_environment_is_shown(monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    for name, text in PLANTED.items():
        monkeypatch.setenv(name, text)
    shown = CliRunner().invoke(app, command)
    assert (shown.exit_code, "bootstrap_servers" in shown.output) == (0, True)
    assert "CDC_BRIDGE_KAFKA__SECURITY__PASSWORD" in PLANTED
    assert "canary" not in shown.output
