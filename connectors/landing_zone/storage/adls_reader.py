"""The requests to ADLS Gen2 or OneLake that change nothing; each may be repeated freely."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.landing_zone.errors import PathNotFoundError, StorageError
from connectors.landing_zone.storage.adls import AdlsRequests, Chunk, Page
from connectors.landing_zone.storage.os_errors import MISSING
from connectors.landing_zone.storage.paths import checked, checked_folder
from connectors.landing_zone.storage.protocol import Entry
from connectors.landing_zone.storage.retry import AttemptError, Retries, Verdict


class AdlsReader:
    """The reading half of :class:`~connectors.landing_zone.storage.adls_storage.AdlsStorage`.

    A 404 means that the file is not there, unless it says that the whole file system (the workspace) is not.
    """

    def __init__(self, url: str, requests: AdlsRequests, retries: Retries) -> None:
        self._url = url
        self._requests = requests
        self._retries = retries

    @property
    def url(self) -> str:
        return self._url

    def read(self, path: str) -> bytes:
        """See the protocol."""
        return b"".join(self.read_chunks(path))

    def read_chunks(self, path: str, chunk_size: int = 1 << 22) -> Iterator[bytes]:
        """See the protocol. One request per chunk.

        Raises:
            StorageError: the file was replaced while it was read.
        """
        checked(path)
        offset, etag = 0, None
        while True:
            chunk = self._chunk(path, offset, chunk_size, etag)
            if chunk is None:
                return
            body, total, etag = chunk
            yield body
            offset += len(body)
            if offset >= total:
                return

    def stat(self, path: str) -> Entry | None:
        """See the protocol."""
        checked(path)

        def attempt() -> tuple[Entry | None]:
            try:
                return (self._requests.properties(path),)
            except AttemptError as failure:
                if failure.verdict is not Verdict.MISSING:
                    raise
                return (None,)

        return self._retries.run(attempt, "stat", path)[0]

    def list(self, folder: str) -> list[Entry]:
        """See the protocol."""
        checked_folder(folder)
        entries, token = self._page(folder, "")
        while token:
            more, token = self._page(folder, token)
            entries += more
        return sorted(entries, key=lambda entry: entry.path)

    def _page(self, folder: str, token: str) -> Page:
        """A page of a listing: each is tried again by itself, so a long listing needs no luck."""

        def attempt() -> Page:
            try:
                return self._requests.children(folder, token)
            except AttemptError as failure:
                if failure.verdict is not Verdict.MISSING:
                    raise
                return Page([], "")

        return self._retries.run(attempt, "list", folder)

    def _chunk(self, path: str, offset: int, length: int, etag: str | None) -> Chunk | None:
        """A range of the file, its size and etag; None for an empty file."""

        def attempt() -> tuple[Chunk | None]:
            try:
                return (self._requests.read(path, offset, length, etag),)
            except AttemptError as failure:
                if failure.status == 416 and offset == 0:
                    return (None,)
                if failure.status == 412:
                    raise StorageError(
                        "A file was replaced while it was read", remedy="read it again", file=path, etag=etag
                    ) from failure
                raise

        found = self._retries.run(attempt, "read", path)[0]
        if found is None or found.total == 0:
            self._file(path)
            return None
        return found

    def _file(self, path: str) -> Entry:
        """The entry of the file at ``path``; raises PathNotFoundError for a folder or nothing."""
        found = self.stat(path)
        if found is None or found.is_folder:
            raise PathNotFoundError(
                "There is no such file" if found is None else "This is a folder, not a file",
                remedy=MISSING,
                file=path,
            )
        return found
