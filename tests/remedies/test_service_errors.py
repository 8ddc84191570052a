"""What others refuse that a start needs, from the error through its remedy to what they give."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from connectors.errors import Terminal
from connectors.fabric.errors import FabricDeniedError, FabricNotFoundError
from connectors.fabric.rest import SCOPE
from connectors.kafka.embedded_registry import EmbeddedRegistry, Fault
from connectors.kafka.errors import RegistryAccessError
from connectors.source_database.kafka_connect import (
    ConnectAccessError,
    ConnectApi,
    ConnectLocation,
    ConnectorNotFoundError,
)
from streaming.demo.encoding import Encoding
from tests.emulators.fabric_server import ITEM, TOKEN, WORKSPACE, FabricServer, golden
from tests.emulators.identity_server import IdentityServer
from tests.emulators.login_server import LoginServer
from tests.remedies.broken_zones import require_health
from tests.remedies.shell import Printed
from tests.remedies.site import Site
from tests.support.shop import registering
from tests.unit.source_database.connect_server import ConnectServer
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.test_checks_connector import GOOD

RUN = "cdc-bridge run CONFIG --once"
CHECK = "cdc-bridge check CONFIG"


def remedy_of(error: pytest.ExceptionInfo[Terminal]) -> str:
    return error.value.remedy


@pytest.mark.kafka
class TestRegistryAccess:
    @pytest.fixture
    def server(self, site: Site) -> Iterator[EmbeddedRegistry]:
        """What holds the schemas of the orders that wait in Kafka."""
        with EmbeddedRegistry() as running:
            avro = replace(ORDERS, encoding=Encoding.AVRO, register=registering(running))
            site.send(avro.create(row(1, "uno"), 10), avro.create(row(3, "three"), 11))
            yield running

    def test_file(self, site: Site, server: EmbeddedRegistry, tmp_path: Path) -> None:
        (tmp_path / "ca.pem").write_text("not a certificate")
        site.set(registry={"url": server.url, "ca_file": str(tmp_path / "ca.pem")})
        refused = site.shell.type(RUN)
        assert (refused.code, refused.error) == (1, RegistryAccessError.__name__)
        assert refused.remedy.startswith("check ca_file, certificate_file and key_file under registry")
        looked = site.shell.type(CHECK)
        assert (looked.code, refused.act in looked.told) == (1, True)
        site.set(registry={"url": server.url})
        assert site.shell.type(CHECK).code == 0
        assert site.shell.follow(refused.remedy, "run").code == 0
        require_health(site)

    def test_user(self, site: Site, server: EmbeddedRegistry) -> None:
        site.set(registry={"url": server.url})
        server.fault = Fault.UNAUTHORIZED
        refused = site.shell.type(RUN)
        assert (refused.code, f"error: {RegistryAccessError.__name__}" in refused.err) == (1, True)
        assert refused.remedy.startswith("check username, password and certificates under registry")
        looked = site.shell.type(CHECK)
        assert (looked.code, refused.act in looked.told) == (1, True)
        server.fault = Fault.NONE
        assert site.shell.type(CHECK).code == 0
        assert site.shell.type(RUN).code == 0
        require_health(site)


def fabric_section(server: FabricServer) -> dict[str, object]:
    """The settings that have it asked."""
    return {
        "status": "rest",
        "api_url": server.url,
        "ca_file": str(server.certificate),
        "workspace_id": WORKSPACE,
        "item_id": ITEM,
    }


@pytest.fixture(scope="module")
def fabric() -> Iterator[FabricServer]:
    with FabricServer() as running:
        yield running


@pytest.mark.kafka
class TestFabric:
    @pytest.fixture
    def asking(self, fabric: FabricServer, site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
        """A bridge that asks Fabric, as an identity that has a token."""
        with IdentityServer(TOKEN) as identity:
            for name, value in identity.environment.items():
                monkeypatch.setenv(name, value)
            site.set(fabric=fabric_section(fabric))
            site.send(ORDERS.create(row(1, "uno"), 10), ORDERS.create(row(3, "three"), 11))
            yield site
        fabric.instead.clear()

    @pytest.mark.parametrize(
        ("status", "kind", "remedy"),
        [
            (403, FabricDeniedError, "give the bridge's identity 'Read' on the mirrored database"),
            (404, FabricNotFoundError, "check fabric.workspace_id and fabric.item_id"),
        ],
    )
    def test_refusal(self, fabric: FabricServer, asking: Site, status: int, kind: type[Terminal], remedy: str) -> None:
        if kind is FabricNotFoundError:
            asking.set(fabric=fabric_section(fabric) | {"item_id": str(uuid.uuid4())})
        else:
            fabric.instead += [golden("error.403.json", status)] * 10
        refused = asking.shell.type(CHECK)
        assert [told for told in refused.told if told.startswith(remedy)]
        fabric.instead.clear()
        asking.set(fabric=fabric_section(fabric))
        granted = asking.shell.type(CHECK)
        assert (granted.code, "the mirrored database is Running" in granted.out) == (0, True)
        assert [told for told in granted.told if told.startswith(remedy)] == []
        require_health(asking)

    def test_sign_in(self, fabric: FabricServer, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        """The identity's secret has run out, and the variable gets the new one."""
        site.set(fabric=fabric_section(fabric))
        site.send(ORDERS.create(row(1, "uno"), 10), ORDERS.create(row(3, "three"), 11))
        told = "check the workload identity, or the AZURE_CLIENT_ID, AZURE_TENANT_ID and credential variables of"
        with LoginServer("new", {SCOPE.removesuffix("/.default"): TOKEN}) as login:
            for name, value in login.environment("old").items():
                monkeypatch.setenv(name, value)
            monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
            refused = site.shell.type(CHECK)
            assert "The identity gives no token for Fabric: " in refused.out, refused
            assert [one for one in refused.told if one.startswith(told) and "sign-in host can be reached" in one]
            monkeypatch.setenv("AZURE_CLIENT_SECRET", "new")
            granted = site.shell.type(CHECK)
            assert (granted.code, "the mirrored database is Running" in granted.out) == (0, True), granted
            assert [one for one in granted.told if one.startswith(told)] == []
            assert {secret for secret, _ in login.told} == {"old", "new"}
            require_health(site)


