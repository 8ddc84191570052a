"""What is taken for a landing zone, and what is said of other folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.landing_zone.errors import InvalidZoneError
from connectors.landing_zone.replay.zone import require_zone
from connectors.landing_zone.storage.local import LocalStorage

NUMBERED = f"{1:020d}.parquet"


def write(root: Path, *files: str) -> None:
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_bytes(b"{}")


def refusal(folder: Path) -> tuple[str, str]:
    with pytest.raises(InvalidZoneError) as raised:
        require_zone(LocalStorage(folder))
    return raised.value.message, raised.value.remedy


@pytest.mark.parametrize(
    "file",
    [
        "_cdc_bridge_owner.json",
        "_partnerEvents.json",
        "orders/_metadata.json",
        f"orders/{NUMBERED}",
        f"orders/_ProcessedFiles/{NUMBERED}",
        "dbo.schema/orders/_metadata.json",
        f"dbo.schema/orders/{1:020d}.csv.gz",
    ],
)
def test_a_zone_is_known_by_its_files_whoever_wrote_them(tmp_path: Path, file: str) -> None:
    write(tmp_path, file)
    require_zone(LocalStorage(tmp_path))


def test_a_folder_that_is_no_zone_is_told_what_was_looked_for(tmp_path: Path) -> None:
    write(tmp_path, "notes.txt", "ledger/00000000000000000001.json", ".git/x/y/_metadata.json")
    assert refusal(tmp_path) == (
        "this is no landing zone: it has neither _cdc_bridge_owner.json nor _partnerEvents.json, nor a table's folder "
        "with _metadata.json or numbered files",
        "name the folder that holds the tables' folders, as landing_zone.url in the settings does: "
        "`cdc-bridge verify ZONE`",
    )


@pytest.mark.parametrize("table", ["zone/orders", "zone/dbo.schema/orders"])
def test_a_table_s_folder_leads_to_the_zone_above_it(tmp_path: Path, table: str) -> None:
    write(tmp_path / table, "_metadata.json", NUMBERED)
    assert refusal(tmp_path / table) == (
        "this is no landing zone: this is a table's folder",
        f"name the landing zone itself: `cdc-bridge verify {tmp_path.as_uri()}/zone`",
    )


def test_a_schema_s_folder_leads_to_the_zone_above_it(tmp_path: Path) -> None:
    write(tmp_path / "zone/dbo.schema/orders", NUMBERED)
    assert refusal(tmp_path / "zone/dbo.schema") == (
        "this is no landing zone: this is a schema's folder",
        f"name the landing zone itself: `cdc-bridge verify {tmp_path.as_uri()}/zone`",
    )


@pytest.mark.parametrize("zone", ["LandingZone", "Files/LandingZone"])
def test_a_folder_around_a_zone_leads_to_it(tmp_path: Path, zone: str) -> None:
    write(tmp_path / "shop" / zone / "dbo.schema/orders", "_metadata.json")
    write(tmp_path / "shop", "aside/a.txt")
    assert refusal(tmp_path / "shop") == (
        "this is no landing zone: this folder only contains one",
        f"name the landing zone itself: `cdc-bridge verify {tmp_path.as_uri()}/shop/{zone}`",
    )


def test_the_search_below_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("connectors.landing_zone.replay.zone.SEARCH_FOLDERS", 1)
    write(tmp_path, "a/x", "b/orders/_metadata.json")
    assert refusal(tmp_path)[0].startswith("this is no landing zone: it has neither")


def test_nothing_is_no_zone(tmp_path: Path) -> None:
    assert refusal(tmp_path)[0] == "there is no landing zone here: the folder is empty or missing"
