"""What goes while a command looks at it, from the error that the command ends with to the one that works."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from connectors.kafka.errors import RecordsGoneError, TopicNotFoundError
from connectors.landing_zone.errors import PathNotFoundError, SequenceConflictError, StorageDeniedError
from connectors.landing_zone.ledger.version_file import path_of
from streaming.resolving.decision import Decision
from tests.emulators.fabric_server import ITEM, TOKEN, WORKSPACE, FabricServer
from tests.emulators.identity_server import IdentityServer
from tests.remedies.broken_zones import FIRST, LAST, require_health, stands
from tests.remedies.lost_files import FOREIGN, landed_twice, started, take
from tests.remedies.meanwhile import while_read
from tests.remedies.site import Site
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME

pytestmark = pytest.mark.kafka


def head_of(site: Site, tmp_path: Path) -> Path:
    """The newest version of the ledger, which every command reads that has to do with it."""
    return tmp_path / "zone-state" / path_of(site.ledger.version)


def test_path_not_found(world: Site, tmp_path: Path) -> None:
    """Somebody takes a landing file away, and puts it back."""
    kept = world.zone.files[LAST]
    with while_read(tmp_path / "zone" / FIRST, lambda: world.zone.files.pop(LAST)):
        refused = world.shell.type("cdc-bridge replay ZONE")
    assert (refused.code, refused.error) == (1, PathNotFoundError.__name__)
    assert f"file: {LAST}" in refused.err
    assert refused.act == "read the zone again; the replicator removes its processed files after seven days"
    world.zone.write(LAST, kept)
    again = world.shell.follow(refused.remedy, "replay")
    assert (again.code, again.told, f"{NAME}  2 rows after 2 files" in again.out) == (0, [], True), again
    require_health(world)


def test_storage_denied_of_a_folder_that_takes_a_file_s_place(site: Site, tmp_path: Path) -> None:
    landed_twice(site)
    file = take(site, FOREIGN)
    started(site)
    stands(site, SequenceConflictError)
    place = tmp_path / "zone" / file.target

    def folder_instead() -> None:
        place.unlink()
        place.mkdir()
        (place / "theirs.parquet").write_bytes(FOREIGN)

    with while_read(place, folder_instead, reading=2):
        refused = site.shell.type(f"cdc-bridge resolve CONFIG {NAME} --decide {Decision.SET_ASIDE.value}")
    assert (refused.code, refused.error) == (1, StorageDeniedError.__name__)
    assert (refused.act, f"file: {file.target}" in refused.err) == ("move the files in it one by one", True)
    (place / "theirs.parquet").rename(tmp_path / "theirs.parquet")
    place.rmdir()
    (tmp_path / "theirs.parquet").rename(place)
    assert site.shell.follow(refused.remedy, "resolve").code == 0
    require_health(site)


def test_topic_not_found_by_who_reads_it(world: Site, tmp_path: Path) -> None:
    """The topic is deleted after `explain` has found it, and made again."""
    topic = world.cluster.own_topic("elsewhere")
    record = replace(ORDERS.create(row(5, "five"), 50), topic=topic)
    world.cluster.send(record)
    with while_read(head_of(world, tmp_path), lambda: world.cluster.delete(topic)):
        refused = world.shell.type(f"cdc-bridge explain CONFIG --topic {topic}")
    assert (refused.code, refused.error) == (1, TopicNotFoundError.__name__)
    assert (f"topic: {topic}" in refused.err, "partition: 0" in refused.err) == (True, True)
    assert refused.act == "check the topic's name and the number of its partitions"
    assert world.cluster.own_topic("elsewhere") == topic
    world.cluster.send(record)
    again = world.shell.follow(refused.remedy, "explain")
    assert (again.code, again.told, f"{topic} / 0 / 0" in again.out) == (0, [], True), again
    require_health(world)


def test_records_gone_before_they_are_read(world: Site, tmp_path: Path) -> None:
    """Retention goes on after `explain` has asked which records there are."""
    topic = world.cluster.own_topic("short")
    world.cluster.send(*(replace(ORDERS.create(row(key), 50 + key), topic=topic) for key in range(3)))
    explain = f"cdc-bridge explain CONFIG --topic {topic}"
    with while_read(head_of(world, tmp_path), lambda: world.cluster.expire(topic, 0, 2)):
        refused = world.shell.type(f"{explain} --offset 0")
    assert (refused.code, refused.error) == (1, RecordsGoneError.__name__)
    assert (f"topic: {topic}" in refused.err, "offset: 0" in refused.err) == (True, True)
    assert refused.act.startswith("retention has removed it, or the topic was created again: ask for a later offset")
    later = world.shell.type(f"{explain} --offset 2")
    assert (later.code, later.told, f"{topic} / 0 / 2" in later.out) == (0, [], True), later
    assert world.shell.follow(refused.remedy, "resync", beside=world.live, TABLE=NAME).code == 0
    require_health(world)


def test_fabric_denied_without_its_certificates(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of ``fabric.ca_file`` goes after the settings were read."""
    with FabricServer() as fabric, IdentityServer(TOKEN) as identity:
        for name, value in identity.environment.items():
            monkeypatch.setenv(name, value)
        site.send(ORDERS.create(row(1, "uno"), 10), ORDERS.create(row(3, "three"), 11))
        site.live()
        certificates = tmp_path / "fabric-ca.pem"
        certificates.write_bytes(fabric.certificate.read_bytes())
        section = {"status": "rest", "api_url": fabric.url, "workspace_id": WORKSPACE, "item_id": ITEM}
        site.set(fabric={**section, "ca_file": str(certificates)})
        with while_read(head_of(site, tmp_path), certificates.unlink):
            refused = site.shell.type("cdc-bridge check CONFIG")
            assert f"There is no ca_file {certificates} [api={fabric.url}]" in refused.out, refused
        assert "correct fabric.ca_file" in refused.told
        site.set(fabric={**section, "ca_file": str(fabric.certificate)})
        granted = site.shell.type("cdc-bridge check CONFIG")
        assert (granted.code, "the mirrored database is Running" in granted.out) == (0, True)
        assert [told for told in granted.told if "fabric.ca_file" in told] == []
        require_health(site)
