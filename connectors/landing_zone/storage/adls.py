"""Single requests to Azure Data Lake Storage Gen2 or OneLake, through Microsoft's own clients.

The only module that knows Azure. Each function sends one request once and fails with
:class:`~connectors.landing_zone.storage.retry.AttemptError`; what a failure means, and whether to try again, is decided
in ``adls_storage``. The clients' own retries are off: they repeat a request whose answer was lost without looking
whether it took effect.

Two hosts are spoken to: properties, downloads and Put Blob go to the Blob host, all else to the DFS host.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast
from urllib.parse import quote

import requests
from azure.core import MatchConditions, PipelineClient
from azure.core.credentials import TokenCredential
from azure.core.exceptions import AzureError, ClientAuthenticationError, HttpResponseError
from azure.core.pipeline import PipelineRequest
from azure.core.pipeline.policies import BearerTokenCredentialPolicy
from azure.core.pipeline.transport import HttpRequest as TransportRequest
from azure.core.pipeline.transport import RequestsTransport
from azure.core.rest import HttpRequest, HttpResponse
from azure.storage.blob import BlobServiceClient
from azure.storage.filedatalake import DataLakeServiceClient

from connectors.azure_answers import refusal, seconds_until
from connectors.landing_zone.storage.location import AdlsRoot, InvalidLocationError, RenameMode, StorageLocation
from connectors.landing_zone.storage.protocol import Entry
from connectors.landing_zone.storage.retry import AttemptError
from connectors.landing_zone.storage.sign_in import SignIn
from connectors.landing_zone.storage.whole_heads import WholeHeads

Credential: TypeAlias = TokenCredential

_SCOPE = "https://storage.azure.com/.default"
_ONE_PUT_BLOB = 5000 << 20  # the service's limit; below it the client never falls back to blocks
_CONNECTIONS = 64
_FOLDER_MARK = "hdi_isfolder"


class Chunk(NamedTuple):
    """A range of a file: its bytes, the file's whole size and its etag."""

    body: bytes
    total: int
    etag: str


class Page(NamedTuple):
    """A part of a listing, and the token of the next one; empty for the last."""

    entries: list[Entry]
    following: str


