"""Whom the settings want asked, and the real way there: the default chain of identities, TLS, the API."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from connectors.errors import BridgeError
from connectors.fabric.errors import FabricAnswerError, FabricDeniedError, FabricNotFoundError, FabricUnavailableError
from connectors.landing_zone.errors import StorageDeniedError, StorageError
from streaming.mirroring.asking import asking_of, failure_code
from streaming.mirroring.look import mirroring_source
from streaming.mirroring.view import Via
from tests.emulators.fabric_server import ITEM, TOKEN, WORKSPACE, FabricServer
from tests.emulators.identity_server import IdentityServer
from tests.unit.mirroring.worlds import monitoring_files
from tests.unit.streaming.settings_builder import broken, settings

ONELAKE = f"abfss://{WORKSPACE}@onelake.dfs.fabric.microsoft.com/{ITEM}/Files/LandingZone"
IDS = {"workspace_id": WORKSPACE, "item_id": ITEM}
STATE = {"url": "file:///state"}


@pytest.fixture
def identity(monkeypatch: pytest.MonkeyPatch) -> Iterator[IdentityServer]:
    """A managed identity of this machine, and no other credentials."""
    for name in ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    with IdentityServer(TOKEN) as running:
        for name, value in running.environment.items():
            monkeypatch.setenv(name, value)
        yield running


def whom(**changes: Any) -> tuple[bool, bool] | None:
    """Whether the API and the files are asked; None for neither."""
    found = asking_of(settings(state=STATE, **changes))
    return None if found is None else (found.rest is not None, found.files is not None)


class TestWhom:
    def test_in_onelake_the_api_and_else_the_files(self) -> None:
        assert whom(landing_zone__url=ONELAKE) == (True, True)
        names = ONELAKE.replace(WORKSPACE, "sales").replace(ITEM, "shop.MirroredDatabase")
        assert whom(landing_zone__url=names) == (False, True)

    def test_elsewhere_nobody_unless_the_settings_say_so(self) -> None:
        assert whom() is None
        assert whom(fabric=IDS) == (True, False)
        assert whom(fabric={"status": "files"}) == (False, True)
        assert whom(fabric={"status": "rest", **IDS}) == (True, False)

    def test_one_of_them_alone_or_none(self) -> None:
        assert whom(landing_zone__url=ONELAKE, fabric={"status": "rest"}) == (True, False)
        assert whom(landing_zone__url=ONELAKE, fabric={"status": "files"}) == (False, True)
        assert whom(landing_zone__url=ONELAKE, fabric={"status": "off"}) is None
        assert mirroring_source(settings(fabric={"status": "off"})) is None


class TestSettings:
    def test_ids_are_those_of_the_landing_zone_unless_they_are_given(self) -> None:
        assert settings(landing_zone__url=ONELAKE, state=STATE).mirrored_ids == (WORKSPACE, ITEM)
        other = {"workspace_id": ITEM, "item_id": WORKSPACE}
        assert settings(landing_zone__url=ONELAKE, state=STATE, fabric=other).mirrored_ids == (ITEM, WORKSPACE)

    def test_looks_are_ten_minutes_apart_at_most_as_the_alerts_reckon(self) -> None:
        assert broken(fabric={"interval": "10m1s"}) == [
            "fabric.interval must be at most 10m: alerts take longer silence for a failure, see docs/fabric-status.md"
        ]
        assert settings(fabric={"interval": "10m"}).fabric.interval.total_seconds() == 600

    def test_what_makes_no_sense_is_refused(self) -> None:
        assert broken(fabric={"status": "rest"}) == [
            "fabric.workspace_id is required, with item_id: landing_zone.url does not tell both ids"
        ]
        assert broken(fabric={"item_id": ITEM}) == ["fabric.workspace_id is required beside the other of the two ids"]
        assert broken(fabric={"workspace_id": ITEM}) == ["fabric.item_id is required beside the other of the two ids"]
        assert broken(fabric={"interval": "500ms", "blocked_after": "0s", "api_url": "http://api"}) == [
            "fabric.interval must be at least 1s",
            "fabric.blocked_after must be at least 1s",
            "fabric.api_url must begin with https://: a token is sent there",
        ]
        assert broken(fabric={"workspace_id": "sales", "item_id": ITEM}) == [
            "fabric.workspace_id is not an id: write the GUID that the item's address in the browser shows"
        ]


def test_the_api_is_asked_by_the_machines_identity_and_over_one_client(identity: IdentityServer) -> None:
    with FabricServer() as server:
        asking = asking_of(
            settings(fabric={"api_url": f"{server.url}/", "ca_file": str(server.certificate), **IDS}), seconds=5
        )
        assert asking is not None
        told = [asking.ask(), asking.ask()]
        assert [(each.via, each.failure) for each in told] == [(Via.REST, None)] * 2
        assert {method for method, _ in server.asked()} == {"POST"}
        assert {path.rpartition("/")[2] for _, path in server.asked()} == {
            "getMirroringStatus",
            "getTablesMirroringStatus",
        }
    assert identity.resources == ["https://api.fabric.microsoft.com"]


def test_the_files_are_those_beside_the_landing_zone(tmp_path: Path) -> None:
    monitoring_files(tmp_path / "Files/Monitoring", "Paused")
    zone = f"file://{tmp_path}/Files/LandingZone"
    asking = asking_of(settings(landing_zone__url=zone, fabric={"status": "files"}), seconds=5)
    assert asking is not None
    told = asking.ask()
    assert told.via is Via.FILES
    assert told.status is not None
    assert told.status.database.state == "Paused"


def test_looking_makes_no_folder(tmp_path: Path) -> None:
    source = mirroring_source(
        settings(landing_zone__url=f"file://{tmp_path}/Files/LandingZone", fabric={"status": "files"}), seconds=5
    )
    assert source is not None
    assert source.asking.ask().status is None
    assert source.zone.list("") == []
    assert list(tmp_path.iterdir()) == []
    assert (source.listings, source.blocked_after_ms) == (50, 1_800_000)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (FabricDeniedError, "denied"),
        (StorageDeniedError, "denied"),
        (FabricNotFoundError, "not_found"),
        (FabricUnavailableError, "unavailable"),
        (FabricAnswerError, "answer"),
        (StorageError, "storage"),
        (BridgeError, "other"),
    ],
)
def test_failures_are_told_apart_by_short_codes(kind: type[BridgeError], code: str) -> None:
    assert failure_code(kind("x", remedy="y")) == code
