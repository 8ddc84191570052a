"""Settings that a start cannot use, from what it says of them to one that lands."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from streaming import running, service
from streaming.driver.query import StopSignal
from streaming.listener import Listener
from streaming.settings import BridgeSettings, SettingsError
from tests.remedies.broken_zones import require_health
from tests.remedies.lost_files import healthy
from tests.remedies.shell import Printed
from tests.remedies.site import Site
from tests.support.lineage_server import LineageServer
from tests.unit.streaming.landed_shop import ORDERS, row

pytestmark = pytest.mark.kafka

RUN = "cdc-bridge run CONFIG --once"


def require_refused(site: Site, refused: Printed, remedy: str) -> None:
    """The start ends with this, and has landed nothing."""
    assert (refused.code, refused.error) == (1, SettingsError.__name__), refused
    assert refused.act == remedy
    assert site.files() == {}


@pytest.fixture
def filled(site: Site) -> Site:
    """Orders that wait in Kafka."""
    site.send(ORDERS.create(row(1, "uno"), 10), ORDERS.create(row(3, "three"), 11))
    return site


def test_settings_of_a_secret_that_is_too_short(filled: Site, tmp_path: Path) -> None:
    salt = tmp_path / "salt"
    salt.write_text("short")
    filled.set(tables={"secrecy": {"salt_file": str(salt)}, "defaults": {"columns": {"hash": ["note"]}}})
    refused = filled.shell.type(RUN)
    told = (
        "write a longer one into the file; a table that landed with the short one needs `cdc-bridge resync CONFIG "
        "TABLE` then"
    )
    require_refused(filled, refused, told)
    assert str(salt) in refused.err
    salt.write_text("long enough to keep a secret")
    assert filled.shell.type(RUN).code == 0
    require_health(filled)


@pytest.fixture
def telling(filled: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """What a start does before there is Spark, and the world's drivers instead of what it does then."""

    def drains(settings: BridgeSettings, listener: Listener, stop: StopSignal, *, once: bool, spark: object) -> None:
        healthy(filled)

    monkeypatch.setattr(running, "run_bridge", service.run_bridge)
    monkeypatch.setattr(service, "_run", drains)
    return filled


def test_settings_of_a_lineage_client_that_cannot_be_made(telling: Site, tmp_path: Path) -> None:
    file = tmp_path / "openlineage.yml"
    telling.set(lineage={"client_file": str(file)})
    told = "mend the file: its section transport names a type and what that type needs, as the client describes"
    with LineageServer() as server:
        for content in ("transport: [", "transport:\n  type: http\n"):
            file.write_text(content)
            refused = telling.shell.type(RUN)
            require_refused(telling, refused, told)
            assert str(file) in refused.err
        file.write_text(f"transport:\n  type: http\n  url: {server.url}\n")
        assert telling.shell.follow(refused.remedy, "run").code == 0
        assert [event["eventType"] for event in server.events] == ["START", "COMPLETE"]
    require_health(telling)


@pytest.mark.parametrize("installed", [True, False])
def test_settings_of_a_lineage_client_that_is_missing(
    telling: Site, monkeypatch: pytest.MonkeyPatch, *, installed: bool
) -> None:
    """It is installed; or lineage is left out."""
    with LineageServer() as server:
        telling.set(lineage={"url": server.url})
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "openlineage.client", None)
            refused = telling.shell.type(RUN)
            told = "pip install openlineage-python, or take url and client_file of lineage out of the settings"
            require_refused(telling, refused, told)
            if not installed:
                telling.set(lineage={})
                assert telling.shell.follow(refused.remedy, "run").code == 0
        if installed:
            assert telling.shell.follow(refused.remedy, "run").code == 0
        assert len(server.events) == 2 * installed
    require_health(telling)
