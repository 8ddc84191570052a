"""Where a landing zone's mirrored database is in Fabric, as far as the landing zone's URL tells."""

from __future__ import annotations

import re
from dataclasses import replace

from connectors.landing_zone.storage.location import StorageLocation, adls_root

_GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ONELAKE = re.compile(r"([\w-]+-)?onelake\.|.*\.fabric\.microsoft\.com$", re.IGNORECASE)
MONITORING = "Monitoring"


def in_onelake(url: str) -> bool:
    """Whether a storage's URL leads to OneLake, whatever region or private link its host names."""
    return url.startswith("abfss://") and _ONELAKE.match(url.partition("@")[2].partition("/")[0]) is not None


def ids_of(location: StorageLocation) -> tuple[str, str] | None:
    """Ids of workspace and item in a landing zone's URL; None where it names them by their names, or is elsewhere.

    Raises:
        InvalidLocationError: a malformed URL.
    """
    if not in_onelake(location.url):
        return None
    root = adls_root(location)
    item = root.folder.partition("/")[0]
    return (root.filesystem, item) if _GUID.fullmatch(root.filesystem) and _GUID.fullmatch(item) else None


def monitoring_location(zone: StorageLocation) -> StorageLocation:
    """``Files/Monitoring`` of a landing zone at ``Files/LandingZone``: the folder beside it."""
    return replace(zone, url=f"{zone.url.rstrip('/').rpartition('/')[0]}/{MONITORING}")
