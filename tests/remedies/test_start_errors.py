"""What keeps a start or a command from its work, from the error through its remedy to the one that works."""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from connectors.landing_zone.errors import StorageDeniedError
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.replay import ExportError
from connectors.landing_zone.storage.location import InvalidLocationError
from connectors.landing_zone.storage.paths import InvalidPathError
from streaming.dead_letters.coordinates import InvalidCoordinatesError
from streaming.dead_letters.showing import NoSuchLetterError
from streaming.demo.encoding import Encoding
from streaming.driver.beginning import StartingOffsetError
from streaming.explaining.explain import NoSuchRecordError
from streaming.lifecycle.asking import UnknownTableError
from streaming.settings import SettingsError
from tests.emulators.dfs_server import TOKEN, Answered, DfsServer
from tests.emulators.identity_server import IdentityServer
from tests.integration.onelake_job import in_tree
from tests.remedies.adopted_zones import body, foreign
from tests.remedies.broken_zones import LAST, require_health
from tests.remedies.site import Site
from tests.unit.landing_zone.storages import emulated_location
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, USERS


@pytest.mark.kafka
def test_settings(site: Site) -> None:
    site.config.write_text(site.config.read_text().replace("topics:", "topcs:", 1))
    refused = site.shell.type("cdc-bridge status CONFIG")
    assert (refused.code, refused.error, "kafka.topcs" in refused.err) == (1, SettingsError.__name__, True)
    assert "kafka.topics" in refused.err, "the nearest"
    site.set()
    assert site.shell.type("cdc-bridge status CONFIG").code == 0
    assert site.shell.type("cdc-bridge check CONFIG").code == 0


@pytest.mark.kafka
def test_column_declaration(site: Site) -> None:
    """ColumnDeclarationError is the reason of a problem of the settings."""
    bare = replace(ORDERS, encoding=Encoding.JSON)
    declared = {"id": "int64", "name": "strng(20)"}
    site.set(tables={"overrides": [{"match": NAME, "declared": declared, "keys": ["id"]}]})
    refused = site.shell.type("cdc-bridge check CONFIG")
    assert refused.code == 1
    [nearest] = re.findall(r"declared\.name.* is not a known type: did you mean '(.+?)'\?", refused.out)
    site.set(tables={"overrides": [{"match": NAME, "declared": declared | {"name": nearest}, "keys": ["id"]}]})
    site.send(bare.create(row(1, "uno"), 10), bare.create(row(3, "three"), 11))
    assert site.shell.type("cdc-bridge check CONFIG").code == 0
    require_health(site)


@pytest.mark.kafka
class TestStartingOffset:
    @pytest.mark.parametrize(
        ("topic", "partition", "offset", "remedy"),
        [
            ("order", 0, 1, "correct the topic's name there, or under kafka.topics or kafka.pattern"),
            ("orders", 3, 1, "correct the partition's number: the first one is 0"),
            ("orders", 0, 9, "choose an offset from 0 to 2; what lies below is gone from Kafka"),
        ],
    )
    def test_that_is_not_there(self, site: Site, topic: str, partition: int, offset: int, remedy: str) -> None:
        """As ``adopt`` meets it; a first start asks the same."""
        foreign(site, {1: body([{"id": 1, "name": "one"}])})
        site.send(ORDERS.create(row(1, "uno"), 10), ORDERS.create(row(3, "three"), 11), USERS.create(row(1), 12))
        wanted = {site.topic.replace("orders", topic): {str(partition): offset}}
        site.set(kafka__topics=None, kafka__pattern=rf"{site.cluster.prefix}\..*")
        site.set(kafka__starting="offsets", kafka__starting_offsets=wanted)
        refused = site.shell.type("cdc-bridge adopt CONFIG")
        assert (refused.code, refused.error, refused.act) == (1, StartingOffsetError.__name__, remedy)
        site.set(kafka__starting_offsets={site.topic: {"0": 0}})
        assert site.shell.follow(refused.remedy, "adopt").code == 0
        require_health(site)


