"""Where the tables go: the landing zone, the ledger's state, and the files' encoding."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, FilePath

from connectors.landing_zone.storage.location import (
    InvalidLocationError,
    RenameMode,
    StorageLocation,
    adls_root,
    local_root,
)
from streaming.settings.kafka import BaseUrl
from streaming.settings.scalars import Duration, TopicName, matching
from streaming.settings.section import KeyPath, Section

_ABFSS = re.compile(r"abfss://[^@/\s]+@[^@/\s]+(/[^/\s][^/]*)+/?")


class Compression(enum.StrEnum):
    """Codecs of Parquet files that the contract knows."""

    ZSTD = "zstd"
    SNAPPY = "snappy"
    GZIP = "gzip"
    NONE = "none"


def _storage_url(text: str) -> str:
    if re.fullmatch(r"file:///[^\s].*", text) and ".." not in text.split("/"):
        return text.rstrip("/")
    if _ABFSS.fullmatch(text) and "?" not in text and ".." not in text.split("/"):
        return text.rstrip("/")
    raise ValueError(
        "is not a storage URL: write file:///absolute/path or abfss://workspace@host/item/Files/LandingZone"
    )


ApiVersion = Annotated[
    str, matching(r"\d{4}-\d{2}-\d{2}", "is not a REST API version: write its date, such as 2023-11-03")
]
StorageUrl = Annotated[str, AfterValidator(_storage_url)]


def location_problem(location: StorageLocation) -> str | None:
    """Why a storage can't be opened at this place; ``None`` when it can be tried."""
    try:
        if is_local(location.url):
            local_root(location)
        else:
            adls_root(location)
    except InvalidLocationError as error:
        return f"can't be opened. {error.message}; {error.remedy}"
    return None


def is_local(url: str) -> bool:
    """Whether a storage URL names a local folder."""
    return url.startswith("file://")


class Partner(Section):
    """What ``_partnerEvents.json`` tells the operators of the mirrored database."""

    name: str = Field(default="cdc-bridge", min_length=1)
    """Name of the producer; keep it constant."""
    source_type: str | None = Field(default=None, examples=["PostgreSQL"])
    """Kind of the source database; without it the connector's name."""
    source_version: str | None = Field(default=None, examples=["16"])
    """Version of the source database."""


class LandingZone(Section):
    """The landing zone of one mirrored database."""

    url: StorageUrl = Field(examples=["file:///var/lib/cdc-bridge/shop/LandingZone"])
    """file:///absolute/path, or abfss://workspace@host/item/Files/LandingZone with the GUIDs of workspace and item."""
    api_version: ApiVersion | None = Field(default=None, examples=["2023-11-03"])
    """Version of the storage's REST API to ask for; without it the SDK's."""
    ca_file: FilePath | None = Field(default=None, examples=["/etc/cdc-bridge/storage-ca.pem"])
    """PEM file with the certificate authorities of the storage; without it the system's."""
    rename_mode: RenameMode = RenameMode.SDK
    """How a file is renamed: by the SDK, or by a bare REST request for storages that refuse the SDK's."""
    dfs_endpoint: BaseUrl | None = Field(default=None, examples=["https://localhost:10004"])
    """Address of the DFS service where it is not https://host of the URL (private links, emulators)."""
    blob_endpoint: BaseUrl | None = Field(default=None, examples=["https://localhost:10000"])
    """Address of the Blob service where it can't be told from the DFS service's."""
    request_timeout: Duration = timedelta(minutes=1)
    """How long a request to the storage may go unanswered before it is tried again, up to 8 times."""
    partner: Partner = Partner()
    """What ``_partnerEvents.json`` says."""
    release_wait: Duration = timedelta(minutes=2)
    """How long a rebuild waits, after it has removed a table's folder, for the replicator to drop the table. A bridge
    that is started meanwhile waits anew; `run --once` goes by the host's clock."""

    def location_of(self, url: str) -> StorageLocation:
        """A storage that is reached as this one is; for the form of its URL only."""
        return StorageLocation(url=url, dfs_endpoint=self.dfs_endpoint, blob_endpoint=self.blob_endpoint)

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        problem = location_problem(self.location_of(self.url))
        if problem is not None:
            yield ("url",), problem
        if self.request_timeout <= timedelta(0):
            yield ("request_timeout",), "must be longer than 0s"
        if is_local(self.url):
            for key in ("api_version", "ca_file", "dfs_endpoint", "blob_endpoint"):
                if getattr(self, key) is not None:
                    yield (key,), "has no effect on a local landing zone: remove it"


class State(Section):
    """Where the ledger and Spark's checkpoint live."""

    url: StorageUrl | None = Field(default=None, examples=["file:///var/lib/cdc-bridge/shop/LandingZone-state"])
    """Storage of the ledger, shared by every possible driver; without it <landing zone>-state, beside the zone."""
    checkpoint: Path | None = Field(default=None, examples=["/var/lib/cdc-bridge/shop/checkpoint"])
    """Local folder of Spark's checkpoint, which may be lost. Without it checkpoint/ in a local state folder."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        if self.checkpoint is not None and not self.checkpoint.is_absolute():
            yield ("checkpoint",), "must be an absolute path"


class Parquet(Section):
    """Encoding of Parquet files."""

    compression: Compression = Compression.ZSTD
    """Codec of the column chunks. Files of one or two short rows are never compressed: it makes them larger."""
    level: int | None = Field(default=None, ge=1, le=22, examples=[1])
    """Compression level: zstd 1 to 22 (1 without it), gzip 1 to 9 (6 without it)."""
    row_group_rows: int = Field(default=131_072, ge=1_024, le=10_000_000)
    """Rows per row group; a writer holds one row group in memory."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        if self.level is None:
            return
        match self.compression:
            case Compression.ZSTD:
                pass
            case Compression.GZIP:
                if self.level > 9:
                    yield ("level",), "is out of range: gzip knows 1 to 9"
            case Compression.SNAPPY | Compression.NONE:
                yield ("level",), f"has no effect with compression {self.compression}: remove it"

    @property
    def compression_level(self) -> int | None:
        """The level to write with; ``None`` for codecs without levels."""
        if self.level is not None:
            return self.level
        return {Compression.ZSTD: 1, Compression.GZIP: 6}.get(self.compression)


class DeadLetters(Section):
    """Where records go that can't be decoded."""

    topic: TopicName | None = Field(default=None, examples=["cdc-bridge.shop.dead-letters"])
    """Topic; without it cdc-bridge.<name>.dead-letters."""


class Publish(Section):
    """How committed files become visible."""

    threads: int = Field(default=8, ge=1, le=64)
    """Tables that are published side by side, and files that a task uploads side by side."""
