"""Where the mirrored database of a landing zone is."""

from __future__ import annotations

import pytest

from connectors.fabric.place import ids_of, in_onelake, monitoring_location
from connectors.landing_zone.storage.location import StorageLocation

WORKSPACE, ITEM = "a0a0a0a0-bbbb-cccc-dddd-e1e1e1e1e1e1", "b1b1b1b1-cccc-dddd-eeee-f2f2f2f2f2f2"
ONELAKE = f"abfss://{WORKSPACE}@onelake.dfs.fabric.microsoft.com/{ITEM}/Files/LandingZone"


@pytest.mark.parametrize(
    ("url", "there"),
    [
        (ONELAKE, True),
        (ONELAKE.replace("@onelake", "@westeurope-onelake"), True),
        (ONELAKE.replace("@onelake.dfs", "@a0a0.z12.dfs"), True),
        (f"abfss://zone@account.dfs.core.windows.net/{ITEM}/Files/LandingZone", False),
        ("file:///onelake.dfs.fabric.microsoft.com/zone", False),
    ],
)
def test_onelake_is_known_by_its_host(url: str, there: bool) -> None:
    assert in_onelake(url) is there
    assert ids_of(StorageLocation(url)) == ((WORKSPACE, ITEM) if there else None)


def test_names_are_no_ids() -> None:
    assert (
        ids_of(StorageLocation("abfss://sales@onelake.dfs.fabric.microsoft.com/shop.MirroredDatabase/Files/Z")) is None
    )


def test_the_replicators_files_are_beside_the_landing_zone() -> None:
    zone = StorageLocation(ONELAKE, ca_file="ca.pem")
    assert monitoring_location(zone) == StorageLocation(
        f"abfss://{WORKSPACE}@onelake.dfs.fabric.microsoft.com/{ITEM}/Files/Monitoring", ca_file="ca.pem"
    )
    assert monitoring_location(StorageLocation("file:///shop/zone")).url == "file:///shop/Monitoring"