@pytest.mark.kafka
class TestRecord:
    @pytest.mark.parametrize(
        ("words", "remedy", "right"),
        [
            ("--partition 7", "name one from 0 to 0, or none: ", "--partition 0"),
            ("--offset 9", "ask for an offset among them, or for the last ones: ", "--last 2"),
        ],
    )
    def test_that_is_not_there(self, world: Site, words: str, remedy: str, right: str) -> None:
        explain = f"cdc-bridge explain CONFIG --topic {world.topic}"
        refused = world.shell.type(f"{explain} {words}")
        assert (refused.code, refused.error) == (1, NoSuchRecordError.__name__)
        assert refused.remedy.startswith(remedy)
        for explained in (world.shell.type(f"{explain} {right}"), world.shell.follow(refused.remedy, "explain")):
            assert (explained.code, explained.told, f"{world.topic} / 0 / 4" in explained.out) == (0, [], True)


@pytest.mark.kafka
@pytest.mark.parametrize("url", ["file://zone", "s3://bucket/zone"])
def test_location(world: Site, url: str) -> None:
    refused = world.shell.type("cdc-bridge verify ZONE", ZONE=url)
    assert (refused.code, refused.error, "file:///" in refused.remedy) == (1, InvalidLocationError.__name__, True)
    assert world.shell.type("cdc-bridge verify ZONE", ZONE=f"file://{world.shell.places['ZONE']}").code == 0


@pytest.mark.kafka
def test_path(world: Site, tmp_path: Path) -> None:
    """Somebody's folder lies in the zone, whose name is one on a disk and a path on Azure."""
    stray = tmp_path / "zone" / "public.schema" / "old\\orders"
    stray.mkdir()
    for line in ("cdc-bridge replay ZONE", "cdc-bridge verify ZONE --state STATE"):
        refused = world.shell.type(line)
        assert (refused.code, refused.error) == (1, InvalidPathError.__name__)
        assert f"file: public.schema/{stray.name}" in refused.err
        assert "with one '/' between segments, as in orders/_metadata.json" in refused.act
    (tmp_path / "zone" / "_old").mkdir()
    stray.rename(tmp_path / "zone" / "_old" / "orders")
    assert world.shell.follow(refused.remedy, "verify").code == 0
    require_health(world)


@pytest.mark.kafka
def test_storage_denied_by_a_disk(world: Site, tmp_path: Path) -> None:
    """A file of somebody's is where the bridge has its folder."""
    scratch = tmp_path / "zone" / "_scratchPad"
    shutil.rmtree(scratch)
    scratch.write_bytes(b"in the way")
    refused = world.shell.type("cdc-bridge check CONFIG")
    assert refused.code == 1
    assert refused.remedy.startswith("look at what is at this path: it must be a plain file or folder that the bridge")
    paths = set(re.findall(r"^problem landing zone .+ \[file=(\w+)/", refused.out, re.MULTILINE))
    assert paths == {scratch.name}
    scratch.unlink()
    assert world.shell.type("cdc-bridge check CONFIG").code == 0
    require_health(world)


