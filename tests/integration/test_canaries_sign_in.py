"""A client secret stays where it was put, and so do the tokens that it brings: of OneLake, and of Fabric's REST API.

As :mod:`tests.integration.test_canaries`, without Spark: a command signs in, and tells all that is behind its errors.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.catalogue.place import ORDERS, TABLE, Place, row
from tests.emulators.dfs_server import DfsServer
from tests.emulators.fabric_server import ITEM, WORKSPACE, FabricServer
from tests.emulators.login_server import LoginServer
from tests.emulators.tokens import Tokens
from tests.integration.canary_commands import ONELAKE, Way, said, start
from tests.scale_out.shop import RemoteZone
from tests.support.canaries import Evidence, canary, searched_folders, tell
from tests.unit.streaming.settings_builder import settings_text

SECRET, WRONG, STORAGE, FABRIC = "client secret", "wrong client secret", "storage token", "fabric token"


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    folder = tmp_path_factory.mktemp("canaries")
    found = Evidence(given=frozenset({SECRET, WRONG}))
    environment = {**searched_folders(folder), "CDC_BRIDGE_DEBUG": "1"}
    Place(folder / "local").land(ORDERS.create(row(1), 1))
    tokens = {"https://storage.azure.com": canary(STORAGE), "https://api.fabric.microsoft.com": canary(FABRIC)}
    with (
        LoginServer(canary(SECRET), tokens) as login,
        DfsServer(tokens=Tokens(always=(canary(STORAGE),))) as onelake,
        FabricServer(canary(FABRIC)) as fabric,
    ):
        asking = {"status": "rest", "workspace_id": WORKSPACE, "item_id": ITEM, "api_url": fabric.url}
        places: dict[str, dict[str, Any]] = {
            "fabric": {
                "landing_zone__url": f"file://{folder}/local/zone",
                "state": {"url": f"file://{folder}/local/state"},
                "fabric": {**asking, "ca_file": str(fabric.certificate)},
            },
            "onelake": {
                **RemoteZone(onelake, folder / "looking").settings,
                "state__checkpoint": str(folder / "checkpoint"),
            },
        }
        for name, place in places.items():
            settings = folder / f"{name}.yaml"
            settings.write_text(settings_text(kafka__bootstrap_servers="127.0.0.1:1", **place))
            for secret in (SECRET, WRONG):
                signed_in = environment | login.environment(canary(secret))
                tell(found, f"{name} {secret}", ["status", str(settings)], folder, signed_in)
        wrong = environment | login.environment(canary(WRONG))
        zone = places["onelake"]["landing_zone"]["url"]
        start(found, ONELAKE, {"settings": settings, "zone": zone, "table": TABLE}, folder, wrong)
        found.told = [secret for secret, _ in login.told]
        found.told += [request.headers.get("authorization", "") for request in onelake.requests]
        found.told += fabric.told
    found.add_folder(folder)
    return found


@pytest.mark.parametrize("name", [SECRET, WRONG, STORAGE, FABRIC])
def test_it_is_seen_nowhere(evidence: Evidence, name: str) -> None:
    assert evidence.finds(name) == []


@pytest.mark.parametrize(
    "told", [canary(SECRET), canary(WRONG), f"Bearer {canary(STORAGE)}", f"Bearer {canary(FABRIC)}"]
)
def test_it_was_used(evidence: Evidence, told: str) -> None:
    assert told in evidence.told


def test_what_was_searched_tells_who_was_let_in(evidence: Evidence) -> None:
    assert evidence.codes[f"onelake {SECRET}"] == 0, evidence.shown[f"onelake {SECRET}: stderr"].decode()[-2_000:]
    assert evidence.codes[f"onelake {WRONG}"] == 1
    assert b"The identity gives no token" in evidence.shown[f"onelake {WRONG}: stderr"]
    assert b"Ledger version" in evidence.shown[f"fabric {SECRET}: stdout"]


@pytest.mark.parametrize("way", ONELAKE, ids=lambda way: way.typed)
def test_the_command_came_as_far_as_it_was_to(evidence: Evidence, way: Way) -> None:
    assert (evidence.codes[way.typed], way.says in said(evidence, way)) == (way.code, True), said(evidence, way)
