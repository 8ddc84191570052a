"""Bearer tokens stay where they were put: those for a OneLake that takes them, and for one that does not.

As :mod:`tests.integration.test_canaries`, with zone and state on the emulated OneLake and everything logged in detail.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulators.dfs_server import DfsServer
from tests.emulators.identity_server import IdentityServer
from tests.emulators.tokens import Tokens
from tests.scale_out.shop import RemoteZone
from tests.support.bridge import QUICK_START
from tests.support.canaries import Evidence, canary, searched_folders, tell
from tests.support.cluster import Cluster
from tests.support.records import Table
from tests.unit.streaming.settings_builder import settings_text

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

TAKEN, REFUSED = "bearer token", "refused token"


@pytest.fixture(scope="module")
def evidence(
    tmp_path_factory: pytest.TempPathFactory, bootstrap_servers: str, spark_jars: list[Path]
) -> tuple[Evidence, list[str]]:
    folder = tmp_path_factory.mktemp("canaries")
    (folder / "events").mkdir()
    environment = {**searched_folders(folder), "CDC_BRIDGE_DEBUG": "1"}
    cluster = Cluster(bootstrap_servers)
    table = Table(cluster.topic())
    cluster.send(table.create({"id": 1, "name": "a"}, lsn=1))
    found = Evidence()
    with DfsServer(tokens=Tokens(always=(canary(TAKEN),))) as server:
        settings = folder / "bridge.yaml"
        settings.write_text(
            settings_text(
                **{
                    "kafka__bootstrap_servers": bootstrap_servers,
                    "kafka__topics": [table.topic],
                    "state__checkpoint": str(folder / "checkpoint"),
                    "log": {"level": "debug", "format": "json"},
                    "spark__master": "local[1]",
                    "spark__conf": {
                        **QUICK_START,
                        "spark.eventLog.enabled": "true",
                        "spark.eventLog.dir": f"file://{folder}/events",
                        "spark.eventLog.compress": "false",
                    },
                    **RemoteZone(server, folder / "looking").settings,
                }
            )
        )
        for name in (TAKEN, REFUSED):
            with IdentityServer(canary(name)) as identity:
                tell(found, name, ["run", str(settings), "--once"], folder, environment | identity.environment)
        told = [request.headers.get("authorization", "") for request in server.requests]
        for path, node in server.tree.children(server.tree.filesystem, recursive=True):
            found.add_file(f"storage {path}", path, node.body)
    found.add_folder(folder)
    return found, told


@pytest.mark.parametrize("name", [TAKEN, REFUSED])
def test_a_token_is_seen_nowhere(evidence: tuple[Evidence, list[str]], name: str) -> None:
    found, told = evidence
    assert found.finds(name) == []
    assert f"Bearer {canary(name)}" in told
    assert len(found.shown) > 5


def test_one_was_good_for_a_whole_run_and_the_other_for_nothing(evidence: tuple[Evidence, list[str]]) -> None:
    found, _ = evidence
    assert found.codes[TAKEN] == 0, found.shown[f"{TAKEN}: stderr"].decode()[-2_000:]
    assert any(place.startswith("storage ") and place.endswith(".parquet") for place in found.shown)
    assert found.codes[REFUSED] == 1
