"""What Fabric tells of the mirrored database, asked by the command over TLS with a token of a real identity."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streaming import cli
from tests.catalogue.place import ORDERS, Place, row
from tests.emulators.fabric_server import ITEM, TOKEN, WORKSPACE, FabricServer, golden
from tests.emulators.identity_server import IdentityServer
from tests.support.records import Table
from tests.unit.streaming.settings_builder import settings_text

USERS = Table("shop.public.users", "users")


@pytest.fixture
def fabric(monkeypatch: pytest.MonkeyPatch) -> Iterator[FabricServer]:
    """Fabric's API, and a managed identity of this machine that it knows."""
    for name in ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    with IdentityServer(TOKEN) as identity, FabricServer() as server:
        for name, value in identity.environment.items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture
def config(tmp_path: Path, fabric: FabricServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings of a bridge that has landed two tables."""
    monkeypatch.setattr("streaming.reporting.status_view.KAFKA_SECONDS", 0.2)
    Place(tmp_path).land(ORDERS.create(row(1), 1), USERS.create(row(1), 2))
    path = tmp_path / "bridge.yaml"
    told = {"status": "rest", "workspace_id": WORKSPACE, "item_id": ITEM, "api_url": fabric.url}
    path.write_text(
        settings_text(
            kafka__bootstrap_servers="127.0.0.1:1",
            landing_zone__url=f"file://{tmp_path}/zone",
            state={"url": f"file://{tmp_path}/state"},
            fabric={**told, "ca_file": str(fabric.certificate)},
        )
    )
    return path


def test_an_error_that_fabric_has_for_a_table_is_shown_by_status_and_nothing_is_stopped(
    config: Path, fabric: FabricServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["status", str(config)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "public.users: Failed, with an error: Fabric says: SchemaMergeFailure: Type mismatch for column 'location'. "
        "Incoming type: 'integer', existing type: 'string'." in said
    )
    assert {method for method, _ in fabric.asked()} == {"POST"}
    assert {path.rpartition("/")[2] for _, path in fabric.asked()} == {
        "getMirroringStatus",
        "getTablesMirroringStatus",
    }, "it is only asked"


def test_an_error_that_fabric_has_for_the_database_is_shown_by_status(
    config: Path, fabric: FabricServer, capsys: pytest.CaptureFixture[str]
) -> None:
    fabric.database = golden("getMirroringStatus.error.json")
    assert cli.main(["status", str(config)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Fabric says: ReplicatorInternalError: The replicator stopped" in said