@pytest.mark.kafka
class TestConnect:
    """A connector that runs and is set up as the bridge needs it, once it is found."""

    @pytest.fixture
    def server(self, site: Site) -> Iterator[ConnectServer]:
        with ConnectServer() as running:
            state = {"state": "RUNNING", "worker_id": "w:8083"}
            running.answers["/connectors/shop/status"] = (200, {"connector": state, "tasks": [{"id": 0, **state}]})
            running.answers["/connectors/shop/config"] = (200, {**GOOD, "topic.prefix": site.cluster.prefix})
            site.send(ORDERS.create(row(1, "uno"), 10), ORDERS.create(row(3, "three"), 11))
            yield running

    def connected(self, server: ConnectServer, site: Site, connector: str = "shop", user: str = "bridge") -> Printed:
        """What ``check`` says with these settings."""
        section = {"url": server.url, "connector": connector, "username": user, "password": "of the bridge"}
        site.set(source={"connect": section})
        return site.shell.type(CHECK)

    def test_access(self, server: ConnectServer, site: Site) -> None:
        allowed = dict(server.answers)
        server.answers |= dict.fromkeys(allowed, (401, {}))
        refused = self.connected(server, site, user="somebody")
        assert (refused.code, "Kafka Connect refuses access (HTTP 401)" in refused.out) == (1, True)
        assert refused.remedy == remedy_of_connect(server, ConnectAccessError)
        assert refused.remedy == "check username and password under source.connect"
        server.answers |= allowed
        connected = self.connected(server, site)
        assert (connected.code, "connector shop" in connected.out) == (0, True), connected
        assert server.credentials[-1] != server.credentials[0]
        require_health(site)

    def test_name(self, server: ConnectServer, site: Site) -> None:
        refused = self.connected(server, site, "shopp")
        assert (refused.code, "Kafka Connect runs no such connector" in refused.out) == (1, True)
        assert refused.remedy == remedy_of_connect(server, ConnectorNotFoundError, "shopp")
        assert refused.remedy == "correct source.connect.connector, or create the connector"
        assert self.connected(server, site).code == 0
        require_health(site)


def remedy_of_connect(server: ConnectServer, kind: type[Terminal], connector: str = "shop") -> str:
    """What the client of Kafka Connect says, by this error."""
    with pytest.raises(kind) as raised:
        ConnectApi(ConnectLocation(server.url, connector), timeout=60).config()
    return raised.value.remedy