class AdlsRequests:
    """The requests that the bridge makes; paths start below the root's folder.

    Args:
        location: options of the connection.
        root: from :func:`~connectors.landing_zone.storage.location.adls_root`.
        credential: gives tokens for Azure Storage; azure-identity's default chain (workload identity, managed identity,
            environment, ...) when None.
        now: seconds since the epoch, to read a ``Retry-After`` that is a date.

    Raises:
        InvalidLocationError: the clients do not take the options: an API version that they do not know, an endpoint
            without TLS, or a ``ca_file`` that is not there.
    """

    def __init__(
        self,
        location: StorageLocation,
        root: AdlsRoot,
        credential: Credential | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._root = root
        self._version = location.api_version
        self._rename_mode = location.rename_mode
        self._now = now
        self._sign_in = SignIn(credential)
        identity = self._sign_in.credential
        transport = _transport(location)
        options: dict[str, Any] = {
            "credential": identity,
            "api_version": location.api_version,
            "transport": transport,
            "retry_total": 0,
        }
        try:
            dfs = DataLakeServiceClient(root.dfs_endpoint, **options)
            blobs = BlobServiceClient(root.blob_endpoint, max_single_put_size=_ONE_PUT_BLOB, **options)
        except ValueError as error:
            raise _invalid(location, str(error)) from error
        self._dfs = dfs.get_file_system_client(root.filesystem)
        self._blobs = blobs.get_container_client(root.filesystem)
        self._rest: PipelineClient[HttpRequest, HttpResponse] = PipelineClient(
            root.dfs_endpoint, policies=[BearerTokenCredentialPolicy(identity, _SCOPE)], transport=transport
        )

    def put_blob(self, path: str, body: bytes, *, overwrite: bool) -> bytes | None:
        """One Put Blob, with ``If-None-Match: *`` unless ``overwrite``: the whole file appears at once.

        Returns:
            the MD5 digest of what the service has got, by its own count; None where it tells none.
        """
        with self._attempt():
            blob = self._blobs.get_blob_client(self._full(path))
            answer = blob.upload_blob(body, length=len(body), overwrite=overwrite)
        digest = answer.get("content_md5")
        return None if digest is None else bytes(digest)

    def properties(self, path: str) -> Entry:
        """HEAD on the Blob host; a folder is a blob with a mark there."""
        with self._attempt():
            found = self._blobs.get_blob_client(self._full(path)).get_blob_properties()
        folder = str((found.metadata or {}).get(_FOLDER_MARK, "")).lower() == "true"
        return _entry(path, found.size, folder, found.last_modified, found.etag)

    def read(self, path: str, offset: int, length: int, etag: str | None) -> Chunk:
        """A range of the file; with ``etag``, 412 if the file is another one by now; 416 beyond its end."""
        with self._attempt():
            blob = self._blobs.get_blob_client(self._full(path))
            if etag is None:
                found = blob.download_blob(offset, length)
            else:
                unchanged = MatchConditions.IfNotModified
                found = blob.download_blob(offset, length, etag=etag, match_condition=unchanged)
            body = found.readall()
        total = int(str(found.properties.content_range).rpartition("/")[2])
        return Chunk(body, total, str(found.properties.etag))

    def children(self, folder: str, page: str) -> Page:
        """Direct children, as many as the service tells at once; ``page`` is the token of a page, empty for the first.

        A page may hold nothing and yet be followed by another one.
        """
        with self._attempt():
            pages = self._dfs.get_paths(path=self._full(folder) or None, recursive=False).by_page(page or None)
            found = list(next(pages))
        # Only the last segment is taken from the answer: OneLake may name the item by its id though we use its name.
        names = [(item.name.rpartition("/")[2], item) for item in found]
        entries = [
            _entry(
                f"{folder}/{name}" if folder else name,
                item.content_length,
                item.is_directory,
                item.last_modified,
                item.etag,
            )
            for name, item in names
        ]
        return Page(entries, str(getattr(pages, "continuation_token", None) or ""))

    def create_file(self, path: str) -> None:
        """An empty file, with ``If-None-Match: *``: a delayed repetition can't empty the finished file."""
        with self._attempt():
            self._dfs.get_file_client(self._full(path)).create_file(match_condition=MatchConditions.IfMissing)

    def append(self, path: str, body: bytes, offset: int) -> None:
        """Bytes at ``offset``, unseen until the flush; repeating it is harmless."""
        with self._attempt():
            self._dfs.get_file_client(self._full(path)).append_data(body, offset, length=len(body))

    def flush(self, path: str, size: int) -> None:
        """Make the first ``size`` bytes the file's content."""
        with self._attempt():
            self._dfs.get_file_client(self._full(path)).flush_data(size)

    def rename(self, source: str, target: str) -> None:
        """Move a file, with ``If-None-Match: *`` on the target."""
        with self._attempt():
            if self._rename_mode is RenameMode.REST:
                self._rename_without_query(source, target)
            else:
                # Quoted, since rename_file unquotes its source: a name with "%41" in it would become another one.
                self._dfs.get_file_client(quote(self._full(source))).rename_file(
                    f"{self._root.filesystem}/{self._full(target)}",
                    match_condition=MatchConditions.IfMissing,
                    raw_request_hook=self._set_version,
                )

    def delete(self, path: str, *, recursive: bool) -> None:
        """Remove a file or an empty folder; with ``recursive`` a folder with all it holds."""
        with self._attempt():
            if recursive:
                self._dfs.get_directory_client(self._full(path)).delete_directory()
            else:
                self._dfs.get_file_client(self._full(path)).delete_file()

    def delete_folder(self, path: str, etag: str) -> None:
        """Remove a folder with all it holds; 412 if its etag is another one by now."""
        with self._attempt():
            self._dfs.get_directory_client(self._full(path)).delete_directory(
                etag=etag, match_condition=MatchConditions.IfNotModified
            )

    def _set_version(self, request: PipelineRequest[TransportRequest]) -> None:
        # rename_file makes a second client inside, which forgets the version that the first one was given.
        request.http_request.headers["x-ms-version"] = self._version

    def _rename_without_query(self, source: str, target: str) -> None:
        request = HttpRequest(
            "PUT",
            f"{self._root.dfs_endpoint}{self._quoted(target)}",
            headers={
                "x-ms-version": self._version,
                "x-ms-rename-source": self._quoted(source),
                "If-None-Match": "*",
                "Content-Length": "0",
            },
        )
        self._rest.send_request(request).raise_for_status()

    def _full(self, path: str) -> str:
        return "/".join(part for part in (self._root.folder, path) if part)

    def _quoted(self, path: str) -> str:
        return quote(f"/{self._root.filesystem}/{self._full(path)}")

    @contextmanager
    def _attempt(self) -> Iterator[None]:
        try:
            yield
        except AzureError as error:
            raise _attempt_error(error, self._now(), self._sign_in.unserved) from error


def _transport(location: StorageLocation) -> RequestsTransport:
    """One pool of connections for all clients, wide enough for the threads that publish side by side."""
    if location.ca_file is not None and not Path(location.ca_file).is_file():
        raise _invalid(location, f"there is no ca_file {location.ca_file}")
    session = requests.Session()
    for scheme in ("https://", "http://"):
        session.mount(scheme, WholeHeads(pool_connections=4, pool_maxsize=_CONNECTIONS, max_retries=0))
    return RequestsTransport(
        session=session,
        connection_timeout=location.connect_timeout,
        read_timeout=location.read_timeout,
        connection_verify=location.ca_file if location.ca_file is not None else True,
    )


def _invalid(location: StorageLocation, reason: str) -> InvalidLocationError:
    return InvalidLocationError(
        f"The storage's clients cannot be made: {reason.partition(chr(10))[0]}",
        remedy="correct api_version, ca_file or the endpoints of this storage",
        url=location.shown,
    )


def _entry(path: str, size: int | None, folder: bool, modified: datetime | None, etag: str | None) -> Entry:
    return Entry(
        path=path,
        size=0 if folder else int(size or 0),
        is_folder=folder,
        modified=modified.timestamp() if modified is not None else 0.0,
        etag=(etag or "").strip('"'),  # quoted in a header, bare in a listing
    )


def _attempt_error(error: AzureError, now: float, unserved: str | None) -> AttemptError:
    response = cast("HttpResponse | None", error.response) if isinstance(error, HttpResponseError) else None
    status = response.status_code if response is not None else None
    detail = refusal(error.message or str(error))
    if isinstance(error, ClientAuthenticationError) and status not in (401, 403):
        if unserved is not None:
            return AttemptError(None, type(error).__name__, unserved, signing_in=True)
        return AttemptError(status, type(error).__name__, detail, unidentified=True)
    if response is None:
        return AttemptError(None, type(error).__name__, detail)
    code = response.headers.get("x-ms-error-code") or type(error).__name__
    return AttemptError(status, str(code), detail, retry_after=_retry_after(response.headers, now))


def _retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds asked for, as a number (of milliseconds or seconds) or as a date."""
    for name, unit in (("x-ms-retry-after-ms", 0.001), ("retry-after-ms", 0.001), ("Retry-After", 1.0)):
        text = headers.get(name)
        if text is None:
            continue
        try:
            return max(0.0, float(text) * unit)
        except ValueError:
            seconds = seconds_until(text, now)
            if seconds is not None:
                return seconds
    return None