@pytest.mark.kafka
@pytest.mark.spark
def test_storage_denied(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """OneLake lets an identity in, and lets it do nothing."""
    with DfsServer() as server, IdentityServer(TOKEN) as identity:
        for name, value in identity.environment.items():
            monkeypatch.setenv(name, value)
        place, state = (emulated_location(server, tmp_path / "work") for _ in range(2))
        endpoints = {"dfs_endpoint": place.dfs_endpoint, "blob_endpoint": place.blob_endpoint}
        site.set(
            landing_zone={"url": place.url, "ca_file": str(server.certificate), **endpoints},
            fabric={"status": "off"},
            state={"url": state.url, "checkpoint": str(tmp_path / "checkpoint")},
        )
        server.fault = lambda request: Answered(403, "AuthorizationPermissionMismatch")
        refused = site.shell.type("cdc-bridge status CONFIG")
        assert (refused.code, refused.error) == (1, StorageDeniedError.__name__)
        assert refused.remedy.startswith("give the bridge's identity 'Read and write' on the mirrored database")
        checked = site.shell.type("cdc-bridge check CONFIG")
        assert (checked.code, refused.act in checked.told) == (1, True)
        server.calm()
        granted = site.shell.type("cdc-bridge check CONFIG")
        assert granted.code == 0, granted.out
        site.send(ORDERS.create(row(1), 10))
        assert site.shell.type_apart("cdc-bridge run CONFIG --once").code == 0
        status = site.shell.type("cdc-bridge status CONFIG")
        assert (status.code, status.told) == (0, [])
        assert f"{NAME}  {TableStatus.STREAMING}  behind: nothing" in status.out
        stored = server.tree.children(in_tree(place), recursive=True)
        [landed] = [path for path, _ in stored if path.endswith(".parquet")]
        assert landed.endswith("orders/00000000000000000001.parquet")


@pytest.mark.kafka
def test_unreadable_file(world: Site, tmp_path: Path) -> None:
    """UnreadableFileError is what ``replay`` and ``verify`` say of a file, here of a copy without its ledger."""
    copy = tmp_path / "copy"
    shutil.copytree(tmp_path / "zone", copy)
    whole = (copy / LAST).read_bytes()
    (copy / LAST).write_bytes(b"PAR")
    assert "the file is not valid Parquet" in world.shell.type("cdc-bridge replay ZONE", ZONE=copy).out
    found = world.shell.type("cdc-bridge verify ZONE", ZONE=copy)
    assert (found.code, f"problem {LAST} " in found.out) == (1, True)
    assert found.remedy.startswith("put the right content back under the same name from a copy; without one, ")
    (copy / LAST).write_bytes(whole)
    assert world.shell.type("cdc-bridge verify ZONE", ZONE=copy).code == 0
    assert world.shell.type("cdc-bridge replay ZONE", ZONE=copy).code == 0


@pytest.mark.kafka
def test_export(world: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "deltalake", None)
    refused = world.shell.type("cdc-bridge replay ZONE --to delta OUT", OUT=tmp_path / "delta")
    assert (refused.code, refused.error) == (1, ExportError.__name__)
    assert refused.remedy.startswith("pip install deltalake, or export to csv or parquet: ")
    assert world.shell.follow(refused.remedy, "replay", FOLDER=tmp_path / "out").code == 0
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


@pytest.mark.kafka
def test_letter(world: Site) -> None:
    """First its coordinates are written wrongly, then they are those of no letter."""
    world.send(replace(ORDERS.create(row(9), 29), value=b"{nonsense}"))
    world.live()
    show = "cdc-bridge dead-letters show CONFIG"
    refused = world.shell.type(f"{show} {world.topic}:0")
    assert (refused.code, refused.error) == (1, InvalidCoordinatesError.__name__)
    assert refused.remedy.startswith("write topic:partition:offset")
    refused = world.shell.type(f"{show} {world.topic}:0:3")
    assert (refused.code, refused.error) == (1, NoSuchLetterError.__name__)
    listed = world.shell.follow(refused.remedy, "dead-letters list")
    [named] = re.findall(rf"{re.escape(world.topic)}:0:\d+", listed.out)
    assert world.shell.type(f"{show} {named}").code == 0


@pytest.mark.kafka
def test_table_that_nobody_knows(world: Site) -> None:
    refused = world.shell.type("cdc-bridge pause CONFIG public.order")
    assert (refused.code, refused.error) == (1, UnknownTableError.__name__)
    status = world.shell.follow(refused.remedy, "status")
    assert NAME in status.out.split()
    assert world.shell.type(f"cdc-bridge pause CONFIG {NAME}", beside=world.live).code == 0
