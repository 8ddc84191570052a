"""How the running bridge asks Fabric what becomes of its files."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated

from pydantic import Field, FilePath

from streaming.settings.kafka import BaseUrl
from streaming.settings.scalars import Duration, matching
from streaming.settings.section import KeyPath, Section

Guid = Annotated[
    str,
    matching(
        r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
        "is not an id: write the GUID that the item's address in the browser shows",
    ),
]


LONGEST_INTERVAL = timedelta(minutes=10)


class StatusSource(enum.StrEnum):
    """Where the status of mirroring is read."""

    AUTO = "auto"
    REST = "rest"
    FILES = "files"
    OFF = "off"


class Fabric(Section):
    """What is asked about mirroring, see [Fabric's status](fabric-status.md). It is only looked at, never changed."""

    status: StatusSource = StatusSource.AUTO
    """rest asks Fabric's REST API, files reads `Files/Monitoring` beside the zone; auto does both in OneLake only."""
    interval: Duration = timedelta(minutes=1)
    """Time between two looks, at most 10m. Nothing is asked without `http.port`."""
    blocked_after: Duration = timedelta(minutes=30)
    """How long a published file may wait, while no other of its table is taken in, until the table is blocked."""
    listings: int = Field(default=50, ge=1, le=10_000)
    """Tables' folders that one look lists at most, those that were not tried for longest first; each is a request."""
    api_url: BaseUrl = "https://api.fabric.microsoft.com/v1"
    """Address of Fabric's REST API."""
    ca_file: FilePath | None = Field(default=None, examples=["/etc/cdc-bridge/fabric-ca.pem"])
    """PEM file with the certificate authorities of the API; without it the system's."""
    workspace_id: Guid | None = Field(default=None, examples=["11111111-1111-1111-1111-111111111111"])
    """Id of the workspace; without it the one in `landing_zone.url`."""
    item_id: Guid | None = Field(default=None, examples=["22222222-2222-2222-2222-222222222222"])
    """Id of the mirrored database; without it the one in `landing_zone.url`."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        if self.interval < timedelta(seconds=1):
            yield ("interval",), "must be at least 1s"
        if self.interval > LONGEST_INTERVAL:
            yield (
                ("interval",),
                "must be at most 10m: alerts take longer silence for a failure, see docs/fabric-status.md",
            )
        if self.blocked_after < timedelta(seconds=1):
            yield ("blocked_after",), "must be at least 1s"
        if not self.api_url.startswith("https://"):
            yield ("api_url",), "must begin with https://: a token is sent there"
        if (self.workspace_id is None) is not (self.item_id is None):
            missing = "workspace_id" if self.workspace_id is None else "item_id"
            yield (missing,), "is required beside the other of the two ids"
