"""What lies in a zone that nobody can make sense of, from the error that a command ends with to the one that works."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from connectors.landing_zone.errors import InvalidZoneError
from tests.remedies.broken_zones import METADATA, require_health
from tests.remedies.lost_files import started
from tests.remedies.shell import require_refused
from tests.remedies.site import Site, disk
from tests.unit.streaming.rebuild_world import NAME, World

pytestmark = pytest.mark.kafka

REPLAY = f"cdc-bridge replay ZONE --table {NAME}"


def test_invalid_zone_that_no_bridge_has_filled(world: Site, tmp_path: Path) -> None:
    """The ledger is lost, and the settings name another zone than the one that it was of."""
    started(world)
    world.state.files.clear()
    world.set(landing_zone__url=f"file://{tmp_path / 'zon'}", state={"url": f"file://{tmp_path / 'zone-state'}"})
    refused = world.shell.type("cdc-bridge ledger rebuild CONFIG")
    named = "check landing_zone.url in the settings; it names a zone that no bridge has filled. If it is right, "
    require_refused(refused, InvalidZoneError, named, f"zone: file://{tmp_path}/zon")
    assert dict(world.state.files) == {}, "nothing was written"
    world.set(landing_zone__url=f"file://{tmp_path / 'zone'}")
    assert world.shell.type("cdc-bridge ledger rebuild CONFIG").code == 0
    require_health(world)


def test_invalid_zone_of_a_bridge_that_has_landed_nothing(world: Site, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    new = disk(tmp_path / "new" / "zone")
    started(World(tmp_path / "new", zone=new))
    refused = world.shell.type(REPLAY, ZONE=tmp_path / "new" / "zone")
    require_refused(
        refused, InvalidZoneError, "check the zone's url: it holds no table", f"table: {NAME}", "zone: file://"
    )
    again = world.shell.type(REPLAY)
    assert (again.code, again.told, f"{NAME}  2 rows after 2 files" in again.out) == (0, [], True)


def test_invalid_zone_of_metadata_that_is_no_json(world: Site) -> None:
    """Somebody has edited it by hand, and forgotten the quotes."""
    kept = world.zone.files[METADATA]
    world.zone.write(METADATA, kept.replace(b'"SequentialFileName"', b"SequentialFileName"))
    refused = world.shell.type(REPLAY)
    quotes = "put every text value in quotes (the value of fileDetectionStrategy too) and double each backslash"
    require_refused(refused, InvalidZoneError, quotes, f"file: {METADATA}")
    world.zone.write(METADATA, kept)
    again = world.shell.follow(refused.remedy, "replay")
    assert (again.code, f"{NAME}  2 rows after 2 files" in again.out) == (0, True)
    require_health(world)


@pytest.mark.parametrize(
    ("edited", "remedy"),
    [
        ([], 'write an object such as {"keyColumns": ["id"]}'),
        ({"KeyColumns": ["name"]}, "keep one spelling of KeyColumns"),
        ({"isUpsertDefaultRowMarker": "true"}, "write true or false, without quotes"),
        ({"keyColumns": "id"}, "write an array of column names"),
        ({"keyColumns": ["id", "id"]}, "name each key column once"),
        ({"fileDetectionStrategy": "Sequential"}, "write SequentialFileName or LastUpdateTimeFileDetection, in quotes"),
        ({"FileFormat": "Avro"}, "write CSV or DelimitedText, or leave it out for Parquet"),
    ],
)
def test_invalid_zone_of_metadata_that_the_format_does_not_allow(world: Site, edited: Any, remedy: str) -> None:
    kept = world.zone.files[METADATA]
    content = {**json.loads(kept), **edited} if edited else edited
    world.zone.write(METADATA, json.dumps(content).encode())
    refused = world.shell.type(REPLAY)
    require_refused(refused, InvalidZoneError, remedy, f"file: {METADATA}")
    world.zone.write(METADATA, kept)
    again = world.shell.follow(refused.remedy, "replay")
    assert (again.code, again.told, f"{NAME}  2 rows after 2 files" in again.out) == (0, [], True)
    require_health(world)
