"""Where a storage is: a URL and its options, without secrets."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from connectors.errors import Terminal
from connectors.landing_zone.storage.paths import InvalidPathError, checked_folder

_GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DFS = ".dfs."
_PASSWORD = re.compile(r"(//[^/:@]*):[^/@]*@")


class InvalidLocationError(Terminal):
    """A storage URL that cannot be opened."""


class RenameMode(enum.StrEnum):
    """How ADLS renames are sent.

    The SDK always adds the query ``?mode=legacy``. OneLake says that it rejects query parameters it does not allow, and
    whether it allows this one is not documented: ``REST`` sends the same request without a query string.
    """

    SDK = "sdk"
    REST = "rest"


@dataclass(frozen=True)
class StorageLocation:
    """A storage that every process can open for itself; picklable, hashable, free of secrets.

    Attributes:
        url: ``file:///folder`` or ``abfss://workspace@host/item/Files/LandingZone``.
        api_version: ``x-ms-version`` of every request; OneLake's own samples use this one.
        ca_file: certificates to trust instead of the system's, PEM.
        rename_mode: see :class:`RenameMode`.
        dfs_endpoint, blob_endpoint: ``https://host:port`` instead of the hosts that follow from the URL.
        connect_timeout, read_timeout: seconds per attempt.
        attempts, budget: at most so many attempts and seconds per request.
        work_folder: local folder for files on their way to ADLS; the system's temporary folder by default.
    """

    url: str
    api_version: str = "2021-06-08"
    ca_file: str | None = None
    rename_mode: RenameMode = RenameMode.SDK
    dfs_endpoint: str | None = None
    blob_endpoint: str | None = None
    connect_timeout: float = 10.0
    read_timeout: float = 60.0
    attempts: int = 8
    budget: float = 120.0
    work_folder: str | None = None

    @property
    def scheme(self) -> str:
        """The URL's scheme in lower case."""
        return urlsplit(self.url).scheme

    @property
    def shown(self) -> str:
        """The URL without password, query and fragment, fit for messages."""
        return _PASSWORD.sub(r"\1@", self.url.partition("?")[0].partition("#")[0])


@dataclass(frozen=True)
class AdlsRoot:
    """What a request to ADLS or OneLake is made of.

    Attributes:
        filesystem: container, or OneLake workspace.
        folder: path of the root within it, for OneLake starting with the item; may be empty for plain ADLS. Only with
            the workspace as file system and the item in the path is the source of a rename complete.
    """

    filesystem: str
    folder: str
    dfs_endpoint: str
    blob_endpoint: str


def local_root(location: StorageLocation) -> Path:
    """The folder of a ``file:///`` URL.

    Raises:
        InvalidLocationError: a host, a relative path, a query or a fragment.
    """
    parts = urlsplit(location.url)
    if parts.netloc not in ("", "localhost") or not parts.path.startswith("/") or parts.query or parts.fragment:
        raise InvalidLocationError(
            "This is not the URL of a local folder",
            remedy="write an absolute path after three slashes, as in file:///data/zone",
            url=location.shown,
        )
    return Path(unquote(parts.path))


def adls_root(location: StorageLocation) -> AdlsRoot:
    """The parts of an ``abfss://`` URL.

    Raises:
        InvalidLocationError: no workspace or host, credentials in the URL, an illegal path, a OneLake item named by its
            name beside a workspace named by its id (or the other way round), or a host from which the Blob host can't
            be told.
    """
    parts = urlsplit(location.url)
    workspace, at, host = parts.netloc.rpartition("@")
    filesystem = unquote(workspace)
    if not at or not filesystem or not host or "/" in filesystem or ":" in filesystem:
        raise _invalid(location, "it names no workspace and host")
    if parts.query or parts.fragment:
        raise _invalid(location, "it has a query or a fragment; credentials do not belong into a URL")
    try:
        folder = checked_folder(unquote(parts.path).strip("/"))
    except InvalidPathError as error:
        raise _invalid(location, "its path is not one") from error
    _refuse_mixed_names(location, filesystem, folder, host)
    if _DFS not in host and not (location.dfs_endpoint and location.blob_endpoint):
        raise _invalid(location, "its host is not a '.dfs.' host, so the Blob host is unknown")
    return AdlsRoot(
        filesystem=filesystem,
        folder=folder,
        dfs_endpoint=(location.dfs_endpoint or f"https://{host}").rstrip("/"),
        blob_endpoint=(location.blob_endpoint or f"https://{host.replace(_DFS, '.blob.', 1)}").rstrip("/"),
    )


def _refuse_mixed_names(location: StorageLocation, workspace: str, folder: str, host: str) -> None:
    """OneLake takes ids for both workspace and item, or names for both."""
    if not host.partition(".")[0].endswith("onelake"):
        return
    item = folder.partition("/")[0]
    if not item:
        raise _invalid(location, "it names no item after the workspace")
    if bool(_GUID.fullmatch(workspace)) != bool(_GUID.fullmatch(item)):
        raise _invalid(location, "OneLake needs ids for both workspace and item, or names for both")


def _invalid(location: StorageLocation, reason: str) -> InvalidLocationError:
    return InvalidLocationError(
        f"This storage URL cannot be used: {reason}",
        remedy="write abfss://<workspace id>@onelake.dfs.fabric.microsoft.com/<item id>/Files/LandingZone",
        url=location.shown,
    )
