"""What a command is told that is not so, from the error that it ends with to the command that its remedy names."""

from __future__ import annotations

from dataclasses import replace
from datetime import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connectors.kafka.errors import ClientOptionsError
from connectors.landing_zone.errors import InvalidZoneError, VersionNotKeptError, ZoneOwnedError
from connectors.landing_zone.replay import ExportError
from streaming.explaining.explain import NoSuchRecordError
from streaming.resolving.decision import Decision, DecisionRefusedError
from streaming.settings import SettingsError
from streaming.zones.adopting import AdoptRefusedError
from tests.remedies.adopted_zones import body, foreign
from tests.remedies.broken_zones import require_health
from tests.remedies.lost_files import FOREIGN, landed_twice, started, take
from tests.remedies.shell import require_refused
from tests.remedies.site import Site, disk
from tests.support.records import Table
from tests.support.told_commands import commands
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, World

pytestmark = pytest.mark.kafka

VERIFY = "cdc-bridge verify ZONE"
RIGHT_STATE = "name the state storage of the bridge that writes this zone: `cdc-bridge verify ZONE --state URL`"


def test_invalid_zone_of_a_number_that_no_file_has(world: Site) -> None:
    refused = world.shell.type(f"cdc-bridge replay ZONE --table {NAME} --as-of 9")
    require_refused(refused, InvalidZoneError, "ask for a number from 0 to 2: ", f"table: {NAME}")
    replayed = world.shell.follow(refused.remedy, "replay")
    assert (replayed.code, f"{NAME}  2 rows after 2 files" in replayed.out) == (0, True)


def test_invalid_zone_of_a_table_that_is_not_there(world: Site) -> None:
    refused = world.shell.type("cdc-bridge replay ZONE --table public.order")
    require_refused(refused, InvalidZoneError, f"name one of the zone's tables, such as {NAME}", "table: public.order")
    replayed = world.shell.type(f"cdc-bridge replay ZONE --table {NAME}")
    assert (replayed.code, f"{NAME}  2 rows after 2 files" in replayed.out) == (0, True)


def test_invalid_zone_of_a_folder_without_anything(world: Site, tmp_path: Path) -> None:
    refused = world.shell.type(VERIFY, ZONE=tmp_path / "zon")
    named = "name the folder that holds the tables' folders, or its storage URL: "
    require_refused(refused, InvalidZoneError, named, f"zone: file://{tmp_path}/zon")
    assert world.shell.follow(refused.remedy, "verify").code == 0


def test_invalid_zone_of_a_folder_of_other_things(world: Site, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    refused = world.shell.type(VERIFY, ZONE=tmp_path / "other")
    named = "name the folder that holds the tables' folders, as landing_zone.url in the settings does: "
    require_refused(refused, InvalidZoneError, named, f"zone: file://{tmp_path}/other")
    assert world.shell.follow(refused.remedy, "verify").code == 0


@pytest.mark.parametrize("inside", ["public.schema", "public.schema/orders"])
def test_invalid_zone_of_a_folder_in_one(world: Site, tmp_path: Path, inside: str) -> None:
    refused = world.shell.type(VERIFY, ZONE=tmp_path / "zone" / inside)
    require_refused(refused, InvalidZoneError, "name the landing zone itself: ", f"zone: file://{tmp_path}/zone/")
    assert world.shell.follow(refused.remedy, "verify").code == 0


def test_version_not_kept_where_no_ledger_is(world: Site, tmp_path: Path) -> None:
    refused = world.shell.type(f"{VERIFY} --state STATE", STATE=tmp_path / "zone-stat")
    require_refused(refused, VersionNotKeptError, RIGHT_STATE, f"state: file://{tmp_path}/zone-stat")
    assert world.shell.follow(refused.remedy, "verify", URL=tmp_path / "zone-state").code == 0


def test_version_not_kept_where_nothing_has_landed(site: Site) -> None:
    refused = site.shell.type("cdc-bridge ledger show CONFIG")
    require_refused(refused, VersionNotKeptError, "`cdc-bridge run CONFIG --once` begins it")
    site.send(ORDERS.create(row(1, "uno"), 10), ORDERS.create(row(3, "three"), 11))
    assert site.shell.follow(refused.remedy, "run").code == 0
    assert site.shell.type("cdc-bridge ledger show CONFIG").code == 0
    require_health(site)


def test_zone_owned_by_another_than_is_named(world: Site, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    started(landed_twice(World(tmp_path / "other", state=disk(tmp_path / "other-state"))))
    refused = world.shell.type(f"{VERIFY} --state STATE", STATE=tmp_path / "other-state")
    require_refused(refused, ZoneOwnedError, RIGHT_STATE, f"state: file://{tmp_path}/other-state")
    assert world.shell.follow(refused.remedy, "verify", URL=tmp_path / "zone-state").code == 0


def test_adopt_of_a_zone_that_is_empty(site: Site) -> None:
    site.set(kafka__starting="earliest")
    refused = site.shell.type("cdc-bridge adopt CONFIG")
    require_refused(refused, AdoptRefusedError, "`cdc-bridge run CONFIG` begins with an empty zone by itself")
    site.send(ORDERS.create(row(1, "uno"), 10), ORDERS.create(row(3, "three"), 11))
    assert site.shell.follow(refused.remedy, "run").code == 0
    require_health(site)


def test_adopt_of_a_zone_whose_ledger_is_lost(world: Site) -> None:
    started(world)
    world.state.files.clear()
    world.set(kafka__starting="earliest")
    refused = world.shell.type("cdc-bridge adopt CONFIG")
    remedy = "`cdc-bridge ledger rebuild CONFIG --dry-run` shows what can be made again of it"
    require_refused(refused, AdoptRefusedError, remedy)
    assert world.shell.follow(refused.remedy, "ledger rebuild").code == 0
    assert world.shell.type("cdc-bridge ledger rebuild CONFIG").code == 0
    require_health(world)


def test_decision_to_keep_what_nobody_can_read(site: Site) -> None:
    landed_twice(site)
    take(site, FOREIGN)
    started(site)
    refused = site.shell.type(f"cdc-bridge resolve CONFIG {NAME} --decide {Decision.KEEP.value}")
    require_refused(refused, DecisionRefusedError, f"`cdc-bridge resync CONFIG {NAME}`; or, if the", f"table: {NAME}")
    assert "the replicator cannot read it either" in refused.err
    assert site.shell.follow(refused.remedy, "resolve").code == 0
    require_health(site)


def test_no_such_record_without_its_partition(world: Site) -> None:
    topic = world.cluster.own_topic("wide", partitions=2)
    world.cluster.send(replace(ORDERS.create(row(5), 50), topic=topic, partition=1))
    refused = world.shell.type(f"cdc-bridge explain CONFIG --topic {topic} --offset 0")
    require_refused(refused, NoSuchRecordError, "name the partition with --partition; each", f"topic: {topic}")
    named = world.shell.type(f"cdc-bridge explain CONFIG --topic {topic} --offset 0 --partition 1")
    for explained in (named, world.shell.follow(refused.remedy, "explain")):
        assert (explained.code, f"{topic} / 1 / 0" in explained.out) == (0, True), explained


def test_no_such_record_at_the_end_of_a_transaction(world: Site) -> None:
    topic = world.cluster.own_topic("transactions")
    orders = Table(topic)
    world.cluster.send_transactions(([orders.create(row(5), 50)], True))
    world.cluster.send(orders.create(row(6), 60))
    refused = world.shell.type(f"cdc-bridge explain CONFIG --topic {topic} --offset 1")
    require_refused(refused, NoSuchRecordError, "ask for a neighbouring offset, or for the last ones: ", "offset: 1")
    beside = world.shell.type(f"cdc-bridge explain CONFIG --topic {topic} --offset 2")
    for explained in (beside, world.shell.follow(refused.remedy, "explain")):
        assert (explained.code, f"{topic} / 0 / 2" in explained.out) == (0, True), explained


def test_export_into_a_file(world: Site, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("in the way")
    refused = world.shell.type("cdc-bridge replay ZONE --to csv OUT", OUT=out)
    require_refused(refused, ExportError, "check the directory, or choose another format: ")
    out.unlink()
    assert world.shell.type("cdc-bridge replay ZONE --to csv OUT", OUT=out).code == 0
    assert world.shell.follow(refused.remedy, "replay", FOLDER=tmp_path / "other").code == 0


def test_export_of_a_type_that_the_format_lacks(world: Site, tmp_path: Path) -> None:
    """Another tool's zone has a time of day."""
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("opens", pa.time64("us"))])
    rows = [{"id": 1, "opens": time(8, 30)}]
    foreign(world, {1: body(rows, schema)}, folder="public.schema/doors")
    replay = "cdc-bridge replay ZONE --table public.doors"
    refused = world.shell.type(f"{replay} --to delta OUT", OUT=tmp_path / "delta")
    require_refused(refused, ExportError, "choose another format: ", "table: public.doors", "Time64")
    assert world.shell.follow(refused.remedy, "replay", FOLDER=tmp_path / "out").code == 0
    assert pq.read_table(tmp_path / "out" / "public.doors.parquet").to_pylist() == rows
    assert pq.read_table(tmp_path / "out" / f"{NAME}.parquet").num_rows == 2


def test_settings_that_are_not_there(world: Site) -> None:
    config = world.config.rename(world.config.with_name("moved.yaml"))
    refused = world.shell.type("cdc-bridge status CONFIG")
    require_refused(refused, SettingsError, "check the path, or write one with 'cdc-bridge config example >")
    assert str(world.config) in refused.err
    assert world.shell.type("cdc-bridge status CONFIG", CONFIG=config).code == 0


def test_settings_that_are_not_text(world: Site) -> None:
    whole = world.config.read_bytes()
    world.config.write_bytes(b"\xff" + whole)
    refused = world.shell.type("cdc-bridge status CONFIG")
    require_refused(refused, SettingsError, "save it as UTF-8", str(world.config))
    world.config.write_bytes(whole)
    assert world.shell.follow(refused.remedy, "status").code == 0


def test_settings_that_are_a_folder(world: Site) -> None:
    config = world.config.rename(world.config.with_name("moved.yaml"))
    world.config.mkdir()
    refused = world.shell.type("cdc-bridge status CONFIG")
    require_refused(refused, SettingsError, "make it a file that this process may read", str(world.config))
    world.config.rmdir()
    config.rename(world.config)
    assert world.shell.follow(refused.remedy, "status").code == 0


@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        (b"", "write the secret into the file, or name another one in the settings"),
        (b"\xff", "make the file readable for this process, or name another one in the settings"),
    ],
)
def test_settings_whose_secret_cannot_be_read(world: Site, tmp_path: Path, content: bytes, remedy: str) -> None:
    secret = tmp_path / "password"
    secret.write_bytes(content)
    world.set(registry={"url": "http://127.0.0.1:1", "username": "bridge", "password_file": str(secret)})
    refused = world.shell.type("cdc-bridge check CONFIG")
    assert (refused.code, remedy in refused.remedy, str(secret) in refused.out) == (1, True, True)
    secret.write_text("secret")
    again = world.shell.type("cdc-bridge check CONFIG")
    assert [told for told in again.told if remedy in told] == []
    assert f"ok      settings: {world.config}" in again.out


def test_client_options_that_librdkafka_does_not_take(world: Site) -> None:
    world.set(kafka__client={"fetch.wait.max.millis": 5})
    explain = f"cdc-bridge explain CONFIG --topic {world.topic}"
    refused = world.shell.type(explain)
    named = "correct the option or the file it names under kafka.security or kafka.client"
    require_refused(refused, ClientOptionsError, named, "fetch.wait.max.millis", "bootstrap_servers: ")
    world.set(kafka__client={"fetch.wait.max.ms": 5})
    assert world.shell.follow(refused.remedy, "explain").code == 0
    require_health(world)


def test_settings_that_do_not_say_where_the_database_is(world: Site) -> None:
    """`reconcile` names what to type like every other command that a terminal error ends (docs/errors.md)."""
    refused = world.shell.type("cdc-bridge reconcile CONFIG")
    assert (refused.code, refused.error) == (2, SettingsError.__name__)
    assert refused.act.startswith("set source.database.url, and password_file for its user, which needs SELECT")
    assert commands(refused.remedy) == [f"cdc-bridge reconcile {world.config}"]
